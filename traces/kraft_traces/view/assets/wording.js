// Words for values of a trace, and elements that hold them.  Whatever is in a trace becomes text, never markup.

const element = (name, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
};

const NOT_OBSERVED = "not observed";

const isKey = (value) => value !== null && typeof value === "object" && "id" in value && "directory_id" in value;

function worded(value) {
  if (value === undefined) return NOT_OBSERVED;
  if (value === null) return "none";
  if (Array.isArray(value)) return value.length === 0 ? "empty" : value.map(worded).join(", ");
  if (isKey(value) && Object.keys(value).length === 2) return value.directory_id === null ? `${value.id}` : `${value.id}-${value.directory_id}`;
  if (typeof value === "object") return Object.entries(value).map(([name, part]) => `${name} ${worded(part)}`).join(", ");
  return String(value);
}

const votersWorded = (voters) => {
  if (!voters || voters.voters === undefined) return NOT_OBSERVED;
  const target = voters.target ? `, on the way to ${worded(voters.target)}` : "";
  return `{${voters.voters.map(worded).join(", ")}} at ${worded(voters.offset)}${target}`;
};

const shown = (name, value) => (name === "voters" && value ? votersWorded(value) : worded(value));

const messageName = (type) => type.replace(/(Request|Response)$/, " $1").trim();

function eventWorded(event) {
  const where = event.replica === undefined ? "network" : `replica ${event.replica}`;
  const what = event.message ? `${event.event} from ${worded(event.message.source)}` : event.event;
  const put = event.input ? ` (${worded(event.input)})` : "";
  return `${where}: ${what}${put}`;
}

function sentence(trace, index) {
  const event = trace.events[index];
  const parts = [`Event ${event.sequence}`, eventWorded(event)];
  if (event.refusal) parts.push(`refused: ${event.refusal}`);
  const changed = event.changed ?? {};
  if (index > 0 || changed.role) if (changed.role) parts.push(`becomes ${changed.role}`);
  if (changed.epoch !== undefined) parts.push(`epoch ${changed.epoch}`);
  const sent = (event.effects ?? []).filter((effect) => effect.kind === "Send");
  if (sent.length) parts.push(`sends ${sent.map(({ message }) => `${message.type} to ${worded(message.destination)}`).join(", ")}`);
  return `${parts.join("; ")}.`;
}

const facts = (pairs) => element("dl", {}, ...pairs.filter(Boolean).flatMap(([name, value]) => [element("dt", { textContent: name }), element("dd", { textContent: value })]));
