"use strict";
(() => {
  const { sets, colors } = JSON.parse(document.getElementById("sets").textContent);
  const LUMINANCE = [0.2126, 0.7152, 0.0722];
  // Luminance floor as a fraction of the reference's mean, as in the tables.
  const STOPS_FLOOR = 1e-3;

  // Values of all half floats (IEEE 754-2008, binary16).
  const HALF = new Float32Array(65536);
  for (let i = 0; i < 65536; i++) {
    const exponent = (i >> 10) & 31, part = i & 1023, sign = i & 0x8000 ? -1 : 1;
    HALF[i] = sign * (exponent === 0 ? part * 2 ** -24 : (1 + part / 1024) * 2 ** (exponent - 15));
  }
  const toCode = v => v <= 0.0031308 ? 12.92 * v : 1.055 * v ** (1 / 2.4) - 0.055;
  const toLinear = c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;

  async function bytesOf(id) {
    const text = atob(document.getElementById(id).textContent.trim());
    const packed = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
    if (!window.DecompressionStream) throw new Error("this browser does not support DecompressionStream; update it");
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  // Decodes the planes of report.rs: high bytes, low bytes, differences to the left, to green.
  function planes(bytes, width, height, count, wide) {
    const size = width * height, mask = wide ? 0xffff : 0xff, out = [];
    for (let p = 0; p < count; p++) {
      const plane = wide ? new Uint16Array(size) : new Uint8Array(size);
      const high = p * size * (wide ? 2 : 1), low = high + size;
      for (let y = 0, i = 0; y < height; y++) {
        let last = y ? plane[i - width] : 0;
        for (let x = 0; x < width; x++, i++) {
          last = (last + (wide ? (bytes[high + i] << 8) | bytes[low + i] : bytes[high + i])) & mask;
          plane[i] = last;
        }
      }
      out.push(plane);
    }
    if (count === 3) {
      const [green, red, blue] = out;
      for (let i = 0; i < size; i++) { red[i] += green[i]; blue[i] += green[i]; }
      return [red, green, blue];
    }
    return out;
  }

  // An image: planes of stored values, and a table from stored values to light.
  async function load(meta, width, height) {
    const wide = meta.kind !== "code8";
    const channels = planes(await bytesOf(meta.data), width, height, 3, wide);
    const most = wide ? 65535 : 255;
    const light = new Float32Array(most + 1);
    for (let i = 0; i <= most; i++) light[i] = meta.kind === "half" ? HALF[i] * meta.scale : toLinear(i / most);
    return { meta, channels, light, scene: meta.kind === "half", most };
  }
  function ramp(points) {
    const table = new Uint8Array(257 * 3);
    for (let i = 0; i <= 256; i++) {
      const place = i / 256 * (points.length - 1), at = Math.min(Math.floor(place), points.length - 2), part = place - at;
      for (let c = 0; c < 3; c++) table[i * 3 + c] = Math.round(points[at][c] + (points[at + 1][c] - points[at][c]) * part);
    }
    return table;
  }
  const RAMPS = { magma: ramp(colors.magma), signed: ramp(colors.signed) };
  const clamp = (v, a, b) => Math.min(Math.max(v, a), b);
  const short = v => v === 0 ? "0" : Math.abs(v) >= 1e5 || Math.abs(v) < 1e-3 ? v.toExponential(3) : v.toPrecision(4);
  const signed = (v, digits) => (v < 0 ? "\u2212" : "+") + Math.abs(v).toFixed(digits);
  const element = (tag, parent, attributes = {}, text = "") => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.textContent = text;
    if (parent) parent.append(made);
    return made;
  };

  const viewers = [];

  class Viewer {
    constructor(figure, set) {
      Object.assign(this, { figure, set, pictures: [], maps: [], cache: new Map(), flip: 0, playing: true, wipe: 0.5, mode: "wipe",
        scale: null, at: [0, 0], mouse: null, ready: false });
      this.a = set.test; this.b = set.reference;
      this.ev = set.ev100;
      this.rate = 2;
      this.build();
      // Small images fit side by side.
      if (set.pictures.length > 1 && 4 * set.width <= this.screen.clientWidth) this.mode = "side";
      // Sets the height before loading, so that anchors scroll to the right position.
      this.paint();
      viewers.push(this);
      new IntersectionObserver(entries => {
        this.visible = entries.some(entry => entry.isIntersecting);
        if (this.visible) this.start();
      }, { rootMargin: "300px" }).observe(figure);
      new ResizeObserver(() => this.draw()).observe(this.screen);
    }

    modes() {
      const maps = [...new Set(this.set.maps.map(map => map.name))];
      const alone = this.set.pictures.length < 2;
      const list = alone ? [["a", "A"]] : [["wipe", "Wipe"], ["flicker", "Flicker"], ["side", "Side by side"], ["a", "A"], ["b", "B"],
        ["stops", "Stops"], ["relative", "Relative error"]];
      return alone ? list : list.concat(maps.map(name => [name.toLowerCase(), name]));
    }

    build() {
      const bar = element("div", this.figure, { class: "bar" });
      this.picks = ["a", "b"].map(side => {
        const label = element("label", bar, {}, side.toUpperCase());
        const pick = element("select", label, { "aria-label": "Image " + side.toUpperCase() });
        this.set.pictures.forEach((picture, i) => element("option", pick, { value: i }, picture.name));
        pick.value = this[side];
        pick.addEventListener("change", () => { this[side] = Number(pick.value); this.draw(); });
        label.hidden = this.set.pictures.length < 2;
        return pick;
      });
      const modes = element("div", bar, { class: "modes", role: "group", "aria-label": "View" });
      modes.hidden = this.set.pictures.length < 2;
      this.buttons = this.modes().map(([mode, name], i) => {
        const button = element("button", modes, { type: "button", "data-mode": mode, title: "key " + (i + 1) }, name);
        button.addEventListener("click", () => this.setMode(mode));
        return button;
      });
      const second = element("div", this.figure, { class: "bar" });
      const scene = this.set.pictures.some(picture => picture.kind === "half");
      const slider = (name, min, max, step, get, set, text) => {
        const label = element("label", second, {}, name);
        const input = element("input", label, { type: "range", min, max, step });
        const output = element("output", label);
        input.addEventListener("input", () => { set(Number(input.value)); this.draw(); });
        return { label, show: () => { input.value = get(); output.textContent = text(); } };
      };
      this.exposure = slider("Exposure", this.ev - 12, this.ev + 12, 0.1, () => this.ev, v => { this.ev = v; },
        () => "EV100 " + this.ev.toFixed(1));
      this.exposure.label.hidden = !scene;
      this.speed = slider("Flicker", 0.5, 10, 0.5, () => this.rate, v => { this.rate = v; this.playing = true; },
        () => this.rate.toFixed(1) + " Hz");
      this.swap = element("button", second, { type: "button" }, "A/B (space)");
      this.swap.addEventListener("click", () => { this.playing = false; this.flip ^= 1; this.draw(); });
      this.play = element("button", second, { type: "button" }, "Run");
      this.play.addEventListener("click", () => { this.playing = !this.playing; this.draw(); });
      this.range = element("label", second, {}, "Range");
      this.rangePick = element("select", this.range, { "aria-label": "Range of the false colors" });
      this.rangePick.addEventListener("change", () => { this.ranges[this.mode] = Number(this.rangePick.value); this.draw(); });
      this.ranges = { stops: 1, relative: 0.1 };
      for (const [name, factor] of [["\u2212", 0.5], ["+", 2]]) {
        element("button", second, { type: "button", "aria-label": factor > 1 ? "Zoom in" : "Zoom out" }, name)
          .addEventListener("click", () => this.zoom(factor));
      }
      for (const [name, scale] of [["Fit", null], ["1:1", 1]]) {
        element("button", second, { type: "button" }, name).addEventListener("click", () => this.setScale(scale));
      }
      this.zoomed = element("span", second, { class: "soft" });
      this.screen = element("div", this.figure, { class: "screen", tabindex: 0, role: "application",
        "aria-label": "Images: keys 1 to 9 choose the view, space swaps A and B" });
      this.canvas = element("canvas", this.screen);
      this.tags = [element("span", this.screen, { class: "tag left" }), element("span", this.screen, { class: "tag right" })];
      this.note = element("div", this.screen, { class: "note" }, "\u2026");
      this.legend = element("div", this.figure, { class: "legend" });
      this.legendLow = element("span", this.legend);
      this.legendCanvas = element("canvas", this.legend, { width: 257, height: 1 });
      this.legendHigh = element("span", this.legend);
      this.legendText = element("span", this.legend, { class: "soft" });
      this.values = element("div", this.figure, { class: "values", "aria-live": "off" });
      const help = element("details", this.figure);
      element("summary", help, {}, "Keys and mouse");
      element("p", help, {}, "1 to 9: views. Space: A or B. P: start or stop flicker. , and . : slower, faster. [ and ] : exposure by a third of a " +
        "stop. + and \u2212: zoom; 0: fit; arrows: pan. Drag: pan, or move the wipe line. Double click: 1:1 or fit. Wheel: zoom, after a click on the image.");
      this.listen();
    }

    listen() {
      const canvas = this.canvas;
      const place = event => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
      canvas.addEventListener("pointerdown", event => {
        this.screen.focus({ preventScroll: true });
        const at = place(event);
        const line = this.mode === "wipe" && Math.abs(at[0] - this.wipe * canvas.clientWidth) < 14;
        this.drag = { at, from: [...this.at], line };
        canvas.setPointerCapture(event.pointerId);
      });
      canvas.addEventListener("pointermove", event => {
        const at = place(event);
        this.mouse = at;
        if (this.drag && this.drag.line) this.wipe = clamp(at[0] / canvas.clientWidth, 0, 1);
        else if (this.drag) this.at = [0, 1].map(i => this.drag.from[i] + at[i] - this.drag.at[i]);
        canvas.style.cursor = this.mode === "wipe" && Math.abs(at[0] - this.wipe * canvas.clientWidth) < 14 ? "ew-resize" : "crosshair";
        if (this.drag) this.draw(); else this.read();
      });
      for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, () => { this.drag = null; });
      canvas.addEventListener("dblclick", () => this.setScale(this.scale === null ? 1 : null));
      canvas.addEventListener("wheel", event => {
        if (document.activeElement !== this.screen) return;
        event.preventDefault();
        this.zoom(event.deltaY < 0 ? 1.25 : 0.8, place(event));
      }, { passive: false });
      this.screen.addEventListener("keydown", event => {
        if (event.ctrlKey || event.altKey || event.metaKey) return;
        const mode = this.modes()[Number(event.key) - 1];
        const move = { ArrowLeft: [40, 0], ArrowRight: [-40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40] }[event.key];
        if (mode) this.setMode(mode[0]);
        else if (event.key === " ") { this.playing = false; this.flip ^= 1; if (this.mode !== "flicker") this.setMode("flicker"); }
        else if (event.key === "p") this.playing = !this.playing;
        else if (event.key === "," || event.key === ".") this.rate = clamp(this.rate + (event.key === "." ? 0.5 : -0.5), 0.5, 10);
        else if (event.key === "[" || event.key === "]") this.ev += event.key === "]" ? -1 / 3 : 1 / 3;
        else if (event.key === "+" || event.key === "=") this.zoom(2);
        else if (event.key === "-") this.zoom(0.5);
        else if (event.key === "0") this.setScale(null);
        else if (move) this.at = [this.at[0] + move[0], this.at[1] + move[1]];
        else return;
        event.preventDefault();
        this.draw();
      });
    }

    async start() {
      if (this.started) return;
      this.started = true;
      try {
        const { width, height } = this.set;
        this.pictures = await Promise.all(this.set.pictures.map(meta => load(meta, width, height)));
        this.maps = await Promise.all(this.set.maps.map(async map => planes(await bytesOf(map.data), width, height, 1, false)[0]));
        this.ready = true;
        this.draw();
      } catch (error) {
        this.note.textContent = "Cannot show the images: " + error.message;
      }
    }

    setMode(mode) {
      if (!this.modes().some(([name]) => name === mode)) return;
      this.mode = mode;
      if (mode === "flicker") { this.last = performance.now(); requestAnimationFrame(now => this.tick(now)); }
      this.draw();
    }

    tick(now) {
      if (this.mode !== "flicker") return;
      if (this.playing && this.visible && now - this.last >= 500 / this.rate) {
        this.last = now;
        this.flip ^= 1;
        this.draw();
      }
      requestAnimationFrame(next => this.tick(next));
    }

    setScale(scale) { this.scale = scale; this.at = [0, 0]; this.draw(); }

    zoom(factor, place) {
      const panes = this.panes();
      const pane = place && panes.find(p => place[0] >= p.x && place[0] < p.x + p.width) || panes[0];
      const now = this.shown(pane);
      const scale = clamp(now.scale * factor, 1 / 16, 128);
      const [px, py] = place || [pane.x + pane.width / 2, pane.height / 2];
      // Keeps the point under the cursor fixed.
      const [ix, iy] = [(px - now.x) / now.scale, (py - now.y) / now.scale];
      this.scale = scale;
      this.at = [0, 0];
      const next = this.shown(pane);
      this.at = [px - ix * scale - next.x, py - iy * scale - next.y];
      this.draw();
    }

    // Rectangles of the canvas with one image each, in CSS pixels.
    panes() {
      const width = this.canvas.clientWidth, height = this.canvas.clientHeight;
      if (this.mode !== "side") return [{ x: 0, width, height }];
      const half = Math.floor(width / 2) - 1;
      return [{ x: 0, width: half, height }, { x: width - half, width: half, height }];
    }

    fit(pane) {
      const ratio = window.devicePixelRatio || 1;
      const scale = Math.min(pane.width / this.set.width, pane.height / this.set.height) * ratio;
      // Integer scale for small images, so that all pixels have equal size.
      return (scale > 1 ? Math.floor(scale) : scale) / ratio;
    }

    // Scale and position of a pane's image.
    shown(pane) {
      const scale = this.scale === null ? this.fit(pane) : this.scale;
      return { scale, x: pane.x + (pane.width - this.set.width * scale) / 2 + this.at[0],
        y: (pane.height - this.set.height * scale) / 2 + this.at[1] };
    }

    // A painted canvas, from the cache if its key is unchanged.
    painted(key, paint) {
      const { width, height } = this.set;
      let kept = this.cache.get(key.slot);
      if (!kept || kept.key !== key.text) {
        const canvas = kept ? kept.canvas : element("canvas", null, { width, height });
        const context = canvas.getContext("2d");
        const data = context.createImageData(width, height);
        paint(data.data);
        context.putImageData(data, 0, 0);
        kept = { key: key.text, canvas };
        this.cache.set(key.slot, kept);
      }
      return kept.canvas;
    }

    picture(index) {
      const picture = this.pictures[index];
      const gain = picture.scene ? 1 / (1.2 * 2 ** this.ev) : 1;
      return this.painted({ slot: "p" + index, text: String(gain) }, out => {
        const codes = new Uint8Array(picture.most + 1);
        for (let i = 0; i <= picture.most; i++) codes[i] = Math.round(255 * toCode(clamp(picture.light[i] * gain, 0, 1)));
        const [r, g, b] = picture.channels;
        for (let i = 0, o = 0; i < r.length; i++, o += 4) {
          out[o] = codes[r[i]]; out[o + 1] = codes[g[i]]; out[o + 2] = codes[b[i]]; out[o + 3] = 255;
        }
      });
    }

    luminance(index, i) {
      const { channels, light } = this.pictures[index];
      return LUMINANCE[0] * light[channels[0][i]] + LUMINANCE[1] * light[channels[1][i]] + LUMINANCE[2] * light[channels[2][i]];
    }

    floor(index) {
      const picture = this.pictures[index];
      if (picture.floor === undefined) {
        let sum = 0;
        const count = this.set.width * this.set.height;
        for (let i = 0; i < count; i++) sum += this.luminance(index, i);
        picture.floor = Math.max(sum / count * STOPS_FLOOR, 1e-30);
      }
      return picture.floor;
    }

    // log2(A / B) and |A - B| / B at a pixel.
    stops(i) {
      const floor = this.floor(this.b);
      return Math.log2(Math.max(this.luminance(this.a, i), floor) / Math.max(this.luminance(this.b, i), floor));
    }
    relative(i) {
      return (this.luminance(this.a, i) - this.luminance(this.b, i)) / Math.max(this.luminance(this.b, i), this.floor(this.b));
    }

    // The error map of a mode for the chosen pair.
    map(mode) {
      const index = this.set.maps.findIndex(map => map.name.toLowerCase() === mode &&
        (map.test === this.a && map.reference === this.b || map.test === this.b && map.reference === this.a));
      return index < 0 ? null : this.maps[index];
    }

    falseColor() {
      const range = this.ranges[this.mode] || 1;
      const table = this.mode === "stops" ? RAMPS.signed : RAMPS.magma;
      const map = this.map(this.mode);
      const value = this.mode === "stops" ? i => 0.5 + this.stops(i) / range / 2
        : this.mode === "relative" ? i => Math.abs(this.relative(i)) / range : i => map[i] / 255;
      return this.painted({ slot: "map", text: [this.mode, this.a, this.b, range].join() }, out => {
        for (let i = 0, o = 0; i < this.set.width * this.set.height; i++, o += 4) {
          const at = 3 * Math.round(256 * clamp(value(i), 0, 1));
          out[o] = table[at]; out[o + 1] = table[at + 1]; out[o + 2] = table[at + 2]; out[o + 3] = 255;
        }
      });
    }

    draw() {
      if (this.queued) return;
      this.queued = true;
      requestAnimationFrame(() => { this.queued = false; this.paint(); });
    }

    paint() {
      const { width, height } = this.set;
      const across = this.screen.clientWidth;
      if (!across) return;
      const ratio = window.devicePixelRatio || 1;
      // Small images are enlarged by an integer up to a height of 600 pixels; large ones fit into the window.
      const room = this.mode === "side" ? Math.floor(across / 2) - 1 : across;
      const limit = Math.min(Math.max(height, 600), Math.max(window.innerHeight * 0.8, 240));
      const tall = Math.round(clamp(height * this.fit({ width: room, height: limit }), 120, limit));
      this.canvas.style.height = tall + "px";
      const size = [Math.round(across * ratio), Math.round(tall * ratio)];
      if (this.canvas.width !== size[0] || this.canvas.height !== size[1]) [this.canvas.width, this.canvas.height] = size;
      this.controls();
      const context = this.canvas.getContext("2d");
      context.setTransform(1, 0, 0, 1, 0, 0);
      context.clearRect(0, 0, ...size);
      if (!this.ready) return;
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      const falseColors = this.isMap();
      const missing = falseColors && this.mode !== "stops" && this.mode !== "relative" && !this.map(this.mode);
      this.note.textContent = missing ? "This metric was not computed for this pair; choose another A or B." : "";
      this.note.hidden = !missing;
      if (missing) { this.legend.hidden = true; this.read(); return; }
      const put = (canvas, pane, index, left = pane.x, right = pane.x + pane.width) => {
        const at = this.shown(pane);
        context.save();
        context.beginPath();
        context.rect(left, 0, right - left, pane.height);
        context.clip();
        context.imageSmoothingEnabled = at.scale * ratio < 1;
        context.imageSmoothingQuality = "high";
        context.drawImage(canvas, at.x, at.y, width * at.scale, height * at.scale);
        if (at.scale >= 44 && index !== undefined) this.print(context, at, pane, index);
        context.restore();
      };
      const panes = this.panes(), [pane] = panes;
      if (falseColors) put(this.falseColor(), pane, this.a);
      else if (this.mode === "side") { put(this.picture(this.a), panes[0], this.a); put(this.picture(this.b), panes[1], this.b); }
      else if (this.mode === "wipe" && this.set.pictures.length > 1) {
        const line = this.wipe * pane.width;
        put(this.picture(this.a), pane, this.a, 0, line);
        put(this.picture(this.b), pane, this.b, line, pane.width);
        context.fillStyle = "#000"; context.fillRect(line - 1.5, 0, 3, pane.height);
        context.fillStyle = "#fff"; context.fillRect(line - 0.5, 0, 1, pane.height);
        context.beginPath(); context.arc(line, pane.height / 2, 7, 0, 7); context.fill(); context.strokeStyle = "#000"; context.stroke();
      } else {
        const one = this.mode === "b" || this.mode === "flicker" && this.flip ? this.b : this.a;
        put(this.picture(one), pane, one);
      }
      this.zoomed.textContent = Math.round(this.shown(pane).scale * ratio * 100) + " %";
      this.read();
    }

    // Writes values onto pixels that are large enough.
    print(context, at, pane, index) {
      context.font = "11px ui-monospace, monospace";
      context.textAlign = "center";
      const from = v => Math.max(Math.floor(-v / at.scale), 0);
      for (let y = from(at.y); y < this.set.height && at.y + y * at.scale < pane.height; y++) {
        for (let x = Math.max(Math.floor((pane.x - at.x) / at.scale), 0); x < this.set.width && at.x + x * at.scale < pane.x + pane.width; x++) {
          const i = y * this.set.width + x;
          const text = this.mode === "stops" ? signed(this.stops(i), 3) : this.mode === "relative" ? (100 * this.relative(i)).toFixed(1) + "%"
            : this.isMap() ? (this.map(this.mode)[i] / 255).toFixed(3) : short(this.luminance(index, i));
          context.lineWidth = 3; context.strokeStyle = "#000"; context.fillStyle = "#fff";
          context.strokeText(text, at.x + (x + 0.5) * at.scale, at.y + (y + 0.5) * at.scale + 4);
          context.fillText(text, at.x + (x + 0.5) * at.scale, at.y + (y + 0.5) * at.scale + 4);
        }
      }
    }

    isMap() { return !["wipe", "flicker", "side", "a", "b"].includes(this.mode); }

    controls() {
      for (const button of this.buttons) button.setAttribute("aria-pressed", String(button.dataset.mode === this.mode));
      this.picks.forEach((pick, i) => { pick.value = i ? this.b : this.a; });
      this.exposure.show();
      this.speed.show();
      const flicker = this.mode === "flicker";
      this.speed.label.hidden = this.play.hidden = this.swap.hidden = !flicker;
      this.play.textContent = this.playing ? "Stop" : "Run";
      const name = index => this.set.pictures[index].name;
      const one = this.mode === "b" || flicker && this.flip ? "b" : "a";
      const two = this.mode === "wipe" || this.mode === "side";
      const alone = this.set.pictures.length < 2;
      this.tags[0].textContent = alone ? name(this.a) : this.isMap() ? `A ${name(this.a)} against B ${name(this.b)}`
        : two ? "A " + name(this.a) : one.toUpperCase() + " " + name(this[one]);
      this.tags[1].textContent = "B " + name(this.b);
      this.tags[1].hidden = alone || !two;
      const choices = { stops: [0.01, 0.03, 0.1, 0.3, 1, 3, 10], relative: [0.001, 0.01, 0.03, 0.1, 0.3, 1] }[this.mode];
      this.range.hidden = !choices;
      if (choices) {
        this.rangePick.replaceChildren(...choices.map(v => element("option", null, { value: v },
          this.mode === "stops" ? "\u00b1" + v + (v === 1 ? " stop" : " stops") : "0 to " + 100 * v + " %")));
        this.rangePick.value = this.ranges[this.mode];
      }
      this.legend.hidden = !this.isMap();
      if (this.isMap()) {
        const range = this.ranges[this.mode];
        const texts = { stops: ["\u2212" + range, "+" + range + " stops", "log2(A / B) of luminance: blue darker, black equal, orange brighter; clamped to the range"],
          relative: ["0", 100 * range + " %", "|A \u2212 B| / B of luminance; clamped to the range"] }[this.mode] || ["0", "1", "0 equal, 1 maximum difference; fixed range"];
        [this.legendLow.textContent, this.legendHigh.textContent, this.legendText.textContent] = texts;
        const context = this.legendCanvas.getContext("2d"), data = context.createImageData(257, 1);
        const table = this.mode === "stops" ? RAMPS.signed : RAMPS.magma;
        for (let i = 0; i < 257; i++) data.data.set([table[i * 3], table[i * 3 + 1], table[i * 3 + 2], 255], i * 4);
        context.putImageData(data, 0, 0);
      }
    }

    // Prints the values under the pointer.
    read() {
      if (!this.ready || !this.mouse) { this.values.textContent = "Point at a pixel to read its values."; return; }
      const pane = this.panes().find(p => this.mouse[0] >= p.x && this.mouse[0] < p.x + p.width);
      const at = pane && this.shown(pane);
      const [x, y] = at ? [Math.floor((this.mouse[0] - at.x) / at.scale), Math.floor((this.mouse[1] - at.y) / at.scale)] : [-1, -1];
      if (x < 0 || y < 0 || x >= this.set.width || y >= this.set.height) { this.values.textContent = "Point at a pixel to read its values."; return; }
      const i = y * this.set.width + x;
      const sides = this.set.pictures.length > 1 ? [["A", this.a], ["B", this.b]] : [["A", this.a]];
      const lines = sides.map(([side, index]) => {
        const { channels, light, scene, most } = this.pictures[index];
        const rgb = channels.map(channel => short(light[channel[i]]).padStart(10)).join("");
        const codes = scene ? "" : "   sRGB " + channels.map(channel => (most === 255 ? channel[i] : channel[i] / 257).toFixed(most === 255 ? 0 : 2)).join(" ");
        return `${side}  RGB ${rgb}   Y ${short(this.luminance(index, i)).padStart(10)} ${scene ? this.set.unit : "of white"}${codes}`;
      });
      const maps = this.set.pictures.length > 1 ? [...new Set(this.set.maps.map(map => map.name))].map(name => [name, this.map(name.toLowerCase())])
        .filter(([, map]) => map).map(([name, map]) => `   ${name} ${(map[i] / 255).toFixed(3)}`).join("") : "";
      const difference = sides.length > 1 ? `   A/B ${signed(this.stops(i), 4)} stops   ${signed(100 * this.relative(i), 2)} %` : "";
      this.values.textContent = `pixel ${x}, ${y}${difference}${maps}\n${lines.join("\n")}`;
    }
  }

  for (const figure of document.querySelectorAll("figure[data-set]")) new Viewer(figure, sets[Number(figure.dataset.set)]);

  // #SECTION&mode=wipe&a=0&b=1&ev=8&zoom=4&x=10&y=20&set=1&theme=dark
  function follow() {
    const [id, ...rest] = decodeURIComponent(location.hash.slice(1)).split("&");
    const wanted = new Map(rest.map(part => part.split("=")));
    const theme = wanted.get("theme");
    if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
    const section = id && document.getElementById(id);
    if (section) section.scrollIntoView();
    const inside = viewers.filter(viewer => !section || section.contains(viewer.figure));
    const viewer = inside[Number(wanted.get("set")) || 0];
    if (!viewer || !rest.length) return;
    const number = name => wanted.has(name) && Number.isFinite(Number(wanted.get(name))) ? Number(wanted.get(name)) : null;
    for (const side of ["a", "b"]) if (viewer.set.pictures[number(side)]) viewer[side] = number(side);
    if (number("ev") !== null) viewer.ev = number("ev");
    if (number("range") !== null) viewer.ranges.stops = viewer.ranges.relative = number("range");
    if (number("wipe") !== null) viewer.wipe = clamp(number("wipe"), 0, 1);
    if (wanted.has("mode")) viewer.setMode(wanted.get("mode"));
    viewer.start();
    // Zooms and centers a pixel.
    requestAnimationFrame(() => requestAnimationFrame(() => {
      if (number("zoom") > 0) viewer.scale = clamp(number("zoom"), 1 / 16, 128);
      if (number("x") !== null && number("y") !== null) {
        const [pane] = viewer.panes();
        viewer.at = [0, 0];
        const at = viewer.shown(pane);
        viewer.at = [pane.x + pane.width / 2 - at.x - (number("x") + 0.5) * at.scale, pane.height / 2 - at.y - (number("y") + 0.5) * at.scale];
        viewer.mouse = [pane.x + pane.width / 2, pane.height / 2];
      }
      viewer.draw();
    }));
  }
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  document.getElementById("theme").addEventListener("click", () => {
    const now = document.documentElement.dataset.theme || (dark.matches ? "dark" : "light");
    document.documentElement.dataset.theme = now === "dark" ? "light" : "dark";
  });
  window.addEventListener("hashchange", follow);
  follow();
})();
