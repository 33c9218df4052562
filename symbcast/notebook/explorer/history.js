// The state of an explorer as text, and the way back and forth between its states.

const STANDARD = {
  shapes: [],
  rule: "numpy",
  attributes: {},
  assume: "",
  min_size: 0,
  compare_with: "",
  sizes: {},
  over: [],
  up_to: null,
  shade: null,
};
const TOGETHER = 700;
// Changes of one field within so many milliseconds are one step, as are changes of several at once.

/** The state as text: what differs from an explorer without shapes. */
function stateOf(model) {
  const found = {};
  for (const [name, standard] of Object.entries(STANDARD)) {
    const value = model.get(name);
    if (JSON.stringify(value) !== JSON.stringify(standard)) found[name] = value;
  }
  return JSON.stringify(found);
}

/** What a text holds, null if it is not a state. */
function readState(text) {
  const alike = (value, standard) => {
    if (value === null || standard === null) return standard === null && (value === null || Number.isInteger(value));
    if (Array.isArray(standard)) return Array.isArray(value) && value.every((part) => typeof part === "string");
    return typeof value === typeof standard && !Array.isArray(value);
  };
  try {
    const found = JSON.parse(text);
    if (found === null || typeof found !== "object" || Array.isArray(found)) return null;
    return Object.entries(found).every(([name, value]) => name in STANDARD && alike(value, STANDARD[name])) ? found : null;
  } catch {
    return null;
  }
}

class History {
  /** Keeps the states of a model; `changed` is called after each change. */
  constructor(model, changed) {
    this.model = model;
    this.past = [];
    this.future = [];
    this.now = stateOf(model);
    this.listeners = Object.keys(STANDARD).map((name) => [`change:${name}`, () => this.note(name) || changed()]);
    for (const [event, listener] of this.listeners) model.on(event, listener);
  }

  leave() {
    for (const [event, listener] of this.listeners) this.model.off(event, listener);
  }

  note(name) {
    const [next, at] = [stateOf(this.model), performance.now()];
    if (next === this.now) return;
    const wait = at - (this.at ?? -Infinity);
    if (!this.isMoving) {
      if (wait > TOGETHER || (name !== this.name && !this.isAtOnce)) this.past.push(this.now);
      this.future = [];
      [this.name, this.at, this.isAtOnce] = [name, at, true];
      queueMicrotask(() => (this.isAtOnce = false));
    }
    this.now = next;
  }

  step(from, to) {
    if (!from.length) return;
    to.push(this.now);
    this.at = undefined;
    this.isMoving = true;
    this.put(readState(from.pop()));
    this.isMoving = false;
  }

  undo() {
    this.step(this.past, this.future);
  }

  redo() {
    this.step(this.future, this.past);
  }

  put(state) {
    for (const [name, standard] of Object.entries(STANDARD)) this.model.set(name, state[name] ?? standard);
    this.model.save_changes();
  }
}

