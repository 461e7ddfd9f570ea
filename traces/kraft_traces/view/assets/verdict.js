// The verdict, and the place where the trace cannot be read or stops conforming.

const KINDS = {
  "not-enabled": "The model does not allow this event here.",
  mismatch: "The model allows this event, but the recorded outcome differs.",
  property: "The model allows this step, but it violates a property.",
  checkpoint: "The checkpoint after this event differs from the state that the lines lead to.",
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
  for (const note of verdict?.notes ?? []) box.append(element("p", { textContent: `${note[0].toUpperCase()}${note.slice(1)}.` }));
  const off = trace.header.switched_off ?? [];
  if (off.length) box.append(element("p", { textContent: "Rules that this run omits on purpose:" }), ruleList(trace, off));
}

// Extent of the comparison, and the groups of fields that some events lack.
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
  if (conjunct) parts.push(facts([["false guard", conjunct.text], ["defined in", `${conjunct.module}.tla:${conjunct.line}`], conjunct.operands.length ? ["values", conjunct.operands.join(" and ")] : null]));
  if (properties.length) parts.push(facts([["violates", properties.join(", ")]]));
  if (explained.length) parts.push(element("h3", { textContent: "Explained by breaking this rule" }), ruleList(trace, explained));
  const others = rules.filter((id) => !explained.includes(id));
  if (others.length) parts.push(element("h3", { textContent: others.length > NEAREST ? `Rules of the action, the nearest ${NEAREST} of ${others.length}` : "Rules of the action" }), ruleList(trace, others.slice(0, NEAREST)));
  titled(section, "✗ First wrong line", ...parts);
}

// The headline without the place.
const verdictWords = ({ verdict }) => {
  const words = verdict.headline.slice(verdict.headline.lastIndexOf("): ") + 3);
  return words[0].toUpperCase() + words.slice(1);
};
