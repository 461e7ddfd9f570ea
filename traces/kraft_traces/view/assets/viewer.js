// The page itself: which event is selected, and the keys and buttons that select another one.

const $ = (id) => document.getElementById(id);
const trace = new Trace(JSON.parse($("document").textContent));
const last = trace.events.length - 1;
let selected = 0, everything = false;

const timeline = new Timeline(trace, $("timeline"), $("picture"), $("width"), (index) => select(index));

function select(index, keepHash = false) {
  selected = Math.max(0, Math.min(last, index));
  timeline.select(selected);
  $("at").value = trace.events[selected].sequence;
  $("said").textContent = sentence(trace, selected);
  showWrong($("wrong-line"), trace, selected);
  showEvent($("event"), trace, selected);
  showState($("state"), trace, selected, everything);
  showCluster($("cluster"), trace, selected);
  $("first").disabled = $("back").disabled = selected === 0;
  $("last").disabled = $("on").disabled = selected === last;
  // So that a link leads to an event; too many changes of the address are refused by browsers, so only at rest.
  clearTimeout(select.rest);
  if (!keepHash) select.rest = setTimeout(() => history.replaceState(null, "", `#${trace.events[selected].sequence}`), 250);
}

const KEYS = [
  ["→ or l, ← or h", "next event, event before"],
  ["Shift with → or ←", "at the same replica"],
  ["Page Down, Page Up", "25 events on, back"],
  ["Home, End", "first, last event"],
  ["r, R", "next, earlier change of a role"],
  ["w", "first wrong line"],
  ["/ and Enter", "find; Shift+Enter for the one before"],
  ["+, -", "wider, narrower"],
  ["a", "all fields of the state, or only the main ones and those that changed"],
  ["?", "this legend"],
];

const changesRole = (event) => event.changed?.role !== undefined;

function seek(fits, step) {
  for (let index = selected + step; index >= 0 && index <= last; index += step) if (fits(trace.events[index], index)) return index;
  return selected;
}

const sameLane = (step) => {
  const { replica } = trace.events[selected];
  return replica === undefined ? seek((event) => event.replica === undefined, step) : trace.nextOf(replica, selected, step);
};

const ACTIONS = {
  ArrowRight: ({ shiftKey }) => select(shiftKey ? sameLane(1) : selected + 1),
  ArrowLeft: ({ shiftKey }) => select(shiftKey ? sameLane(-1) : selected - 1),
  l: () => select(selected + 1),
  h: () => select(selected - 1),
  PageDown: () => select(selected + 25),
  PageUp: () => select(selected - 25),
  Home: () => select(0),
  End: () => select(last),
  r: () => select(seek(changesRole, 1)),
  R: () => select(seek(changesRole, -1)),
  w: () => { if (trace.wrong !== null) select(trace.wrong); },
  "/": () => $("find").focus(),
  "+": () => timeline.zoomBy(1.25),
  "=": () => timeline.zoomBy(1.25),
  "-": () => timeline.zoomBy(0.8),
  a: () => { everything = !everything; select(selected); },
  "?": () => toggleLegend(),
};

document.addEventListener("keydown", (key) => {
  const typing = key.target instanceof HTMLInputElement && key.target.type !== "checkbox";
  if (key.ctrlKey || key.metaKey || key.altKey || typing || !Object.hasOwn(ACTIONS, key.key)) return;
  // Panels scroll by their own keys.
  if (["PageDown", "PageUp", "Home", "End"].includes(key.key) && key.target.closest?.("#panels section")) return;
  key.preventDefault();
  ACTIONS[key.key](key);
});

for (const [id, key] of [["first", "Home"], ["back", "ArrowLeft"], ["on", "ArrowRight"], ["last", "End"], ["wrong", "w"], ["closer", "+"], ["further", "-"], ["help", "?"]]) {
  $(id).addEventListener("click", (click) => ACTIONS[key](click));
}
$("state").addEventListener("change", ({ target }) => {
  if (target.id !== "all-fields") return;
  everything = target.checked;
  select(selected);
  $("all-fields").focus();
});

const withSequence = (sequence) => trace.events.findIndex((event) => event.sequence === sequence);

$("at").addEventListener("change", ({ target }) => {
  const index = withSequence(Number(target.value));
  select(index < 0 ? selected : index);
});

// Everything that a line says, in lower case; made when it is first asked for.
const haystacks = [];
const haystack = (index) => {
  const event = trace.events[index];
  const rules = (event.rules ?? []).map((place) => trace.rules[place].id);
  return (haystacks[index] ??= `${JSON.stringify({ ...event, rules: [] })} ${sentence(trace, index)} ${rules.join(" ")}`.toLowerCase());
};

$("find").addEventListener("keydown", (key) => {
  if (key.key === "Escape") $("timeline").focus();
  if (key.key !== "Enter") return;
  const words = key.target.value.trim().toLowerCase();
  if (!words) return;
  const found = seek((_, index) => haystack(index).includes(words), key.shiftKey ? -1 : 1);
  $("found").textContent = found === selected ? "none further" : "";
  select(found);
});

function toggleLegend() {
  const legend = $("legend");
  legend.hidden = !legend.hidden;
  $("help").setAttribute("aria-expanded", String(!legend.hidden));
}

function fillLegend() {
  const roles = Object.entries(ROLES).map(([role, letter]) => element("li", {}, element("span", { className: `chip ${role}`, textContent: letter }), ` ${role}`));
  const signs = [
    ["●", "message handled, or the replica's own doing"], ["◆", "timeout"], ["■", "client or operator"], ["×", "crash"], ["▶", "restart, new disk"],
    ["○", "hollow: refused, nothing happened"], ["→", "message delivered: dark for requests, lighter for responses"], ["⇢", "dotted: a second copy was delivered"], ["–×", "dropped on its way"], ["✂ ⚯", "link cut, healed"],
  ];
  const records = Object.entries(LETTERS).map(([kind, letter]) => `${letter} ${kind}`).join(", ");
  $("legend").replaceChildren(
    element("div", {}, element("h2", { textContent: "Keys" }), facts(KEYS)),
    element("div", {}, element("h2", { textContent: "Roles" }), element("ul", { className: "roles" }, ...roles)),
    element("div", {}, element("h2", { textContent: "Signs" }), facts(signs), element("p", { textContent: `Log cells: the epoch above, the kind below (${records}); dashed: not synced; HW: high watermark.` })),
  );
}

function fillHead() {
  const { header } = trace;
  const off = header.switched_off?.length ? `, without ${header.switched_off.join(", ")}` : "";
  $("about").textContent = `${trace.source}: ${trace.events.length} events of ${trace.replicas.length} replicas, by ${header.generator.name} ${header.generator.version}, profile ${header.profile}${off}${trace.complete ? "" : "; the trace does not say that it holds the whole run"}`;
  $("of").textContent = `of ${trace.events[last].sequence}`;
  $("wrong").hidden = trace.wrong === null;
  showVerdict($("verdict"), trace);
}

fillHead();
fillLegend();
const asked = withSequence(Number(location.hash.slice(1)));
select(asked >= 0 ? asked : trace.wrong ?? 0, true);
$("timeline").focus({ preventScroll: true });
window.addEventListener("hashchange", () => {
  const index = withSequence(Number(location.hash.slice(1)));
  if (index >= 0 && index !== selected) select(index, true);
});
