// What the check came to, and where the trace stops being one.

const KINDS = {
  "not-enabled": "The model's action is not possible here.",
  mismatch: "The action is possible, but shows something else.",
  property: "The step is one of the model, and violates a property.",
  checkpoint: "The checkpoint behind this event shows another state than the lines lead to.",
  ambiguous: "The model has several successors here.",
};
const NEAREST = 6;

function showVerdict(box, trace) {
  const { verdict } = trace;
  const said = !verdict ? ["unchecked", "This trace was not checked."]
    : verdict.kind === "accepted" ? ["accepted", `✓ accepted: each of ${verdict.events} events is a step of the model.`]
      : verdict.kind === "rejected" ? ["rejected", `✗ rejected: ${verdict.headline}`]
        : ["inconclusive", `? inconclusive: ${verdict.reason ?? ""}`];
  box.className = said[0];
  box.textContent = said[1];
  if (verdict?.compared?.whole) box.append(element("p", { textContent: comparedWords(verdict.compared) }));
  const off = trace.header.switched_off ?? [];
  if (off.length) box.append(element("p", { textContent: "Rules left out in this run, on purpose:" }), ruleList(trace, off));
}

// How much of the trace was compared, and which fields were not shown where.
function comparedWords({ whole, groups, properties }) {
  if (whole === "complete") return "Compared: complete.";
  const lacking = Object.entries(groups).filter(([, one]) => one.shown < one.events).map(([name, one]) => `${name} (${one.shown} of ${one.events} do)`);
  const judged = Object.values(properties).filter((one) => one.events);
  const always = judged.filter((one) => one.shown === one.events).length;
  return `Compared: ${whole}. Not all events show their ${lacking.join(", ")}; enough on every event to judge ${always} of ${judged.length} properties.`;
}

function showBroken(box, trace) {
  box.hidden = trace.broken === null;
  if (box.hidden) return;
  const count = trace.events.length;
  const left = count ? `This page shows the ${count} event${count === 1 ? "" : "s"} before that, and nothing of what follows.` : "There is no event to show.";
  box.replaceChildren(element("strong", { textContent: `✗ This file is not a whole trace: ${trace.broken}` }), element("p", { textContent: left }));
}

function showWrong(section, trace, index) {
  const rejection = trace.verdict?.rejection;
  section.hidden = !rejection || index !== trace.wrong;
  if (section.hidden) return;
  const { conjunct, differences, rules, explained_by: explained, properties } = rejection;
  const kind = rejection.left_out === "nothing" ? KINDS[rejection.kind] ?? rejection.kind : `${verdictWords(trace)}.`;
  const parts = [element("p", { textContent: kind })];
  if (differences.length) parts.push(tableOf(["field", "expected (model)", "actual (trace)"], differences.map((one) => row(one.field, [one.expected, one.actual]))));
  if (conjunct) parts.push(facts([["false", conjunct.text], ["stands in", `${conjunct.module}.tla:${conjunct.line}`], conjunct.operands.length ? ["values", conjunct.operands.join(" and ")] : null]));
  if (properties.length) parts.push(facts([["violates", properties.join(", ")]]));
  if (explained.length) parts.push(element("h3", { textContent: "The line would be right without this rule" }), ruleList(trace, explained));
  const others = rules.filter((id) => !explained.includes(id));
  if (others.length) parts.push(element("h3", { textContent: others.length > NEAREST ? `Rules of the action, the nearest ${NEAREST} of ${others.length}` : "Rules of the action" }), ruleList(trace, others.slice(0, NEAREST)));
  titled(section, "✗ First wrong line", ...parts);
}

// The headline without the place that it names.
const verdictWords = ({ verdict }) => `The action ${verdict.headline.slice(verdict.headline.indexOf(" is possible") + 1)}`;
