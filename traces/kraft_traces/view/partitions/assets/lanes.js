// The picture: a lane for the controller, one for the brokers, one for each partition. Only the visible part is drawn.

class Lanes {
  constructor(history, box, svg, spacer, onSelect) {
    Object.assign(this, { history, box, svg, spacer, onSelect, zoom: 1, selected: 0, current: history.partitions[0] ?? null });
    this.order = new Map(["controller", "brokers", ...history.partitions].map((name, place) => [name, place]));
    this.marks = history.events.map((event) => marksOf(event, this.order));
    this.full = FIXED + PARTITION_LANE * history.partitions.length + 4;
    box.addEventListener("scroll", () => this.draw());
    new ResizeObserver(() => this.draw()).observe(box);
    svg.addEventListener("click", (click) => this._clicked(click));
    for (const node of [box, spacer]) node.style.setProperty("--full", `${this.full}px`);
    this._lay();
  }

  _lay() {
    Object.assign(this, laidOut(this.history, this.zoom));
    const x = ({ from }) => (from < 0 ? this.start : this.columns[from]);
    this.begins = new Map([...this.history.stretches].map(([name, stretches]) => [name, stretches.map(x)]));
    this.spacer.style.width = `${this.end}px`;
    this.draw();
  }

  zoomBy(factor) {
    const offset = this.columns[this.selected] - this.box.scrollLeft;
    this.zoom = Math.min(4, Math.max(0.2, this.zoom * factor));
    this._lay();
    this.box.scrollLeft = this.columns[this.selected] - offset;
    this.draw();
  }

  // Upper edge of a lane in the picture, whose own upper edge is that of the view.
  top(name) {
    const place = this.order.get(name);
    return place < 2 ? AXIS + FIXED_LANE * place : FIXED + PARTITION_LANE * (place - 2) - this.down;
  }

  select(index, current) {
    Object.assign(this, { selected: index, current, down: this.box.scrollTop });
    const { scrollLeft, clientWidth, clientHeight } = this.box, x = this.columns[index];
    if (x < scrollLeft + MARGIN + 60 || x > scrollLeft + clientWidth - 90) this.box.scrollLeft = x - MARGIN - (clientWidth - MARGIN) / 2;
    const top = current === null ? FIXED : this.top(current);
    if (top < FIXED) this.box.scrollTop += top - FIXED;
    else if (top + PARTITION_LANE > clientHeight) this.box.scrollTop += Math.min(top - FIXED, top + PARTITION_LANE - clientHeight);
    this.draw();
  }

  draw() {
    const left = this.box.scrollLeft, width = this.box.clientWidth, height = Math.min(this.full, this.box.clientHeight);
    // Asked for once: while elements are made, each question would lay out the page anew.
    this.down = this.box.scrollTop;
    this.svg.setAttribute("width", width);
    this.svg.setAttribute("height", height);
    this.svg.setAttribute("viewBox", `${left} 0 ${width} ${height}`);
    const view = { left, right: left + width, height, from: Math.max(0, firstAtLeast(this.columns, left + MARGIN) - 1), to: Math.min(this.columns.length - 1, firstAtLeast(this.columns, left + width)) };
    const seen = this.history.partitions.filter((name) => this.top(name) + PARTITION_LANE > FIXED && this.top(name) < height);
    const parts = [definitions(), ...this._ticks(view), ...this._stems(view, height)];
    parts.push(...this._lanes(seen.flatMap((name) => [...this._partition(name, view)]), FIXED, height), ...this._marks(seen, view));
    parts.push(drawn("rect", { class: "behind-fixed", x: left, y: 0, width, height: FIXED }), ...this._stems(view, FIXED), ...this._axis(view));
    parts.push(...this._lanes([...this._fixed("controller", view), ...this._fixed("brokers", view)], 16, FIXED), ...this._marks(["controller", "brokers"], view));
    parts.push(...this._wrong(seen, view), ...this._names(seen, view));
    this.svg.replaceChildren(...parts);
  }

  // The line of the selected event stands over the grounds of the lanes, and behind their texts.
  _lanes(parts, from, to) {
    const isGround = (part) => part.classList.contains("ground");
    const x = this.columns[this.selected];
    const here = x === undefined ? [] : [drawn("path", { class: "here", d: `M${x} ${from} V${to}` })];
    return [...parts.filter(isGround), ...here, ...parts.filter((part) => !isGround(part))];
  }

