"""Features at the moment they meet: place, inside distance, facing, properness."""

import numpy as np

from tests.oracle.roots import EE, FV, VF
from tests.oracle.solid import apply, cross, dot, norm

FACING = 1e-9  # of the speed (docs/conventions.md)


def local_of_b(scene, pair, t, x):
    """Points x of A's centred frame at times t, in B's centred mesh frame."""
    back = scene.m.rotate(pair, -t, x - scene.m.centre(pair, t))
    return apply(np.swapaxes(scene.axes_b[pair], -1, -2), back)


def padded_min(values, used):
    return np.where(used, values, np.inf).min(1)


def geometry(items, t):
    """Where the features of items are at times t: place, inside distance, B's local point, |sin|,
    directions."""
    scene, a, b = items.scene, items.scene.a, items.scene.b
    n = len(items)
    m = scene.m
    u = m.rotate(items.pair, t, items.db)
    y = m.centre(items.pair, t) + m.rotate(items.pair, t, items.cb)
    place = np.where((items.kind == FV)[:, None], y, items.ca)
    place_b = y.copy()
    inside, sine = np.full(n, -np.inf), np.ones(n)
    i = np.nonzero(items.kind == FV)[0]
    inside[i] = a.inside(items.fa[i], place[i])
    i = np.nonzero(items.kind == VF)[0]
    inside[i] = b.inside(items.fb[i], local_of_b(scene, items.pair[i], t[i], place[i]))
    place_b[i] = place[i]
    i = np.nonzero(items.kind == EE)[0]
    da, ue, w = items.da[i], u[i], (y - items.ca)[i]
    n = cross(da, ue)
    s2 = dot(n, n)
    sine[i] = np.sqrt(s2)
    with np.errstate(all="ignore"):
        along_a, along_b = dot(cross(w, ue), n) / s2, dot(cross(w, da), n) / s2
        inside[i] = np.minimum(
            a.edge_half[items.fa[i]] - np.abs(along_a), b.edge_half[items.fb[i]] - np.abs(along_b)
        )
    bad = ~np.isfinite(inside[i])
    inside[i[bad]] = -np.inf
    along_a[bad] = along_b[bad] = 0.0
    place[i] = items.ca[i] + along_a[:, None] * da
    place_b[i] = y[i] + along_b[:, None] * ue
    return place, place_b, inside, sine, u


def facing(items, t, place):
    """How far n.omega is on the right side, of the speed, at the better face of either body (>= 0: within
    tolerance).

    Against the tolerance itself: a face that slides has exactly the value FACING.
    """
    scene, a, b, p = items.scene, items.scene.a, items.scene.b, items.pair
    flow = scene.m.flow(p, place)
    speed = np.where(scene.still[p], 1.0, scene.speed[p])
    n = len(items)
    best_a, best_b = np.full(n, -np.inf), np.full(n, -np.inf)

    def look(kind, solid, feature, table, best, sign, normals):
        i = np.nonzero(items.kind == kind)[0]
        faces = table[feature[i]]
        if faces.ndim == 1:
            faces = faces[:, None]
        for k in range(faces.shape[1]):
            used = faces[:, k] >= 0
            nf = normals(i, np.maximum(faces[:, k], 0))
            value = FACING - sign * dot(nf, flow[i]) / speed[i]
            best[i] = np.where(used, np.maximum(best[i], value), best[i])

    def of_a(i, f):
        return a.normal[f]

    def of_b(i, f):
        return scene.m.rotate(p[i], t[i], scene.b_normal[p[i], f])

    edge_face_a = np.where(a.edge_side != 0, a.edge_face, -1)
    edge_face_b = np.where(b.edge_side != 0, b.edge_face, -1)
    own_a, own_b = np.arange(len(a.normal)), np.arange(len(b.normal))
    for kind, table_a, table_b in (
        (FV, own_a, b.vertex_face), (VF, a.vertex_face, own_b), (EE, edge_face_a, edge_face_b),
    ):  # fmt: skip
        look(kind, a, items.fa, table_a, best_a, 1.0, of_a)
        look(kind, b, items.fb, table_b, best_b, -1.0, of_b)
    if a.two_sided:
        best_a[:] = np.inf
    if b.two_sided:
        best_b[:] = np.inf
    out = np.minimum(best_a, best_b)
    return np.where(scene.still[p], np.inf, out), flow


