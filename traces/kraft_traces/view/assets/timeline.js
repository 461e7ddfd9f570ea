// The picture: a lane for each replica with its events, and messages between lanes.  Only the visible part is drawn, and
// a step from one event to the next only draws these two.

const NEAR_MARK = 48;

class Timeline {
  constructor(trace, box, svg, spacer, onSelect) {
    Object.assign(this, { trace, box, svg, spacer, onSelect, selected: 0, left: 0, width: 0 });
    this.layout = new Layout(trace);
    this.layers = ["base", "chosen", "names"].map((name) => drawn("g", { class: name }));
    svg.setAttribute("height", this.layout.height);
    svg.replaceChildren(definitions(), ...this.layers);
    spacer.style.height = `${this.layout.height}px`;
    box.addEventListener("scroll", () => this._moved(box.scrollLeft));
    new ResizeObserver(() => this._resized()).observe(box);
    svg.addEventListener("click", (click) => this._clicked(click));
    this._spread();
    this._resized();
  }

  zoomBy(factor) {
    const { layout } = this;
    const offset = layout.x[this.selected] - this.left;
    layout.zoom = Math.min(4, Math.max(0.25, layout.zoom * factor));
    layout.lay();
    this._spread();
    this._scrollTo(layout.x[this.selected] - offset);
    this.draw();
  }

  select(index) {
    this.selected = index;
    const x = this.layout.x[index];
    if (x < this.left + LEFT + 60 || x > this.left + this.width - 90) this._scrollTo(x - LEFT - (this.width - LEFT) / 2);
    this._drawChosen();
    this._drawNames();
  }

  _spread() { this.spacer.style.width = `${this.layout.width}px`; }

  _resized() {
    this.width = this.box.clientWidth;
    this.left = this.box.scrollLeft;
    this.draw();
  }

  _scrollTo(left) {
    this.box.scrollLeft = left;
    this._moved(Math.max(0, Math.min(Math.round(left), Math.ceil(this.layout.width - this.width))));
  }

  // Asking the browser where it stands would have it lay out the page each time, so it is remembered.
  _moved(left) {
    if (left === this.left) return;
    this.left = left;
    this.draw();
  }

  draw() {
    const { left, width, layout } = this;
    const from = Math.max(0, firstAtLeast(layout.x, left + LEFT) - 1);
    const to = Math.min(layout.x.length - 1, firstAtLeast(layout.x, left + width));
    this.svg.setAttribute("width", width);
    this.svg.setAttribute("viewBox", `${left} 0 ${width} ${layout.height}`);
    this.words = new Words();
    this.layers[0].replaceChildren(...this._axis(from, to), ...this._bands(), ...this._arrows(from, to), ...this._marks(from, to));
    this._drawChosen();
    this._drawNames();
  }

  *_axis(from, to) {
    const { layout, trace } = this;
    let free = -Infinity, before = trace.events[from - 1]?.time_ms;
    for (let index = from; index <= to; index += 1) {
      const time = trace.events[index].time_ms, x = layout.x[index];
      if (time === undefined) continue;
      const gap = before === undefined ? 0 : time - before;
      if (gap > LONG_MS && index > 0) {
        const middle = (layout.x[index - 1] + x) / 2;
        yield drawn("path", { class: "gap", d: `M${middle - 3} ${TOP} l-4 ${layout.height - TOP} m10 0 l4 ${TOP - layout.height}` });
      }
      const half = widthOf(`${time} ms`) / 2;
      if (x - half > free) {
        yield drawn("text", { class: "time", x, y: 14, "text-anchor": "middle" }, `${time} ms`);
        yield drawn("path", { class: "tick", d: `M${x} 18 V${layout.height}` });
        free = x + half + 24;
      }
      before = time;
    }
  }

  *_bands() {
    const { left, width, layout } = this;
    for (const { id, from, to, role, epoch } of layout.segments.flat()) {
      const start = from === null ? LEFT : layout.x[from], end = to === null ? (layout.x.at(-1) ?? LEFT) + 60 : layout.x[to];
      if (end < left || start > left + width) continue;
      const y = layout.lanes.get(id) - BAND / 2;
      yield drawn("rect", { class: `band ${role ?? "unknown"}`, x: start, y, width: Math.max(1, end - start), height: BAND });
      const visible = Math.max(start, left + LEFT) + 4;
      const room = Math.min(end, left + width) - visible;
      const words = [`${role ?? "role not observed,"} ${epoch ?? "?"}`, `${ROLES[role] ?? "?"} ${epoch ?? "?"}`].find((text) => widthOf(text) + 4 < room);
      if (words && this.words.take(visible, visible + widthOf(words), y - 3)) yield drawn("text", { class: "role", x: visible, y: y - 3 }, words);
    }
  }

