// Drawing by WebGL 2: meshes with flat shading from derivatives, lines, and contacts that light up.
"use strict";

const SHADERS = {
  body: [`#version 300 es
uniform mat4 view, body; in vec3 corner; out vec3 world;
void main() { world = (body * vec4(corner, 1.0)).xyz; gl_Position = view * vec4(world, 1.0); }`,
  `#version 300 es
precision highp float; uniform vec3 color, up, eye; uniform float glow; in vec3 world; out vec4 pixel;
void main() {
  vec3 n = normalize(cross(dFdx(world), dFdy(world)));
  float sky = 0.5 + 0.5 * dot(n, up), front = abs(dot(n, normalize(eye - world)));
  pixel = vec4(color * (0.42 + 0.38 * sky + 0.25 * front) + glow * vec3(0.2, 0.08, 0.0), 1.0);
}`],
  line: [`#version 300 es
uniform mat4 view, body; in vec3 corner; void main() { gl_Position = view * body * vec4(corner, 1.0); }`,
  `#version 300 es
precision highp float; uniform vec4 ink; out vec4 pixel; void main() { pixel = ink; }`],
  dot: [`#version 300 es
uniform mat4 view, body; uniform float size; in vec3 corner;
void main() { gl_Position = view * body * vec4(corner, 1.0); gl_PointSize = size; }`,
  `#version 300 es
precision highp float; uniform vec3 color; out vec4 pixel;
void main() {
  float r = 2.0 * length(gl_PointCoord - 0.5);
  if (r > 1.0) discard;
  pixel = vec4(r > 0.7 ? vec3(1.0) : color, 1.0);
}`],
  contact: [`#version 300 es
uniform mat4 view; uniform float now, fade, shown, chosen, ratio, solid, small; in vec3 corner; in vec3 about; out vec4 tint; flat out float ring;
void main() {
  float age = (now - about.x) / fade;
  bool here = about.z == shown && age >= -1e-6, mine = about.y == chosen;
  float fresh = here ? exp(-max(age, 0.0)) : 0.0;
  gl_Position = here || mine ? view * vec4(corner, 1.0) : vec4(2.0, 2.0, 2.0, 1.0);
  gl_Position.z -= 2e-4 * gl_Position.w;
  gl_PointSize = ratio * ((mine ? 17.0 : small) + 14.0 * fresh);
  tint = vec4(mix(vec3(0.62, 0.05, 0.22), vec3(1.0, 0.83, 0.1), fresh), mine ? 0.95 : solid * mix(small / 5.0, 1.0, fresh));
  ring = mine ? 1.0 : fresh > 0.1 ? 0.5 : 0.0;
}`, `#version 300 es
precision highp float; in vec4 tint; flat in float ring; out vec4 pixel;
void main() {
  float r = 2.0 * length(gl_PointCoord - 0.5);
  if (r > 1.0 || (ring > 0.7 && r > 0.45 && r < 0.72)) discard;
  pixel = vec4(r > 0.8 && ring > 0.2 ? vec3(1.0) : tint.rgb, tint.a);
}`],
};

class Drawing {
  constructor(canvas, scene) {
    const gl = canvas.getContext("webgl2", { antialias: true, alpha: false, preserveDrawingBuffer: true });
    if (!gl) throw new Error("This page draws with WebGL 2, which this browser does not offer.");
    Object.assign(this, { canvas, gl, scene, programs: {} });
    for (const name in SHADERS) this.programs[name] = this.program(...SHADERS[name]);
    this.meshes = scene.meshes.map((mesh, k) => ({
      corners: this.buffer(scene.data[`vertices_${k}`]),
      faces: this.buffer(scene.data[`triangles_${k}`], gl.ELEMENT_ARRAY_BUFFER),
      lines: this.buffer(scene.data[`lines_${k}`], gl.ELEMENT_ARRAY_BUFFER),
      n: scene.data[`triangles_${k}`].length, m: scene.data[`lines_${k}`].length,
    }));
    const n = scene.data.contact_time.length, about = new Float32Array(3 * n);
    const owner = new Int32Array(n);
    for (let e = 0; e < scene.count; e++) owner.fill(e, scene.data.event_start[e], scene.data.event_start[e + 1]);
    const first = scene.data.times[0]; // times may be large: float32 counts from the first
    for (let c = 0; c < n; c++) about.set([scene.data.contact_time[c] - first, c, scene.data.event_group[owner[c]]], 3 * c);
    this.contacts = this.buffer(scene.data.contact_place);
    this.about = this.buffer(about);
    this.ways = this.buffer(scene.data.ways);
    this.arrow = this.buffer(new Float32Array(18));
    this.dot = this.buffer(new Float32Array(3));
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(1, 1);
  }

  buffer(data, target = this.gl.ARRAY_BUFFER) {
    const buffer = this.gl.createBuffer();
    this.gl.bindBuffer(target, buffer);
    this.gl.bufferData(target, data, this.gl.STATIC_DRAW);
    return buffer;
  }

