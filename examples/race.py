"""Every contact between a kart and its race track over a recorded race: ``python examples/race.py RACE.npz``.

Between two recorded poses the kart moves by up to four times its own length, so looking for overlaps at the
recorded poses misses much. Here every step is one pair: the triangles of the track near the step (body A, at
rest) and the kart (body B, from one recorded pose to the next).

The pre-selection is by axis-aligned boxes: a triangle is kept if its box meets the box that the kart sweeps.
All triangles around a contact meet the swept box there, so a patch has the same neighbourhoods, and the same
contacts, as the whole track. Steps with equal patches share one mesh.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import gpu_collide as gc

_NEEDED = {
    "track_vertices": "(n, 3) metres",
    "track_faces": "(m, 3) indices of a triangle mesh",
    "car_vertices": "(n, 3) metres, in the car's own frame",
    "car_faces": "(m, 3) indices of a triangle mesh",
    "position": "(k, 3) recorded places of the car",
    "quaternion_xyzw": "(k, 4) recorded orientations",
}


@dataclass
class Race:
    """A recording: two triangle meshes, and the poses at the start and end of every step."""

    track: tuple[np.ndarray, np.ndarray]
    car: tuple[np.ndarray, np.ndarray]
    start: gc.Poses
    end: gc.Poses
    duration: np.ndarray  # (steps,) seconds
    time: np.ndarray  # (steps,) seconds since the beginning of the race


def load_race(path) -> Race:
    """Read a recording; says what is needed if the file or one of its arrays is missing.

    Optional arrays: ``time`` (k,) in seconds, and ``race_lengths`` (races,), how many of the k poses belong
    to each race, in order: no step is made from the end of one race to the start of the next.
    """
    path = Path(path)
    if not path.is_file():
        needed = "\n".join(f"  {name:<18}{what}" for name, what in _NEEDED.items())
        raise FileNotFoundError(
            f"no recorded race at {path}. Needed is an .npz file with the arrays\n{needed}"
        )
    with np.load(path) as file:
        missing = [name for name in _NEEDED if name not in file]
        if missing:
            raise ValueError(f"{path}: no array {missing[0]!r}, {_NEEDED[missing[0]]}; it has {sorted(file)}")
        data = {name: file[name] for name in file}
    k = len(data["position"])
    seconds = np.asarray(data.get("time", np.arange(k)), float)
    lengths = np.asarray(data.get("race_lengths", [k]))
    first = np.setdiff1d(np.arange(k - 1), np.cumsum(lengths) - 1)  # steps within one race
    position, quat = data["position"].astype(float), data["quaternion_xyzw"].astype(float)
    return Race(
        (data["track_vertices"].astype(float), data["track_faces"]),
        (data["car_vertices"].astype(float), data["car_faces"]),
        gc.Poses.from_quat_xyzw(position[first], quat[first]),
        gc.Poses.from_quat_xyzw(position[first + 1], quat[first + 1]),
        seconds[first + 1] - seconds[first],
        seconds[first],
    )


def swept_boxes(vertices, start: gc.Poses, end: gc.Poses) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper corners (steps, 3) of boxes that hold the moving vertices during the whole step.

    Between the poses a point runs on a screw line, which leaves the chord by at most half its length times
    tan(turn / 4). The corners of the body's own box stand for all its points.
    """
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    corners = np.array(
        [[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])]
    )
    moved = []
    for poses in (start, end):
        rotation = poses.to_matrix()[:, :3, :3]
        moved.append(np.einsum("nij,kj->nki", rotation, corners) + poses.position[:, None])
    cosine = np.abs((start.unit_wxyz * end.unit_wxyz).sum(axis=1)).clip(0.0, 1.0)
    chord = np.linalg.norm(moved[1] - moved[0], axis=2).max(axis=1)
    bulge = (0.5 * chord * np.tan(0.5 * np.arccos(cosine)))[:, None]
    both = np.concatenate(moved, axis=1)
    return both.min(axis=1) - bulge, both.max(axis=1) + bulge


def near_triangles(vertices, faces, low, high) -> list[np.ndarray]:
    """For every box the sorted numbers of the triangles whose own boxes meet it."""
    corners = vertices[faces]
    face_low, face_high = corners.min(axis=1), corners.max(axis=1)
    # Sorted by lower x, only a run of triangles can meet a box: from its low less the widest one to its high.
    order = np.argsort(face_low[:, 0], kind="stable")
    sorted_low, sorted_high = face_low[order], face_high[order]
    widest = (face_high - face_low)[:, 0].max()
    begin = np.searchsorted(sorted_low[:, 0], low[:, 0] - widest, side="left")
    stop = np.searchsorted(sorted_low[:, 0], high[:, 0], side="right")
    near = []
    for k in range(len(low)):
        run = slice(begin[k], stop[k])
        meets = ((sorted_low[run] <= high[k]) & (sorted_high[run] >= low[k])).all(axis=1)
        near.append(np.sort(order[run][meets]))
    return near


