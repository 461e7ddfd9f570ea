// Partitions of the controller and alive brokers after any event.

// Values by the index of the event that set them; the start has index -1.
class Track {
  constructor(value) { Object.assign(this, { at: [-1], values: [value] }); }

  put(index, value) {
    if (this.at.at(-1) !== index) this.at.push(index);
    this.values[this.at.length - 1] = value;
  }

  after(index) { return this.values[firstAtLeast(this.at, index + 1) - 1] ?? null; }
}

class History {
  constructor(told) {
    Object.assign(this, told);
    const { partitions, ...cluster } = this.start;
    this.cluster = new Track(cluster);
    this.tracks = new Map(this.partitions.map((name) => [name, new Track(partitions[name] ?? null)]));
    this.concerning = new Map(this.partitions.map((name) => [name, []]));
    // The last event at which nothing was in progress: the one with which a reassignment began that is.
    this.begun = new Map(this.partitions.map((name) => [name, new Track(null)]));
    this.changing = new Map(this.partitions.map((name) => [name, []]));
    this._follow();
    this.stretches = this._stretches();
    this.wrong = this._wrong();
  }

  // What does not change is shared, so that there may be thousands of events.
  _follow() {
    this.events.forEach((event, index) => {
      const { partitions = {}, ...cluster } = event.changed ?? {};
      if (Object.keys(cluster).length) this.cluster.put(index, { ...this.cluster.after(index), ...cluster });
      for (const [name, fields] of Object.entries(partitions)) {
        const before = this.tracks.get(name).after(index);
        this.tracks.get(name).put(index, fields === null ? null : { ...before, ...fields });
        if (!before?.waits_for) this.begun.get(name).put(index, index);
        this.changing.get(name).push(index);
      }
      for (const name of event.partitions) this.concerning.get(name).push(index);
    });
  }

  stateOf(name, index) { return this.tracks.get(name)?.after(index) ?? null; }

  clusterAt(index) { return this.cluster.after(index); }

  isAlive(broker, index) { return this.clusterAt(index).alive.includes(broker); }

  // The next event, or the one before, that names or changes a partition.
  nextOf(name, index, step) {
    const own = this.concerning.get(name) ?? [], place = firstAtLeast(own, step > 0 ? index + 1 : index);
    return own[step > 0 ? place : place - 1] ?? index;
  }

  // Stretches of each lane in which it shows the same: `from` is the event that began it.
  _stretches() {
    const { at, values } = this.cluster;
    const found = new Map([["controller", []], ["brokers", []]]);
    at.forEach((index, place) => {
      extend(found.get("controller"), index, { node: values[place].controller });
      extend(found.get("brokers"), index, { alive: values[place].alive });
    });
    for (const name of this.partitions) {
      const own = [], track = this.tracks.get(name);
      const moments = [...new Set([...track.at, ...at])].sort((one, other) => one - other);
      for (const index of moments) {
        const partition = track.after(index), { alive } = this.clusterAt(index);
        const dead = (partition?.replicas ?? []).filter((broker) => !alive.includes(broker));
        extend(own, index, { partition, dead });
      }
      found.set(name, own);
    }
    return found;
  }

  _wrong() {
    const rejection = this.verdict?.rejection;
    if (!rejection) return null;
    return this.events.findIndex((event) => event.line === rejection.line);
  }
}

function extend(stretches, from, shows) {
  const text = JSON.stringify(shows), before = stretches.at(-1);
  if (before?.text === text) return;
  if (before) before.to = from;
  stretches.push({ from, to: null, text, shows });
}
