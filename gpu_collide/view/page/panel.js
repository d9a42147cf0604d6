// The page around the drawing: time bar, list of events, data of a contact, mouse and keys.
"use strict";

const ROW = 30; // height of a row of the list, as in page.css
const $ = id => document.getElementById(id);
const many = n => n.toLocaleString("en-US");
const number = (x, digits = 6) => (Number.isInteger(x) ? String(x) : Number(x.toPrecision(digits)).toString());

class Viewer {
  constructor(scene) {
    this.scene = scene;
    this.camera = new Camera(scene.up);
    this.drawing = new Drawing($("canvas"), scene);
    Object.assign(this, { now: scene.begin, playing: false, chosen: null, follow: -1, last: 0, top: 0, high: $("list").clientHeight, hovered: false });
    this.kind = scene.singles ? scene.fields.find(field => field.name === "kind") : undefined;
    document.body.classList.toggle("worded", scene.labels.length > 0);
    $("last").textContent = this.kind ? "kind" : scene.singles ? "" : "n";
    $("last").title = this.kind ? this.kind.what : scene.singles ? "" : "how many contacts";
    scene.lit = (now, fade) => this.lit(now, fade);
    $("title").textContent = scene.title;
    $("note").textContent = scene.note;
    $("groups").hidden = scene.groups.length < 2;
    $("group").append(...scene.groups.map((name, k) => new Option(name, k)));
    this.listen();
    this.choose(0);
    requestAnimationFrame(time => this.tick(time));
  }

  choose(group) {
    this.scene.choose(group);
    this.select(null);
    this.now = this.scene.begin;
    const options = this.scene.bodies.filter(body => body < this.scene.moving).slice(0, 500);
    $("follow").replaceChildren(new Option("free camera", -1), ...options.map(b => new Option(`follow ${this.scene.name(b)}`, b)));
    this.follow = -1;
    this.overview();
    this.marks();
    $("list").scrollTop = this.top = 0;
    this.drawList();
  }

  overview() {
    const balls = [], scene = this.scene;
    for (const body of scene.bodies) {
      if (body >= scene.moving && scene.bodies.some(b => b < scene.moving)) continue;
      for (let k = 0; k <= 16; k++) {
        const pose = scene.pose(body, scene.begin + (k / 16) * (scene.end - scene.begin));
        if (pose) balls.push([apply(pose, scene.meshes[scene.mesh(body)].center), scene.size(body)]);
      }
    }
    const canvas = $("canvas");
    this.camera.fit(balls.length ? balls : [[[0, 0, 0], 1]], canvas.clientWidth / Math.max(canvas.clientHeight, 1));
    this.camera.reach = Math.max(this.scene.reach, this.camera.distance);
  }

  get fade() {
    const span = this.scene.end - this.scene.begin;
    return Math.max(this.scene.unit === "s" ? Math.min(0.25, 0.05 * span) : 0.05 * span, 1e-9);
  }

  // Bodies in fresh contacts, and how fresh.
  lit(now, fade) {
    const { event_start: starts, contact_time: at, contact_a: a, contact_b: b } = this.scene.data, lit = new Map();
    for (const e of this.scene.events) {
      if (at[starts[e]] > now) break;
      if (at[starts[e + 1] - 1] < now - 4 * fade) continue;
      for (let c = starts[e]; c < starts[e + 1] && at[c] <= now; c++) {
        const fresh = Math.exp(-(now - at[c]) / fade);
        for (const body of [a[c], b[c]]) lit.set(body, Math.max(lit.get(body) ?? 0, fresh));
      }
    }
    return lit;
  }

  tick(time) {
    const passed = Math.min((time - this.last) / 1000, 0.1);
    this.last = time;
    if (this.playing) {
      this.seek(this.now + passed * Number($("speed").value) * (this.scene.unit === "s" ? 1 : (this.scene.end - this.scene.begin) / 4));
      if (this.now >= this.scene.end) this.play(false);
    }
    if (this.follow >= 0) {
      const pose = this.scene.shown(this.follow, this.now);
      if (pose) this.camera.target = apply(pose, this.scene.meshes[this.scene.mesh(this.follow)].center);
    }
    const { target, distance, azimuth, height } = this.camera, canvas = $("canvas");
    const state = [this.now, this.chosen, this.scene.group, ...target, distance, azimuth, height, canvas.clientWidth, canvas.clientHeight].join();
    if (state !== this.drawn) this.drawing.frame(this.camera, this.now, this.chosen, this.fade);
    this.drawn = state; // what does not change is not drawn again
    requestAnimationFrame(next => this.tick(next));
  }

  seek(time) {
    this.now = Math.min(Math.max(time, this.scene.begin), this.scene.end);
    const span = this.scene.end - this.scene.begin;
    $("time").value = span > 0 ? (this.now - this.scene.begin) / span : 0;
    $("clock").textContent = `${this.now.toFixed(span < 2 ? 4 : 2)} ${this.scene.unit || this.scene.clock}`;
    if (!this.hovered) this.reveal(this.happened() - 1, this.playing);
    this.drawList();
  }

