// The page of an explorer. The model's traits say what it holds and what it shows; all that is worked out, and every
// piece of HTML that is set here, comes from Python, where names are escaped. Text goes in as text.

let views = 0;

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

class View {
  constructor(model, el) {
    this.model = model;
    this.id = `symbcast-explorer-${++views}`;
    this.build(el);
    this.listeners = {
      "change:shapes": () => this.showShapes(),
      "change:rule": () => this.showRule(),
      "change:attributes": () => this.showRule(),
      "change:assume": () => this.showText(this.assume, "assume"),
      "change:min_size": () => this.showText(this.minSize, "min_size"),
      "change:compare_with": () => this.showText(this.compareWith, "compare_with"),
      "change:up_to": () => this.showUpTo(),
      "change:checked": () => this.showChecked(),
      "change:answer": () => this.showAnswer(),
    };
    for (const [event, listener] of Object.entries(this.listeners)) model.on(event, listener);
    this.history = new History(model, () => this.showHistory());
    this.receive = (content, buffers) => this.showImage(content, buffers);
    model.on("msg:custom", this.receive);
    this.showHistory();
    this.showShapes();
    this.showRule();
    this.showText(this.assume, "assume");
    this.showText(this.minSize, "min_size");
    this.showText(this.compareWith, "compare_with");
    this.showChecked();
    this.showAnswer();
  }

  leave() {
    for (const [event, listener] of Object.entries(this.listeners)) this.model.off(event, listener);
    this.model.off("msg:custom", this.receive);
    this.history.leave();
    this.resized.disconnect();
  }

  set(name, value) {
    this.model.set(name, value);
    this.model.save_changes();
  }

  // The parts of the page.