@dataclass
class Scene:
    """What `gc.collide` takes, and the way back from its numbers to the recording."""

    bodies: gc.Bodies
    pairs: np.ndarray  # (p, 2): patch of the track, car
    step: np.ndarray  # (p,) step of each pair; steps with no triangle near make no pair
    patch: np.ndarray  # (p,) index into `triangles` and into bodies.meshes
    triangles: list[np.ndarray]  # per patch: the numbers of its triangles in the track

    def track_triangle(self, contacts) -> np.ndarray:
        """Triangle of the track (c,) for contacts of its faces with the car's vertices; -1 for the others."""
        out = np.full(len(contacts), -1)
        for i in np.flatnonzero(np.asarray(contacts.kind) == int(gc.Kind.FV)):
            patch = self.patch[contacts.pair[i]]
            face = self.bodies.meshes[patch].source_face[contacts.feature_a[i]]
            out[i] = self.triangles[patch][face]
        return out


def build_scene(race: Race, *, two_sided: bool = False) -> Scene:
    """One pair for every step with track near; equal patches are made once."""
    vertices, faces = race.track
    low, high = swept_boxes(race.car[0], race.start, race.end)
    near = near_triangles(vertices, faces, low, high)
    step = np.array([k for k, found in enumerate(near) if len(found)], dtype=np.int64)
    numbers: dict[bytes, int] = {}
    triangles, patch = [], np.empty(len(step), np.int64)
    for i, k in enumerate(step):
        patch[i] = numbers.setdefault(near[k].tobytes(), len(triangles))
        if patch[i] == len(triangles):
            triangles.append(near[k])
    meshes = []
    for found in triangles:
        used, corner = np.unique(faces[found], return_inverse=True)
        meshes.append(gc.Mesh(vertices[used], corner.reshape(-1, 3), two_sided=two_sided))
    meshes.append(gc.Mesh(*race.car, two_sided=two_sided))

    p, still = len(step), gc.Poses.identity(len(triangles))
    start, end = (
        gc.Poses.from_quat_wxyz(
            np.concatenate([still.position, poses.position[step]]),
            np.concatenate([still.quat_wxyz, poses.quat_wxyz[step]]),
        )
        for poses in (race.start, race.end)
    )
    shape = np.concatenate([np.arange(len(triangles)), np.full(p, len(triangles))])
    bodies = gc.Bodies(meshes, shape, start, end)
    pairs = np.stack([patch, len(triangles) + np.arange(p)], axis=1)
    return Scene(bodies, pairs, step, patch, triangles)


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("race", help="recorded race, an .npz file")
    parser.add_argument("--two-sided", action="store_true", help="meet the back of track and car as well")
    parser.add_argument(
        "--properness", type=float, default=-0.1, help="threshold of properness (default -0.1)"
    )
    parser.add_argument("--backend", default="auto", help="auto, cpu, opencl, cuda or reference")
    parser.add_argument("-o", "--output", help="keep the contacts in this .npz file")
    arguments = parser.parse_args(argv)
    try:
        race = load_race(arguments.race)
    except (FileNotFoundError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    begin = time.perf_counter()
    scene = build_scene(race, two_sided=arguments.two_sided)
    built = time.perf_counter()
    contacts = gc.collide(
        scene.bodies, scene.pairs, min_properness=arguments.properness, backend=arguments.backend
    ).to_numpy()
    done = time.perf_counter()

    steps, sizes = len(race.time), [len(found) for found in scene.triangles]
    largest = max(sizes, default=0)
    print(f"{steps} steps over {race.duration.sum():.0f} s, {len(race.track[1])} triangles of track")
    print(f"{len(scene.pairs)} steps have track near, {len(sizes)} different patches of 1 to {largest}")
    print(f"patches {built - begin:.2f} s, contacts {done - built:.2f} s")
    print(contacts)
    hit = np.flatnonzero(np.asarray(contacts.status) == int(gc.Status.HIT))
    print(f"{len(hit)} steps with contact; the first ones:")
    for pair in hit[:8]:
        i = contacts.contact_start[pair]
        step = scene.step[pair]
        when = race.time[step] + contacts.toi[pair] * race.duration[step]
        x, y, z = contacts.position[i]
        found = contacts.contact_start[pair + 1] - i
        print(f"  {when:8.3f} s at ({x:8.2f}, {y:7.2f}, {z:8.2f}), {found} contacts in the step")
    if arguments.output:
        contacts.save(arguments.output)
        print(f"written: {arguments.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
