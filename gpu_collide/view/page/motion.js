// Rigid motions: a pose is [x, y, z, w, i, j, k], a place and a unit quaternion with the scalar first.
"use strict";

const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const plus = (a, b, s = 1) => [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]];
const times = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
const norm = a => Math.hypot(a[0], a[1], a[2]);
const unit = a => times(a, 1 / Math.max(norm(a), 1e-300));
const place = p => [p[0], p[1], p[2]];
const turn = p => [p[3], p[4], p[5], p[6]];
const conjugate = q => [q[0], -q[1], -q[2], -q[3]];

function multiply(p, q) {
  const v = plus(plus(times(q.slice(1), p[0]), p.slice(1), q[0]), cross(p.slice(1), q.slice(1)));
  return [p[0] * q[0] - dot(p.slice(1), q.slice(1)), ...v];
}

function rotate(q, x) {
  const twice = times(cross(q.slice(1), x), 2);
  return plus(plus(x, twice, q[0]), cross(q.slice(1), twice));
}

const apply = (pose, x) => plus(rotate(turn(pose), x), place(pose));
const after = (a, b) => [...apply(a, place(b)), ...multiply(turn(a), turn(b))];
const inverse = a => {
  const q = conjugate(turn(a));
  return [...times(rotate(q, place(a)), -1), ...q];
};

// The pose at a share of the screw motion between two poses, the shorter way round: Poses.toward is the same
// formula. `own`: of a half turn, the sign of the axis is chosen in the
// body's own axes, else in those of the frame that the poses are in.
function alongScrew(start, end, share, own = true) {
  const first = turn(start);
  let q = multiply(turn(end), conjugate(first));
  if (q[0] < 0) q = q.map(x => -x);
  const sine = norm(q.slice(1));
  if (sine === 0) return [...plus(place(start), plus(place(end), place(start), -1), share), ...first];
  let axis = times(q.slice(1), 1 / sine);
  if (q[0] < 1e-12) {
    const told = own ? rotate(conjugate(first), axis) : axis;
    if ((told.find(x => Math.abs(x) > 1e-9) ?? 1) < 0) axis = times(axis, -1);
  }
  const half = Math.atan2(sine, q[0]), way = plus(place(end), place(start), -1);
  const along = times(axis, dot(way, axis)), across = plus(way, along, -1);
  const rest = (1 - share) * half, part = share * half, factor = Math.sin(part) / Math.sin(half);
  const moved = plus(times(across, Math.cos(rest)), cross(axis, way), -Math.sin(rest));
  const at = plus(plus(place(start), along, share), moved, factor);
  return [...at, ...multiply([Math.cos(part), ...times(axis, Math.sin(part))], first)];
}

// The pose at a share of a step of a body that goes straight on and spins: `spin` has its way, its turn (an axis as
// long as the angle) and its reference point in body coordinates, nine numbers; Spins.poses_at is the same formula.
function alongSpin(start, spin, share) {
  const [way, turned, center] = [0, 3, 6].map(k => spin.slice(k, k + 3));
  const half = 0.5 * share * norm(turned), first = turn(start);
  const now = multiply([Math.cos(half), ...times(unit(turned), Math.sin(half))], first);
  const arm = plus(rotate(first, center), rotate(now, center), -1);
  return [...plus(plus(place(start), way, share), arm), ...now];
}

// Column-major 4 x 4 matrix of a pose with a scale for each axis.
function matrixOf(pose, scale) {
  const q = turn(pose), m = new Float32Array(16);
  for (let k = 0; k < 3; k++) {
    const axis = [0, 0, 0];
    axis[k] = scale[k];
    m.set(rotate(q, axis), 4 * k);
  }
  m.set([...place(pose), 1], 12);
  return m;
}
