// Panels beside the picture: the selected event, its partitions before and after it, and all partitions after it.

const TABLES_SHOWN = 6, CHANGES_SHOWN = 8, PARTITIONS_SHOWN = 60;

const heading = (text) => element("h3", { textContent: text });
const lineOf = (state) => Object.entries(FIELDS).map(([field, [name, words]]) => `${name.split(",")[0]} ${words(state[field])}`).join(", ");

function showPartitionEvent(section, history, index) {
  const event = history.events[index], parts = [facts([["what", eventWords(event)], ...eventFacts(history, index), ["line", `${event.line} of the file`]])];
  if (event.refusal) parts.push(element("p", { className: "refusal", textContent: `Refused, nothing changed. ${refusalWords(history, index)}.` }));
  if (event.effects?.length) parts.push(heading("Effects, in order"), element("ol", {}, ...grouped(event.effects).map(effectLine)));
  const rules = event.rules.map((place) => history.rules[place].id);
  parts.push(element("details", { open: rules.length <= 6 }, element("summary", { textContent: `Rules of the action: ${rules.length}` }), ruleList(history, rules)));
  titled(section, `${event.sequence}. ${event.event}`, ...parts);
}

// Fields of an event, next to those of the controller if they explain a refusal.
function eventFacts(history, index) {
  const { event: name, fields } = history.events[index], event = history.events[index];
  const before = fields.partition ? history.stateOf(fields.partition, index - 1) : null;
  const { controller, alive } = history.clusterAt(index - 1);
  const asked = ["asked node", fields.node === controller ? `${fields.node}, the controller` : `${fields.node}; the controller is ${controller}`];
  const beside = (value, own) => (own === undefined || own === null || own === value ? `${value}` : `${value}; the controller has ${own}`);
  const targets = () => fields.targets.map(([one, ids], place) => {
    const error = answerOf(event)?.results?.[place]?.[1];
    const words = ids === null ? "null: cancel" : `TR ${listed(ids)}`;
    return [one, [words, ...faultsOf(ids ?? [], history.header.brokers, "is no broker"), error && error !== "NONE" ? withWords(error, ERRORS) : ""].filter(Boolean).join("; ")];
  });
  const right = (has, operation) => (has ? null : ["right", `the client has not ${operation} on CLUSTER`]);
  const timeout = ["timeout", `${fields.timeout_ms} ms, not looked at`];
  switch (name) {
    case "AlterPartitionReassignments": return [asked, ...targets(), right(fields.may_alter, "ALTER"), timeout];
    case "ListPartitionReassignments": return [asked, right(fields.may_describe, "DESCRIBE"), timeout];
    case "AlterPartition": return [asked, ["from broker", `${fields.broker}${before && before.leader !== fields.broker ? `; the leader is ${before.leader ?? "none"}` : ""}`],
      ["leader epoch", beside(fields.leader_epoch, before?.leader_epoch)], ["partition epoch", beside(fields.partition_epoch, before?.partition_epoch)],
      ["I, in sync", [gathered(fields.in_sync), ...(before ? faultsOf(fields.in_sync, before.replicas, "is no replica") : []), ...faultsOf(fields.in_sync, alive, "is not alive")].join("; ")]];
    case "CompleteReassignment": return [["partition", before ? fields.partition : `${fields.partition}, which is not there`], before?.waits_for ? ["waited for", waitsWorded(before, alive)] : before ? ["before it", "nothing was in progress"] : null];
    case "WriteReassignPartitions": return [["where", "/admin/reassign_partitions"], ...targets()];
    default: return [];
  }
}

// Consecutive brokers with the same notification share a line.
function grouped(effects) {
  const found = [];
  for (const effect of effects) {
    const { broker, ...same } = effect, text = JSON.stringify(same), before = found.at(-1);
    if (broker !== undefined && before?.text === text) before.brokers.push(broker);
    else found.push({ effect, text, brokers: broker === undefined ? [] : [broker] });
  }
  return found;
}

function effectLine({ effect, brokers }) {
  const several = `broker${brokers.length > 1 ? "s" : ""} ${brokers.join(", ")}`;
  const told = (summary, pairs) => element("li", {}, element("details", {}, element("summary", { textContent: summary }), facts(pairs)));
  const answer = (pairs) => element("li", {}, `${effect.type}: ${withWords(effect.error, ERRORS)}`, pairs.length ? facts(pairs) : "");
  switch (effect.type) {
    case "StorePartitions": return told(`StorePartitions ${effect.partitions.map((one) => one.name).join(", ")}`, effect.partitions.map((one) => [one.name, lineOf(one)]));
    case "StoreReassignPartitions": return element("li", { textContent: `StoreReassignPartitions: ${legacyWorded(effect.targets)}` });
    case "LeaderAndIsr": return told(`LeaderAndIsr to ${several}: ${effect.partition}`, [["says", lineOf(effect)], ["version", `${effect.version}`]]);
    case "StopReplica": return element("li", { textContent: `StopReplica to ${several}: ${effect.partition} is stopped and deleted there` });
    case "AlterReassignmentsAnswer": return answer(effect.results.map(([name, error]) => [name, withWords(error, ERRORS)]));
    case "ListReassignmentsAnswer": return answer(effect.reassignments.map((one) => [one.partition, `R ${listed(one.replicas)}, AR ${listed(one.adding)}, RR ${listed(one.removing)}`]));
    default: return answer(effect.partition_epoch === null ? [] : [["partition epoch", `${effect.partition_epoch}`]]);
  }
}

