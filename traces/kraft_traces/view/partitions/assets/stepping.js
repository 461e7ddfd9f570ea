// The selected event, and the keys, buttons, search and addresses that select another one.

const PAGE = 25, AT_REST_MS = 250;

class Stepping {
  // `page` has: history, timeline, show(index), sentence(index), everything(index), sameLane(step), and keys of its own.
  constructor(page) {
    Object.assign(this, { page, events: page.history.events, selected: 0, finder: new EventFinder(page) });
    this.last = this.events.length - 1;
    this.actions = this._actions();
    document.addEventListener("keydown", (key) => this._pressed(key));
    for (const [id, key] of Object.entries({ first: "Home", back: "ArrowLeft", on: "ArrowRight", last: "End", wrong: "w", closer: "+", further: "-", help: "?" })) {
      byId(id).addEventListener("click", (click) => this.actions[key](click));
    }
    byId("at").addEventListener("change", ({ target }) => this.toNumber(target.value, this.selected));
    byId("find").addEventListener("keydown", (key) => this._find(key));
    window.addEventListener("hashchange", () => this.toAddress(this.selected));
  }

  select(index, { notice = "", writesAddress = true } = {}) {
    byId("notice").textContent = notice;
    if (this.last < 0) return;
    this.selected = Math.max(0, Math.min(this.last, index));
    const { sequence } = this.events[this.selected];
    byId("at").value = sequence;
    this.page.show(this.selected);
    byId("said").textContent = this.page.sentence(this.selected);
    // A button that is really disabled would lose the focus.
    for (const id of ["first", "back"]) byId(id).setAttribute("aria-disabled", this.selected === 0);
    for (const id of ["on", "last"]) byId(id).setAttribute("aria-disabled", this.selected === this.last);
    // Browsers refuse too many changes of the address.
    clearTimeout(this.atRest);
    if (writesAddress) this.atRest = setTimeout(() => history.replaceState(null, "", `#${sequence}`), AT_REST_MS);
  }

  // The event that somebody names by its number; `otherwise` is the index of the one to show if there is none.
  toNumber(text, otherwise, options = {}) {
    const number = text.trim(), index = this.events.findIndex(({ sequence }) => String(sequence) === number);
    const notice = `no event ${number || "without a number"}; the last is ${this.events[this.last]?.sequence}`;
    this.select(index < 0 ? otherwise : index, { ...options, notice: index < 0 ? notice : "" });
  }

  toAddress(otherwise) {
    const asked = location.hash.slice(1);
    if (asked) this.toNumber(asked, otherwise, { writesAddress: false });
    else this.select(otherwise, { writesAddress: false });
  }

  seek(fits, step) {
    let index = this.selected + step;
    while (index >= 0 && index <= this.last && !fits(index)) index += step;
    return index >= 0 && index <= this.last ? index : this.selected;
  }

  _actions() {
    const by = (step) => () => this.select(this.selected + step);
    const arrow = (step) => ({ shiftKey }) => this.select(shiftKey ? this.page.sameLane(step) : this.selected + step);
    const { timeline, history: { wrong } } = this.page;
    return {
      ArrowRight: arrow(1), ArrowLeft: arrow(-1), l: by(1), h: by(-1), PageDown: by(PAGE), PageUp: by(-PAGE),
      Home: () => this.select(0), End: () => this.select(this.last),
      w: () => { if (wrong !== null) this.select(wrong); },
      "/": () => byId("find").focus(),
      "+": () => timeline.zoomBy(1.25), "=": () => timeline.zoomBy(1.25), "-": () => timeline.zoomBy(0.8),
      "?": () => this._legend(),
      ...this.page.keys(this),
    };
  }

  _pressed(key) {
    const { target } = key;
    if (this.last < 0 || key.ctrlKey || key.metaKey || key.altKey || target instanceof HTMLInputElement || !Object.hasOwn(this.actions, key.key)) return;
    // Panels scroll by their own keys.
    if (["PageDown", "PageUp", "Home", "End"].includes(key.key) && target.closest?.("#panels section")) return;
    key.preventDefault();
    this.actions[key.key](key);
  }

  _find(key) {
    if (key.key === "Escape") byId("timeline").focus();
    const words = byId("find").value.trim().toLowerCase();
    if (key.key !== "Enter" || !words) return;
    const { index, notice } = this.finder.next(words, this.selected, key.shiftKey ? -1 : 1);
    this.select(index, { notice });
  }

  _legend() {
    const legend = byId("legend");
    legend.hidden = !legend.hidden;
    byId("help").setAttribute("aria-expanded", String(!legend.hidden));
  }
}

class EventFinder extends Finder {
  constructor(page) {
    super(page.history);
    this.everything = page.everything;
  }

  _text(index) { return (this.texts[index] ??= this.everything(index).toLowerCase()); }
}

const byId = (id) => document.getElementById(id);