  program(vertex, fragment) {
    const gl = this.gl, program = gl.createProgram();
    for (const [type, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(type);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
      gl.attachShader(program, shader);
    }
    gl.bindAttribLocation(program, 0, "corner");
    gl.bindAttribLocation(program, 1, "about");
    gl.linkProgram(program);
    const set = {};
    for (let k = 0; k < gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS); k++) {
      const { name } = gl.getActiveUniform(program, k);
      set[name] = gl.getUniformLocation(program, name);
    }
    return { program, set };
  }

  corners(buffer, slot = 0) {
    const gl = this.gl;
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.enableVertexAttribArray(slot);
    gl.vertexAttribPointer(slot, 3, gl.FLOAT, false, 0, 0);
  }

  frame(camera, now, chosen, fade) {
    const { gl, canvas, scene } = this, ratio = window.devicePixelRatio || 1;
    const [width, height] = [Math.round(canvas.clientWidth * ratio), Math.round(canvas.clientHeight * ratio)];
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    gl.viewport(0, 0, width, height);
    gl.clearColor(0.953, 0.961, 0.973, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    const view = this.view = camera.matrix(width / Math.max(height, 1));
    const lit = scene.lit(now, fade);
    const poses = scene.bodies.map(body => [body, scene.shown(body, now)]).filter(([, pose]) => pose);
    const { program, set } = this.programs.body;
    gl.useProgram(program);
    gl.uniformMatrix4fv(set.view, false, view);
    gl.uniform3fv(set.up, camera.up);
    gl.uniform3fv(set.eye, camera.eye());
    const matrices = poses.map(([body, pose]) => matrixOf(pose, scene.scale(body)));
    poses.forEach(([body], k) => {
      const mesh = this.meshes[scene.mesh(body)];
      gl.uniformMatrix4fv(set.body, false, matrices[k]);
      gl.uniform3fv(set.color, body < scene.moving ? scene.colors[body] : [0.74, 0.76, 0.79]);
      gl.uniform1f(set.glow, body < scene.moving ? lit.get(body) ?? 0 : 0);
      this.corners(mesh.corners);
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, mesh.faces);
      gl.drawElements(gl.TRIANGLES, mesh.n, gl.UNSIGNED_INT, 0);
    });
    const line = this.programs.line;
    gl.useProgram(line.program);
    gl.uniformMatrix4fv(line.set.view, false, view);
    gl.uniform4fv(line.set.ink, [0.1, 0.12, 0.15, 0.4]);
    poses.forEach(([body], k) => {
      const mesh = this.meshes[scene.mesh(body)];
      if (!mesh.m) return;
      gl.uniformMatrix4fv(line.set.body, false, matrices[k]);
      this.corners(mesh.corners);
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, mesh.lines);
      gl.drawElements(gl.LINES, mesh.m, gl.UNSIGNED_INT, 0);
    });
    gl.uniformMatrix4fv(line.set.body, false, matrixOf([0, 0, 0, 1, 0, 0, 0], [1, 1, 1]));
    this.corners(this.ways);
    const { way_start: starts, way_body: owners } = scene.data, here = new Set(scene.bodies);
    const crowd = scene.bodies.filter(body => body < scene.moving).length;
    for (let k = 0; k + 1 < starts.length; k++) {
      if (!here.has(owners[k])) continue;
      gl.uniform4fv(line.set.ink, [...scene.colors[owners[k]].map(x => 0.8 * x), crowd > 8 ? 0.22 : 0.5]);
      gl.drawArrays(gl.LINE_STRIP, starts[k], starts[k + 1] - starts[k]);
    }
    if (chosen !== null) this.normal(line, camera, chosen);
    const mark = this.programs.contact;
    gl.useProgram(mark.program);
    gl.uniformMatrix4fv(mark.set.view, false, view);
    const small = scene.events.length > 1000 ? 2.5 : scene.events.length > 200 ? 3.5 : 5; // of what is past
    const values = { small, now: now - scene.data.times[0], fade, shown: scene.group, chosen: chosen ?? -1, ratio };
    for (const name in values) gl.uniform1f(mark.set[name], values[name]);
    this.corners(this.contacts);
    this.corners(this.about, 1);
    // Contacts lie between two bodies: they shine faintly through what hides them, the chosen one fully.
    for (const [hidden, solid] of [[true, 0.3], [false, 0.95]]) {
      if (hidden) gl.disable(gl.DEPTH_TEST);
      gl.uniform1f(mark.set.solid, solid);
      gl.drawArrays(gl.POINTS, 0, scene.data.contact_time.length);
      gl.enable(gl.DEPTH_TEST);
    }
    gl.disableVertexAttribArray(1);
    this.dots(poses, matrices, camera, view, ratio);
  }

  // Moving bodies that are too small to be seen, as dots that nothing hides.
  dots(poses, matrices, camera, view, ratio) {
    const { gl, canvas, scene } = this, { program, set } = this.programs.dot;
    gl.useProgram(program);
    gl.uniformMatrix4fv(set.view, false, view);
    gl.uniform1f(set.size, 9 * ratio);
    gl.disable(gl.DEPTH_TEST);
    this.corners(this.dot);
    poses.forEach(([body, pose], k) => {
      const far = norm(plus(camera.eye(), place(pose), -1)), pixels = scene.size(body) / far * canvas.clientHeight;
      if (body >= scene.moving || pixels > 6) return; // seen as it is
      gl.uniformMatrix4fv(set.body, false, matrices[k]);
      gl.uniform3fv(set.color, scene.colors[body].map(x => 0.9 * x));
      gl.drawArrays(gl.POINTS, 0, 1);
    });
    gl.enable(gl.DEPTH_TEST);
  }

  // The normal of the chosen contact, as an arrow from A to B.
  normal(line, camera, chosen) {
    const gl = this.gl, at = this.scene.at(chosen), n = Array.from(this.scene.data.contact_normal.subarray(3 * chosen, 3 * chosen + 3));
    const length = 0.16 * camera.distance, tip = plus(at, n, length), back = plus(at, n, 0.8 * length);
    const side = times(unit(cross(n, plus(camera.eye(), at, -1))), 0.06 * length);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.arrow);
    gl.bufferSubData(gl.ARRAY_BUFFER, 0, new Float32Array([at, tip, tip, plus(back, side), tip, plus(back, side, -1)].flat()));
    this.corners(this.arrow);
    gl.uniform4fv(line.set.ink, [0.7, 0.07, 0.25, 1]);
    gl.disable(gl.DEPTH_TEST);
    gl.drawArrays(gl.LINES, 0, 6);
    gl.enable(gl.DEPTH_TEST);
  }

  // Pixel of a point, or null behind the camera.
  pixel(point) {
    const m = this.view, [x, y, , w] = [0, 1, 2, 3].map(r => m[r] * point[0] + m[4 + r] * point[1] + m[8 + r] * point[2] + m[12 + r]);
    return w <= 0 ? null : [(0.5 + 0.5 * x / w) * this.canvas.clientWidth, (0.5 - 0.5 * y / w) * this.canvas.clientHeight];
  }
}

