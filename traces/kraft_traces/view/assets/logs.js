// Logs: start offset, and runs from there on, each a record, or a number of records that the trace does
// not have.  Offsets are exact up to the largest that a trace can hold.

const CELLS_SHOWN = 60;
const LETTERS = { Data: "D", LeaderChange: "L", Voters: "V", KRaftVersion: "K", VoterAssignment: "A" };

// Log of a replica that no line has recorded.
const NO_LOG = { start: 0n, runs: [] };

const isHidden = (run) => typeof run === "bigint";
const lengthOf = (run) => (isHidden(run) ? run : 1n);

// Offsets and counts of a log; a count that is not exact as a number is a text.
function changedLog({ start, runs }, { start: newStart, end, added }) {
  const from = BigInt(newStart), told = added.map((run) => (typeof run === "object" ? run : BigInt(run)));
  return { start: from, runs: [...runsBetween(runs, from - start, BigInt(end) - start), ...told] };
}

function runsBetween(runs, from, to) {
  const found = [];
  let place = 0n;
  for (const run of runs) {
    const next = place + lengthOf(run);
    const first = place > from ? place : from, end = next < to ? next : to;
    if (first < end) found.push(isHidden(run) ? end - first : run);
    place = next;
  }
  return found;
}

// A cell for each record, and one for consecutive unknown records, divided at the high watermark and at the end of the
// synced part.
function cellsOf({ start, runs }, bounds) {
  const cells = [];
  let first = start;
  for (const run of runs) {
    const end = first + lengthOf(run), before = cells.at(-1);
    // A count that was told later goes on where the one before it ends.
    if (isHidden(run) && before && before.record === null && !bounds.includes(first)) first = cells.pop().first;
    const inner = bounds.filter((bound) => first < bound && bound < end).sort((one, other) => (one < other ? -1 : 1));
    for (const next of new Set([...inner, end])) {
      cells.push({ first, end: next, record: isHidden(run) ? null : run });
      first = next;
    }
  }
  return cells;
}

// Cell of a record: epoch above, kind below; the high watermark is a thick line, unsynced records are dashed.
function logPicture(log, state) {
  const { start, runs } = log, end = runs.reduce((sum, run) => sum + lengthOf(run), start);
  const watermark = BigInt(state?.high_watermark ?? -1), flushed = BigInt(state?.flushed_offset ?? end);
  const cells = cellsOf(log, [watermark, flushed]), left = Math.max(0, cells.length - CELLS_SHOWN), seen = cells.slice(left);
  const list = element("ol", { className: "log" });
  list.setAttribute("aria-label", `log from offset ${start} to ${end}`);
  if (start > 0n) list.append(stub(`snapshot to ${start}`));
  if (left) list.append(stub(`${seen[0].first - start} more`));
  if (start === 0n && !runs.length) list.append(stub(log === NO_LOG && state?.log_end_offset === undefined ? `log ${NOT_OBSERVED}` : "empty log"));
  if (seen.length && watermark === seen[0].first) list.append(mark());
  for (const cell of seen) {
    list.append(cell.record ? recordCell(cell, cell.first >= flushed) : hiddenCell(cell, cell.first >= flushed));
    if (cell.end === watermark) list.append(mark());
  }
  return list;
}

const stub = (text) => element("li", { className: "stub", textContent: text });

const notSynced = (isUnsynced) => (isUnsynced ? "; not synced" : "");

function recordCell({ first, record }, isUnsynced) {
  const className = `record epoch-${Number(record.epoch) % 6}${isUnsynced ? " unsynced" : ""}`;
  const cell = element("li", { className, title: `offset ${first}: ${worded(record)}${notSynced(isUnsynced)}` });
  cell.append(element("span", { textContent: record.epoch }), element("b", { textContent: LETTERS[record.kind] ?? "?" }));
  return cell;
}

function hiddenCell({ first, end }, isUnsynced) {
  const where = end - first === 1n ? `offset ${first}` : `offsets ${first} to ${end - 1n}`;
  const className = `record hidden-record${isUnsynced ? " unsynced" : ""}`;
  return element("li", { className, title: `${where}: ${NOT_OBSERVED}${notSynced(isUnsynced)}`, textContent: `${end - first} not shown` });
}

const mark = () => element("li", { className: "watermark", title: "high watermark: what is before it is committed", textContent: "HW" });
