// State and log of each replica after any event.

class Trace {
  constructor(told) {
    Object.assign(this, told);
    this.at = new Map(this.replicas.map((replica) => [replica.id, []]));
    this.logs = new Map(this.replicas.map((replica) => [replica.id, []]));
    this.start = new Map(this.replicas.map((replica) => [replica.id, replica.start]));
    this.startLog = new Map(this.replicas.map(({ id, start_log: log }) => [id, log ? changedLog(NO_LOG, log) : NO_LOG]));
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
      event.changes = {};
      if (event.replica === undefined || !this.at.has(event.replica)) return;
      const id = event.replica;
      event.changes = state.has(id) ? event.changed ?? {} : this._other(event.changed ?? {}, this.start.get(id));
      if (event.changed || !state.has(id)) state.set(id, { ...state.get(id), ...event.changed });
      if (event.log) {
        log.set(id, changedLog(log.get(id) ?? this.startLog.get(id), event.log));
      }
      this.at.get(id).push(index);
      this.states.get(id).push(state.get(id));
      this.logs.get(id).push(log.get(id) ?? this.startLog.get(id));
    });
  }

  // Position among the replica's own events of the last one not after `index`; -1 if there is none.
  _place(id, index) {
    return firstAtLeast(this.at.get(id) ?? [], index + 1) - 1;
  }

  // What the first line of a replica shows otherwise than it started.
  _other(shown, start) {
    return Object.fromEntries(Object.entries(shown).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(start?.[name])));
  }

  // Before its first event a replica is as it started; then it is known by what its lines show.
  stateOf(id, index) { return this.states.get(id)?.[this._place(id, index)] ?? this.start.get(id) ?? null; }

  logOf(id, index) { return this.logs.get(id)?.[this._place(id, index)] ?? this.startLog.get(id) ?? NO_LOG; }

  nextOf(id, index, step) {
    const own = this.at.get(id) ?? [];
    const place = this._place(id, index);
    const next = step > 0 ? place + 1 : own[place] === index ? place - 1 : place;
    return own[next] ?? index;
  }

  // Is the replica a voter, by what it knows itself?  Before it knows anything, what the header says.
  isVoter({ id, voter }, index) {
    const known = this.stateOf(id, index)?.voters?.voters;
    return known === undefined ? voter : known.some((key) => key.id === id);
  }

  // The message that an arrow stands for, with all that its sender's line says of it.
  messageOf({ message, sent, destination }) {
    const { answer, effects } = this.events[sent];
    const sends = [answer, ...(effects ?? []).map((effect) => effect.message)];
    return sends.find((one) => one?.type === message && (one.destination ?? null) === destination) ?? { type: message };
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

// Index of the first value of an ascending list that is at least the given one.
function firstAtLeast(sorted, value) {
  let low = 0, high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1; else high = middle;
  }
  return low;
}
