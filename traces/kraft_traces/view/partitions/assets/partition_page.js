// The page: the selected event, the head and the legend.

const KEYS = [
  ["→ or l, ← or h", "next event, event before"],
  ["Shift with → or ←", "at the same partition"],
  ["Page Down, Page Up", "25 events on, back"],
  ["Home, End", "first, last event"],
  ["r, R", "next, earlier event that starts, replaces, cancels or completes a reassignment"],
  ["w", "first wrong line"],
  ["/ and Enter", "find; Shift+Enter for the one before"],
  ["+, -", "wider, narrower"],
  ["?", "this legend"],
];
const SIGNS = [
  ["■", "a client, an operator or an old tool asks"], ["●", "AlterPartition, from the leader of a partition"], ["◆", "the controller completes a reassignment"],
  ["×", "a broker dies"], ["▶", "a broker is back"], ["▲", "another node becomes controller"],
  ["○", "hollow: refused, nothing happened"], ["•", "small: a partition that the event changes without naming it"],
];
const SETS = [
  ["R", "replicas, in their order: a box each"], ["I", "in sync: a box with a whole frame; dashed is not in sync"], ["AR", "adding, + in the box"],
  ["RR", "removing, − in the box"], ["thick frame", "the leader; L3 e1 is leader 3 in leader epoch 1"], ["×", "the broker is dead"], ["TR", "the replicas that a request asks for"],
];

const told = new History(JSON.parse(byId("document").textContent));
const movesLists = (index) => Object.values(told.events[index].changed?.partitions ?? {}).some((fields) => fields && (fields.adding || fields.removing));

// Partition that Shift and an arrow follow: one of the selected event, unless the user selected another one.
let followed = told.partitions[0] ?? null, askedFor = null;

function goTo(index, name) {
  askedFor = name;
  steps.select(index);
}

const page = {
  history: told,
  timeline: new Lanes(told, byId("timeline"), byId("picture"), byId("width"), goTo),
  show(index) {
    const { partitions } = told.events[index];
    followed = askedFor ?? (partitions.length && !partitions.includes(followed) ? partitions[0] : followed);
    askedFor = null;
    page.timeline.select(index, followed);
    showWrong(byId("wrong-line"), told, index);
    showPartitionEvent(byId("event"), told, index);
    showPartitionStates(byId("state"), told, index, followed, (at, name) => {
      goTo(at, name);
      // The button that was pressed is gone.
      byId("timeline").focus({ preventScroll: true });
    });
    showPartitions(byId("cluster"), told, index, followed, (name) => {
      goTo(index, name);
      document.querySelector("#cluster [aria-pressed=true]").focus();
    });
  },
  sentence: (index) => saidOf(told, index),
  sameLane: (step) => told.nextOf(followed, steps.selected, step),
  keys: (stepping) => ({ r: () => stepping.select(stepping.seek(movesLists, 1)), R: () => stepping.select(stepping.seek(movesLists, -1)) }),
  everything(index) {
    const event = told.events[index], rules = event.rules.map((place) => told.rules[place].id);
    return `${JSON.stringify({ ...event, rules })} ${event.partitions.join(" ")} ${saidOf(told, index)}`;
  },
};
const steps = new Stepping(page);

function fillHead() {
  const { header, verdict } = told;
  const count = (number, one) => `${number} ${one}${number === 1 ? "" : "s"}`;
  const off = header.switched_off.length ? `, without ${header.switched_off.join(", ")}` : "";
  const unclean = header.unclean_topics.length ? `, unclean election for ${header.unclean_topics.join(", ")}` : "";
  byId("about").textContent = `${told.source}: ${count(told.events.length, "event")} of ${count(told.partitions.length, "partition")} on ${count(header.brokers.length, "broker")}, by ${header.generator}, profile ${header.profile}${unclean}${off}`;
  byId("of").textContent = steps.last < 0 ? "" : `of ${told.events[steps.last].sequence}`;
  byId("wrong").hidden = told.wrong === null;
  document.body.classList.toggle("no-events", steps.last < 0);
  byId("find").placeholder = "event, rule, partition, error";
  showVerdict(byId("verdict"), told);
  showBroken(byId("broken"), told);
  if (verdict?.given_up.length) byId("verdict").append(element("p", { textContent: `Violated, and not promised by the profile ${header.profile}: ${verdict.given_up.join(", ")}` }));
  if (verdict?.other_model) byId("verdict").append(element("p", { textContent: "The trace was written for another model than this one." }));
}

function fillLegend() {
  const part = (title, pairs) => element("div", {}, element("h2", { textContent: title }), facts(pairs));
  const kinds = [["resting", "nothing is in progress"], ["moving", "a reassignment is in progress; the lane says what it waits for"], ["leaderless", "no leader: stripes below"], ["deleting", "the topic is being deleted"]];
  const lanes = kinds.map(([kind, words]) => element("li", {}, element("span", { className: `swatch ${kind}` }), ` ${words}`));
  byId("legend").replaceChildren(part("Keys", KEYS), part("Signs of events", SIGNS), part("Sets of replicas", SETS), element("div", {}, element("h2", { textContent: "Lanes" }), element("ul", { className: "roles" }, ...lanes)));
}

fillHead();
fillLegend();
byId("cluster").setAttribute("aria-label", "Partitions");
steps.toAddress(told.wrong ?? 0);
byId("timeline").focus({ preventScroll: true });
