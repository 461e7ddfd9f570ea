// The page: the selected event, and the keys and buttons that select another one.

const $ = (id) => document.getElementById(id);
const trace = new Trace(JSON.parse($("document").textContent));
const last = trace.events.length - 1;
let selected = 0, everything = false;

const timeline = new Timeline(trace, $("timeline"), $("picture"), $("width"), (index) => select(index));
const cluster = new Cluster($("cluster"), trace);
const finder = new Finder(trace);

function select(index, { notice = "", keepHash = false } = {}) {
  $("notice").textContent = notice;
  if (last < 0) return;
  selected = Math.max(0, Math.min(last, index));
  timeline.select(selected);
  $("at").value = trace.events[selected].sequence;
  $("said").textContent = sentence(trace, selected);
  showWrong($("wrong-line"), trace, selected);
  showEvent($("event"), trace, selected);
  showState($("state"), trace, selected, everything);
  cluster.show(selected);
  // A button that is really disabled would lose the focus.
  for (const [id, isOff] of [["first", selected === 0], ["back", selected === 0], ["on", selected === last], ["last", selected === last]]) $(id).setAttribute("aria-disabled", isOff);
  // So that a link leads to an event; too many changes of the address are refused by browsers, so only at rest.
  clearTimeout(select.rest);
  if (!keepHash) select.rest = setTimeout(() => history.replaceState(null, "", `#${trace.events[selected].sequence}`), 250);
}

const changesRole = (event) => event.changes.role !== undefined;

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
  if (last < 0 || key.ctrlKey || key.metaKey || key.altKey || typing || !Object.hasOwn(ACTIONS, key.key)) return;
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

// The event named in the box or in the address, or the message if there is none.
function named(text) {
  const index = /^\d+$/.test(text) ? trace.events.findIndex((event) => event.sequence === Number(text)) : -1;
  return { index, notice: index < 0 ? `no event ${text || "without a number"}; the last is ${trace.events[last]?.sequence}` : "" };
}

$("at").addEventListener("change", ({ target }) => {
  const { index, notice } = named(target.value.trim());
  select(index < 0 ? selected : index, { notice });
});

$("find").addEventListener("keydown", (key) => {
  if (key.key === "Escape") $("timeline").focus();
  const words = key.target.value.trim().toLowerCase();
  if (key.key !== "Enter" || !words) return;
  const { index, notice } = finder.next(words, selected, key.shiftKey ? -1 : 1);
  select(index, { notice });
});

function toggleLegend() {
  const legend = $("legend");
  legend.hidden = !legend.hidden;
  $("help").setAttribute("aria-expanded", String(!legend.hidden));
}

function toAddress(otherwise) {
  const asked = location.hash.slice(1);
  const { index, notice } = named(asked);
  select(index < 0 ? otherwise : index, { notice: asked ? notice : "", keepHash: true });
}

$("about").textContent = headOf(trace);
$("of").textContent = last < 0 ? "" : `of ${trace.events[last].sequence}`;
$("wrong").hidden = trace.wrong === null;
document.body.classList.toggle("no-events", last < 0);
showVerdict($("verdict"), trace);
showBroken($("broken"), trace);
fillLegend($("legend"));
toAddress(trace.wrong ?? 0);
$("timeline").focus({ preventScroll: true });
window.addEventListener("hashchange", () => toAddress(selected));
