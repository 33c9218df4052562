// The picture of a model. The data come from Python as JSON; all text goes into the page as text, never as markup.

const DATA = JSON.parse(document.getElementById("data").textContent);
const { items, values, shapes, findings } = DATA;
const LINE = 16, PAD = 9, TITLE = 22, WIDEST = 40, ROWS = 6;
const ZOOMS = [0.15, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8, 1, 1.25, 1.5, 2];

const open = new Set(DATA.open);
const members = items.map(() => []);
items.forEach((item, n) => item.p >= 0 && members[item.p].push(n));

const view = document.querySelector(".view");
const details = document.querySelector(".details");
const status = document.querySelector(".status");
let zoom = 1, chosen = null, boxes = new Map(), edges = [], root = null, extent = { width: 1, height: 1 };

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function cut(text, most) {
  const characters = Array.from(text);
  if (characters.length <= most) return text;
  const tail = Math.floor(most / 2) - 1;
  return `${characters.slice(0, most - tail - 1).join("")}…${characters.slice(-tail).join("")}`;
}

/** A text in rows of at most WIDEST characters, broken after a blank or a slash, or else after another separator. */
function inRows(text) {
  const found = [];
  let rest = Array.from(cut(text, ROWS * WIDEST));
  while (rest.length > WIDEST) {
    const after = (marks) => rest.findLastIndex((sign, k) => k < WIDEST && marks.includes(sign)) + 1;
    const end = [after(" /"), after("._:,-"), WIDEST].find((place) => place > WIDEST / 3);
    found.push(rest.slice(0, end).join("").trim());
    rest = rest.slice(end);
  }
  return [...found, rest.join("").trim()];
}

const ruler = document.createElement("canvas").getContext("2d");
function width(text) {
  ruler.font = getComputedStyle(view).getPropertyValue("--font");
  return ruler.measureText(text).width;
}

// What is shown.

function around(n) {
  const found = [];
  for (let at = items[n].p; at >= 0; at = items[at].p) found.push(at);
  return found;
}

/** The item that stands for another one: itself, or the outermost folded block around it. */
function shownFor(n) {
  let found = n;
  for (const block of around(n)) if (!open.has(block)) found = block;
  return found;
}

function shape(value) {
  return shapes[values[value][1]];
}

/** One edge for each pair of shown items, with the values that go from the one to the other. */
function shownEdges() {
  const found = new Map();
  items.forEach((item, n) => {
    if (!item.i) return;
    const to = shownFor(n);
    for (const value of item.i) {
      if (values[value][3] < 0) continue;
      const from = shownFor(values[value][3]);
      if (from === to) continue;
      const key = `${from} ${to}`;
      if (!found.has(key)) found.set(key, { from, to, values: new Set() });
      found.get(key).values.add(value);
    }
  });
  return [...found.values()];
}

function label(edge) {
  const texts = [...new Set([...edge.values].map(shape))];
  const count = edge.values.size;
  if (texts.length > 1) return `${count} values`;
  return `${count > 1 ? `${count} × ` : ""}${texts[0] || "unknown shape"}`;
}

