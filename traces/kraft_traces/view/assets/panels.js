// What is beside the picture: the selected event, the state before and after it, the whole cluster at that moment.

const RECORDS_SHOWN = 60;
const LETTERS = { Data: "D", LeaderChange: "L", Voters: "V", KRaftVersion: "K", VoterAssignment: "A" };
const ALWAYS = ["role", "epoch", "leader_id", "voted_key", "log_end_offset", "flushed_offset", "high_watermark", "voters"];

const titled = (section, title, ...children) => section.replaceChildren(element("h2", { textContent: title }), ...children.filter(Boolean));

function tableOf(heads, rows) {
  const head = element("tr", {}, ...heads.map((text) => element("th", { scope: "col", textContent: text })));
  return element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows));
}

const row = (name, cells, className = "") => element("tr", { className }, element("th", { scope: "row", textContent: name }), ...cells.map((text) => element("td", { textContent: text })));

function showEvent(section, trace, index) {
  const event = trace.events[index];
  const parts = [];
  const cause = event.cause ? worded(event.cause) : null;
  parts.push(facts([
    ["time", event.time_ms === undefined ? NOT_OBSERVED : `${event.time_ms} ms`],
    event.replica === undefined ? null : ["replica", `${event.replica}`],
    cause && ["cause", cause],
    event.input && ["input", worded(event.input)],
    event.refusal ? ["refused", event.refusal] : null,
    event.crash && ["crash in the step", worded(event.crash)],
    ["line", `${event.line} of the file`],
  ]));
  const message = event.message ?? trace.messages.get(event.input?.message_id);
  if (message) parts.push(...messageParts("Message", message));
  if (event.answer) parts.push(...messageParts("Answer of the network layer", event.answer));
  if (event.effects?.length) {
    parts.push(element("h3", { textContent: "Effects, in order" }));
    parts.push(element("ol", {}, ...event.effects.map(effectItem)));
  }
  const rules = (event.rules ?? []).map((place) => trace.rules[place]);
  if (rules.length) {
    const items = rules.map(({ id, title, level }) => element("li", {}, element("code", { textContent: id }), ` ${level}: ${title}`));
    parts.push(element("details", { open: rules.length <= 6 }, element("summary", { textContent: `Rules that it exercises: ${rules.length}` }), element("ul", {}, ...items)));
  }
  titled(section, `${event.sequence}. ${event.event}`, ...parts);
}

function messageParts(title, message) {
  const { type, ...fields } = message;
  return [element("h3", { textContent: `${title}: ${type}` }), facts(Object.entries(fields).map(([name, value]) => [name, worded(value)]))];
}

function effectItem(effect) {
  const { kind, message, ...fields } = effect;
  if (message) {
    const { type, destination, id, source, ...content } = message;
    const told = element("details", {}, element("summary", { textContent: `Send ${type} to ${worded(destination)}` }), facts(Object.entries(content).map(([name, value]) => [name, worded(value)])));
    return element("li", {}, told);
  }
  return element("li", { textContent: `${kind} ${worded(fields)}` });
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
  const changed = event.changed ?? {};
  const names = [...new Set([...ALWAYS, ...Object.keys(after)])].filter((name) => everything || name in changed || ALWAYS.includes(name));
  const rows = names.map((name) => {
    const isOther = name in changed;
    return row(isOther ? `▸ ${name}` : name, [shown(name, before[name]), shown(name, after[name])], isOther ? "changed" : "");
  });
  const all = element("label", {}, element("input", { type: "checkbox", checked: everything, id: "all-fields" }), " all fields");
  titled(section, `Replica ${event.replica} before and after`, tableOf(["field", "before", "after"], rows), all);
}

function showCluster(section, trace, index) {
  const rows = trace.replicas.map(({ id }) => {
    const state = trace.stateOf(id, index);
    const own = trace.events[index].replica === id;
    const head = state === null ? "nothing seen yet" : `${worded(state.role)} in epoch ${worded(state.epoch)}`;
    const said = state === null ? null : facts([
      ["leader", worded(state.leader_id)],
      ["voted for", worded(state.voted_key)],
      ["high watermark", state.high_watermark === -1 ? "unknown" : worded(state.high_watermark)],
      ["voters", votersWorded(state.voters)],
      state.pending_change ? ["change under way", worded(state.pending_change)] : null,
    ]);
    return element("div", { className: `replica${own ? " own" : ""}` }, element("h3", { textContent: `Replica ${id}: ${head}` }), said, logPicture(trace.logOf(id, index), state));
  });
  const cuts = trace.cutsAt[index];
  const cut = cuts.length ? element("p", { textContent: `Links that are cut: ${cuts.join(", ")}` }) : null;
  titled(section, `The cluster after event ${trace.events[index].sequence}`, cut, ...rows);
}

