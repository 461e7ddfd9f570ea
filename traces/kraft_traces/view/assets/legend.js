// Legend of signs and keys, and the head of the page.

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

const SIGNS = [
  ["●", "message handled, or the replica's own doing"], ["◆", "timeout"], ["■", "client or operator"], ["×", "crash"], ["▶", "restart, new disk"],
  ["○", "hollow: refused, nothing happened"], ["→", "message delivered; golden brown for responses"], ["⇢", "dotted: a second copy was delivered"],
  ["–×", "dropped on its way"], ["yes no", "on an arrow: a vote or Pre-Vote is granted, refused"], ["✂ ⚯", "link cut, healed"],
];

function fillLegend(box) {
  const roles = Object.entries(ROLES).map(([role, letter]) => element("li", {}, element("span", { className: `chip ${role}`, textContent: letter }), ` ${role}`));
  const records = Object.entries(LETTERS).map(([kind, letter]) => `${letter} ${kind}`).join(", ");
  box.replaceChildren(
    element("div", {}, element("h2", { textContent: "Keys" }), facts(KEYS)),
    element("div", {}, element("h2", { textContent: "Roles" }), element("ul", { className: "roles" }, ...roles)),
    element("div", {}, element("h2", { textContent: "Signs" }), facts(SIGNS), element("p", { textContent: `Log cells: the epoch above, the kind below (${records}); dashed: not synced; HW: high watermark.` })),
  );
}

// Reason why no message of the trace is drawn.
const withoutArrows = ({ arrows, events }) => (!arrows.length && events.some(({ event }) => event.startsWith("Handle")) ? "; no arrows: the trace names no messages sent" : "");

function headOf(trace) {
  const { header, source, events, replicas, complete, broken } = trace;
  const counted = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;
  const off = header.switched_off?.length ? `, without ${header.switched_off.join(", ")}` : "";
  const by = `by ${header.generator.name} ${header.generator.version}, profile ${header.profile}${off}`;
  return `${source}: ${counted(events.length, "event")} of ${counted(replicas.length, "replica")}, ${by}${complete || broken ? "" : "; the trace does not say that it holds the whole run"}${withoutArrows(trace)}`;
}