  build(el) {
    const set = (name) => (event) => this.set(name, event.target.value);
    const whole = (name, attributes) => this.number(attributes, () => this.model.get(name), (value) => this.set(name, value));
    this.shapes = element("div", { class: "shapes" });
    this.add = element("button", { type: "button", class: "add", onclick: () => this.addShape() }, "+ shape");
    this.rule = element("select", { id: `${this.id}-rule`, onchange: (event) => this.chooseRule(event.target.value) });
    for (const rule of this.model.get("rules")) this.rule.append(element("option", { value: rule.name }, rule.name));
    this.summary = element("span", { class: "hint" });
    this.attributes = element("div", { class: "attributes" });
    this.assume = this.input("assume", "such as N >= 2 and M % 8 == 0", set("assume"));
    this.minSize = whole("min_size", { id: `${this.id}-min`, max: 1e9 });
    this.compareWith = this.input("compare with", "another rule, such as pdpd(axis=1)", set("compare_with"));
    const offered = element("datalist", { id: `${this.id}-rules` });
    for (const rule of this.model.get("rules")) offered.append(element("option", { value: rule.name }));
    this.compareWith.setAttribute("list", offered.id);
    const { largest_map: largest, most_sizes: most } = this.model.get("page");
    this.upTo = this.number(
      { id: `${this.id}-upto`, min: 1, max: largest, title: "the largest size on the map" },
      () => this.upToHeld(),
      (value) => this.set("up_to", value),
    );
    this.upToHint = element("span", { class: "hint" }, `at most ${largest}, beyond ${most - 1} in steps`);
    this.upTo.setAttribute("aria-describedby", (this.upToHint.id = `${this.id}-upto-hint`));
    this.said = element("div", { class: "said", role: "status", "aria-live": "polite" });
    this.answer = element("div", { class: "answer" });
    this.fix = element("button", { type: "button", class: "fix", hidden: true, onclick: () => this.applyFix() }, "Apply fix");
    this.comparison = element("div", { class: "comparison" });
    this.mapControls = element("div", { class: "map-controls" });
    this.fixed = element("div", { class: "hint fixed" });
    this.map = element("div", { class: "map" });
    this.note = element("div", { class: "note", role: "status" });
    this.legend = element("ul", { class: "legend", "aria-label": "what the colours mean" });
    this.sliders = element("div", { class: "sliders" });
    this.bound = element("h4", {});
    this.working = element("div", { class: "working", "aria-live": "polite" });
    this.call = element("code", { class: "call-text" });
    this.copied = element("span", { class: "hint", role: "status" });
    const tool = (text, listener) => element("button", { type: "button", onclick: listener }, text);
    this.undo = tool("Undo", () => this.history.undo());
    this.redo = tool("Redo", () => this.history.redo());
    this.save = tool("Save image", () => this.askImage());
    this.state = this.input("state", "the text of a state", () => this.readState());
    this.root = element(
      "div",
      { class: "symbcast-explorer", role: "group", "aria-label": "broadcast explorer" },
      element(
        "div",
        { class: "question" },
        this.shapes,
        element("div", { class: "line" }, element("span", { class: "label" }), this.add),
        this.line("rule", this.rule, this.summary),
        this.attributes,
        this.line("assume", this.assume),
        this.line("min size", this.minSize, element("span", { class: "hint" }, "the least size of every symbol")),
        this.line("compare with", this.compareWith, offered),
      ),
      this.said,
      element(
        "div",
        { class: "columns" },
        element(
          "div",
          { class: "words" },
          this.answer,
          this.fix,
          element("div", { class: "binding" }, this.bound, this.working),
        ),
        element(
          "div",
          { class: "sizes" },
          this.mapControls,
          this.fixed,
          this.map,
          this.note,
          this.legend,
          this.sliders,
        ),
      ),
      this.comparison,
      element(
        "div",
        { class: "call" },
        this.call,
        element("button", { type: "button", class: "copy", onclick: () => this.copy("call") }, "Copy call"),
        element(
          "button",
          { type: "button", class: "copy-explorer", onclick: () => this.copy("explorer_call") },
          "Copy explorer",
        ),
        this.save,
        this.copied,
      ),
      element("div", { class: "tools" }, this.undo, this.redo, this.line("state", this.state)),
    );
    const { works, fault, fails } = this.model.get("page").colours;
    this.root.style.setProperty("--works", works);
    this.root.style.setProperty("--fault", fault);
    fails.forEach((colour, n) => this.root.style.setProperty(`--fails-${n}`, colour));
    // JupyterLab takes plain keys for its own commands where they are not typed into an editor: b would add a cell.
    this.root.addEventListener("keydown", (event) => {
      if (!event.ctrlKey && !event.metaKey && !event.altKey) event.stopPropagation();
    });
    this.resized = new ResizeObserver(() => {
      const map = this.checked?.map;
      if (map && this.map.style.getPropertyValue("--cell") !== `${this.cellWidth(map)}px`) {
        this.drawn = "";
        this.showMap(this.checked);
      }
    });
    this.resized.observe(this.root);
    el.append(this.root);
  }

  /** A row with a label for a control that has an id, and room for what is wrong in it. */
  line(text, control, ...rest) {
    const label = element("label", { class: "label", for: control.id }, text);
    return element("div", { class: "line" }, label, control, ...rest, this.fault(control));
  }

  /** A field of text. Its carets move with it where it is scrolled. */
  input(name, placeholder, listener) {
    const made = element("input", {
      id: `${this.id}-${name.replace(/ /g, "-")}`,
      type: "text",
      class: "text",
      placeholder,
      spellcheck: "false",
      autocomplete: "off",
      autocapitalize: "off",
      oninput: listener,
    });
    made.addEventListener("scroll", () => {
      const carets = made.parentElement.querySelector(".carets");
      if (carets) carets.style.transform = `translateX(${-made.scrollLeft}px)`;
    });
    return made;
  }

  /** A field of a whole number. What it may not hold is marked while it is typed, and then gives way to what is held. */
  number(attributes, held, listener) {
    const made = element("input", { type: "number", min: 0, max: Number.MAX_SAFE_INTEGER, required: true, ...attributes });
    made.addEventListener("input", () => made.validity.valid && listener(made.valueAsNumber));
    made.addEventListener("change", () => {
      if (!made.validity.valid) made.value = held();
    });
    return made;
  }

