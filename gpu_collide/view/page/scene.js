// What the page shows: arrays out of the packed data, and where every body is at every time.
"use strict";

const TYPES = { f8: Float64Array, f4: Float32Array, i4: Int32Array, u4: Uint32Array, u1: Uint8Array };

async function unpack(head, text) {
  const raw = Uint8Array.from(atob(text), c => c.charCodeAt(0));
  const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate"));
  const buffer = await new Response(stream).arrayBuffer();
  const arrays = {};
  for (const [name, [type, offset, length]] of Object.entries(head.arrays))
    arrays[name] = new TYPES[type](buffer, offset, length);
  return arrays;
}

class Scene {
  constructor(head, arrays) {
    Object.assign(this, head, { data: arrays });
    this.moving = arrays.moving_mesh.length;
    this.still = arrays.still_mesh.length;
    this.count = arrays.event_start.length - 1;
    this.colors = Array.from({ length: this.moving }, (_, i) => bodyColor(i, this));
    this.singles = true; // each event is one contact
    for (let e = 0; e < this.count; e++) if (arrays.event_start[e + 1] - arrays.event_start[e] > 1) this.singles = false;
    this.pinned = null; // contact whose body B is drawn as A sees it
    this.choose(0);
  }

  // One of the pairs, worlds or races: its bodies, its times, its events by time.
  choose(group) {
    const { group_start: starts, group_bodies: bodies, group_frames: frames } = this.data;
    this.group = group;
    this.bodies = Array.from(bodies.subarray(starts[group], starts[group + 1]));
    [this.first, this.last] = [frames[2 * group], frames[2 * group + 1]];
    this.begin = this.data.times[this.first];
    this.end = this.data.times[this.last];
    this.events = [];
    for (let e = 0; e < this.count; e++) if (this.data.event_group[e] === group) this.events.push(e);
    const begins = e => this.data.contact_time[this.data.event_start[e]];
    this.events.sort((a, b) => begins(a) - begins(b) || a - b);
    this.pinned = null;
  }

  step(time) {
    let low = this.first, high = Math.max(this.last - 1, this.first);
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.data.times[middle] <= time) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  frame(body, k) {
    if (body >= this.moving) return Array.from(this.data.still_pose.subarray(7 * (body - this.moving), 7 * (body - this.moving) + 7));
    const at = 7 * (k * this.moving + body);
    return Array.from(this.data.moving_pose.subarray(at, at + 7));
  }

  // Pose of a body by its own motion, a screw or a spin; null where it has none.
  pose(body, time) {
    if (body >= this.moving) return this.frame(body, 0);
    const t = Math.min(time, this.data.stop[body]), k = this.step(t);
    const start = this.frame(body, k);
    if (Number.isNaN(start[0])) return null;
    if (this.last === this.first || this.data.hold[k * this.moving + body]) return start;
    const end = this.frame(body, k + 1);
    if (Number.isNaN(end[0])) return start;
    const share = (t - this.data.times[k]) / (this.data.times[k + 1] - this.data.times[k]);
    const part = Math.min(Math.max(share, 0), 1);
    const spin = this.data.spin.subarray(9 * body, 9 * body + 9);
    return spin.length && this.data.spins[body] ? alongSpin(start, Array.from(spin), part) : alongScrew(start, end, part);
  }

  // B moves along the screw relative to A, as contacts are found unless each body has its own motion: A by its own, B with A.
  poseSeenBy(a, b, time) {
    const k = this.step(time), share = (time - this.data.times[k]) / (this.data.times[k + 1] - this.data.times[k]);
    const [a0, b0, a1, b1] = [this.frame(a, k), this.frame(b, k), this.frame(a, k + 1), this.frame(b, k + 1)];
    if ([a0, b0, a1, b1].some(pose => Number.isNaN(pose[0]))) return this.pose(b, time);
    const seen = alongScrew(after(inverse(a0), b0), after(inverse(a1), b1), share, false);
    return after(alongScrew(a0, a1, share), seen);
  }

  // Where a body is drawn.
  shown(body, time) {
    if (this.own) return this.pose(body, time);
    if (this.pairs && body === this.bodies[1]) return this.poseSeenBy(this.bodies[0], body, time);
    const c = this.pinned;
    if (c !== null && body === this.data.contact_b[c] && body < this.moving) {
      const a = this.data.contact_a[c];
      if (a < this.moving && this.step(time) === this.step(this.data.contact_time[c])) return this.poseSeenBy(a, body, time);
    }
    return this.pose(body, time);
  }

  mesh(body) {
    return body < this.moving ? this.data.moving_mesh[body] : this.data.still_mesh[body - this.moving];
  }

  scale(body) {
    return body < this.moving ? this.data.scale.subarray(3 * body, 3 * body + 3) : [1, 1, 1];
  }

  name(body) {
    return this.names[body] ?? (body < this.moving ? "body " : "still ") + this.data.number[body];
  }

  at(contact) {
    return Array.from(this.data.contact_place.subarray(3 * contact, 3 * contact + 3));
  }

  size(body) {
    return this.meshes[this.mesh(body)].radius * Math.max(...this.scale(body));
  }
}

function bodyColor(i, scene) {
  if (scene.pairs) return i % 2 ? [0.89, 0.545, 0.173] : [0.227, 0.463, 0.686];
  const h = (0.35 + ((0.22 + 0.309017 * i) % 0.5)) * 6, v = 0.72 + 0.14 * ((i % 3) - 1);
  return [5, 3, 1].map(n => v - v * 0.72 * Math.max(0, Math.min((n + h) % 6, 4 - ((n + h) % 6), 1)));
}