  // How many events have begun: they are in the order of time.
  happened() {
    const { events, data } = this.scene;
    let low = 0, high = events.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (data.contact_time[data.event_start[events[middle]]] <= this.now) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // Scrolls the list to a row, if it is not to be seen.
  reveal(row, always = false) {
    const top = ROW * Math.max(row, 0), most = Math.max(ROW * this.scene.events.length - this.high, 0);
    if (!always && top >= this.top && top + ROW <= this.top + this.high) return;
    const to = Math.min(Math.max(Math.round(top - 0.7 * this.high), 0), most);
    if (to === this.top) return;
    $("rows").style.height = `${ROW * this.scene.events.length}px`;
    $("list").scrollTop = this.top = to;
  }

  play(on) {
    if (on && this.now >= this.scene.end) this.seek(this.scene.begin);
    this.playing = on;
    $("play").textContent = on ? "❚❚" : "▶";
  }

  // Shows a contact: its data, its time, its place.
  select(contact, jump = true) {
    const scene = this.scene;
    this.chosen = scene.pinned = contact;
    $("data").hidden = contact === null;
    if (contact === null) return;
    const event = this.eventOf(contact);
    if (jump) {
      this.play(false);
      this.follow = -1;
      $("follow").value = -1;
      this.camera.target = scene.at(contact);
      const bodies = [scene.data.contact_a[contact], scene.data.contact_b[contact]].filter(b => b >= 0);
      this.camera.distance = 4 * Math.min(...bodies.map(b => scene.size(b)));
      this.lookAt(contact);
      this.seek(scene.data.contact_time[contact]);
    }
    $("fields").replaceChildren(...scene.fields.map(field => {
      const row = document.createElement("tr"), value = scene.data[field.array][contact];
      const text = field.words ? field.words[value] : field.truth ? (value ? "yes" : "no") : number(value);
      for (const cell of [field.name, text, field.unit]) row.insertCell().textContent = cell;
      row.title = field.what;
      return row;
    }));
    const [first, stop] = [scene.data.event_start[event], scene.data.event_start[event + 1]];
    const rows = Array.from({ length: Math.min(stop - first, 200) }, (_, k) => first + k);
    $("contacts").hidden = stop - first < 2;
    $("contacts").replaceChildren(...rows.map(c => {
      const button = document.createElement("button");
      button.textContent = number(scene.data.contact_time[c]);
      button.classList.toggle("chosen", c === contact);
      button.onclick = () => this.select(c);
      return button;
    }));
    this.reveal(scene.events.indexOf(event));
    this.drawList();
  }

  // From A's side of a contact, aslant, and from above: what B is lies behind.
  lookAt(contact) {
    const c = this.camera, n = Array.from(this.scene.data.contact_normal.subarray(3 * contact, 3 * contact + 3));
    const [x, y] = [-dot(n, c.right), -dot(n, c.ahead)];
    if (Math.hypot(x, y) > 0.3) c.azimuth = Math.atan2(y, x) + 0.6;
    c.height = Math.hypot(x, y) > 0.3 ? 0.45 : 0.75;
  }

  eventOf(contact) {
    const starts = this.scene.data.event_start;
    let low = 0, high = this.scene.count - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle] <= contact) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  // Only rows that are seen are there; those that have not happened yet are faint.
  drawList() {
    const { scene } = this, { event_start: starts, event_hardest: hardest, contact_time: at } = scene.data;
    const first = Math.floor(this.top / ROW), few = Math.ceil(this.high / ROW) + 2;
    const happened = this.happened(), mine = this.chosen === null ? -1 : this.eventOf(this.chosen);
    const seen = scene.events.slice(first, first + few);
    const fresh = seen.map(e => at[starts[e]] <= this.now && at[starts[e + 1] - 1] >= this.now - 2 * this.fade);
    const state = [scene.group, first, few, happened, mine, ...fresh].join();
    if (state === this.listed) return; // while it plays: what does not change is not made again
    this.listed = state;
    $("rows").style.height = `${ROW * scene.events.length}px`;
    $("count").textContent = `${many(happened)} of ${many(scene.events.length)} ${scene.what}`;
    $("rows").replaceChildren(...seen.map((e, k) => {
      const row = document.createElement("div"), c = hardest[e], count = starts[e + 1] - starts[e];
      row.className = "row";
      row.style.top = `${ROW * (first + k)}px`;
      row.classList.toggle("ahead", at[starts[e]] > this.now);
      row.classList.toggle("fresh", fresh[k]);
      row.classList.toggle("chosen", e === mine);
      const b = scene.data.contact_b[c], other = b < 0 ? "" : ` × ${scene.name(b)}`;
      const last = this.kind ? this.kind.words[scene.data[this.kind.array][c]] : scene.singles ? "" : many(count);
      const cells = [at[starts[e]].toFixed(scene.unit === "s" ? 2 : scene.unit ? 0 : 3), scene.name(scene.data.contact_a[c]) + other,
        scene.data.event_label[e] >= 0 ? scene.labels[scene.data.event_label[e]] : number(scene.data.event_speed[e], 4), last];
      cells.forEach((text, k) => {
        const cell = document.createElement("span");
        cell.className = `c${k}`;
        cell.textContent = text;
        row.append(cell);
      });
      row.onclick = () => this.select(c);
      return row;
    }));
  }