  fault(control) {
    const id = `${control.id}-fault`;
    control.setAttribute("aria-describedby", id);
    return element("div", { class: "fault", id, hidden: true });
  }

  // The question.

  ruleInfo() {
    return this.model.get("rules").find((rule) => rule.name === this.model.get("rule"));
  }

  inputs() {
    return [...this.shapes.querySelectorAll("input")];
  }

  typed() {
    this.set("shapes", this.inputs().map((input) => input.value));
  }

  showShapes() {
    const texts = this.model.get("shapes");
    const shown = this.inputs();
    if (shown.length === texts.length) {
      shown.forEach((input, n) => {
        if (input.value !== texts[n]) input.value = texts[n];
      });
    } else {
      this.shapes.replaceChildren(...texts.map((text, n) => this.shapeLine(text, n)));
    }
    this.nameShapes();
  }

  shapeLine(text, n) {
    const input = this.input(`shape ${n}`, "()", () => this.typed());
    input.value = text;
    const remove = element("button", { type: "button", class: "remove", onclick: () => this.removeShape(n) }, "×");
    return this.line("", input, remove);
  }

  nameShapes() {
    const { operands, variadic } = this.ruleInfo();
    const inputs = this.inputs();
    const named = inputs.length <= operands.length;
    inputs.forEach((input, n) => {
      const name = named ? operands[n] : `operand ${n}`;
      input.parentElement.querySelector("label").textContent = name;
      input.setAttribute("aria-label", `shape of ${name}`);
      const remove = input.parentElement.querySelector(".remove");
      remove.setAttribute("aria-label", `remove ${name}`);
      remove.hidden = inputs.length < 2 || (!variadic && inputs.length <= operands.length);
    });
    this.add.hidden = !variadic && inputs.length >= operands.length;
  }

  addShape() {
    this.set("shapes", [...this.model.get("shapes"), "1"]);
    this.showShapes();
    const last = this.inputs().at(-1);
    last.focus();
    last.select();
  }

  removeShape(n) {
    this.set("shapes", this.model.get("shapes").filter((_, place) => place !== n));
    this.showShapes();
    this.inputs()[Math.max(0, n - 1)].focus();
  }

  chooseRule(name) {
    this.model.set("attributes", {});
    this.set("rule", name);
    this.showRule();
  }

  showRule() {
    const rule = this.ruleInfo();
    this.rule.value = rule.name;
    this.summary.textContent = rule.summary;
    if (this.attributes.dataset.rule !== rule.name) {
      this.attributes.dataset.rule = rule.name;
      this.attributes.replaceChildren(...rule.attributes.map((attribute) => this.attributeLine(attribute)));
    }
    const given = this.model.get("attributes");
    for (const control of this.attributes.querySelectorAll("[data-name]")) {
      const value = given[control.dataset.name] ?? (control.tagName === "SELECT" ? control.dataset.default : "");
      if (control.value !== value) control.value = value;
    }
    this.nameShapes();
  }

  attributeLine({ name, default: standard, choices, hint }) {
    const listener = (event) => this.set("attributes", { ...this.model.get("attributes"), [name]: event.target.value });
    let control;
    if (choices.length) {
      control = element("select", { id: `${this.id}-attribute-${name}`, onchange: listener });
      for (const choice of choices) control.append(element("option", { value: choice }, choice));
      hint = "";
    } else {
      control = this.input(`attribute ${name}`, standard, listener);
      control.classList.add("short");
    }
    control.dataset.name = name;
    control.dataset.default = standard;
    return this.line(name, control, element("span", { class: "hint" }, hint));
  }

  showText(control, name) {
    const value = String(this.model.get(name));
    if (control.value !== value) control.value = value;
  }

  /** The largest size on the map: the one that is set, else the one that was chosen. */
  upToHeld() {
    return this.model.get("up_to") ?? this.checked?.map?.up_to ?? "";
  }