  // The events that have their number above: as many as there is room for.
  *_numbered({ from, to }) {
    let free = -Infinity;
    for (let index = from; index <= to; index += 1) {
      if (this.columns[index] < free) continue;
      yield index;
      free = this.columns[index] + 40;
    }
  }

  *_ticks(view) {
    for (const index of this._numbered(view)) yield drawn("path", { class: "tick", d: `M${this.columns[index]} ${FIXED} V${view.height}` });
  }

  *_axis(view) {
    for (const index of this._numbered(view)) {
      const x = this.columns[index];
      yield drawn("text", { class: "time", x, y: 13, "text-anchor": "middle" }, this.history.events[index].sequence);
      yield drawn("path", { class: "tick", d: `M${x} 16 V${FIXED}` });
    }
  }

  // The stretches of a lane that are in view: where each begins, where its text may stand, and the room for it.
  *_inView(name, { left, right }) {
    const stretches = this.history.stretches.get(name), begins = this.begins.get(name);
    for (let place = Math.max(0, firstAtLeast(begins, left + MARGIN) - 1); begins[place] < right; place += 1) {
      const start = begins[place], end = begins[place + 1] ?? this.end - 16, text = Math.max(start, left + MARGIN) + 5;
      yield { shows: stretches[place].shows, start, end, text, room: end - text };
    }
  }

  *_fixed(name, view) {
    const y = this.top(name) + 16;
    for (const { shows, start, end, text, room } of this._inView(name, view)) {
      yield drawn("rect", { class: `ground stretch ${name}`, x: start, y, width: Math.max(1, end - start), height: 20 });
      if (name === "controller") {
        if (room >= widthOf(`node ${shows.node}`) - 10) yield drawn("text", { class: "stretch-head", x: text, y: y + 14 }, `node ${shows.node}`);
      } else yield* this._brokers(shows.alive, text, y, room);
    }
  }

  // Each broker in a box of its own where there is room, otherwise only who is dead.
  *_brokers(alive, x, y, room) {
    const { brokers } = this.history.header;
    const dead = brokers.filter((broker) => !alive.includes(broker));
    const words = dead.length ? `dead ${dead.join(", ")}` : "all alive";
    const boxes = brokers.map((broker) => (alive.includes(broker)
      ? { text: `${broker}`, names: "replica-mark alive", words: `broker ${broker} is alive` }
      : { text: `×${broker}`, names: "replica-mark dead behind", words: `broker ${broker} is dead` }));
    if (room >= boxesWidth(boxes.map(({ text }) => text))) yield* boxed(boxes, x, y + 2);
    else if (room >= widthOf(words) - 10) yield drawn("text", { class: "stretch-head", x, y: y + 14 }, words);
  }

  *_partition(name, view) {
    const y = this.top(name) + 18;
    for (const { shows, start, end, text, room } of this._inView(name, view)) {
      const { partition } = shows;
      const kind = !partition ? "absent" : partition.being_deleted ? "deleting" : partition.waits_for ? "moving" : "resting";
      const title = drawn("title", {}, partition ? `${name}: ${lineOf(partition)}` : `${name} is not there`);
      yield drawn("rect", { class: `ground stretch ${kind}`, x: start, y, width: Math.max(1, end - start), height: PARTITION_LANE - 24 }, title);
      if (partition?.leader === null) yield drawn("rect", { class: "ground leaderless", x: start, y: y + PARTITION_LANE - 31, width: Math.max(1, end - start), height: 7 });
      const { heads, sets } = stretchTexts(shows);
      const head = heads.find((one) => widthOf(one) - 8 <= room);
      if (head) yield drawn("text", { class: "stretch-head", x: text, y: y + 14 }, head);
      const marks = replicaMarks(shows);
      if (marks.length && room >= boxesWidth(marks.map((one) => one.text)) - 10) {
        yield drawn("text", { class: "set-name", x: text, y: y + 34 }, "R");
        yield* boxed(marks, text + 12, y + 21);
      }
      if (!sets.length || room < setsWidth(sets) - 8) continue;
      const words = sets.flatMap(([name, members]) => [drawn("tspan", { class: "set-name" }, `${name} `), `${members}  `]);
      yield drawn("text", { class: "sets", x: text, y: y + 53 }, ...words);
    }
  }

