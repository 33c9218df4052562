// Runs symbcast under Pyodide, off the page's thread, so that the page stays usable while it computes.
import { loadPyodide } from "./pyodide/pyodide.mjs";

const here = (name) => new URL(name, import.meta.url).href;

async function bytes(name) {
  const response = await fetch(here(name));
  if (!response.ok) throw new Error(`${name}: ${response.status}`);
  return response.arrayBuffer();
}

let python;

async function unpack(wheels) {
  for (const wheel of wheels) python.unpackArchive(await bytes(`wheels/${wheel}`), "wheel");
}

async function start() {
  const wheels = await (await fetch(here("wheels.json"))).json();
  const [own, others] = [wheels.first, wheels.later];
  python = await loadPyodide({ indexURL: here("pyodide/") });
  await unpack(own);
  python.FS.writeFile("answers.py", new Uint8Array(await bytes("answers.py")));
  const answers = python.pyimport("answers");
  postMessage({ kind: "ready", rules: JSON.parse(answers.rules()) });
  return { answers, others };
}

const started = start().catch((error) => {
  postMessage({ kind: "broken", error: String(error) });
  throw error;
});

let isComplete = false;

onmessage = async ({ data }) => {
  const { answers, others } = await started;
  let said = JSON.parse(answers.answer(JSON.stringify(data.question)));
  if (!isComplete && /No module named '(sympy|mpmath)'/.test(said.error ?? "")) {
    await unpack(others); // 7 MB that most questions do not need
    isComplete = true;
    said = JSON.parse(answers.answer(JSON.stringify(data.question)));
  }
  postMessage({ kind: "answer", number: data.number, said });
};
