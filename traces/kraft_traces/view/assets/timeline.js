// The picture: a lane for each replica, events along it, messages between them.  Only what is in view is drawn.

const SVG = "http://www.w3.org/2000/svg";
const LANE = 58, TOP = 46, LEFT = 74, BAND = 22, RADIUS = 5;
const STEP_MIN = 15, STEP_MAX = 64, LINK = 46, LONG_MS = 400;

// What a lane says of each role: letter, class of its colour and pattern.
const ROLES = { Unattached: "U", Prospective: "P", Candidate: "C", Leader: "L", Follower: "F", Resigned: "R", Stopped: "×" };

const drawn = (name, attributes, ...children) => {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
};

class Timeline {
  constructor(trace, box, svg, spacer, onSelect) {
    Object.assign(this, { trace, box, svg, spacer, onSelect, zoom: 1, selected: 0 });
    this.lanes = new Map(trace.replicas.map((replica, place) => [replica.id, TOP + LANE * place + LANE / 2]));
    this.height = TOP + LANE * trace.replicas.length + 8;
    this.segments = this._segments();
    // Longest arrow first seen from its start: how far back a look must go for arrows that reach into view.
    this.reach = trace.arrows.map((arrow) => arrow.ended ?? trace.events.length - 1);
    this.svg.setAttribute("height", this.height);
    this.spacer.style.height = `${this.height}px`;
    box.addEventListener("scroll", () => this.draw());
    new ResizeObserver(() => this.draw()).observe(box);
    svg.addEventListener("click", (click) => this._clicked(click));
    this._lay();
  }

  // Time is stretched where much happens and cut where nothing does: a step is at least as wide as its mark.
  _lay() {
    let x = LEFT + 20, before = null, link = false;
    this.x = this.trace.events.map((event) => {
      const time = event.time_ms, isLink = event.event.endsWith("Link");
      if (before !== null) {
        const gap = time === undefined ? 0 : Math.max(0, time - before);
        x += this.zoom * Math.min(STEP_MAX, (isLink && link ? LINK : STEP_MIN) + 0.5 * gap);
      }
      before = time ?? before ?? 0;
      link = isLink;
      return x;
    });
    this.spacer.style.width = `${(this.x.at(-1) ?? LEFT) + 80}px`;
    this.draw();
  }

  zoomBy(factor) {
    const offset = this.x[this.selected] - this.box.scrollLeft;
    this.zoom = Math.min(4, Math.max(0.25, this.zoom * factor));
    this._lay();
    this.box.scrollLeft = this.x[this.selected] - offset;
    this.draw();
  }

  select(index) {
    this.selected = index;
    const { scrollLeft, clientWidth } = this.box;
    const x = this.x[index];
    if (x < scrollLeft + LEFT + 60 || x > scrollLeft + clientWidth - 90) this.box.scrollLeft = x - LEFT - (clientWidth - LEFT) / 2;
    this.draw();
  }

  // Stretches of each lane with one role and epoch.
  _segments() {
    return this.trace.replicas.map(({ id }) => {
      const own = this.trace.at.get(id), states = this.trace.states.get(id), found = [];
      own.forEach((index, place) => {
        const { role, epoch } = states[place];
        const last = found.at(-1);
        if (!last || last.role !== role || last.epoch !== epoch) found.push({ id, from: index, role, epoch });
      });
      found.forEach((segment, place) => { segment.to = found[place + 1]?.from ?? null; });
      return found;
    });
  }

  draw() {
    if (!this.x) return;
    const left = this.box.scrollLeft, width = this.box.clientWidth;
    const from = Math.max(0, firstAtLeast(this.x, left + LEFT) - 1);
    const to = Math.min(this.x.length - 1, firstAtLeast(this.x, left + width));
    this.svg.setAttribute("width", width);
    this.svg.setAttribute("viewBox", `${left} 0 ${width} ${this.height}`);
    const parts = [definitions()];
    parts.push(...this._axis(from, to), ...this._bands(left, width), ...this._arrows(from, to), ...this._marks(from, to));
    parts.push(...this._names(left));
    this.svg.replaceChildren(...parts);
  }