  showUpTo() {
    const value = String(this.upToHeld());
    if (this.upTo.value !== value && !this.upTo.matches(":focus:invalid")) this.upTo.value = value;
  }

  // What is wrong with it.

  controlOf(field) {
    const inputs = this.inputs();
    if (field.startsWith("shape ")) return inputs[Number(field.slice(6))];
    if (field.startsWith("attribute ")) return this.attributes.querySelector(`[data-name="${field.slice(10)}"]`);
    return { rule: this.rule, assume: this.assume, min_size: this.minSize, compare_with: this.compareWith }[field];
  }

  showFaults(faults) {
    for (const place of this.root.querySelectorAll(".fault")) {
      place.hidden = true;
      place.replaceChildren();
    }
    for (const control of this.root.querySelectorAll("[aria-invalid]")) control.removeAttribute("aria-invalid");
    for (const [field, fault] of Object.entries(faults)) {
      const control = this.controlOf(field);
      if (!control) continue;
      control.setAttribute("aria-invalid", "true");
      const place = control.parentElement.querySelector(".fault");
      place.replaceChildren(...this.faultParts(control, fault));
      place.hidden = false;
    }
  }

  faultParts(control, [message, start, stop]) {
    const said = element("span", { class: "message" }, message);
    if (control.tagName !== "INPUT" || (start === 0 && stop === 0)) return [said];
    // The text before the carets is there, unseen, so that they stand under what they are about in any script.
    const characters = Array.from(control.value);
    const before = element("span", { class: "unseen" }, characters.slice(0, start).join(""));
    const under = element("span", { class: "under" }, "^".repeat(Math.max(1, stop - start)));
    const carets = element("span", { class: "carets", "aria-hidden": "true" }, before, under);
    carets.style.transform = `translateX(${-control.scrollLeft}px)`;
    return [element("span", { class: "caret-line" }, carets), said];
  }

  // The answer.

  showChecked() {
    const checked = this.model.get("checked");
    if (!("serial" in checked)) return;
    const faults = checked.faults;
    this.showFaults(faults);
    if (Object.keys(faults).length) {
      this.root.dataset.state = "faulty";
      this.said.textContent = `This cannot be read yet${this.checked ? "; below is the last answer" : ""}.`;
    } else {
      this.checked = checked;
      this.call.textContent = checked.call;
      this.showMap(checked);
      this.showSliders(checked);
      this.bound.textContent = `Worked out at ${checked.bound}`;
      this.bound.parentElement.hidden = !checked.working;
      this.working.innerHTML = checked.working;
      this.showState();
    }
    this.root.classList.toggle("unanswered", !this.checked);
    this.root.dataset.serial = checked.serial;
  }

  showAnswer() {
    const answer = this.model.get("answer");
    if (!("serial" in answer)) return;
    this.answer.innerHTML = answer.html;
    this.comparison.innerHTML = answer.comparison;
    this.comparison.hidden = !answer.comparison;
    this.root.dataset.verdict = answer.verdict;
    this.showState();
  }

  showState() {
    const answer = this.model.get("answer");
    const checked = this.model.get("checked");
    this.fix.hidden = true;
    if (Object.keys(checked.faults ?? {}).length) return;
    const isAnswered = answer.serial === checked.serial;
    this.fix.hidden = !isAnswered || !answer.fix;
    this.fix.title = answer.fix?.text ?? "";
    this.root.dataset.state = isAnswered ? "answered" : "deciding";
    const text = isAnswered ? answer.sentence : "deciding…";
    if (this.said.textContent !== text) this.said.textContent = text;
  }

  /** Put the contents of all fields at once, so that it is one step to undo. */
  applyFix() {
    for (const [name, value] of Object.entries(this.model.get("answer").fix.fields)) this.model.set(name, value);
    this.model.save_changes();
  }

  // The map of sizes.

