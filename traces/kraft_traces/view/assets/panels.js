// Panels beside the picture: the selected event, the state before and after it, and the cluster after it.

const ALWAYS = ["role", "epoch", "leader_id", "voted_key", "log_end_offset", "flushed_offset", "high_watermark", "voters"];

const titled = (section, title, ...children) => section.replaceChildren(element("h2", { textContent: title }), ...children.filter(Boolean));

function tableOf(heads, rows) {
  const head = element("tr", {}, ...heads.map((text) => element("th", { scope: "col", textContent: text })));
  return element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows));
}

// Long names may break between their parts.
const broken = (name) => name.split(/(?<=[._])/).flatMap((part, place) => (place ? [element("wbr"), part] : [part]));

const row = (name, cells, className = "") => element("tr", { className }, element("th", { scope: "row" }, ...broken(name)), ...cells.map((text) => element("td", { textContent: text })));

function showEvent(section, trace, index) {
  const event = trace.events[index];
  const parts = [facts([
    ["time", event.time_ms === undefined ? NOT_OBSERVED : `${event.time_ms} ms`],
    event.replica === undefined ? null : ["replica", `${event.replica}`],
    event.cause && ["cause", worded(event.cause)],
    event.input && ["input", worded(event.input)],
    event.refusal ? ["refused", event.refusal] : null,
    event.crash && ["crash in the step", worded(event.crash)],
    ["line", `${event.line} of the file`],
  ])];
  const message = event.message ?? trace.messages.get(event.input?.message_id);
  if (event.message?.type === "VoteRequest") parts.push(...votePart(trace, index));
  if (message) parts.push(...messageParts("Message", message));
  if (event.answer) parts.push(...messageParts("Answer of the network layer", event.answer));
  if (event.effects?.length) {
    parts.push(element("h3", { textContent: "Effects, in order" }));
    parts.push(element("ol", {}, ...event.effects.map(effectItem)));
  }
  const rules = (event.rules ?? []).map((place) => trace.rules[place].id);
  if (rules.length) {
    parts.push(element("details", { open: rules.length <= 6 }, element("summary", { textContent: `Rules of the action: ${rules.length}` }), ruleList(trace, rules)));
  }
  titled(section, `${event.sequence}. ${event.event}`, ...parts);
}

// Comparison of a Vote request with the replica's own state before the event.
function votePart(trace, index) {
  const event = trace.events[index], { message } = event;
  const own = trace.stateOf(event.replica, index - 1) ?? {};
  const logOf = (end, epoch) => (end === undefined || epoch === undefined ? NOT_OBSERVED : `ends at ${end} in epoch ${epoch}`);
  const logs = [message.last_epoch, own.last_epoch, message.end_offset, own.log_end_offset];
  const order = logs.includes(undefined) ? 0 : logs[0] - logs[1] || logs[2] - logs[3];
  const compared = logs.includes(undefined) ? "" : order < 0 ? ": behind" : order > 0 ? ": ahead" : ": as far";
  const leader = own.leader_id ?? null;
  const fetched = own.role !== "Follower" || own.fetched === undefined ? "" : own.fetched ? ", has fetched from it" : ", has not fetched from it yet";
  const sends = (event.effects ?? []).find((effect) => effect.message?.type === "VoteResponse");
  return [
    element("h3", { textContent: message.pre_vote ? "The Pre-Vote: what decides" : "The vote: what decides" }),
    facts([
      ["candidate's epoch", worded(message.epoch)],
      ["own epoch", worded(own.epoch)],
      ["own role", `${worded(own.role)}${leader === null ? "" : ` of leader ${leader}`}${fetched}`],
      ["own vote", worded(own.voted_key)],
      ["candidate's log", `${logOf(message.end_offset, message.last_epoch)}${compared}`],
      ["own log", logOf(own.log_end_offset, own.last_epoch)],
      ["answer", sends ? outcome(sends.message) || NOT_OBSERVED : "none is shown"],
    ]),
  ];
}

function messageParts(title, message) {
  const { type, ...fields } = message;
  return [element("h3", { textContent: `${title}: ${withOutcome(`${type}${preVote(message)}`, message)}` }), facts(Object.entries(fields).map(([name, value]) => [name, worded(value)]))];
}

function effectItem(effect) {
  const { kind, message, ...fields } = effect;
  if (!message) return element("li", { textContent: `${kind} ${worded(fields)}` });
  const { type, destination, id, source, ...content } = message;
  const summary = element("summary", { textContent: `Send ${sendWorded(effect)}` });
  return element("li", {}, element("details", {}, summary, facts(Object.entries(content).map(([name, value]) => [name, worded(value)]))));
}

function showState(section, trace, index, everything) {
  const event = trace.events[index];
  if (event.replica === undefined) {
    const cuts = trace.cutsAt[index];
    titled(section, "The network", element("p", { textContent: cuts.length ? `Links that are cut: ${cuts.join(", ")}` : "No link is cut." }));
    return;
  }
  const after = trace.stateOf(event.replica, index) ?? {};
  const before = trace.stateOf(event.replica, index - 1) ?? {};
  const changed = event.changes;
  const names = [...new Set([...ALWAYS, ...Object.keys(after)])].filter((name) => everything || name in changed || ALWAYS.includes(name));
  const rows = names.map((name) => {
    const isOther = name in changed;
    return row(isOther ? `▸\u00a0${name}` : name, [shown(name, before[name]), shown(name, after[name])], isOther ? "changed" : "");
  });
  const all = element("label", {}, element("input", { type: "checkbox", checked: everything, id: "all-fields" }), " all fields");
  titled(section, `Replica ${event.replica} before and after`, tableOf(["field", "before", "after"], rows), all);
}

// The cluster after an event.  Only replicas that changed since the previous event are drawn again.
class Cluster {
  constructor(section, trace) {
    Object.assign(this, { section, trace });
    this.shown = new Map();
  }

  show(index) {
    const { trace } = this, { sequence, replica } = trace.events[index];
    const cuts = trace.cutsAt[index];
    const cut = cuts.length ? element("p", { textContent: `Links that are cut: ${cuts.join(", ")}` }) : null;
    const boxes = trace.replicas.map((one) => this._box(one, index));
    trace.replicas.forEach(({ id }, place) => boxes[place].classList.toggle("own", id === replica));
    const title = `The cluster after event ${sequence}`;
    const isSame = this.boxes?.every((box, place) => box === boxes[place]) && cuts === this.cuts;
    if (isSame) this.section.firstChild.textContent = title;
    else titled(this.section, title, cut, ...boxes);
    Object.assign(this, { boxes, cuts });
  }

  _box(replica, index) {
    const state = this.trace.stateOf(replica.id, index), log = this.trace.logOf(replica.id, index);
    const before = this.shown.get(replica.id);
    if (before && before.state === state && before.log === log) return before.box;
    const box = replicaBox(replica, state, log);
    this.shown.set(replica.id, { state, log, box });
    return box;
  }
}

function replicaBox({ id }, state, log) {
  const head = state === null ? "nothing seen yet" : `${worded(state.role)} in epoch ${worded(state.epoch)}`;
  const said = state === null ? null : facts([
    ["leader", worded(state.leader_id)],
    ["voted for", worded(state.voted_key)],
    ["high watermark", state.high_watermark === -1 ? "unknown" : worded(state.high_watermark)],
    ["voters", votersWorded(state.voters)],
    state.pending_change ? ["change under way", worded(state.pending_change)] : null,
  ]);
  return element("div", { className: "replica" }, element("h3", { textContent: `Replica ${id}: ${head}` }), said, logPicture(log, state));
}
