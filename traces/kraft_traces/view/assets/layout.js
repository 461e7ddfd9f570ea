// Layout of the picture: times from left to right, a lane for each replica from top to bottom.

const LANE = 58, TOP = 46, LEFT = 74, BAND = 22, RADIUS = 5;
const STEP = 15, STEP_MAX = 64, LINK = 46, LONG_MS = 400;
const LONG_ARROW = 128;

class Layout {
  constructor(trace) {
    this.trace = trace;
    this.zoom = 1;
    this.lanes = new Map(trace.replicas.map((replica, place) => [replica.id, TOP + LANE * place + LANE / 2]));
    this.height = TOP + LANE * trace.replicas.length + 8;
    this.segments = this._segments();
    // Few arrows are long, so a look back for those that reach into view is short.
    this.long = trace.arrows.filter((arrow) => this._reach(arrow) - arrow.sent > LONG_ARROW);
    this.short = trace.arrows.filter((arrow) => this._reach(arrow) - arrow.sent <= LONG_ARROW);
    this.sent = this.short.map((arrow) => arrow.sent);
    this.lay();
  }

  // Time is stretched where much happens and cut where nothing does: a step is at least as wide as its marks.
  lay() {
    let x = LEFT + 20, before = null, half = 0;
    this.x = this.trace.events.map((event) => {
      const time = event.time_ms, own = (isLink(event) ? LINK : STEP) / 2;
      if (before !== null) {
        const gap = time === undefined ? 0 : Math.max(0, time - before);
        x += this.zoom * Math.min(STEP_MAX, half + own + 0.5 * gap);
      }
      before = time ?? before ?? 0;
      half = own;
      return x;
    });
    this.width = (this.x.at(-1) ?? LEFT) + 80;
  }

  laneOf(event) { return this.lanes.get(event.replica) ?? TOP - 12; }

  // Is there room for words beside the sign of a link?
  get namesLinks() { return this.zoom * LINK >= 40; }

  _reach(arrow) { return arrow.ended ?? arrow.sent; }

  // Stretches of each lane with one role and epoch.
  _segments() {
    return this.trace.replicas.map(({ id }) => {
      const start = this.trace.start.get(id), states = this.trace.states.get(id);
      const found = start ? [{ id, from: null, role: start.role, epoch: start.epoch }] : [];
      this.trace.at.get(id).forEach((index, place) => {
        const { role, epoch } = states[place];
        const last = found.at(-1);
        if (!last || last.role !== role || last.epoch !== epoch) found.push({ id, from: index, role, epoch });
      });
      found.forEach((segment, place) => { segment.to = found[place + 1]?.from ?? null; });
      return found;
    });
  }

  // The arrows that may be seen between two events.
  *arrowsBetween(from, to) {
    for (const arrow of this.long) if (arrow.sent <= to && arrow.ended >= from) yield arrow;
    for (let place = firstAtLeast(this.sent, from - LONG_ARROW); place < this.short.length; place += 1) {
      const arrow = this.short[place];
      if (arrow.sent > to) return;
      if (this._reach(arrow) >= from) yield arrow;
    }
  }

  // Where an arrow begins and ends; null if a replica that it needs is not there.
  line({ source, destination, sent, ended, fate }) {
    const start = this.lanes.get(source), end = this.lanes.get(destination);
    if (start === undefined || end === undefined) return null;
    const lost = fate === "dropped" || fate === "unsupported";
    // One that does not arrive ends on its way.
    const share = fate === "in flight" ? 0.4 : lost ? 0.6 : 1;
    const down = end > start ? 1 : -1;
    const y2 = start + (end - start) * share - (share === 1 ? down * (RADIUS + 2) : 0);
    return { x1: this.x[sent], y1: start + down * RADIUS, x2: ended === null ? this.x[sent] + 34 : this.x[ended], y2, lost, arrives: share === 1 };
  }

  // The event nearest to a place in the picture, among those of its lane if it is near one; null if none is near.
  nearest(x, y) {
    let best = null, closest = Infinity;
    const to = Math.min(this.x.length - 1, firstAtLeast(this.x, x + 80));
    for (let index = Math.max(0, firstAtLeast(this.x, x - 80)); index <= to; index += 1) {
      const far = Math.hypot(this.x[index] - x, 1.5 * (this.laneOf(this.trace.events[index]) - y));
      if (far < closest) [best, closest] = [index, far];
    }
    return best;
  }
}

const isLink = (event) => event.event === "CutLink" || event.event === "HealLink";

// Labels of the picture, so that no label covers another one.
class Words {
  constructor(taken = []) { this.taken = [...taken]; }

  isFree({ x1, x2, y }) { return !this.taken.some((one) => x1 < one.x2 + 3 && x2 > one.x1 - 3 && Math.abs(y - one.y) < 12); }

  // Takes the place if it is free.
  take(x1, x2, y) {
    const isFree = this.isFree({ x1, x2, y });
    if (isFree) this.taken.push({ x1, x2, y });
    return isFree;
  }
}

const pointOn = ({ x1, y1, x2, y2 }, share) => ({ x: x1 + (x2 - x1) * share, y: y1 + (y2 - y1) * share });

// True if a height is within the band of a lane.
const isInBand = (y) => Math.abs(((y - TOP) % LANE) - LANE / 2) < BAND / 2 + 3;

const widthOf = (text) => 6.6 * text.length + 3;