  // Ticks over the time bar, for each of its pixels the hardest event there.
  marks() {
    const canvas = $("marks"), scene = this.scene, context = canvas.getContext("2d");
    canvas.width = canvas.clientWidth;
    canvas.height = canvas.clientHeight;
    const ticks = new Map();
    let most = 1e-300;
    for (const e of scene.events) {
      const t = scene.data.contact_time[scene.data.event_start[e]], hard = Math.max(scene.data.event_speed[e], 0);
      const x = Math.round(8 + (canvas.width - 16) * (t - scene.begin) / Math.max(scene.end - scene.begin, 1e-300));
      ticks.set(x, Math.max(ticks.get(x) ?? 0, hard));
      most = Math.max(most, hard);
    }
    for (const [x, speed] of ticks) {
      const hard = speed / most;
      context.fillStyle = `rgba(179, 18, 63, ${0.35 + 0.65 * hard})`;
      context.fillRect(x - 1, canvas.height * 0.82 * (1 - hard), ticks.has(x + 1) ? 1 : 2, canvas.height);
    }
  }

  next(way) {
    const { scene } = this, begins = e => scene.data.contact_time[scene.data.event_hardest[e]];
    const order = [...scene.events].sort((a, b) => begins(a) - begins(b));
    const k = this.chosen === null ? -1 : order.indexOf(this.eventOf(this.chosen));
    const at = k < 0 ? order.findIndex(e => begins(e) >= this.now) : (k + way + order.length) % order.length;
    if (order.length) this.select(scene.data.event_hardest[order[Math.max(at, 0)]]);
  }

  // The contact nearest to a click, if one is within a few pixels.
  pick(x, y) {
    const { scene } = this, { event_start: starts, contact_time: at } = scene.data;
    let best = null, nearest = 14;
    for (const e of scene.events) for (let c = starts[e]; c < starts[e + 1] && at[c] <= this.now; c++) {
      const pixel = this.drawing.pixel(scene.at(c)), far = pixel ? Math.hypot(pixel[0] - x, pixel[1] - y) : 1e300;
      if (far < nearest) [best, nearest] = [c, far];
    }
    if (best !== null) this.select(best, false);
  }

  listen() {
    const canvas = $("canvas");
    let moved = 0;
    canvas.oncontextmenu = event => event.preventDefault();
    canvas.onpointerdown = event => { canvas.setPointerCapture(event.pointerId); moved = 0; };
    canvas.onpointermove = event => {
      if (!event.buttons) return;
      const [dx, dy] = [event.movementX / canvas.clientHeight, event.movementY / canvas.clientHeight];
      moved += Math.abs(event.movementX) + Math.abs(event.movementY);
      if (event.buttons > 1 || event.shiftKey) this.camera.slide(1.05 * dx, 1.05 * dy);
      else this.camera.turn(4 * dx, 4 * dy);
    };
    canvas.onpointerup = event => moved < 4 && this.pick(event.offsetX, event.offsetY);
    canvas.onwheel = event => {
      event.preventDefault();
      this.camera.distance *= Math.exp(0.0012 * event.deltaY);
    };
    $("play").onclick = () => this.play(!this.playing);
    $("before").onclick = () => this.next(-1);
    $("behind").onclick = () => this.next(1);
    $("whole").onclick = () => { this.follow = -1; $("follow").value = -1; this.overview(); };
    $("time").oninput = () => this.seek(this.scene.begin + Number($("time").value) * (this.scene.end - this.scene.begin));
    $("group").onchange = () => this.choose(Number($("group").value));
    $("follow").onchange = () => {
      this.follow = Number($("follow").value);
      if (this.follow >= 0) this.camera.distance = 9 * this.scene.size(this.follow);
    };
    $("close").onclick = () => this.select(null);
    // Where the list stands is remembered: to ask for it while it plays would lay out the page in every frame.
    const list = $("list");
    list.onscroll = () => { this.top = list.scrollTop; this.drawList(); };
    list.onpointerenter = () => { this.hovered = true; };
    list.onpointerleave = () => { this.hovered = false; };
    new ResizeObserver(() => { this.high = list.clientHeight; this.drawList(); }).observe(list);
    window.onresize = () => this.marks();
    window.onkeydown = event => {
      if (["SELECT", "INPUT"].includes(event.target.tagName) && event.key !== " ") return;
      const does = { " ": () => this.play(!this.playing), ArrowRight: () => this.next(1), ArrowLeft: () => this.next(-1), Escape: () => this.select(null) }[event.key];
      if (does) { event.preventDefault(); does(); }
    };
  }
}

async function open() {
  try {
    const head = JSON.parse($("head").textContent);
    const scene = new Scene(head, await unpack(head, $("packed").textContent.trim()));
    window.viewer = new Viewer(scene);
    window.viewer.seek(scene.begin);
    document.body.dataset.ready = "yes";
  } catch (error) {
    $("note").textContent = error.message;
    document.body.dataset.ready = "failed";
    throw error;
  }
}
open();
