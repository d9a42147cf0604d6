"""Stage w05: one step of a character: it walks, slides along what it meets, and falls."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from gpu_collide.bodies.bodies import Bodies
from gpu_collide.bodies.casts import turning
from gpu_collide.bodies.poses import Poses
from gpu_collide.bodies.quaternion import between, conjugate, rotate, turn_vector
from gpu_collide.reference.sweep.w01_first import first_touches
from gpu_collide.reference.sweep.w03_planes import planes_near
from gpu_collide.reference.sweep.w04_clip import NOTHING, nearest_allowed

__all__ = ["Rules", "step"]

MISS, HIT, UNRESOLVED = 0, 1, 4
EDGE, VERTEX = 2, 3
#: Planes beside the one that was met.
MOST_NEAR = 16


@dataclass(frozen=True)
class Rules:
    """What all characters have in common; ``kernels/sweep/gc_slide.h`` says of each what it is."""

    two_sided: bool
    most: int
    falls: bool
    step: float
    ground: float
    skin: float
    up: np.ndarray

    @classmethod
    def of(cls, rules):
        up = np.array([rules["up_x"], rules["up_y"], rules["up_z"]])
        names = ("two_sided", "most", "falls", "step", "ground", "skin")
        return cls(**{name: rules[name] for name in names}, up=up)


@dataclass
class Walker:
    """One character: where it is, how much of the bodies' motion has passed and will, what it met."""

    place: np.ndarray
    velocity: np.ndarray
    since: float = 0.0
    share: float = 1.0
    casts: int = 0
    status: int = MISS
    barred: bool = False
    climbs: bool = False
    ground: int = -1
    normal: np.ndarray = field(default_factory=lambda: np.zeros(3))