  showMap({ map, sizes }) {
    this.root.classList.toggle("no-map", map === null);
    if (map === null) return;
    this.showMapControls(map, sizes);
    this.showUpTo();
    const steps = map.sizes.some((along) => along.length > 1 && along[along.length - 1] - along[0] >= along.length);
    this.fixed.textContent = [steps ? map.steps : "", map.fixed ? `with ${map.fixed}` : ""].filter(Boolean).join("; ");
    this.fixed.hidden = !this.fixed.textContent;
    if (this.note.textContent !== map.note) this.note.textContent = map.note;
    this.note.hidden = !map.note;
    const [xs, ys = []] = map.sizes;
    const [i, j] = map.axes.map((name) => this.chosen(name));
    const focused = this.focused(this.map) !== null;
    const drawn = JSON.stringify(map);
    if (drawn !== this.drawn) this.drawMap(map);
    this.drawn = drawn;
    this.choose(xs.indexOf(i), map.axes.length > 1 ? ys.indexOf(j) : 0, focused);
  }

  /** The size that a symbol is set to here: an answer on its way back may still be about the one before. */
  chosen(name) {
    return this.model.get("sizes")[name] ?? Number(this.checked.sizes.find(([found]) => found === name)[2]);
  }

  /** What has the focus within a part of the page, null where nothing has. */
  focused(part) {
    const focused = part.getRootNode().activeElement;
    return part.contains(focused) ? focused : null;
  }

  /** What a symbol is called on the page: a name may be long, or hold characters that do not print. */
  label(name) {
    return this.checked.sizes.find(([found]) => found === name)[1];
  }

  /** As wide as the page has room for: no part of a usual map is outside a narrow one. */
  cellWidth({ sizes: [xs] }) {
    const room = Math.min(400, (this.root.clientWidth || 480) - 80);
    return Math.max(9, Math.min(26, Math.floor(room / xs.length)));
  }

  drawMap(map) {
    const [xs, ys = [null]] = map.sizes;
    const [x, y] = map.axes.map((name) => this.label(name));
    // Many cells are small: no numbers are in them then, and not all sizes beside them.
    const digits = Math.max(...map.sizes.flat().map((size) => String(size).length));
    const width = this.cellWidth(map);
    const every = Math.ceil((4 + 7 * digits) / width);
    this.map.style.setProperty("--cell", `${width}px`);
    this.map.style.setProperty("--tick", `${8 + 7 * Math.max(2, digits)}px`);
    this.map.classList.toggle("small", width < 20);
    this.cells = map.rows.map((row, j) => row.map((cell, i) => this.cell(map, cell, xs[i], ys[j])));
    const rows = this.cells.map((row, j) => {
      const head = ys[j] === null || j % Math.ceil(14 / width) ? "" : String(ys[j]);
      return element("div", { class: "row", role: "row" }, element("div", { class: "tick y" }, head), ...row);
    });
    const ticks = xs.map((x, i) => element("div", { class: "tick x" }, i % every ? "" : String(x)));
    const bottom = element("div", { class: "row", "aria-hidden": "true" }, element("div", { class: "tick y" }), ...ticks);
    const label = `sizes of ${y === undefined ? x : `${x} and ${y}`}`;
    const grid = element("div", { class: "grid", role: "grid", "aria-label": label });
    grid.append(...rows.reverse(), bottom);
    const below = element("div", { class: "axis-name" }, x);
    const beside = y === undefined ? [] : [element("div", { class: "axis-name y" }, y)];
    this.map.replaceChildren(...beside, element("div", {}, grid, below));
    this.showLegend(map);
  }

  cell(map, [outcome, value, shape], x, y) {
    const names = map.axes.map((name, n) => `${this.label(name)}=${[x, y][n]}`).join(", ");
    const made = element("div", { class: `cell ${outcome}`, role: "gridcell", tabindex: -1, "data-x": x, "data-y": y });
    let said;
    if (outcome === "works") {
      const order = this.order(map);
      made.style.setProperty("--level", order.size < 2 ? 0.5 : order.get(value) / (order.size - 1));
      made.textContent = value ?? "ok";
      said = `works, output ${shape}`;
    } else if (outcome === "fails") {
      made.dataset.blame = value % 6;
      made.textContent = `x${map.blames.length > 1 ? map.blames[value].mark : ""}`;
      said = map.blames[value].label;
    } else {
      made.textContent = "·";
      said = map.words.excluded;
    }
    made.setAttribute("aria-label", `${names}: ${said}`);
    made.title = `${names}: ${said}`;
    made.addEventListener("click", () => this.bind(map, x, y));
    made.addEventListener("keydown", (event) => this.walk(event, map));
    return made;
  }