  *_axis(from, to) {
    let free = -Infinity, before = this.trace.events[from - 1]?.time_ms;
    for (let index = from; index <= to; index += 1) {
      const time = this.trace.events[index].time_ms, x = this.x[index];
      if (time === undefined) continue;
      const gap = before === undefined ? 0 : time - before;
      if (gap > LONG_MS && index > 0) {
        const middle = (this.x[index - 1] + x) / 2;
        yield drawn("path", { class: "gap", d: `M${middle - 3} ${TOP} l-4 ${this.height - TOP} m10 0 l4 ${TOP - this.height}` });
      }
      if (x > free) {
        yield drawn("text", { class: "time", x, y: 14, "text-anchor": "middle" }, `${time} ms`);
        yield drawn("path", { class: "tick", d: `M${x} 18 V${this.height}` });
        free = x + 88;
      }
      before = time;
    }
  }

  *_bands(left, width) {
    for (const found of this.segments) {
      for (const { id, from, to, role, epoch } of found) {
        const start = this.x[from], end = to === null ? (this.x.at(-1) ?? 0) + 60 : this.x[to];
        if (end < left || start > left + width) continue;
        const y = this.lanes.get(id) - BAND / 2;
        yield drawn("rect", { class: `band ${role ?? "unknown"}`, x: start, y, width: Math.max(1, end - start), height: BAND });
        const visible = Math.max(start, left + LEFT);
        const words = `${ROLES[role] ?? "?"} ${epoch ?? "?"}`;
        const long = role ? `${role} ${epoch ?? "?"}` : words;
        const room = end - visible;
        if (room > 26) yield drawn("text", { class: "role", x: visible + 4, y: y - 3 }, room > 7 * long.length + 12 ? long : words);
      }
    }
  }

  *_arrows(from, to) {
    const event = this.selected;
    for (const [place, arrow] of this.trace.arrows.entries()) {
      if (arrow.sent > to) break;
      if (this.reach[place] < from) continue;
      const source = this.lanes.get(arrow.source), destination = this.lanes.get(arrow.destination);
      if (source === undefined || destination === undefined) continue;
      const [x1, x2] = [this.x[arrow.sent], arrow.ended === null ? this.x[arrow.sent] + 34 : this.x[arrow.ended]];
      const lost = arrow.fate === "dropped" || arrow.fate === "unsupported";
      // One that does not arrive ends on its way.
      const share = arrow.fate === "in flight" ? 0.4 : lost ? 0.6 : 1;
      const down = destination > source ? 1 : -1;
      const y1 = source + down * RADIUS, y2 = source + (destination - source) * share - (share === 1 ? down * (RADIUS + 2) : 0);
      const own = arrow.sent === event || arrow.ended === event;
      const kind = arrow.message.endsWith("Request") ? "request" : "response";
      const attributes = { class: `arrow ${kind} ${arrow.fate.replace(" ", "-")}${own ? " own" : ""}`, d: `M${x1} ${y1} L${x2} ${y2}` };
      if (share === 1) attributes["marker-end"] = `url(#${own ? "head-own" : "head"})`;
      yield drawn("path", attributes, drawn("title", {}, `${arrow.message} ${arrow.source}→${arrow.destination}: ${arrow.fate}`));
      if (lost) yield drawn("path", { class: `cross${own ? " own" : ""}`, d: `M${x2 - 4} ${y2 - 4} l8 8 m0 -8 l-8 8` });
      // What comes in is named to the left, what goes out to the right.
      const [anchor, aside] = arrow.sent === event ? ["start", 6] : ["end", -6];
      if (own) yield drawn("text", { class: "label", x: (x1 + x2) / 2 + aside, y: (y1 + y2) / 2 + 4, "text-anchor": anchor }, messageName(arrow.message));
    }
  }