class Step:
    """The step of character i."""

    def __init__(self, bodies, casts, i, rules, meeting):
        self.bodies, self.rules, self.i, self.meeting = bodies, rules, i, meeting
        self.one = casts.take(slice(i, i + 1))

    def world(self, walker):
        """The bodies over the part of their motion that the walker's next way takes."""
        b = self.bodies
        if b.start is b.end:
            return b
        way = b.end.position - b.start.position
        turns, moments = turning(b)[:, None], (walker.since, walker.since + walker.share)
        poses = []
        for moment in moments:
            quat = between(b.start.unit_wxyz, b.end.unit_wxyz, moment)
            quat = np.where(turns, quat, b.start.quat_wxyz)
            poses.append(Poses(b.start.position + moment * way, quat, b.start.valid & b.end.valid))
        return Bodies(b.meshes, b.shape, *poses)

    def go(self, walker, way):
        """Cast: moves the walker, returns what is left of the way and what it met or None: its normal, its
        body, whether one of the faces at the place is ground, and the place."""
        cast = replace(self.one, start=walker.place[None], path=way[None])
        world = self.world(walker)
        found = first_touches(world, cast, self.rules.two_sided, self.rules.skin, rules=self.meeting)
        walker.casts += 1
        time = found["time"][0] if len(found["time"]) else 1.0
        walker.place = walker.place + time * way
        walker.since += time * walker.share
        walker.share -= time * walker.share
        if not len(found["time"]):
            return (1.0 - time) * way, None
        body = int(found["body"][0])
        ground = self.has_ground(body, found["feature"][0], int(found["number"][0]), walker.since)
        point = found["point"][0]
        return (1.0 - time) * way, (found["normal"][0], body, ground, point, self.motion(body, point, walker))

    def motion(self, body, point, walker):
        """Of a point of a body, over the whole step, if it went on as it does now."""
        b = self.bodies
        way = b.end.position[body] - b.start.position[body]
        if not turning(b)[body]:
            return way
        spin = turn_vector(b.start.unit_wxyz[body], b.end.unit_wxyz[body])
        return way + np.cross(spin, point - b.start.position[body] - walker.since * way)

    def swing(self, body, point, normal):
        """How much more than by its motion now a point of a body that turns comes along a normal, at most."""
        b = self.bodies
        if not turning(b)[body]:
            return 0.0
        spin = turn_vector(b.start.unit_wxyz[body], b.end.unit_wxyz[body])
        way = b.end.position[body] - b.start.position[body]
        arms = np.cross(spin, point - b.start.position[body]), np.cross(spin, way)
        return 0.5 * np.linalg.norm(np.cross(normal, spin)) * sum(np.linalg.norm(arm) for arm in arms)

    def has_ground(self, body, feature, number, moment):
        mesh = self.bodies.meshes[self.bodies.shape[body]]
        faces = [number]
        if feature == EDGE:
            faces = mesh.edge_faces[mesh.edge_face_start[number] : mesh.edge_face_start[number + 1]] >> 1
        elif feature == VERTEX:
            faces = mesh.vertex_faces[mesh.vertex_face_start[number] : mesh.vertex_face_start[number + 1]]
        quat = self.bodies.start.unit_wxyz[body]
        if turning(self.bodies)[body]:
            quat = between(quat, self.bodies.end.unit_wxyz[body], moment)
        return any(self.is_ground(rotate(quat, mesh.face_planes[f, :3])) for f in faces)

    def gather(self, walker, hit):
        """Planes, (normal, body), that with which it met first."""
        how = self.rules.two_sided, 2.0 * self.rules.skin, walker.since, self.meeting
        near = planes_near(self.bodies, self.one, 0, walker.place, *how)
        near.sort(key=lambda p: (p.gap, p.feature, p.body, p.number))
        return [(*hit[:2], hit[4], hit[3])] + [
            (p.normal, p.body, p.body_displacement, p.point) for p in near[:MOST_NEAR]
        ]

    def is_ground(self, normal):
        return normal @ self.rules.up >= self.rules.ground

    def tables(self, found, share, walks):
        """Normals and pushes."""
        up, out = self.rules.up, []
        for normal, body, motion, point in found:
            high, push = normal @ up, 0.0
            if walks and self.rules.falls and 0 < high < self.rules.ground:
                level = normal - high * up
                size = np.linalg.norm(level)
                normal = level / size
                push = share * max(motion @ up, 0.0) * high / size  # what rises comes from the side
            push += share * (normal @ motion) + share * share * self.swing(body, point, normal)
            out.append((*normal, push))
        rows = np.array(out).reshape(-1, 4)
        return rows[:, :3], rows[:, 3]

    def clipped(self, v, found, share, walks):
        """The nearest velocity that leads into no plane as who walks has them, nor as they are; or None."""
        planes = self.tables(found, share, walks)
        x, _ = nearest_allowed(v, *planes)
        if not walks or not self.rules.falls or x is None:
            return x
        leaning = [p for p in found if 0 < p[0] @ self.rules.up < self.rules.ground]
        normals, pushes = self.tables(leaning, share, False)
        if (normals @ x >= pushes - NOTHING * max(np.linalg.norm(v), np.abs(planes[1]).max())).all():
            return x
        return nearest_allowed(v, np.vstack((planes[0], normals)), np.append(planes[1], pushes))[0]

    def run(self, walker, way, walks):
        """One pass."""
        first = way
        for _ in range(self.rules.most):
            if not way.any() and walker.share <= 0:
                return
            way, hit = self.go(walker, way)
            if hit is None:
                return
            walker.status = max(walker.status, HIT)
            found = self.gather(walker, hit)
            if walks:
                walker.barred |= any(n @ way < 0 and not self.is_ground(n) for n, *_ in found)
            else:
                for k, (normal, body, *_) in enumerate(found):
                    if self.is_ground(normal) or (k == 0 and walker.climbs and hit[2]):
                        walker.ground, walker.normal, walker.velocity = body, normal, np.zeros(3)
                        return
            way = self.clipped(way, found, walker.share, walks)
            if way is None:
                walker.status = UNRESOLVED
                return
            left = self.clipped(walker.velocity, found, 1.0, walks)
            walker.velocity = walker.velocity if left is None else left
            if not walks and way @ way <= 1e-18 * (first @ first):
                walker.ground, walker.normal = hit[1], hit[0]
                return
            if way @ first <= 0 and walker.share <= 0:
                return
        walker.status = UNRESOLVED

    def climb(self, walker, way):
        """The same over a step; whether there is ground behind it."""
        low, share = walker.place, walker.share
        walker.share = 0.0
        self.go(walker, self.rules.step * self.rules.up)
        down = -((walker.place - low) @ self.rules.up) * self.rules.up
        walker.share = share
        self.run(walker, way, True)
        _, hit = self.go(walker, down)
        if hit is None or walker.status == UNRESOLVED:
            return False
        walker.climbs = True
        if self.is_ground(hit[0]):
            return True
        foot = np.linalg.norm(rotate(conjugate(self.one.quat[0]), self.rules.up) * self.one.radius[0])
        return hit[2] and (hit[3] - low) @ self.rules.up + foot <= self.rules.step


def step(bodies, casts, i, velocity, fall, rules, meeting=None):
    """What became of character i, by the names of `gpu_collide.sweep.Slides`. `meeting`: rules of the bodies,
    if they have any."""
    here, way = casts.start[i], casts.path[i]
    if rules.skin < 0:  # a share of the least radius
        rules = replace(rules, skin=-rules.skin * casts.radius[i].min())
    it = Step(bodies, casts, i, rules, meeting)
    walker = Walker(here, velocity)
    it.run(walker, way, True)
    if walker.barred and rules.step > 0:
        other = Walker(here, velocity)
        good = it.climb(other, way)
        total = walker.casts + other.casts
        far = [w.place - here - (w.place - here) @ rules.up * rules.up for w in (walker, other)]
        if good and np.linalg.norm(far[1]) > np.linalg.norm(far[0]):
            walker = other
        walker.casts = total
    kept = walker.velocity
    walker.since, walker.share, walker.velocity, walker.ground = 1.0, 0.0, fall, -1
    if fall.any():
        it.run(walker, fall, False)
    return {
        "position": walker.place, "velocity": kept, "fall_velocity": walker.velocity,
        "ground_normal": walker.normal, "status": walker.status, "ground": walker.ground,
        "casts": walker.casts,
    }  # fmt: skip