  /** The sizes that the map is shaded by, each with its place among them. */
  order(map) {
    if (this.ordered?.map !== map) {
      const found = new Set();
      for (const row of map.rows) for (const [outcome, value] of row) if (outcome === "works") found.add(value);
      const places = [...found].sort((a, b) => Number(a) - Number(b)).map((value, place) => [value, place]);
      this.ordered = { map, places: new Map(places) };
    }
    return this.ordered.places;
  }

  choose(i, j, withFocus) {
    for (const cell of this.map.querySelectorAll('[aria-selected="true"]')) cell.removeAttribute("aria-selected");
    const cell = this.cells[j]?.[i];
    const reached = cell ?? this.cells[0][0];
    for (const other of this.map.querySelectorAll('[tabindex="0"]')) other.tabIndex = -1;
    reached.tabIndex = 0;
    cell?.setAttribute("aria-selected", "true");
    if (withFocus) reached.focus({ preventScroll: true });
  }

  bind(map, x, y) {
    const sizes = { ...this.model.get("sizes"), [map.axes[0]]: x };
    if (y !== null) sizes[map.axes[1]] = y;
    this.choose(map.sizes[0].indexOf(x), y === null ? 0 : map.sizes[1].indexOf(y), true);
    this.set("sizes", sizes);
  }

  walk(event, map) {
    const steps = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    const { x, y } = event.target.dataset;
    const [xs, ys = []] = map.sizes;
    const i = xs.indexOf(Number(x)) + step[0];
    const j = map.axes.length > 1 ? ys.indexOf(Number(y)) + step[1] : 0;
    if (this.cells[j]?.[i]) this.bind(map, xs[i], map.axes.length > 1 ? ys[j] : null);
  }

  showMapControls(map, sizes) {
    const names = sizes.map(([name]) => name);
    const key = JSON.stringify([names, map.axes, map.rank, map.shade]);
    if (this.mapControls.dataset.key === key) return;
    this.mapControls.dataset.key = key;
    const choice = (text, options, value, listener) => {
      const select = element("select", { id: `${this.id}-${text.replace(/ /g, "-")}`, onchange: listener });
      for (const [key, label] of options) select.append(element("option", { value: key }, label));
      select.value = value;
      return [element("label", { for: select.id }, text), select];
    };
    const axes = (place) => (event) => {
      const chosen = [...map.axes];
      const other = chosen.indexOf(event.target.value);
      if (other >= 0) chosen[other] = chosen[place];
      chosen[place] = event.target.value;
      this.set("over", chosen);
    };
    const named = sizes.map(([name, label]) => [name, label]);
    const parts = [];
    if (names.length > 1) {
      parts.push(...choice("across", named, map.axes[0], axes(0)), ...choice("up", named, map.axes[1], axes(1)));
    }
    if (map.rank > 1) {
      const ranks = Array.from({ length: map.rank }, (_, n) => [n, `output axis ${n}`]);
      parts.push(...choice("shade by", ranks, map.shade, (event) => this.set("shade", Number(event.target.value))));
    }
    parts.push(element("label", { for: this.upTo.id }, "up to"), this.upTo, this.upToHint);
    const focused = this.focused(this.mapControls)?.id;
    this.mapControls.replaceChildren(...parts);
    parts.find((part) => part.id && part.id === focused)?.focus();
  }

