// Event as one sentence, for screen readers and above the panels.

function eventWorded(event) {
  const where = event.replica === undefined ? "network" : `replica ${event.replica}`;
  const { message, input } = event;
  const what = message ? withOutcome(`${event.event}${preVote(message)} from ${worded(message.source)}`, message) : event.event;
  return `${where}: ${what}${input ? ` (${worded(input)})` : ""}`;
}

const sendWorded = ({ message }) => withOutcome(`${message.type}${preVote(message)} to ${worded(message.destination)}`, message);

function sentence(trace, index) {
  const event = trace.events[index];
  const parts = [`Event ${event.sequence}${index === trace.wrong ? ", the first wrong line" : ""}`, eventWorded(event)];
  if (event.refusal) parts.push(`refused: ${event.refusal}`);
  if (event.crash) parts.push("the replica dies in this step");
  const { role, epoch } = event.changes;
  if (role) parts.push(`becomes ${role}`);
  if (epoch !== undefined) parts.push(`epoch ${epoch}`);
  const sent = (event.effects ?? []).filter((effect) => effect.kind === "Send");
  if (sent.length) parts.push(`sends ${sent.map(sendWorded).join(", ")}`);
  return `${parts.join("; ")}.`;
}