// A cell for each record: its epoch above, its kind below; the high watermark is a thick line, what is not synced dashed.
function logPicture({ start, records }, state) {
  const end = start + records.length, hidden = Math.max(0, records.length - RECORDS_SHOWN);
  const watermark = Number(state?.high_watermark ?? -1), flushed = Number(state?.flushed_offset ?? end);
  const list = element("ol", { className: "log", start: start + hidden });
  list.setAttribute("aria-label", `log from offset ${start} to ${end}`);
  if (start > 0) list.append(element("li", { className: "stub", textContent: `snapshot to ${start}` }));
  if (hidden) list.append(element("li", { className: "stub", textContent: `${hidden} more` }));
  if (start === 0 && records.length === 0) list.append(element("li", { className: "stub", textContent: "empty log" }));
  if (watermark === start + hidden && watermark >= 0 && records.length) list.append(mark());
  records.slice(hidden).forEach((record, place) => {
    const offset = start + hidden + place;
    const names = ["record", record ? `epoch-${Number(record.epoch) % 6}` : "hidden-record", offset >= flushed ? "unsynced" : ""].join(" ");
    const words = record ? `offset ${offset}: ${worded(record)}` : `offset ${offset}: ${NOT_OBSERVED}`;
    const cell = element("li", { className: names, title: `${words}${offset >= flushed ? "; not synced" : ""}` });
    cell.append(element("span", { textContent: record ? record.epoch : "?" }), element("b", { textContent: record ? LETTERS[record.kind] ?? "?" : "?" }));
    list.append(cell);
    if (offset + 1 === watermark) list.append(mark());
  });
  return list;
}

const mark = () => element("li", { className: "watermark", title: "high watermark: what is before it is committed", textContent: "HW" });

function showVerdict(box, trace) {
  const { verdict } = trace;
  const said = !verdict ? ["unchecked", "This trace was not checked."]
    : verdict.kind === "accepted" ? ["accepted", `✓ accepted: each of ${verdict.events} events is a step of the model.`]
      : verdict.kind === "rejected" ? ["rejected", `✗ rejected: ${verdict.headline}`]
        : ["inconclusive", `? inconclusive: ${verdict.reason ?? ""}`];
  box.className = said[0];
  box.textContent = said[1];
  if (verdict?.switched_off?.length) box.append(element("p", { textContent: `Rules left out in this run, on purpose: ${verdict.switched_off.join(", ")}` }));
}

function showWrong(section, trace, index) {
  const rejection = trace.verdict?.rejection;
  section.hidden = !rejection || index !== trace.wrong;
  if (section.hidden) return;
  const { conjunct, differences, rules, explained_by: explained, properties } = rejection;
  const kinds = { "not-enabled": "The model's action is not possible here.", mismatch: "The action is possible, but shows something else.", property: "The step is one of the model, and violates a property.", checkpoint: "The checkpoint behind this event shows another state than the lines lead to.", ambiguous: "The model has several successors here." };
  const parts = [element("p", { textContent: kinds[rejection.kind] ?? rejection.kind })];
  if (differences.length) parts.push(tableOf(["field", "expected (model)", "actual (trace)"], differences.map((one) => row(one.field, [one.expected, one.actual]))));
  if (conjunct) parts.push(facts([["false", conjunct.text], ["stands in", `${conjunct.module}.tla:${conjunct.line}`], conjunct.operands.length ? ["values", conjunct.operands.join(" and ")] : null]));
  if (properties.length) parts.push(facts([["violates", properties.join(", ")]]));
  if (explained.length) parts.push(facts([["right without", explained.join(", ")]]));
  if (rules.length) {
    const known = new Map(trace.rules.map((rule) => [rule.id, rule]));
    const items = rules.slice(0, 6).map((id) => element("li", {}, element("code", { textContent: id }), known.has(id) ? ` ${known.get(id).level}: ${known.get(id).title}` : ""));
    parts.push(element("h3", { textContent: rules.length > 6 ? `Rules of the action, the nearest 6 of ${rules.length}` : "Rules of the action" }), element("ul", {}, ...items));
  }
  titled(section, "✗ First wrong line", ...parts);
}
