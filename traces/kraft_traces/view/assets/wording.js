// Texts of the values of a trace, and elements for them.  All contents of a trace become text, never markup.

const element = (name, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
};

const facts = (pairs) => element("dl", {}, ...pairs.filter(Boolean).flatMap(([name, value]) => [element("dt", { textContent: name }), element("dd", { textContent: value, title: wholeKeys(value) })]));

const NOT_OBSERVED = "not observed";

const isKey = (value) => value !== null && typeof value === "object" && "id" in value && "directory_id" in value;

// Whole text of each key that is shown with a shortened directory id, such as 1-YxQ4…9nDw.
const shortened = new Map();
const DIRECTORY_SHOWN = 10;

function keyWorded({ id, directory_id: directory }) {
  if (directory === null) return `${id}`;
  if (directory.length <= DIRECTORY_SHOWN) return `${id}-${directory}`;
  const short = `${id}-${directory.slice(0, 4)}…${directory.slice(-4)}`;
  shortened.set(short, `${id}-${directory}`);
  return short;
}

// The whole keys that a text has in short form, for its tooltip.
const wholeKeys = (text) => [...shortened].filter(([short]) => `${text}`.includes(short)).map(([, whole]) => whole).join(", ");

function worded(value) {
  if (value === undefined) return NOT_OBSERVED;
  if (value === null) return "none";
  if (Array.isArray(value)) return value.length === 0 ? "empty" : value.map(worded).join(", ");
  if (isKey(value) && Object.keys(value).length === 2) return keyWorded(value);
  if (typeof value === "object") return Object.entries(value).map(([name, part]) => `${name} ${worded(part)}`).join(", ");
  return String(value);
}

const votersWorded = (voters) => {
  if (!voters || voters.voters === undefined) return NOT_OBSERVED;
  const target = voters.target ? `, on the way to ${worded(voters.target)}` : "";
  return `{${voters.voters.map(worded).join(", ")}} at ${worded(voters.offset)}${target}`;
};

// Fields of the state that are mappings, written as lists of pairs.
const MAPPINGS = ["awaiting", "fetch_offsets", "awaited_targets"];

function shown(name, value) {
  if (name === "voters" && value) return votersWorded(value);
  if (MAPPINGS.includes(name) && value?.length) return value.map(([key, of]) => `${worded(key)}: ${worded(of)}`).join(", ");
  return worded(value);
}

const messageName = (type) => type.replace(/(Request|Response)$/, " $1").trim();

const isError = (error) => error !== undefined && error !== null && error !== "NONE";

// Result of a response: its error, or the granted or refused vote; empty for others.
const outcome = ({ error, granted }) => (isError(error) ? error : granted === true ? "granted" : granted === false ? "refused" : "");

const preVote = (message) => (message?.pre_vote === true ? " (Pre-Vote)" : "");

const withOutcome = (words, message) => (outcome(message) ? `${words}: ${outcome(message)}` : words);

const label = (message) => withOutcome(`${messageName(message.type)}${preVote(message)}`, message);

// Short names; the request of a response is drawn beside it.
const shortLabel = (message) => (outcome(message) ? withOutcome(messageName(message.type), message) : label(message));
