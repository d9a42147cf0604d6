"""Eight threads, twelve sets of meshes, 100,000 calls: no error, the same bits, and no memory that stays.

Run ``python -m tests.acceptance.many_calls``, on Linux with ``MALLOC_ARENA_MAX=1``: the C library gives each
thread a heap of its own else, whose holes hide what is held.
"""

import argparse
import ctypes
import gc as garbage
import os
import sys
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields

import numpy as np

import gpu_collide as gc
from tests.support.steps import moved
from tests.support.worlds import SHAPES, drift

#: What makes the bytes that a process holds mean something.
ONE_HEAP = {"MALLOC_ARENA_MAX": "1"}
THREADS = 8
#: By so much may the bytes grow, of what 8,000 calls hold at most at a time: some 100 MB.
SLACK = 4 << 20
#: What a result has only where it is asked for, or where parts of meshes have names.
NOT_THERE = ("info", "exit", "part_a", "part_b")


def bits(found):
    """All arrays of a result."""
    names = [field.name for field in fields(gc.Contacts) if field.name not in NOT_THERE]
    return [getattr(found, name).tobytes() for name in names]


def resident_bytes():
    """What the process holds of the machine's memory, without what the C library keeps to hand out again;
    None where it cannot be seen."""
    garbage.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, AttributeError, TypeError):
        return None


class Asked:
    """Eight threads over twelve sets of meshes. Each makes scenes of its own, one after the other, asks them
    about the pairs of a list and those of the tree, asks scenes that all share, and `gc.collide`.

    Attributes
    ----------
    wrong : list of str
        What had other bits than it has alone.
    scenes : list of weakref
        All that were made.
    """

    def __init__(self, backend):
        self.backend, self.wrong, self.scenes = backend, [], []
        self.sets, self.want = [], []
        for j in range(12):
            bodies = drift(40 + j, 5, side=2.5, meshes=(SHAPES[j % 5], SHAPES[(j + 1 + j // 5) % 5]))
            rng = np.random.default_rng(j)
            poses = [moved(rng, bodies.end, still=0.0) for _ in range(3)]
            steps = [bodies.moved(a, b) for a, b in zip(poses, poses[1:] + poses[:1], strict=True)]
            pairs = np.array([[0, 1], [2, 1], [4, 3]])
            alone = [gc.collide(b, p, backend=backend) for b in steps for p in (pairs, None)]
            self.sets.append((bodies, [(p.position.copy(), p.quat_wxyz.copy()) for p in poses], pairs, steps))
            self.want.append([bits(found) for found in alone])

    def run(self, calls):
        """Have each thread make so many calls."""
        self.shared = [self.scene(j) for j in range(3)]
        for j, scene in enumerate(self.shared):
            scene.update(self.sets[j][1][0], self.sets[j][1][1])
        with ThreadPoolExecutor(THREADS) as pool:
            for future in [pool.submit(self.work, k, calls) for k in range(THREADS)]:
                future.result()
        del self.shared

    def scene(self, j):
        scene = gc.Scene(self.sets[j][0].meshes, self.sets[j][0].shape, backend=self.backend)
        self.scenes.append(weakref.ref(scene))
        return scene

    def work(self, k, calls):
        rng, own = np.random.default_rng(k), None
        for call in range(calls):
            if call % 50 == 0:
                if own is not None and call % 100:
                    own.close()
                j, at = int(rng.integers(len(self.sets))), 0
                own = self.scene(j)
                own.update(*self.sets[j][1][:2])
            _, poses, pairs, steps = self.sets[j]
            given = call % 4 < 3
            if call % 10 == 8:
                other = call % 3
                self.check(f"shared {other}", self.shared[other].collide(), other, 1)
            elif call % 50 == 9:
                found = gc.collide(steps[at], pairs if given else None, backend=self.backend)
                self.check(f"collide {j}", found, j, 2 * at + (not given))
            else:
                found = own.collide(pairs if given else None)
                self.check(f"own {j}", found, j, 2 * at + (not given))
                own.step(poses[(at + 2) % 3])
                at = (at + 1) % 3

    def check(self, what, found, j, kind):
        if bits(found) != self.want[j][kind]:
            self.wrong.append(what)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--calls", type=int, default=100_000)
    each = -(-parser.parse_args().calls // THREADS)
    asked = Asked("cpu")
    asked.run(1000)  # what is made once in a process, and the heap as large as it gets
    asked.scenes.clear()
    before, begun = resident_bytes(), time.process_time()
    asked.run(each)
    took, after = time.process_time() - begun, resident_bytes()
    left = sum(ref() is not None for ref in asked.scenes)
    print(
        f"{THREADS * each} calls, {took:.0f} s of processor time; {len(asked.wrong)} with other bits; "
        f"{len(asked.scenes)} scenes, {left} left; bytes held before {before}, after {after}"
    )
    grown = before is not None and after - before > SLACK
    sys.exit(bool(asked.wrong or left or grown))


if __name__ == "__main__":
    main()