def vertex_properness(solid, vertex, spokes, n):
    """min(e.n) over the edges leaving, negative at a pit. spokes (n, k, 3) turned, n (n, 3) outward normal
    of the face."""
    used = solid.vertex_spoke[vertex] >= 0
    value = padded_min(np.einsum("nki,ni->nk", spokes, n), used)
    return np.where(used.any(1), value, -1.0)


def edge_terms(solid, edge, e, normals, n):
    """The terms of formula (7) of one body, n pointing out of it: how far each face falls behind the plane
    of n."""
    side = solid.edge_side[edge]
    outward = cross(n, e)
    value = side * np.einsum("ni,nki->nk", outward, normals)
    return padded_min(value, side != 0)


def properness(items, t, u, flow):
    """Properness, normal A -> B in A's axes at t, whether the normal's sign is beyond doubt."""
    scene, a, b, m, p = items.scene, items.scene.a, items.scene.b, items.scene.m, items.pair
    n_out, normal = len(items), np.zeros((len(items), 3))
    value, sure = np.full(n_out, -1.0), np.ones(n_out, bool)

    def at_vertices(i, solid, vertex, n, local, sign, two_sided):
        """Value and outward normal of faces with outward normals n, on vertices of the other body in whose
        axes the normals are `local`; sign * n points from A to B. Of a two-sided mesh the normal is the one
        against the approach, and where nothing approaches the more proper one."""

        def pitted(local):
            out = vertex_properness(solid, vertex, solid.vertex_spoke_dir[vertex], local)
            for k in np.nonzero(out > 0)[0]:
                if solid.is_pit(vertex[k], local[k]):
                    out[k] *= -1
            return out

        one = pitted(local)
        if not two_sided:
            return one, n
        other, along = pitted(-local), sign * dot(n, flow[i])
        idle = np.abs(along) <= FACING * scene.speed[p[i]]
        sure[i] &= np.abs(along) > 1e-8 * scene.speed[p[i]] + 1e3 * scene.rounding[p[i]]
        turn = np.where(idle, other > one, along > 0)
        return np.where(turn, other, one), np.where(turn[:, None], -n, n)

    i = np.nonzero(items.kind == FV)[0]
    local_n = apply(np.swapaxes(scene.axes_b[p[i]], -1, -2), m.rotate(p[i], -t[i], items.da[i]))
    value[i], normal[i] = at_vertices(i, b, items.fb[i], items.da[i], local_n, 1.0, a.two_sided)

    i = np.nonzero(items.kind == VF)[0]
    value[i], n = at_vertices(i, a, items.fa[i], u[i], u[i], -1.0, b.two_sided)
    normal[i] = -n

    i = np.nonzero(items.kind == EE)[0]
    if len(i):
        with np.errstate(all="ignore"):
            n = cross(items.da[i], u[i])
            n = n / norm(n)[:, None]
        n = np.nan_to_num(n)
        faces_b = b.edge_face[items.fb[i]]
        k = faces_b.shape[1]
        pk, tk = np.repeat(p[i], k), np.repeat(t[i], k)
        normals_b = m.rotate(pk, tk, scene.b_normal[pk, faces_b.ravel()]).reshape(len(i), k, 3)
        normals_a = a.normal[a.edge_face[items.fa[i]]]

        def formula(n):
            return np.minimum(
                edge_terms(a, items.fa[i], items.da[i], normals_a, n),
                edge_terms(b, items.fb[i], u[i], normals_b, -n),
            )

        plus, minus = formula(n), formula(-n)
        approach = dot(n, flow[i]) < 0
        tie = np.abs(plus - minus) <= 1e-12
        take = np.where(tie, approach, plus > minus)
        doubt = np.abs(plus - minus) <= 1e-7
        if a.two_sided or b.two_sided:
            idle = np.abs(dot(n, flow[i])) <= FACING * scene.speed[p[i]]
            take = np.where(idle, take, approach)
            doubt = np.abs(dot(n, flow[i])) <= 1e-8 * scene.speed[p[i]] + 1e3 * scene.rounding[p[i]]
        sure[i] = ~doubt
        v = np.where(take, plus, minus)
        reflex = a.reflex[items.fa[i]] | b.reflex[items.fb[i]]
        value[i] = np.where(reflex, -np.abs(v), v)
        normal[i] = np.where(take[:, None], n, -n)
    return value, normal, sure