  showLegend(map) {
    const swatch = (kind, text, style = {}) => {
      const shown = element("span", { class: `cell ${kind}`, "aria-hidden": "true" }, style.mark ?? "");
      if (style.blame !== undefined) shown.dataset.blame = style.blame % 6;
      if (style.level !== undefined) shown.style.setProperty("--level", style.level);
      return element("li", {}, shown, ` ${text}`);
    };
    const kinds = new Set(map.rows.flat().map(([outcome]) => outcome));
    const parts = [];
    if (kinds.has("works")) {
      parts.push(swatch("works", map.words.works, { level: 0.5, mark: map.shade === null ? "ok" : "n" }));
    }
    map.blames.forEach(({ label, mark }, n) => {
      parts.push(swatch("fails", label, { blame: n, mark: `x${map.blames.length > 1 ? mark : ""}` }));
    });
    if (kinds.has("excluded")) parts.push(swatch("excluded", map.words.excluded, { mark: "·" }));
    this.legend.replaceChildren(...parts);
  }

  // The binding.

  showSliders({ sizes }) {
    const names = JSON.stringify(sizes.map(([name]) => name));
    if (this.sliders.dataset.names !== names) {
      this.sliders.dataset.names = names;
      this.sliders.replaceChildren(...sizes.map(([name, label], n) => this.slider(name, label, n)));
    }
    const most = this.upToHeld() || 0;
    sizes.forEach(([name], n) => {
      const [range, number] = this.sliders.children[n].querySelectorAll("input");
      const size = this.chosen(name);
      range.max = Math.max(most, size);
      if (range.valueAsNumber !== size) range.value = size;
      if (number.valueAsNumber !== size && !number.matches(":focus:invalid")) number.value = size;
    });
  }

  slider(name, label, n) {
    const set = (size) => this.set("sizes", { ...this.model.get("sizes"), [name]: size });
    const held = () => this.chosen(name);
    const id = `${this.id}-size-${n}`;
    const range = element("input", { id, type: "range", min: 0, oninput: (event) => set(event.target.valueAsNumber) });
    const number = this.number({ "aria-label": `size of ${label}` }, held, set);
    return element("div", { class: "line" }, element("label", { class: "label", for: id }, label), range, number);
  }

  // The way back, and the state as text.

  showHistory() {
    this.undo.disabled = !this.history.past.length;
    this.redo.disabled = !this.history.future.length;
    if (this.focused(this.state) && !readState(this.state.value)) return;
    this.state.value = this.history.now;
    this.showStateFault(false);
  }

  readState() {
    const found = readState(this.state.value);
    this.showStateFault(!found);
    if (found) this.history.put(found);
  }

  showStateFault(isFaulty) {
    const place = this.state.parentElement.querySelector(".fault");
    place.hidden = !isFaulty;
    place.replaceChildren(...(isFaulty ? [element("span", { class: "message" }, "this is not a state of an explorer")] : []));
    if (isFaulty) this.state.setAttribute("aria-invalid", "true");
    else this.state.removeAttribute("aria-invalid");
  }

  // The picture, which Python draws.

  askImage() {
    this.copied.textContent = "drawing…";
    this.wanted = true;
    this.model.send({ kind: "image" });
  }

  showImage({ kind, error, name }, buffers) {
    if (kind !== "image" || !this.wanted) return;
    this.wanted = false;
    this.copied.textContent = error || `saved as ${name}`;
    if (error) return;
    const url = URL.createObjectURL(new Blob([buffers[0]], { type: "image/png" }));
    element("a", { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  }

  // The call.

  async copy(which) {
    const text = this.checked?.[which];
    if (!text) return;
    try {
      await navigator.clipboard.writeText(text);
      this.copied.textContent = "copied";
    } catch {
      this.copied.textContent = this.copyBySelection(text) ? "copied" : "copying is not allowed here: select the text";
    }
    clearTimeout(this.forget);
    this.forget = setTimeout(() => (this.copied.textContent = ""), 3000);
  }

  /** Where a page may not write to the clipboard, the browser's own command still may. */
  copyBySelection(text) {
    const area = element("textarea", { class: "unseen", "aria-hidden": "true" });
    area.value = text;
    this.root.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

export default {
  render({ model, el }) {
    const view = new View(model, el);
    return () => view.leave();
  },
};
