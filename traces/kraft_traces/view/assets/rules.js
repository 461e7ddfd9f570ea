// Rules of the specification: id and title; when opened, the statement and the command for details.

const commandOf = (id) => `kraft-spec rules ${id}`;

function ruleItem(trace, id) {
  trace.ruleOf ??= new Map(trace.rules.map((rule) => [rule.id, rule]));
  const rule = trace.ruleOf.get(id), command = element("code", { textContent: commandOf(id) });
  if (!rule) return element("li", { title: commandOf(id) }, element("code", { textContent: id }), " ", command);
  const summary = element("summary", { title: commandOf(id) }, element("code", { textContent: id }), ` ${rule.level}: ${rule.title}`);
  return element("li", {}, element("details", { className: "rule" }, summary, element("p", { textContent: rule.statement }), element("p", {}, "More: ", command)));
}

const ruleList = (trace, ids) => element("ul", { className: "rules" }, ...ids.map((id) => ruleItem(trace, id)));
