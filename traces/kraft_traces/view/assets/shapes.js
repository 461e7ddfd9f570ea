// The elements of the picture: roles, marks of events, heads of arrows.

const SVG = "http://www.w3.org/2000/svg";

// Letter, color class and pattern of each role in a lane.
const ROLES = { Unattached: "U", Prospective: "P", Candidate: "C", Leader: "L", Follower: "F", Resigned: "R", Stopped: "×" };

const drawn = (name, attributes, ...children) => {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
};

// Kinds of events differ by shape, not by colour alone.
function shape(event, x, y, namesLinks) {
  const r = RADIUS;
  if (isLink(event)) {
    const sign = event.event === "CutLink" ? "✂" : "⚯";
    return drawn("text", { class: "network", x, y: y + 4, "text-anchor": "middle" }, namesLinks ? `${sign} ${linkOf(event.input)}` : sign);
  }
  if (event.replica === undefined) return drawn("path", { d: `M${x - 3} ${y - 3} h6 v6 h-6 z` });
  if (event.event === "Crash" || event.crash) return drawn("path", { class: "crash", d: `M${x - r} ${y - r} L${x + r} ${y + r} M${x + r} ${y - r} L${x - r} ${y + r}` });
  if (event.event === "Restart" || event.event === "ReplaceDisk") return drawn("path", { d: `M${x - r} ${y - r} L${x + r} ${y} L${x - r} ${y + r} Z` });
  if (event.event.endsWith("Timeout")) return drawn("path", { d: `M${x} ${y - r - 1} L${x + r + 1} ${y} L${x} ${y + r + 1} L${x - r - 1} ${y} Z` });
  if (event.cause?.source === "client" || event.cause?.source === "operator") return drawn("rect", { x: x - r, y: y - r, width: 2 * r, height: 2 * r });
  return drawn("circle", { cx: x, cy: y, r });
}

const wrongSign = (x, y) => drawn("path", { class: "wrong", d: `M${x} ${y - 17} l10 10 l-10 10 l-10 -10 z m-4 6 l8 8 m0 -8 l-8 8` });

const cross = (x, y) => drawn("path", { class: "cross", d: `M${x - 4} ${y - 4} l8 8 m0 -8 l-8 8` });

function definitions() {
  const marker = (id) => drawn("marker", { id, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, drawn("path", { class: id, d: "M0 0 L8 4 L0 8 Z" }));
  const stripes = drawn("pattern", { id: "stripes", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, drawn("path", { class: "stripe", d: "M0 0 V6" }));
  return drawn("defs", {}, marker("head"), marker("head-own"), stripes);
}
