// The trace as the page needs it: what each replica knew, and what its log held, after any event.

class Trace {
  constructor(told) {
    Object.assign(this, told);
    this.at = new Map(this.replicas.map((replica) => [replica.id, []]));
    this.logs = new Map(this.replicas.map((replica) => [replica.id, []]));
    this.states = new Map(this.replicas.map((replica) => [replica.id, []]));
    this.arrowsOf = this.events.map(() => []);
    this.cutsAt = [];
    this.messages = new Map();
    this._follow();
    this.arrows.forEach((arrow) => {
      this.arrowsOf[arrow.sent].push(arrow);
      if (arrow.ended !== null && arrow.ended !== arrow.sent) this.arrowsOf[arrow.ended].push(arrow);
    });
    this.wrong = this._wrong();
  }

  // States and logs share what does not change, so that there may be thousands.
  _follow() {
    const state = new Map(), log = new Map(), cuts = new Set();
    this.events.forEach((event, index) => {
      if (event.event === "CutLink") cuts.add(linkOf(event.input));
      if (event.event === "HealLink") cuts.delete(linkOf(event.input));
      for (const message of [event.answer, ...(event.effects ?? []).map((effect) => effect.message)]) {
        if (message?.id !== undefined) this.messages.set(message.id, message);
      }
      this.cutsAt.push(event.event.endsWith("Link") ? [...cuts].sort() : this.cutsAt.at(-1) ?? []);
      if (event.replica === undefined || !this.at.has(event.replica)) return;
      const id = event.replica;
      if (event.changed) state.set(id, { ...state.get(id), ...event.changed });
      if (event.log) {
        const { start, records } = log.get(id) ?? { start: 0, records: [] };
        const kept = records.slice(event.log.start - start, event.log.end - start);
        log.set(id, { start: event.log.start, records: kept.concat(event.log.added) });
      }
      this.at.get(id).push(index);
      this.states.get(id).push(state.get(id) ?? {});
      this.logs.get(id).push(log.get(id) ?? { start: 0, records: [] });
    });
  }

  // Position among the replica's own events of the last one not after `index`; -1 if there is none.
  _place(id, index) {
    const own = this.at.get(id);
    let low = 0, high = own.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (own[middle] <= index) low = middle + 1; else high = middle;
    }
    return low - 1;
  }

  stateOf(id, index) { return this.states.get(id)?.[this._place(id, index)] ?? null; }

  logOf(id, index) { return this.logs.get(id)?.[this._place(id, index)] ?? { start: 0, records: [] }; }

  nextOf(id, index, step) {
    const own = this.at.get(id);
    const place = this._place(id, index);
    const next = step > 0 ? place + 1 : own[place] === index ? place - 1 : place;
    return own[next] ?? index;
  }

  // Index of the first event that is wrong; a wrong checkpoint stands behind an event.
  _wrong() {
    const rejection = this.verdict?.rejection;
    if (!rejection) return null;
    const index = this.events.findIndex((event) => event.line === rejection.line);
    return index >= 0 ? index : Math.max(0, this.events.findIndex((event) => event.sequence === rejection.sequence));
  }
}

const linkOf = ({ source, destination }) => `${source}→${destination}`;
