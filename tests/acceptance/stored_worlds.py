"""Cases of `stored_bits.py` about movers, sweeps and characters in a world."""

import numpy as np

import gpu_collide as gc
from tests.acceptance.stored_digests import by_stored_name, digest, of_inputs, rounded, steady
from tests.oracle.sweep_casts import cube, inside_out, steps
from tests.pluecker._crowds import BOX, CAR, TORUS, crowd
from tests.sweep._scenes import quaternions, sweeps
from tests.sweep.test_w03_planes import world

SHEET = gc.Mesh(
    [[-1, -1, 0], [1, -1, 0], [1, 1, 0.25], [-1, 1, 0.25], [0, 0, 0.75]],
    [[0, 1, 4], [1, 2, 4], [2, 3, 4]], two_sided=True,
)  # fmt: skip


def cases():
    """As `stored_bits.cases`."""
    yield from primitives()
    yield from _movers()
    yield from _sweeps()
    yield from _characters()


def _result(found):
    """Digest of all arrays of a result; plain arrays have no names."""
    if not hasattr(found, "info"):
        return digest(found)
    return digest(*by_stored_name(found, {k: v for k, v in vars(found).items() if isinstance(v, np.ndarray)}))


def _case(name, inputs, function, *args, **keywords):
    return name, inputs, lambda backend: _result(function(*args, backend=backend, **keywords))


def primitives(n=300):
    """Single features, of random and of small whole numbers."""
    rng, p = np.random.default_rng(1), gc.pluecker
    x, way, edge, still = (rounded(rng.uniform(-1, 1, (n, *shape))) for shape in ((3,), (3,), (2, 3), (2, 3)))
    x[::3], way[::3], edge[::3] = (rng.integers(-3, 4, a[::3].shape) for a in (x, way, edge))
    way[(way == 0).all(axis=1)] = 1.0
    square = np.array([[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
    angle = rounded(rng.uniform(-3, 3, n))
    inputs = digest(x, way, edge, still, angle)
    options = {"expel": 2.0**-6}
    yield _case("primitives vt", inputs, p.vertex_polygon_translation, x, way, square, **options)
    yield _case("primitives et", inputs, p.edge_edge_translation, edge, way, still, **options)
    turn = angle, way, x[::-1].copy()
    yield _case("primitives vr", inputs, p.vertex_polygon_rotation, x, *turn, square, **options)
    yield _case("primitives er", inputs, p.edge_edge_rotation, edge, *turn, still, **options)


def _movers():
    """Ways, turns and both among solids and sheets; what starts inside; what is near."""
    movers, world, way, turn = crowd(3, 24, (CAR, BOX, SHEET), (TORUS, BOX, SHEET), 6, 2.5)
    movers, world, way = steady(movers), steady(world), rounded(way)
    turn = tuple(map(rounded, turn))
    inputs = digest(of_inputs(movers, {}), of_inputs(world, {}), way, *turn)
    p, start = gc.pluecker, movers.start.position
    for precision in ("mixed", "single"):
        own = {"precision": precision}
        yield _case(f"movers translate {precision}", inputs, p.translate, movers, world, way, **own)
        yield _case(f"movers rotate {precision}", inputs, p.rotate, movers, world, *turn, **own)
        yield _case(f"movers contacts {precision}", inputs, p.contacts, movers, world, 0.5, **own)
    yield _case("movers move", inputs, p.move, movers, world, check_start=True)
    yield _case("movers points", inputs, p.translate, start, world, way)
    pairs = np.column_stack([np.arange(24), np.arange(24) % 6]).astype(np.int32)
    yield _case("movers pairs", inputs, p.rotate, movers, world, *turn, pairs=pairs)


def _sweeps():
    """All four forms among bodies that move."""
    forms = {}
    for function, (*args, scene), keywords in sweeps(5, 100, bodies=8):
        forms[function.__name__] = function, args, scene, keywords
    for name, (function, args, scene, keywords) in forms.items():
        if name == "clusters":
            (clusters, which), *rest = args
            clusters = [gc.sweep.Cluster(rounded(c.centers), rounded(c.radii)) for c in clusters]
            numbers = [a for c in clusters for a in (c.centers, c.radii)]
            args = (clusters, which), *map(rounded, rest)
            numbers += [which, *args[1:]]
        else:
            args = numbers = tuple(map(rounded, args))
        scene, keywords = steady(scene), {k: rounded(v) for k, v in keywords.items()}
        inputs = digest(of_inputs(scene, {}), *numbers, *keywords.values())
        yield _case(f"sweeps {name}", inputs, function, *args, scene, **keywords)
        if name in ("spheres", "clusters"):
            both = keywords | {"two_sided": True, "buffer": 2.0**-6}
            yield _case(f"sweeps {name} all", inputs, function, *args, scene, hits="all", **both)
            yield _case(
                f"sweeps {name} single", inputs, function, *args, scene, precision="single", **keywords
            )


def _characters():
    """Planes, clipped ways and steps in a room with stairs and a block, at rest and moving."""
    rng, n = np.random.default_rng(7), 30
    block = cube(1)
    block.vertices = block.vertices + [3.0, 0.5, 0.25]
    drift = rounded(rng.normal(size=(3, 3)) * 0.2)
    place = rounded(rng.uniform(-3, 3, (n, 3)))
    place[:, 2] = np.abs(place[:, 2]) * 0.5 + 1.5
    radii = rounded(rng.uniform(0.125, 0.5, (n, 3)))
    way = rounded(rng.normal(size=(n, 3)) * rng.choice([0.1, 1, 5], n)[:, None])
    turned = rounded(quaternions(rng, n))
    normal = rounded(rng.normal(size=(2 * n, 3)))
    normal = normal / np.sqrt((normal * normal).sum(axis=1))[:, None]
    for name, to in (("rest", None), ("moving", drift)):
        scene = steady(world(inside_out(cube(8)), steps(3, 0.25, 0.5, 1.25), block, to=to))
        inputs = digest(of_inputs(scene, {}), place, radii, way, turned, normal)
        options = {"orientation": turned, "precision": "single" if to is None else "mixed"}
        yield _case(f"characters planes {name}", inputs, gc.sweep.planes, scene, place, radii, 1.5, **options)
        options |= {"gravity": [0, 0, -2.5], "step_height": 0.25}
        yield _case(f"characters slide {name}", inputs, gc.sweep.slide, scene, place, radii, way, **options)
    offsets = np.arange(n + 1) * 2
    yield _case("characters clip", inputs, gc.sweep.clip, way, normal, offsets)