const F = 1.9; // of the lens: half of the picture is as high as its distance over this

class Camera {
  constructor(up) {
    this.up = [0, 0, 0];
    this.up[up] = 1;
    this.right = [0, 0, 0];
    this.right[(up + 1) % 3] = 1;
    this.ahead = cross(this.up, this.right);
    Object.assign(this, { target: [0, 0, 0], distance: 1, azimuth: -0.9, height: 0.5, reach: 1 });
  }

  away() {
    const flat = plus(times(this.right, Math.cos(this.azimuth)), this.ahead, Math.sin(this.azimuth));
    return plus(times(flat, Math.cos(this.height)), this.up, Math.sin(this.height));
  }

  eye() {
    return plus(this.target, this.away(), this.distance);
  }

  // So that all balls are seen, each [middle, radius], from where it looks now.
  fit(balls, aspect) {
    const z = this.away(), x = unit(cross(this.up, z)), y = cross(z, x), low = [1e300, 1e300, 1e300], high = [-1e300, -1e300, -1e300];
    for (const [at, r] of balls) [x, y, z].forEach((axis, k) => {
      low[k] = Math.min(low[k], dot(axis, at) - r);
      high[k] = Math.max(high[k], dot(axis, at) + r);
    });
    const middle = low.map((v, k) => 0.5 * (v + high[k]));
    this.target = plus(plus(times(x, middle[0]), y, middle[1]), z, middle[2]);
    this.distance = 0;
    for (const [at, r] of balls) {
      const [dx, dy, dz] = [x, y, z].map((axis, k) => (k < 2 ? Math.abs(dot(axis, at) - middle[k]) : dot(axis, at) - middle[k]) + r);
      this.distance = Math.max(this.distance, dz + 1.12 * F * Math.max(dx / aspect, 1.2 * dy)); // words stand above
    }
  }

  matrix(aspect) {
    const z = this.away(), x = unit(cross(this.up, z)), y = cross(z, x), eye = this.eye();
    const near = this.distance / 60, far = this.distance + 4 * this.reach, f = F, a = (far + near) / (near - far);
    const rows = [times(x, f / aspect), times(y, f), times(z, a), times(z, -1)];
    const last = [0, 0, (2 * far * near) / (near - far), 0];
    const m = new Float32Array(16);
    for (let r = 0; r < 4; r++) {
      for (let c = 0; c < 3; c++) m[4 * c + r] = rows[r][c];
      m[12 + r] = -dot(rows[r], eye) + last[r];
    }
    return m;
  }

  turn(dx, dy) {
    this.azimuth -= dx;
    this.height = Math.min(Math.max(this.height + dy, -1.5), 1.5);
  }

  slide(dx, dy) {
    const z = this.away(), x = unit(cross(this.up, z)), y = cross(z, x);
    this.target = plus(plus(this.target, x, -dx * this.distance), y, dy * this.distance);
  }
}