function plural(count, word) {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

/** The marks of an item, in words. */
function marks(n) {
  const { f, u, c } = items[n];
  const found = [];
  if (f) found.push(["fault", `requires ${f.map((k) => `[${k + 1}]`).join(" ")}`]);
  if (u) found.push(["open", "not checked"]);
  if (c?.f) found.push(["fault", `${plural(c.f, "blamed node")} inside`]);
  if (c?.u) found.push(["open", `${c.u} not checked inside`]);
  return found;
}

function lines(n) {
  const { k, n: name, o, s } = items[n];
  if (k === "block") return [["name", `▸ ${name}`], ["kind", s], ...marks(n)];
  if (k !== "node") return [["name", name], ["kind", k], ...marks(n)];
  return [["name", o], ...(name === o ? [] : [["kind", name]]), ...marks(n)];
}

// The layout.

function layOut() {
  const graph = new dagre.graphlib.Graph({ compound: true, multigraph: false });
  graph.setGraph({ rankdir: "TB", nodesep: 28, edgesep: 16, ranksep: 26, marginx: 16, marginy: 16 });
  graph.setDefaultEdgeLabel(() => ({}));
  const shown = items.map((_, n) => n).filter((n) => shownFor(n) === n);
  for (const n of shown) {
    if (items[n].k === "block" && open.has(n)) {
      graph.setNode(String(n), {});
    } else {
      const said = lines(n);
      const texts = said.flatMap(([kind, text]) => inRows(text).map((row) => [kind, row]));
      const wide = Math.max(60, ...texts.map(([, text]) => width(text))) + 2 * PAD;
      graph.setNode(String(n), { width: wide, height: texts.length * LINE + 2 * PAD - 4, texts, said });
    }
    if (items[n].p >= 0) graph.setParent(String(n), String(items[n].p));
  }
  edges = shownEdges();
  for (const edge of edges) {
    edge.rows = inRows(label(edge));
    const size = { width: Math.max(...edge.rows.map(width)) + 8, height: edge.rows.length * LINE, labelpos: "c" };
    graph.setEdge(String(edge.from), String(edge.to), size);
  }
  dagre.layout(graph);
  boxes = new Map(shown.map((n) => [n, { ...graph.node(String(n)), isOpen: open.has(n) }]));
  for (const edge of edges) Object.assign(edge, { place: graph.edge(String(edge.from), String(edge.to)) });
  // An open block has its title above its members.
  for (const box of boxes.values()) {
    if (!box.isOpen) continue;
    box.y -= TITLE / 2;
    box.height += TITLE;
  }
  for (const { place } of edges) place.y = clearOfTitles(place);
  const { width: wide = 1, height: high = 1 } = graph.graph();
  extent = { width: wide, height: high + TITLE };
}

/** Where the text of an edge goes: above the title of a block that it would cover. */
function clearOfTitles({ x, y, width, height }) {
  let found = y;
  const byDepth = [...boxes.values()].filter(({ isOpen }) => isOpen).sort((a, b) => b.y - b.height / 2 - a.y + a.height / 2);
  for (const box of byDepth) {
    const top = box.y - box.height / 2;
    const isBeside = Math.abs(x - box.x) > (width + box.width) / 2;
    if (!isBeside && found > top - height / 2 && found < top + TITLE + height / 2) found = top - height / 2 - 1;
  }
  return found;
}

// The drawing.

function draw() {
  layOut();
  const drawn = svg("g", { transform: `translate(0 ${TITLE})` });
  const byDepth = [...boxes].sort(([a], [b]) => around(a).length - around(b).length);
  for (const [n, box] of byDepth) if (box.isOpen) drawn.append(frame(n, box));
  for (const edge of edges) drawn.append(arrow(edge));
  for (const [n, box] of boxes) if (!box.isOpen) drawn.append(card(n, box));
  for (const [n, box] of byDepth) if (box.isOpen) drawn.append(header(n, box));
  for (const edge of edges) drawn.append(shapeText(edge));
  const tip = svg("marker", { id: "tip", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto", markerUnits: "userSpaceOnUse" });
  tip.append(svg("path", { d: "M0 0L8 4L0 8z" }));
  root = svg("svg", { role: "group", "aria-label": "the graph of the model", "aria-roledescription": "graph" });
  root.append(svg("defs", {}, tip), drawn);
  view.replaceChildren(root);
  scale();
  const first = chosen !== null && boxes.has(shownFor(chosen)) ? shownFor(chosen) : [...boxes.keys()][0];
  for (const other of root.querySelectorAll("[data-item]")) other.setAttribute("tabindex", -1);
  find(first)?.setAttribute("tabindex", 0);
  showChosen();
}

function scale() {
  root.setAttribute("viewBox", `0 0 ${extent.width} ${extent.height}`);
  root.setAttribute("width", extent.width * zoom);
  root.setAttribute("height", extent.height * zoom);
}

function frame(n, box) {
  return svg("rect", { class: "frame", x: box.x - box.width / 2, y: box.y - box.height / 2, width: box.width, height: box.height, rx: 6 });
}

function button(n, attributes, ...children) {
  const made = svg("g", { "data-item": n, role: "button", ...attributes }, ...children);
  made.addEventListener("click", () => act(n));
  made.addEventListener("keydown", (event) => key(event, n));
  made.addEventListener("focus", () => reveal(n, false));
  return made;
}

function card(n, box) {
  const { k, n: name, f, u } = items[n];
  const texts = box.texts.map(([kind, text], row) =>
    svg("text", { class: kind, x: box.x, y: box.y - box.height / 2 + PAD + 9 + row * LINE }, text),
  );
  const rest = { x: box.x - box.width / 2, y: box.y - box.height / 2, width: box.width, height: box.height };
  const back = k === "block" ? [svg("rect", { class: "shadow", ...rest, y: rest.y + 4, x: rest.x + 4, rx: 4 })] : [];
  const shape = svg("rect", { class: "body", ...rest, rx: k === "node" || k === "block" ? 4 : box.height / 2 });
  const said = box.said.map(([, text]) => text.replace("▸ ", "")).join(", ");
  const named = k === "node" ? `${said}; ${name}; ${outputs(n)}` : said;
  const state = k === "block" ? { "aria-expanded": "false" } : {};
  const kind = `item ${k}${f ? " blamed" : ""}${u ? " unchecked" : ""}${items[n].c?.f ? " blamed" : ""}`;
  return button(n, { class: kind, "aria-label": named, ...state }, ...back, shape, ...texts, svg("title", {}, `${name}\n${outputs(n)}`));
}

function outputs(n) {
  const made = items[n].r ?? [];
  return made.length ? `output ${made.map((value) => shape(value) || "of unknown shape").join(" and ")}` : items[n].s ?? "";
}

function header(n, box) {
  const left = box.x - box.width / 2, top = box.y - box.height / 2;
  const text = `▾ ${cut(items[n].n, Math.max(6, Math.floor(box.width / 8) - 3))}`;
  const ground = svg("rect", { class: "body", x: left, y: top, width: box.width, height: TITLE, rx: 6 });
  const said = svg("text", { class: "name", x: left + 8, y: top + 15 }, text);
  const attributes = { class: "item header", "aria-expanded": "true", "aria-label": `${items[n].n}, ${items[n].s}` };
  return button(n, attributes, ground, said, svg("title", {}, `${items[n].n}\n${items[n].s}`));
}

function arrow(edge) {
  const [first, ...rest] = edge.place.points;
  let path = `M${first.x} ${first.y}`;
  rest.forEach((point, k) => {
    const next = rest[k + 1];
    if (!next) path += `L${point.x} ${point.y}`;
    else path += `Q${point.x} ${point.y} ${(point.x + next.x) / 2} ${(point.y + next.y) / 2}`;
  });
  edge.line = svg("path", { class: "edge", d: path, "marker-end": "url(#tip)" });
  return edge.line;
}

function shapeText({ place, rows, values: passed }) {
  const first = place.y + 4 - ((rows.length - 1) * LINE) / 2;
  const said = svg("text", { class: "shape" }, ...rows.map((row, k) => svg("tspan", { x: place.x, y: first + k * LINE }, row)));
  const names = [...passed].slice(0, 12).map((value) => `${values[value][0]} ${shape(value)}`);
  said.append(svg("title", {}, names.join("\n")));
  const ground = svg("rect", { class: "ground", x: place.x - place.width / 2, y: place.y - place.height / 2, width: place.width, height: place.height });
  return svg("g", { "aria-hidden": "true" }, ground, said);
}

function find(n) {
  return root.querySelector(`[data-item="${n}"]`);
}

// What people do.

function act(n) {
  choose(n);
  if (items[n].k === "block") fold(n);
}

function fold(n) {
  const before = boxes.get(n);
  const [x, y] = [before.x * zoom - view.scrollLeft, (before.y - before.height / 2) * zoom - view.scrollTop];
  if (open.has(n)) open.delete(n);
  else open.add(n);
  const focused = document.activeElement?.dataset?.item === String(n);
  draw();
  const box = boxes.get(n);
  view.scrollTo(box.x * zoom - x, (box.y - box.height / 2) * zoom - y);
  if (focused) find(n).focus({ preventScroll: true });
  tell(`${items[n].n} is ${open.has(n) ? "unfolded" : "folded"}: ${plural(boxes.size, "item")} shown`);
}

function tell(text) {
  status.textContent = text;
}

function choose(n) {
  chosen = n;
  for (const other of root.querySelectorAll('[tabindex="0"]')) other.setAttribute("tabindex", -1);
  find(n)?.setAttribute("tabindex", 0);
  showChosen();
}

function showChosen() {
  if (chosen === null) return;
  const shown = shownFor(chosen);
  for (const other of root.querySelectorAll(".chosen")) other.classList.remove("chosen");
  find(shown)?.classList.add("chosen");
  for (const { line, from, to } of edges) line.classList.toggle("touched", from === shown || to === shown);
  details.replaceChildren(...describe(chosen));
}

/** Show an item: unfold the blocks around it, scroll to it and choose it. */
function go(n) {
  const closed = around(n).filter((block) => !open.has(block));
  for (const block of closed) open.add(block);
  chosen = n;
  if (closed.length) draw();
  choose(n);
  reveal(n, true);
  find(n).focus({ preventScroll: true });
}

function reveal(n, isCentred) {
  const box = boxes.get(n);
  const [x, y] = [box.x * zoom, (box.y + TITLE) * zoom];
  const [wide, high] = [view.clientWidth, view.clientHeight];
  const half = Math.min(box.height * zoom, high) / 2;
  const isIn = x > view.scrollLeft && x < view.scrollLeft + wide && y - half > view.scrollTop && y + half < view.scrollTop + high;
  if (isCentred || !isIn) view.scrollTo(x - wide / 2, box.isOpen ? y - half - 20 : y - high / 2);
}

const DIRECTIONS = { ArrowDown: [0, 1], ArrowUp: [0, -1], ArrowRight: [1, 0], ArrowLeft: [-1, 0] };

function key(event, n) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Enter" || event.key === " ") act(n);
  else if (event.key === "Escape" && items[n].p >= 0) leave(items[n].p);
  else if (event.key in DIRECTIONS) step(n, DIRECTIONS[event.key]);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

/** Fold the block around an item. */
function leave(block) {
  choose(block);
  find(block).focus({ preventScroll: true });
  fold(block);
}

/** Move to the nearest item in a direction: along an edge if one leads there. */
function step(n, [right, down]) {
  const centre = (box) => [box.x, box.isOpen ? box.y - box.height / 2 + TITLE / 2 : box.y];
  const [x, y] = centre(boxes.get(n));
  const linked = new Set(edges.flatMap(({ from, to }) => (from === n ? [to] : to === n ? [from] : [])));
  let best = null;
  for (const [other, box] of boxes) {
    const [dx, dy] = [centre(box)[0] - x, centre(box)[1] - y];
    const along = dx * right + dy * down;
    const aside = Math.abs(dx * down) + Math.abs(dy * right);
    if (other === n || along <= 4) continue;
    const far = along + 2 * aside - (down && linked.has(other) ? 1e6 : 0);
    if (!best || far < best.far) best = { other, far };
  }
  if (!best) return;
  choose(best.other);
  find(best.other).focus({ preventScroll: true });
}

// The words next to the picture.

function describe(n) {
  const item = items[n];
  const rows = [];
  const add = (head, texts, style) => {
    if (texts.length) rows.push(element("dt", {}, head), ...texts.map((text) => element("dd", style, text)));
  };
  const row = (head, ...texts) => add(head, texts, {});
  const prose = (head, ...texts) => add(head, texts.filter(Boolean), { class: "prose" });
  const told = (value) => [values[value][0], shape(value) || "unknown shape", values[value][2]].filter(Boolean).join("  ");
  row(item.k === "node" ? "operator" : "kind", ...(item.o ? [item.o] : [item.k]));
  prose("content", item.s);
  row("inside", ...around(n).reverse().map((block) => items[block].n));
  row("inputs", ...(item.i ?? []).map(told));
  row("outputs", ...(item.k === "output" ? [] : item.r ?? []).map(told));
  if (item.w) row("from", item.w);
  prose("not checked", item.u);
  for (const k of item.f ?? []) {
    const { words, reason, fails, fix } = findings[k];
    prose(`requires [${k + 1}]`, words, reason, fails && `fails at ${fails}`, fix && `fix: ${fix}`);
  }
  return [element("h2", {}, item.n), element("dl", {}, ...rows)];
}

function listFindings() {
  const list = document.querySelector(".findings");
  list.previousElementSibling.hidden = !findings.length;
  findings.forEach(({ words, node, op, items: places }, k) => {
    const name = [node, op && `(${op})`].filter(Boolean).join(" ");
    const said = [element("span", {}, `[${k + 1}] ${words}`), element("span", { class: "at" }, name)];
    const row = places.length
      ? element("button", { type: "button" }, ...said)
      : element("div", {}, ...said, element("span", { class: "at" }, "inside a function, which is not drawn"));
    if (places.length) row.addEventListener("click", () => go(places[0]));
    list.append(element("li", {}, row));
  });
}

// Zoom and search.

function zoomTo(next, x = view.clientWidth / 2, y = view.clientHeight / 2) {
  const at = [(view.scrollLeft + x) / zoom, (view.scrollTop + y) / zoom];
  zoom = next;
  scale();
  view.scrollTo(at[0] * zoom - x, at[1] * zoom - y);
}

function zoomBy(steps) {
  const place = ZOOMS.findIndex((value) => value >= zoom - 1e-6);
  const next = place < 0 ? ZOOMS.length - 1 : place + (steps < 0 || ZOOMS[place] <= zoom + 1e-6 ? steps : 0);
  zoomTo(ZOOMS[Math.max(0, Math.min(ZOOMS.length - 1, next))]);
}

let lastSearch = "", lastHit = -1;

function search(text) {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return;
  const hits = items.flatMap(({ n, o = "" }, place) => (n.toLowerCase().includes(wanted) || o.toLowerCase() === wanted ? [place] : []));
  if (!hits.length) return tell(`nothing is named ${text.trim()}`);
  lastHit = wanted === lastSearch ? (lastHit + 1) % hits.length : 0;
  lastSearch = wanted;
  const field = document.activeElement;
  go(hits[lastHit]);
  field.focus({ preventScroll: true });
  tell(`${lastHit + 1} of ${hits.length}: ${items[hits[lastHit]].n}`);
}

function pan() {
  let start = null;
  view.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "mouse" || event.button !== 0 || event.target.closest("[data-item]")) return;
    start = [event.clientX + view.scrollLeft, event.clientY + view.scrollTop];
    view.setPointerCapture(event.pointerId);
  });
  view.addEventListener("pointermove", (event) => start && view.scrollTo(start[0] - event.clientX, start[1] - event.clientY));
  for (const end of ["pointerup", "pointercancel"]) view.addEventListener(end, () => (start = null));
  view.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      const { left, top } = view.getBoundingClientRect();
      const next = Math.max(ZOOMS[0], Math.min(ZOOMS.at(-1), zoom * Math.exp(-event.deltaY / 300)));
      zoomTo(next, event.clientX - left, event.clientY - top);
    },
    { passive: false },
  );
}

