"""A step of many worlds at once: ``python examples/worlds.py [WORLDS]``.

In each world 32 cars drive on ground that all worlds share, between barriers of their own. One call finds the
pairs that may meet, settles most of them by quick tests, and finds all contacts of the others.
"""

import argparse
import sys
import time

import numpy as np

import gpu_collide as gc
from gpu_collide.scenes import worlds


def main(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("worlds", nargs="?", type=int, default=100, help="how many worlds (default: 100)")
    n = parser.parse_args(arguments).worlds
    # world: a number for each body, the same for those that may meet; -1 for the ground and the walls
    bodies, world = worlds(n, n_cars=32)
    gc.collide(bodies, world=world)  # the first call compiles

    begun = time.perf_counter()
    contacts = gc.collide(bodies, world=world, report=True)
    seconds = time.perf_counter() - begun

    print(f"{len(bodies)} bodies in {n} worlds, {seconds:.2f} s, {n / seconds:.0f} worlds a second\n")
    print(contacts)
    print(f"\n{contacts.report}\n")

    # Which cars ran into something, and when? Pairs are rows (A, B) of body numbers.
    met = np.isfinite(contacts.toi)
    (a, b), toi = contacts.pairs[met].T, contacts.toi[met]
    for k in np.argsort(toi)[:8]:
        i, j = int(a[k]), int(b[k])
        number, who = max(world[i], world[j]), f"{name(bodies, i)} and {name(bodies, j)}"
        print(f"world {number}: {who} at t = {toi[k]:.4f}")


def name(bodies, body):
    return f"{('car', 'barrier', 'wall', 'ground')[bodies.shape[body]]} {body}"


if __name__ == "__main__":
    main(sys.argv[1:])
