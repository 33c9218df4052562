// The playground's page: its fields, the link that holds them, and the worker that answers.

const root = document.getElementById("playground");
const field = (name) => root.querySelector(`[name="${name}"]`);
const output = root.querySelector(".answer");
const status = root.querySelector(".status");
const plot = root.querySelector(".plot");
const EXAMPLES = {
  broadcast: { kind: "broadcast", shapes: "N, 3\nM, 1", rule: "numpy", attributes: "", assume: "" },
  compare: { kind: "compare", shapes: "N, 3\nM, 1", rules: ["numpy", "pdpd"], assume: "" },
  program: {
    kind: "program",
    program:
      'scores = env.matmul("batch, T, d", "batch, d, S", origin="scores")\nenv.broadcast(scores, "batch, 1, M", origin="mask")',
    assume: "S >= 2",
  },
};

// The state is in the address after #, as JSON in base64: a link that nobody else needs to keep.
const encode = (state) =>
  btoa(String.fromCharCode(...new TextEncoder().encode(JSON.stringify(state)))).replace(/\+/g, "-").replace(/\//g, "_");
function decode(text) {
  try {
    const bytes = Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
    const state = JSON.parse(new TextDecoder().decode(bytes));
    return state.kind in EXAMPLES ? { ...EXAMPLES[state.kind], ...state } : null;
  } catch {
    return null;
  }
}

let rules = ["numpy"];
let axes = [];
let worker;
let asked = 0;
let isBusy = false;
let waiting = null;
const began = performance.now();

function kind() {
  return root.querySelector('[name="kind"]:checked').value;
}

function state() {
  const chosen = kind();
  const own = { kind: chosen, assume: field("assume").value, axes };
  if (chosen === "program") return { ...own, program: field("program").value };
  own.shapes = field("shapes").value;
  if (chosen === "compare") {
    const boxes = root.querySelectorAll('[name="compared"]:checked');
    return { ...own, rules: [...boxes].map((box) => box.value) };
  }
  return { ...own, rule: field("rule").value, attributes: field("attributes").value };
}

function show(given) {
  root.querySelector(`[name="kind"][value="${given.kind}"]`).checked = true;
  field("shapes").value = given.shapes ?? EXAMPLES.broadcast.shapes;
  field("assume").value = given.assume ?? "";
  field("program").value = given.program ?? EXAMPLES.program.program;
  field("attributes").value = given.attributes ?? "";
  const listed = rules.includes(given.rule ?? "numpy") ? rules : [...rules, given.rule];
  field("rule").replaceChildren(...listed.map((name) => new Option(name, name, false, name === (given.rule ?? "numpy"))));
  root.querySelector(".compared").replaceChildren(
    ...rules.map((name) => {
      const label = document.createElement("label");
      const box = Object.assign(document.createElement("input"), { type: "checkbox", name: "compared", value: name });
      box.checked = (given.rules ?? EXAMPLES.compare.rules).includes(name);
      label.append(box, ` ${name}`);
      return label;
    }),
  );
  axes = given.axes ?? [];
  arrange();
}

function arrange() {
  for (const part of root.querySelectorAll("[data-kinds]")) part.hidden = !part.dataset.kinds.split(" ").includes(kind());
}

function ask() {
  arrange();
  const question = state();
  history.replaceState(null, "", `#${encode(question)}`);
  if (isBusy) {
    waiting = question;
    return;
  }
  isBusy = true;
  asked += 1;
  status.textContent = rules.length > 1 ? "computing ..." : status.textContent;
  worker.postMessage({ number: asked, question });
}

function told({ data }) {
  if (data.kind === "broken") {
    status.textContent = `The playground could not be loaded: ${data.error}`;
  } else if (data.kind === "ready") {
    const given = state();
    rules = data.rules;
    show({ ...given, rule: wanted.rule ?? "numpy", rules: wanted.rules });
  } else {
    isBusy = false;
    present(data.said);
    if (waiting !== null) {
      waiting = null;
      ask();
    }
  }
}

function present(said) {
  const first = root.dataset.first === undefined ? `, first answer after ${((performance.now() - began) / 1000).toFixed(1)} s` : "";
  root.dataset.first ??= String(performance.now() - began);
  status.textContent = `answered in ${(said.seconds * 1000).toFixed(0)} ms${first}`;
  if (said.error !== undefined) {
    output.replaceChildren(Object.assign(document.createElement("pre"), { className: "wrong", textContent: said.error }));
  } else {
    output.innerHTML = said.html;
  }
  plot.innerHTML = said.plot ?? "";
  const choices = root.querySelector(".axes");
  choices.hidden = (said.names ?? []).length < 3;
  if (!choices.hidden) {
    [...choices.querySelectorAll("select")].forEach((select, n) => {
      select.replaceChildren(...said.names.map((name) => new Option(name, name, false, name === said.axes[n])));
    });
  }
  root.dataset.answered = String(Number(root.dataset.answered ?? 0) + 1);
}

let timer;
function soon() {
  clearTimeout(timer);
  timer = setTimeout(ask, 300);
}

function restart() {
  worker?.terminate();
  isBusy = false;
  waiting = null;
  worker = new Worker(new URL("worker.mjs", import.meta.url), { type: "module" });
  worker.onmessage = told;
  worker.onerror = (event) => told({ data: { kind: "broken", error: event.message ?? "its files are missing" } });
}

const wanted = decode(location.hash.slice(1)) ?? EXAMPLES.broadcast;
show(wanted);
status.textContent = "loading Python and symbcast ...";
restart();
ask();
root.addEventListener("input", (event) => {
  if (event.target.closest(".axes")) axes = [...root.querySelectorAll(".axes select")].map((select) => select.value);
  else axes = [];
  soon();
});
root.querySelector(".stop").addEventListener("click", () => {
  restart();
  status.textContent = "stopped; change a field to ask again";
});
root.querySelector(".link").addEventListener("click", async () => {
  await navigator.clipboard.writeText(location.href);
  status.textContent = "the link is copied";
});
window.addEventListener("hashchange", () => {
  const given = decode(location.hash.slice(1));
  if (given) {
    show(given);
    ask();
  }
});