// The partitions that the event names or changes, before and after it; the one that is followed if there is none.
function showPartitionStates(section, history, index, current, onSelect) {
  const event = history.events[index];
  const names = event.partitions.length ? event.partitions : [current].filter(Boolean);
  const parts = clusterRows(history, index);
  for (const name of names.slice(0, TABLES_SHOWN)) {
    parts.push(heading(name in (event.changed?.partitions ?? {}) ? name : `${name}, unchanged`), partitionTable(history, name, index));
  }
  if (names.length > TABLES_SHOWN) parts.push(element("p", { textContent: `and ${names.length - TABLES_SHOWN} more` }));
  if (current !== null) parts.push(...changesUpTo(history, current, index, onSelect));
  titled(section, "Before and after", ...parts);
}

const CLUSTER = { controller: ["controller", (node) => `node ${node}`], alive: ["alive", gathered], deleting: ["being deleted", plain], legacy: ["/admin/reassign_partitions", legacyWorded] };

function clusterRows(history, index) {
  const { partitions, ...changed } = history.events[index].changed ?? {};
  if (!Object.keys(changed).length) return [];
  const before = history.clusterAt(index - 1);
  const rows = Object.entries(changed).map(([field, value]) => row(`▸ ${CLUSTER[field][0]}`, [CLUSTER[field][1](before[field]), CLUSTER[field][1](value)], "changed"));
  return [tableOf(["field", "before", "after"], rows)];
}

function partitionTable(history, name, index) {
  const before = history.stateOf(name, index - 1), after = history.stateOf(name, index);
  const alive = [history.clusterAt(index - 1).alive, history.clusterAt(index).alive];
  const cells = (words) => [before, after].map((state, place) => (state ? words(state, alive[place]) : "not there"));
  const rows = [...Object.entries(FIELDS).map(([field, [title, words]]) => [title, cells((state) => `${words(state[field])}`)]), ["waits for", cells(waitsWorded)]];
  return tableOf(["field", "before", "after"], rows.map(([title, [one, other]]) => row(one === other ? title : `▸ ${title}`, [one, other], one === other ? "" : "changed")));
}

// History of a partition: the last events that changed it, the newest first.
function changesUpTo(history, name, index, onSelect) {
  const all = history.changing.get(name), known = all.slice(0, firstAtLeast(all, index + 1));
  const items = known.slice(-CHANGES_SHOWN).reverse().map((at) => {
    const said = changesWorded(history.stateOf(name, at - 1), history.stateOf(name, at)).join(", ") || "only the partition epoch";
    const go = element("button", { type: "button", textContent: `${history.events[at].sequence}` });
    go.setAttribute("aria-label", `go to event ${history.events[at].sequence}`);
    go.addEventListener("click", () => onSelect(at, name));
    return element("li", {}, go, ` ${eventWords(history.events[at], name)}: `, element("b", { textContent: said }));
  });
  const title = known.length > CHANGES_SHOWN ? `What changed ${name}, the last ${CHANGES_SHOWN} of ${known.length}` : `What changed ${name} so far`;
  return [heading(title), items.length ? element("ul", { className: "changes" }, ...items) : element("p", { textContent: "Nothing: it is as it was at the start." })];
}

function beginning(history, name, index) {
  const event = history.events[history.begun.get(name).after(index)];
  return `event ${event.sequence}, ${eventWords(event, name)}`;
}

function showPartitions(section, history, index, current, onFollow) {
  const { controller, alive, deleting, legacy } = history.clusterAt(index);
  const dead = history.header.brokers.filter((broker) => !alive.includes(broker));
  const head = facts([["controller", `node ${controller}`], ["alive", gathered(alive)], ["dead", plain(dead)], deleting.length ? ["being deleted", plain(deleting)] : null, legacy.length ? ["/admin/reassign_partitions", legacyWorded(legacy)] : null]);
  const there = history.partitions.filter((name) => history.stateOf(name, index) !== null);
  // Where there are very many, those that matter now.
  const matters = (name) => name === current || history.events[index].partitions.includes(name) || history.stateOf(name, index).waits_for !== null;
  const shownNames = there.length <= PARTITIONS_SHOWN ? there : there.filter(matters).slice(0, PARTITIONS_SHOWN);
  const parts = shownNames.map((name) => {
    const state = history.stateOf(name, index);
    const follow = element("button", { type: "button", textContent: name, title: "Follow this partition: Shift with → and ← stays with it" });
    follow.addEventListener("click", () => onFollow(name));
    follow.setAttribute("aria-pressed", String(name === current));
    const title = element("h3", {}, follow, ` ${state.leader === null ? "no leader" : `leader ${state.leader}`} in epoch ${state.leader_epoch}${state.being_deleted ? ", being deleted" : ""}`);
    const shows = { partition: state, dead: state.replicas.filter((broker) => !alive.includes(broker)) };
    const progress = state.waits_for ? [["in progress since", beginning(history, name, index)], ["AR, adding", listed(state.adding)], ["RR, removing", listed(state.removing)], ["waits for", waitsWorded(state, alive)]] : [];
    return element("div", { className: `replica${name === current ? " own" : ""}` }, title, replicaChips(shows), facts([["R, replicas", listed(state.replicas)], ["I, in sync", gathered(state.in_sync)], ...progress]));
  });
  const hidden = there.length - shownNames.length;
  titled(section, `All partitions after event ${history.events[index].sequence}`, head, ...parts, hidden ? element("p", { textContent: `and ${hidden} more, in which nothing is in progress` }) : null);
}
