// Places of the events: in order, as close to each other as their labels allow.

const STEP = 26, LETTER = 6.3, MARGIN = 92;
const AXIS = 22, FIXED_LANE = 40, PARTITION_LANE = 88, FIXED = AXIS + 2 * FIXED_LANE;

const widthOf = (text) => LETTER * text.length + 12;
const setsWidth = (sets) => widthOf(sets.flat().join("  "));
const boxWidth = (text) => Math.max(22, 7 * text.length + 8);
const boxesWidth = (texts) => texts.reduce((sum, text) => sum + boxWidth(text) + 3, 24);

function stretchWidth(lane, shows) {
  if (lane === "controller") return widthOf(`node ${shows.node}`);
  if (lane === "brokers") return 60;
  const { heads, sets } = stretchTexts(shows);
  return Math.max(widthOf(heads[1] ?? heads[0]), setsWidth(sets), boxesWidth(replicaMarks(shows).map(({ text }) => text)));
}

// Place of each event, and width of the picture.
function laidOut(history, zoom) {
  const start = MARGIN + 8, ends = new Map();
  for (const [lane, stretches] of history.stretches) {
    for (const { from, to, shows } of stretches) {
      if (!ends.has(to)) ends.set(to, []);
      ends.get(to).push({ from, width: stretchWidth(lane, shows) * Math.min(1, zoom) });
    }
  }
  const columns = [], at = (index) => (index < 0 ? start : columns[index]);
  const after = (index, least) => (ends.get(index) ?? []).reduce((most, { from, width }) => Math.max(most, at(from) + width), least);
  history.events.forEach((_, index) => columns.push(after(index, at(index - 1) + STEP * zoom)));
  return { columns, start, end: after(null, at(history.events.length - 1) + 40) + 20 };
}

// Marks of an event: lane, shape, and true for a hollow one. The first one is in the lane of the event.
function marksOf(event, lanes) {
  const own = (name) => (lanes.has(name) ? name : "controller");
  const at = (lane, kind, refused = isRefused(event)) => ({ lane, kind, refused });
  const partitions = (kind) => event.partitions.map((name) => at(name, kind, isRefused(event, name)));
  const effects = (named = []) => Object.keys(event.changed?.partitions ?? {}).filter((name) => !named.includes(name)).map((name) => at(name, "effect"));
  switch (event.event) {
    case "AlterPartition": return [at(own(event.fields.partition), "request"), ...effects([event.fields.partition])];
    case "CompleteReassignment": return [at(own(event.fields.partition), "own"), ...effects([event.fields.partition])];
    case "BrokerFails": return [at("brokers", "dies"), ...effects()];
    case "BrokerStarts": return [at("brokers", "starts"), ...effects()];
    case "ControllerFailover": return [at("controller", "failover"), ...effects()];
    case "ListPartitionReassignments": return [at("controller", "client")];
    default: return [at("controller", "client"), ...partitions("client")];
  }
}

function partitionShape(kind, refused, x, y) {
  const r = kind === "effect" ? 3 : 5;
  switch (kind) {
    case "client": return [drawn("rect", { x: x - r, y: y - r, width: 2 * r, height: 2 * r })];
    case "own": return [drawn("path", { d: `M${x} ${y - r - 1} L${x + r + 1} ${y} L${x} ${y + r + 1} L${x - r - 1} ${y} Z` })];
    case "starts": return [drawn("path", { d: `M${x - r} ${y - r} L${x + r} ${y} L${x - r} ${y + r} Z` })];
    case "failover": return [drawn("path", { d: `M${x - r - 1} ${y + r} L${x} ${y - r - 1} L${x + r + 1} ${y + r} Z` })];
    case "dies": {
      const cross = drawn("path", { class: "crash", d: `M${x - r} ${y - r} l${2 * r} ${2 * r} m0 ${-2 * r} l${-2 * r} ${2 * r}` });
      return refused ? [drawn("circle", { cx: x, cy: y, r: r + 2 }), drawn("path", { class: "tried", d: `M${x - 3} ${y - 3} l6 6 m0 -6 l-6 6` })] : [cross];
    }
    default: return [drawn("circle", { cx: x, cy: y, r })];
  }
}