  *_marks(names, { from, to }) {
    for (let index = from; index <= to; index += 1) {
      const event = this.history.events[index], x = this.columns[index];
      for (const { lane, kind, refused } of this.marks[index]) {
        if (!names.includes(lane)) continue;
        const unchecked = this.history.wrong !== null && index > this.history.wrong;
        const classes = `event ${kind}${index === this.selected ? " chosen" : ""}${refused ? " refused" : ""}${unchecked ? " unchecked" : ""}`;
        const title = drawn("title", {}, `${event.sequence} ${eventWords(event)}${event.refusal ? `, refused: ${event.refusal}` : ""}`);
        yield drawn("g", { class: classes, "data-index": index }, title, ...partitionShape(kind, refused, x, this.top(lane) + 9));
      }
    }
  }

  // A thin line joins the marks of one event, down to `lowest`.
  *_stems({ from, to }, lowest) {
    for (let index = from; index <= to; index += 1) {
      const tops = this.marks[index].map(({ lane }) => this.top(lane) + 9);
      if (tops.length > 1) yield drawn("path", { class: "stem", d: `M${this.columns[index]} ${Math.min(...tops)} V${Math.min(lowest, Math.max(...tops))}` });
    }
  }

  *_wrong(seen, { from, to }) {
    const { wrong } = this.history;
    if (wrong === null || wrong < from || wrong > to) return;
    const { lane } = this.marks[wrong][0];
    if (!seen.includes(lane) && this.order.get(lane) > 1) return;
    yield wrongSign(this.columns[wrong], this.top(lane) + 16);
  }

  *_names(seen, { left, height }) {
    const named = (name, y, text, below) => [drawn("text", { class: "name", x: left + 6, y }, shortened(text), drawn("title", {}, text)), drawn("text", { class: "kind", x: left + 6, y: y + 14 }, below)];
    yield drawn("rect", { class: "margin", x: left, y: 0, width: MARGIN, height });
    for (const name of seen) {
      yield* named(name, this.top(name) + 44, name, "partition");
      if (name === this.current) yield drawn("path", { class: "current", d: `M${left + 1.5} ${this.top(name) + 18} v${PARTITION_LANE - 24}` });
    }
    yield drawn("rect", { class: "margin", x: left, y: 0, width: MARGIN, height: FIXED });
    yield drawn("text", { class: "kind", x: left + 6, y: 13 }, "event");
    yield* named("controller", this.top("controller") + 22, "controller", "which node");
    yield* named("brokers", this.top("brokers") + 22, "brokers", "× dead");
  }

  // The event nearest to the click, those of its lane first; the lane is the one that is followed from then on.
  _clicked(click) {
    const box = this.svg.getBoundingClientRect();
    const x = click.clientX - box.left + this.box.scrollLeft, y = click.clientY - box.top;
    const height = (name) => (this.order.get(name) < 2 ? FIXED_LANE : PARTITION_LANE);
    const lane = [...this.order.keys()].find((name) => y >= this.top(name) && y < this.top(name) + height(name) && (y >= FIXED || this.order.get(name) < 2));
    const near = firstAtLeast(this.columns, x);
    let best = null, closest = Infinity;
    for (let index = Math.max(0, near - 12); index < Math.min(this.columns.length, near + 12); index += 1) {
      const here = lane === undefined || this.marks[index].some((mark) => mark.lane === lane);
      const far = Math.abs(this.columns[index] - x) + (here ? 0 : 40);
      if (far < closest) [best, closest] = [index, far];
    }
    if (best !== null) this.onSelect(best, this.history.tracks.has(lane) ? lane : null);
    this.box.focus({ preventScroll: true });
  }
}

const shortened = (name) => (name.length <= 11 ? name : `${name.slice(0, 5)}…${name.slice(-5)}`);

// Adjacent boxes, from x on.
function* boxed(boxes, x, y) {
  for (const { text, names, words } of boxes) {
    const width = boxWidth(text);
    yield drawn("rect", { class: names, x, y, width, height: 17 }, drawn("title", {}, words));
    yield drawn("text", { class: "in-box", x: x + width / 2, y: y + 12.5, "text-anchor": "middle" }, text);
    x += width + 3;
  }
}