  *_arrows(from, to) {
    const words = new Words(this.words.taken);
    this.votes = [];
    for (const arrow of this.layout.arrowsBetween(from, to)) {
      const line = this.layout.line(arrow);
      if (!line) continue;
      const message = this.trace.messageOf(arrow);
      yield this._arrow(arrow, line, message);
      if (line.lost) yield cross(line.x2, line.y2);
      const { granted } = message;
      if (granted === undefined) continue;
      // Whether a vote was granted is seen without selecting it.
      const free = [0.65, 0.5, 0.8, 0.35].map((share) => pointOn(line, share)).find(({ x, y }) => !isInBand(y) && words.take(x - 11, x + 11, y + 4));
      if (!free) continue;
      const sign = drawn("text", { class: granted ? "vote granted" : "vote refused", x: free.x, y: free.y + 4, "text-anchor": "middle" }, granted ? "yes" : "no");
      this.votes.push({ sign, arrow, x1: free.x - 11, x2: free.x + 11, y: free.y + 4 });
      yield sign;
    }
  }

  _arrow(arrow, { x1, y1, x2, y2, arrives }, message, own = "") {
    const kind = arrow.message.endsWith("Request") ? "request" : "response";
    const attributes = { class: `arrow ${kind} ${arrow.fate.replace(" ", "-")}${own}`, d: `M${x1} ${y1} L${x2} ${y2}` };
    if (arrives) attributes["marker-end"] = `url(#head${own ? "-own" : ""})`;
    return drawn("path", attributes, drawn("title", {}, `${label(message)}; ${arrow.source}→${arrow.destination}; ${arrow.fate}`));
  }

  *_marks(from, to) {
    const { wrong } = this.trace;
    for (let index = from; index <= to; index += 1) yield this._mark(index, wrong !== null && index > wrong ? " unchecked" : "");
  }

  _mark(index, more) {
    const event = this.trace.events[index];
    const names = `event${event.refusal ? " refused" : ""}${more}`;
    const sign = shape(event, this.layout.x[index], this.layout.laneOf(event), this.layout.namesLinks);
    return drawn("g", { class: names, "data-index": index }, drawn("title", {}, `${event.sequence} ${eventWorded(event)}`), sign);
  }

  _drawChosen() {
    const { layout, trace, selected } = this;
    if (!trace.events.length) return;
    const x = layout.x[selected], words = new Words(this.words.taken);
    const parts = [drawn("path", { class: "here", d: `M${x} 18 V${layout.height}` })], labels = [];
    for (const arrow of trace.arrowsOf[selected]) {
      const line = layout.line(arrow);
      if (!line) continue;
      const message = trace.messageOf(arrow);
      parts.push(this._arrow(arrow, line, message, " own"));
      if (line.lost) parts.push(cross(line.x2, line.y2));
      labels.push(this._label(line, shortLabel(message), arrow.sent === selected, words));
    }
    parts.push(this._mark(selected, " chosen"), ...labels.filter(Boolean));
    if (trace.wrong !== null) parts.push(wrongSign(layout.x[trace.wrong], layout.laneOf(trace.events[trace.wrong])));
    // The names of the chosen arrows come first.
    for (const vote of this.votes) vote.sign.classList.toggle("covered", !words.isFree(vote) || this._misleads(vote));
    this.layers[1].replaceChildren(...parts);
  }

  // Beside a mark that is looked at, the outcome of another event's vote would be taken for that of its own.
  _misleads({ arrow, x1, x2, y }) {
    const { layout, trace, selected } = this;
    return [selected, trace.wrong ?? selected].some((index) => {
      const far = Math.hypot((x1 + x2) / 2 - layout.x[index], y - layout.laneOf(trace.events[index]));
      return far < NEAR_MARK && !trace.arrowsOf[index].includes(arrow);
    });
  }

  // What comes in is named to the left, what goes out to the right, where no other words stand and if possible between
  // the lanes; else nowhere.
  _label(line, text, goesOut, words) {
    const wide = widthOf(text);
    const places = [goesOut, !goesOut].flatMap((right) => [0.5, 0.35, 0.65, 0.2, 0.8].map((share) => ({ right, ...pointOn(line, share) })));
    places.sort((one, other) => isInBand(one.y) - isInBand(other.y));
    for (const place of places) {
      const x = place.x + (place.right ? 6 : -6 - wide), y = place.y + 4;
      const isInView = x > this.left + LEFT && x + wide < this.left + this.width;
      if (isInView && words.take(x, x + wide, y)) return drawn("text", { class: "label", x, y }, text);
    }
    return null;
  }

  _drawNames() {
    const { left, layout, trace } = this, x = left + 6;
    const kinds = trace.replicas.map((replica) => (trace.isVoter(replica, this.selected) ? "voter" : "observer"));
    if (this.named === `${left} ${kinds}`) return;
    this.named = `${left} ${kinds}`;
    const parts = [drawn("rect", { class: "margin", x: left, y: 0, width: LEFT, height: layout.height }), drawn("text", { class: "name", x, y: TOP - 8 }, "network")];
    trace.replicas.forEach(({ id }, place) => {
      const y = layout.lanes.get(id);
      parts.push(drawn("text", { class: "name", x, y: y + 1 }, `replica ${id}`), drawn("text", { class: "kind", x, y: y + 14 }, kinds[place]));
    });
    this.layers[2].replaceChildren(...parts);
  }

  _clicked(click) {
    const box = this.svg.getBoundingClientRect();
    const best = this.layout.nearest(click.clientX - box.left + this.left, click.clientY - box.top);
    if (best !== null) this.onSelect(best);
    this.box.focus({ preventScroll: true });
  }
}