/** Inside a notebook, follow its colours: its theme may differ from the system's. */
function followPage() {
  try {
    const outside = window.frameElement?.parentElement;
    if (!outside) return;
    const [r, g, b] = getComputedStyle(outside).color.match(/[\d.]+/g).map(Number);
    document.documentElement.dataset.theme = 0.3 * r + 0.6 * g + 0.1 * b > 140 ? "dark" : "light";
  } catch {
    // The page around is another site's: the system's colours are used.
  }
}

followPage();
const on = (name, listener) => document.querySelector(`[data-does="${name}"]`).addEventListener("click", listener);
on("in", () => zoomBy(1));
on("out", () => zoomBy(-1));
on("fit", () => zoomTo(Math.max(ZOOMS[0], Math.min(1, (view.clientWidth - 4) / extent.width))));
on("fold", () => {
  open.clear();
  draw();
  view.scrollTo(0, 0);
  tell(`all blocks are folded: ${plural(boxes.size, "item")} shown`);
});
document.querySelector(".search").addEventListener("submit", (event) => {
  event.preventDefault();
  search(event.target.querySelector("input").value);
});
listFindings();
document.querySelector(".verdict").textContent = DATA.verdict;
document.querySelector(".condition").textContent = DATA.condition;
document.querySelector(".legend").append(...DATA.legend.map((text) => element("li", {}, text)));
pan();
draw();
const start = findings.flatMap(({ items: places }) => places).find((n) => boxes.has(n));
zoomTo(Math.max(0.8, Math.min(1, (view.clientWidth - 4) / extent.width)));
if (start !== undefined) {
  choose(start);
  reveal(start, true);
} else {
  view.scrollTo((extent.width * zoom - view.clientWidth) / 2, 0);
}
document.documentElement.dataset.ready = "";