  *_marks(from, to) {
    for (let index = from; index <= to; index += 1) {
      const event = this.trace.events[index], x = this.x[index];
      const y = this.lanes.get(event.replica) ?? TOP - 12;
      const chosen = index === this.selected, wrong = index === this.trace.wrong;
      const unchecked = this.trace.wrong !== null && index > this.trace.wrong;
      if (chosen) yield drawn("path", { class: "here", d: `M${x} 18 V${this.height}` });
      const names = `event${chosen ? " chosen" : ""}${event.refusal ? " refused" : ""}${unchecked ? " unchecked" : ""}`;
      const mark = drawn("g", { class: names, "data-index": index }, drawn("title", {}, `${event.sequence} ${eventWorded(event)}`), ...shape(event, x, y));
      yield mark;
      if (wrong) yield drawn("path", { class: "wrong", d: `M${x} ${y - 17} l10 10 l-10 10 l-10 -10 z m-4 6 l8 8 m0 -8 l-8 8` });
    }
  }

  *_names(left) {
    yield drawn("rect", { class: "margin", x: left, y: 0, width: LEFT, height: this.height });
    yield drawn("text", { class: "name", x: left + 6, y: TOP - 8 }, "network");
    for (const { id, voter } of this.trace.replicas) {
      yield drawn("text", { class: "name", x: left + 6, y: this.lanes.get(id) + 1 }, `replica ${id}`);
      yield drawn("text", { class: "kind", x: left + 6, y: this.lanes.get(id) + 14 }, voter ? "voter at first" : "observer");
    }
  }

  // The event that is nearest to the click, among those of its lane if it is near one.
  _clicked(click) {
    const box = this.svg.getBoundingClientRect();
    const x = click.clientX - box.left + this.box.scrollLeft, y = click.clientY - box.top;
    let best = null, closest = Infinity;
    const from = Math.max(0, firstAtLeast(this.x, x - 80)), to = Math.min(this.x.length - 1, firstAtLeast(this.x, x + 80));
    for (let index = from; index <= to; index += 1) {
      const lane = this.lanes.get(this.trace.events[index].replica) ?? TOP - 12;
      const far = Math.hypot(this.x[index] - x, 1.5 * (lane - y));
      if (far < closest) [best, closest] = [index, far];
    }
    if (best !== null) this.onSelect(best);
    this.box.focus({ preventScroll: true });
  }
}

function firstAtLeast(sorted, value) {
  let low = 0, high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1; else high = middle;
  }
  return low;
}

// Kinds of events differ by shape, not by colour alone.
function shape(event, x, y) {
  const r = RADIUS;
  if (event.event === "CutLink" || event.event === "HealLink") {
    const words = `${event.event === "CutLink" ? "✂" : "⚯"} ${linkOf(event.input)}`;
    return [drawn("text", { class: "network", x, y: y + 4, "text-anchor": "middle" }, words)];
  }
  if (event.replica === undefined) return [drawn("path", { d: `M${x - 3} ${y - 3} h6 v6 h-6 z` })];
  if (event.event === "Crash" || event.crash) return [drawn("path", { class: "crash", d: `M${x - r} ${y - r} L${x + r} ${y + r} M${x + r} ${y - r} L${x - r} ${y + r}` })];
  if (event.event === "Restart" || event.event === "ReplaceDisk") return [drawn("path", { d: `M${x - r} ${y - r} L${x + r} ${y} L${x - r} ${y + r} Z` })];
  if (event.event.endsWith("Timeout")) return [drawn("path", { d: `M${x} ${y - r - 1} L${x + r + 1} ${y} L${x} ${y + r + 1} L${x - r - 1} ${y} Z` })];
  if (event.cause?.source === "client" || event.cause?.source === "operator") return [drawn("rect", { x: x - r, y: y - r, width: 2 * r, height: 2 * r })];
  return [drawn("circle", { cx: x, cy: y, r })];
}

function definitions() {
  const marker = (id) => drawn("marker", { id, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, drawn("path", { class: id, d: "M0 0 L8 4 L0 8 Z" }));
  const stripes = drawn("pattern", { id: "stripes", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, drawn("path", { class: "stripe", d: "M0 0 V6" }));
  return drawn("defs", {}, marker("head"), marker("head-own"), stripes);
}
