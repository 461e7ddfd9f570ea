// Events, refusals, effects and changes in the words of KIP-455: R replicas, I in sync, AR adding, RR removing, TR target.

const listed = (ids) => `[${ids.join(", ")}]`;
const gathered = (ids) => `{${ids.join(", ")}}`;
const plain = (ids) => (ids.length ? ids.join(", ") : "none");
const legacyWorded = (targets) => (targets.length ? targets.map(([name, ids]) => `${name} ${listed(ids)}`).join(", ") : "empty");

const REFUSALS = {
  NOTHING_DUE: "no reassignment of this partition may complete now",
  ALREADY_SO: "it is so already",
  UNKNOWN_ID: "there is no such broker, node or topic",
  ZNODE_NOT_EMPTY: "what was written there before is still being done",
};

const ERRORS = {
  UNKNOWN_TOPIC_OR_PARTITION: "there is no such partition, or its topic is being deleted",
  CLUSTER_AUTHORIZATION_FAILED: "the client has not the right to it",
  INVALID_REPLICA_ASSIGNMENT: "no valid list of replicas, or nobody in sync would be left",
  NOT_CONTROLLER: "the node is not the controller, or the sender knows of a later one",
  INVALID_REQUEST: "the sender is not the leader, or names who is no replica",
  FENCED_LEADER_EPOCH: "the leader epoch is an earlier one",
  NO_REASSIGNMENT_IN_PROGRESS: "there is nothing to cancel",
  INVALID_UPDATE_VERSION: "the partition epoch is an earlier one",
  INELIGIBLE_REPLICA: "one that is dead cannot be in sync",
  NEW_LEADER_ELECTED: "done, and the sender leads no longer",
};

const withWords = (code, words) => (words[code] ? `${code}: ${words[code]}` : code);

const FIELDS = {
  replicas: ["R, replicas", listed], in_sync: ["I, in sync", gathered], adding: ["AR, adding", listed], removing: ["RR, removing", listed],
  leader: ["leader", (leader) => leader ?? "none"], leader_epoch: ["leader epoch", String], partition_epoch: ["partition epoch", String],
};

// Reason why a reassignment in progress is not complete.
function waitsWorded(state, alive) {
  if (!state?.waits_for) return "nothing is in progress";
  const { brokers, any } = state.waits_for;
  if (!brokers.length) return "nothing more: it may complete";
  return `${any ? "one of " : ""}${brokers.map((broker) => (alive.includes(broker) ? broker : `${broker} (dead)`)).join(", ")} to be in sync`;
}

// With the name of a partition, only the part of the event about that one.
function eventWords(event, name = null) {
  const { fields } = event;
  const targets = () => fields.targets.filter(([one]) => name === null || one === name).map(([name, ids]) => `${name} ${ids === null ? "cancel" : `TR ${listed(ids)}`}`).join(", ");
  switch (event.event) {
    case "AlterPartitionReassignments": return `client asks node ${fields.node}: ${targets() || "nothing"}`;
    case "ListPartitionReassignments": return `client lists ${fields.partitions === null ? "all" : fields.partitions.join(", ") || "nothing"} at node ${fields.node}`;
    case "AlterPartition": return `broker ${fields.broker} says ${fields.partition} has I ${gathered(fields.in_sync)}`;
    case "CompleteReassignment": return `completion of ${fields.partition} by the controller`;
    case "BrokerFails": return `broker ${fields.broker} dies`;
    case "BrokerStarts": return `broker ${fields.broker} is back`;
    case "ControllerFailover": return `node ${fields.node} becomes controller`;
    case "DeleteTopic": return `topic ${fields.topic} is being deleted`;
    case "WriteReassignPartitions": return `old tool writes ${targets() || "nothing"}`;
    default: return event.event;
  }
}

// Added and removed members of a set, and other values before and after.
function changesWorded(before, after) {
  if (!before || !after) return [after ? "is there" : "is gone"];
  const said = [];
  const gone = (field) => before[field].filter((id) => !after[field].includes(id));
  const came = (field) => after[field].filter((id) => !before[field].includes(id));
  for (const [field, letter] of [["replicas", "R"], ["in_sync", "I"], ["adding", "AR"], ["removing", "RR"]]) {
    const parts = [came(field).length ? `gains ${came(field).join(", ")}` : "", gone(field).length ? `loses ${gone(field).join(", ")}` : ""].filter(Boolean);
    if (parts.length) said.push(`${letter} ${parts.join(" and ")}`);
    else if (before[field].join() !== after[field].join()) said.push(`${letter} in another order`);
  }
  if (before.being_deleted !== after.being_deleted) said.push("topic is being deleted");
  if (before.leader !== after.leader) said.push(`leader ${before.leader ?? "none"} → ${after.leader ?? "none"}`);
  if (before.leader_epoch !== after.leader_epoch) said.push(`leader epoch ${before.leader_epoch} → ${after.leader_epoch}`);
  return said;
}

// Problem of a list of replicas.
function faultsOf(ids, allowed, words) {
  const strange = ids.filter((id) => !allowed.includes(id)), twice = ids.filter((id, place) => ids.indexOf(id) < place);
  return [strange.length ? `${plain([...new Set(strange)])} ${words}` : "", twice.length ? `${plain(twice)} is there twice` : ""].filter(Boolean);
}

const answerOf = (event) => (event.effects ?? []).find((effect) => effect.type.endsWith("Answer"));

// Error of the whole response, or the errors of single partitions.
function errorsOf(event, name = null) {
  const answer = answerOf(event);
  if (!answer) return [];
  if (answer.error !== "NONE") return [answer.error];
  const results = (answer.results ?? []).filter(([one]) => name === null || one === name).map(([, error]) => error);
  return results.filter((error) => error !== "NONE");
}

// Reason of a refusal: the errors of the response, or that of the controller.
function refusalWords(history, index) {
  const event = history.events[index], errors = [...new Set(errorsOf(event))];
  if (event.refusal === "REQUEST_REFUSED" && errors.length) return errors.map((error) => withWords(error, ERRORS)).join("; ");
  const why = event.refusal === "NOTHING_DUE" ? `; ${whyNothingIsDue(history, event.fields.partition, index)}` : "";
  return `${withWords(event.refusal, REFUSALS)}${why}`;
}

function whyNothingIsDue(history, name, index) {
  const state = history.stateOf(name, index);
  if (!state) return "there is no such partition";
  if (state.being_deleted) return "its topic is being deleted";
  return state.waits_for ? `it waits for ${waitsWorded(state, history.clusterAt(index).alive)}` : "none is in progress";
}

// True if the event was refused, for one of its partitions.
function isRefused(event, name = null) {
  if (event.refusal) return true;
  if (name === null || event.event !== "AlterPartitionReassignments") return false;
  const asked = event.fields.targets.filter(([one]) => one === name).length;
  return asked > 0 && errorsOf(event, name).length === asked;
}

function saidOf(history, index) {
  const event = history.events[index], parts = [`Event ${event.sequence}${index === history.wrong ? ", the first wrong line" : ""}`, eventWords(event)];
  if (event.refusal) parts.push(`refused: ${refusalWords(history, index)}`);
  for (const name of Object.keys(event.changed?.partitions ?? {})) {
    const said = changesWorded(history.stateOf(name, index - 1), history.stateOf(name, index));
    if (said.length) parts.push(`${name}: ${said.join(", ")}`);
  }
  return `${parts.join("; ")}.`;
}
