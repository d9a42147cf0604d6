"""The tables of a set of meshes as ``kernels/common/gc_types.h`` describes them, put together item by item.

Slow and obvious, to compare with `gpu_collide.pipeline.mesh_tables.tables`, whose leaf orders it takes.
"""

import math

import numpy as np

COLUMNS = {
    5: "face_start", 6: "face_vertices", 7: "face_edges", 8: "edges", 9: "edge_face_start", 10: "edge_faces",
    11: "vertex_edge_start", 12: "vertex_edges", 13: "vertex_face_start", 14: "vertex_faces",
    15: "edge_flags", 16: "vertex_flags", 19: "source_vertices", 20: "source_edges", 21: "source_faces",
    23: "edge_faces_away", 24: "vertex_edges_away", 25: "vertex_faces_away",
}  # fmt: skip
WHOLE = range(5, 17)
PATCH = 32


def csr(start, values, row):
    return values[start[row] : start[row + 1]].tolist()


def whole_part(mesh):
    """Tables of a whole mesh, with what the screen reads of it."""
    part = {name: getattr(mesh, name).reshape(-1).tolist() for k, name in COLUMNS.items() if k in WHOLE}
    everything = range(mesh.n_vertices), range(mesh.n_edges), range(mesh.n_faces)
    return part | screen(mesh, *everything)


def screen(mesh, vertices, edges, faces):
    points = mesh.vertices - mesh.center
    ways = [(mesh.vertices[b] - mesh.vertices[a]).tolist() for a, b in mesh.edges[list(edges)]]
    lengths = [math.sqrt(x * x + y * y + z * z) for x, y, z in ways]
    return {
        "counts": (len(vertices), len(edges), len(faces)),
        "points": points[list(vertices)],
        "normals": mesh.face_planes[list(faces), :3],
        "per_length": 1.0 / np.array(lengths),
    }


def patch_parts(mesh, order):
    """Tables of all patches of a mesh."""
    groups = [order[k : k + PATCH] for k in range(0, len(order), PATCH)]
    patch_of = {f: p for p, group in enumerate(groups) for f in group}
    local_face = {f: k for group in groups for k, f in enumerate(group)}
    vertices = [sorted({v for f in group for v in mesh.face(f).tolist()}) for group in groups]
    edges = [sorted({e for f in group for e in csr(mesh.face_start, mesh.face_edges, f)}) for group in groups]
    faces_at = [[c >> 1 for c in csr(mesh.edge_face_start, mesh.edge_faces, e)] for e in range(mesh.n_edges)]
    edge_owner = [min(patch_of[f] for f in faces) for faces in faces_at]
    parts = []
    for p, group in enumerate(groups):
        part = {name: [] for name in COLUMNS.values()}
        for f in group:
            part["face_start"].append(len(part["face_vertices"]))
            part["face_vertices"] += [vertices[p].index(v) for v in mesh.face(f).tolist()]
            part["face_edges"] += [edges[p].index(e) for e in csr(mesh.face_start, mesh.face_edges, f)]
        for e in edges[p]:
            part["edges"] += [vertices[p].index(v) for v in mesh.edges[e].tolist()]
            part["edge_face_start"].append(len(part["edge_faces"]))
            part["edge_flags"].append(int(mesh.edge_flags[e]))
            if edge_owner[e] == p:
                for code in csr(mesh.edge_face_start, mesh.edge_faces, e):
                    part["edge_faces"].append(2 * local_face[code >> 1] + (code & 1))
                    part["edge_faces_away"].append(patch_of[code >> 1] - p)
        for v in vertices[p]:
            around = csr(mesh.vertex_face_start, mesh.vertex_faces, v)
            part["vertex_edge_start"].append(len(part["vertex_edges"]))
            part["vertex_face_start"].append(len(part["vertex_faces"]))
            part["vertex_flags"].append(int(mesh.vertex_flags[v]))
            if min(patch_of[f] for f in around) == p:
                part["vertex_faces"] += [local_face[f] for f in around]
                part["vertex_faces_away"] += [patch_of[f] - p for f in around]
                for code in csr(mesh.vertex_edge_start, mesh.vertex_edges, v):
                    there = p if code >> 1 in edges[p] else edge_owner[code >> 1]
                    part["vertex_edges"].append(2 * edges[there].index(code >> 1) + (code & 1))
                    part["vertex_edges_away"].append(there - p)
        lists = (("face", "face_vertices"), ("edge_face", "edge_faces"), ("vertex_edge", "vertex_edges"))
        for name, entries in (*lists, ("vertex_face", "vertex_faces")):
            part[f"{name}_start"].append(len(part[entries]))
        part |= {"source_vertices": vertices[p], "source_edges": edges[p], "source_faces": list(group)}
        parts.append(part | screen(mesh, vertices[p], edges[p], group))
    return parts


def slow_tables(meshes, orders, real, raster, stride):
    """The tables of the meshes and, if there are `orders` of their faces, of all patches behind them.

    Returns
    -------
    dict of name to array
        By the names of the kernels' arguments; those of the screen as ``screen.NAME``.
    """
    parts = [whole_part(mesh) for mesh in meshes]
    owner = list(range(len(meshes)))
    for k, order in enumerate(orders):
        patches = patch_parts(meshes[k], order.tolist())
        parts, owner = parts + patches, owner + [k] * len(patches)
    headers, topology = np.full((len(parts), stride), -1), []
    for row, part in zip(headers, parts, strict=True):
        row[:3] = part["counts"]
    for row, k in enumerate(owner):
        headers[row, 3] = sum(other["counts"][0] for other in parts[:row])
        headers[row, 4] = sum(other["counts"][2] for other in parts[:row])
        headers[row, 17:19] = meshes[k].two_sided, meshes[k].closed
    rows = [[k] for k in range(len(meshes))]
    rows += [
        [row for row, mesh in enumerate(owner) if row >= len(meshes) and mesh == k]
        for k in range(len(meshes))
    ]
    for k in range(len(meshes)):  # all of a mesh, then all of its patches, then the next mesh
        for some in (rows[k], rows[len(meshes) + k]):
            for column, name in COLUMNS.items():
                for row in some:
                    if name in parts[row]:
                        headers[row, column] = len(topology)
                        topology += parts[row][name]
    corners = [mesh.vertices for mesh in meshes]
    centred = np.concatenate([mesh.vertices - mesh.center for mesh in meshes])
    blocks = {name: np.concatenate([p[name].T.reshape(-1) for p in parts]) for name in ("points", "normals")}
    return {
        "headers_in": headers.astype(np.int32).reshape(-1),
        "topology_in": np.array(topology, np.int32),
        "vertices_in": np.column_stack([centred, np.zeros(len(centred))]).astype(real).reshape(-1),
        "corners_in": np.concatenate(corners).astype(real).reshape(-1),
        "planes_in": np.concatenate([mesh.face_planes for mesh in meshes]).astype(real).reshape(-1),
        "screen.vertices_in": blocks["points"].astype(raster),
        "screen.normals_in": blocks["normals"].astype(raster),
        "screen.inverse_length_in": np.concatenate([p["per_length"] for p in parts]).astype(raster),
        "screen.edge0_in": np.cumsum([0] + [p["counts"][1] for p in parts[:-1]]).astype(np.int32),
    }
