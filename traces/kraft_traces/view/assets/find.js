// Search in all fields of the lines.

class Finder {
  constructor(trace) {
    this.trace = trace;
    // Made when it is first asked for.
    this.texts = [];
    this.words = null;
  }

  // The next event that has the words, after or before the selected one; goes on at the other end of the trace.
  next(words, selected, step) {
    const found = this._all(words);
    if (!found.length) return { index: selected, notice: `“${words}” is not found` };
    const last = found.length - 1;
    const place = step > 0 ? firstAtLeast(found, selected + 1) : firstAtLeast(found, selected) - 1;
    const wraps = place < 0 || place > last;
    const at = wraps ? (step > 0 ? 0 : last) : place;
    const counted = `${at + 1} of ${found.length}`;
    if (found[at] === selected) return { index: selected, notice: `${counted}, none further` };
    const again = step > 0 ? "from the top again" : "from the end again";
    return { index: found[at], notice: wraps ? `${counted}, ${again}` : counted };
  }

  _all(words) {
    if (words !== this.words) {
      this.words = words;
      this.found = this.trace.events.map((_, index) => index).filter((index) => this._text(index).includes(words));
    }
    return this.found;
  }

  _text(index) {
    const event = this.trace.events[index];
    const rules = (event.rules ?? []).map((place) => this.trace.rules[place].id);
    return (this.texts[index] ??= `${JSON.stringify({ ...event, rules: [], changes: {} })} ${sentence(this.trace, index)} ${rules.join(" ")}`.toLowerCase());
  }
}
