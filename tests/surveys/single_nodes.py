"""Single nodes drawn at random around nodes that run, and what a report says of them held against ONNX Runtime.

    python tests/surveys/single_nodes.py 3000 [--start 0] [--only Attention]

A node begins as one that ONNX Runtime runs: a line of `node_templates.txt`, a node test of the onnx package, or a
recorded node. Then some of its sizes become symbols, and other sizes, constants, attributes, optional inputs and the
version of the operator set change. It runs in a process of its own, which may die, at all sizes from 0 on, each with
several contents of its inputs. These outcomes are faults:

    always    it is said to run always, and fails
    refused   it runs where the guard is False, or where it is said never to run
    missed    the guard is True, nothing is left open, and it fails whatever its integers are
    wrong     it runs, with another shape than the one that is said
    error     the question raises an error that is no answer
"""

from __future__ import annotations

import argparse
import ast
import base64
import copy
import json
import sys
from collections import Counter
from functools import cache
from itertools import groupby, product
from pathlib import Path
from random import Random

import numpy as np
import onnx
from onnx import AttributeProto, defs

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))

from forks import forked
from recorded_nodes import TYPES, model, recorded

import symbcast as sb

LETTERS = {
    "f": "float", "d": "double", "i": "int64", "w": "int32", "u": "uint8", "s": "int8", "b": "bool", "h": "float16",
    "v": "uint16", "x": "int16",
}  # fmt: skip
OF_NUMPY = {np.dtype(kind): name for name, (_, kind) in TYPES.items()}
INTEGERS = ("int64", "int32", "uint8", "int8", "uint16", "int16", "bool")
FAILED, CRASHED, SCALAR, SEQUENCE = "-", "!", "s", "?"
PATIENCE = 20
"""After how many seconds a node that does not end is given up."""
LARGEST = 10_000
"""How many elements an input of a template has at most."""


# Templates.


def parsed(line):
    """Return the row of a line of `node_templates.txt`; a size that is no number is a symbol."""
    line, _, opset = line.partition(" @ ")
    line, _, count = line.partition(" -> ")
    name, *words = line.split()
    row = {"op": name.rpartition(".")[2], "opset": int(opset or 17), "attributes": {}, "inputs": []}
    if count:
        row["count"] = int(count)
    if "." in name:
        row["domain"] = name.rpartition(".")[0]
    for word in words:
        letter, mark, rest = word[0], word[1:2], word[2:]
        if word == "-":
            row["inputs"].append(None)
        elif mark == ":":
            row["inputs"].append(
                {"shape": [int(n) if n.isdigit() else n for n in rest.split("x") if n], "type": LETTERS[letter]}
            )
        elif mark == "=" and letter in LETTERS and len(word.partition("=")[0]) == 1:
            value, _, shape = rest.partition("@")
            array = np.asarray(ast.literal_eval(value))
            array = np.full([int(n) for n in shape.split("x")], array) if shape else array
            row["inputs"].append(_constant(array, LETTERS[letter]))
        else:
            key, _, value = word.partition("=")
            row["attributes"][key] = ast.literal_eval(value)
    return row


def _constant(array, kind):
    items = [item.item() for item in np.asarray(array).reshape(-1)]
    same = {"constant": True} if not any(items) else {"values": items}
    return {"shape": list(np.shape(array)), "type": kind, **same}


def of_lines():
    """Return the rows of `node_templates.txt`."""
    lines = Path(__file__).with_name("node_templates.txt").read_text().splitlines()
    return [parsed(line) for line in lines if line and not line.startswith("#")]


def of_onnx():
    """Return the node tests of the onnx package as rows: those of one node, of tensors, without graphs."""
    from onnx_backend import recorded as tests

    rows = []
    for test in tests():
        if len(test.model.graph.node) == 1:
            row = _row(
                test.model, dict(zip([i.name for i in test.model.graph.input], test.data_sets[0][0], strict=True))
            )
            if row is not None:
                rows.append(row)
    return rows


def _row(proto, arrays):
    (node,) = proto.graph.node
    version = {o.domain: o.version for o in proto.opset_import}
    row = {"op": node.op_type, "opset": version.get("", 17), "attributes": {}, "inputs": [], "count": len(node.output)}
    if node.domain:
        row["domain"], row["domain_version"] = node.domain, version[node.domain]
    if any(not name for name in node.output):
        return None
    for attribute in node.attribute:
        value = onnx.helper.get_attribute_value(attribute)
        if attribute.type == AttributeProto.TENSOR:
            value = {"tensor": base64.b64encode(value.SerializeToString()).decode()}
        elif attribute.type == AttributeProto.STRING:
            value = value.decode()
        elif attribute.type == AttributeProto.STRINGS:
            value = [v.decode() for v in value]
        elif attribute.type not in (
            AttributeProto.INT,
            AttributeProto.INTS,
            AttributeProto.FLOAT,
            AttributeProto.FLOATS,
        ):
            return None
        row["attributes"][attribute.name] = list(value) if isinstance(value, (tuple, list)) else value
    for name in node.input:
        array = arrays.get(name)
        if name and not isinstance(array, (np.ndarray, np.generic)):
            return None
        if name and np.asarray(array).dtype not in OF_NUMPY:
            return None
        row["inputs"].append(_given(np.asarray(array)) if name else None)
    return row


def _given(array):
    kind = OF_NUMPY[array.dtype]
    if (kind in INTEGERS[:2] and array.size <= 16) or not array.ndim:
        return _constant(array, kind)
    return {"shape": list(array.shape), "type": kind}


def of_records():
    """Return recorded rows at sizes at which they ran."""
    rows = []
    for row in (*recorded("contrib"), *recorded("differences")):
        ran = [
            sizes for sizes, real in zip(row.get("sizes", ()), row.get("outputs", ()), strict=True) if real is not None
        ]
        if ran and not any(i and "sizes" in i for i in row["inputs"]):
            at = dict(zip(row["symbols"], ran[-1], strict=True))
            made = {k: copy.deepcopy(v) for k, v in row.items() if k not in ("symbols", "sizes", "outputs")}
            for given in filter(None, made["inputs"]):
                given["shape"] = [at.get(d, d) for d in given["shape"]]
            rows.append(made)
    return rows


@cache
def templates():
    """Return all templates, by operator."""
    found = {}
    for row in (*of_lines(), *of_onnx(), *of_records()):
        shapes = [i["shape"] for i in row["inputs"] if i]
        if all(np.prod(shape, dtype=float) < LARGEST for shape in shapes):
            found.setdefault((row.get("domain", ""), row["op"]), []).append(row)
    return found


@cache
def _choices(key):
    """Return the values that attributes of an operator have in its templates."""
    found = {}
    for row in templates()[key]:
        for name, value in row["attributes"].items():
            if value not in found.setdefault(name, []):
                found[name].append(value)
    return found


# Drawing.


def drawn(random, only=None):
    """Return a random row with its symbols, and the sizes to run it at."""
    keys = [k for k in sorted(templates()) if only is None or only in f"{k[0]}.{k[1]}"]
    return drawn_of(random, random.choice(keys))


def drawn_of(random, key):
    """Return a random row of one operator."""
    row = copy.deepcopy(random.choice(templates()[key]))
    for _ in range(random.choice([0, 0, 1, 1, 2])):
        random.choice([_attribute, _attribute, _optional, _number, _content, _version, _openness, _rank])(
            random, key, row
        )
    _symbols(random, row)
    return row


def _attribute(random, key, row):
    choices = _choices(key)
    if not choices:
        return
    name = random.choice(sorted(choices))
    value = row["attributes"].get(name)
    if name in row["attributes"] and random.random() < 0.25:
        del row["attributes"][name]
    elif random.random() < 0.5 or value is None or not isinstance(value, (int, list)):
        row["attributes"][name] = random.choice(choices[name])
    elif isinstance(value, int):
        row["attributes"][name] = random.choice([value + 1, value - 1, 0, 1, 2, -1, 3])
    elif value and all(type(v) is int for v in value):
        changed = list(value)
        changed[random.randrange(len(changed))] = random.choice([0, 1, 2, 3, -1])
        row["attributes"][name] = changed


def _optional(random, key, row):
    places = [n for n, i in enumerate(row["inputs"]) if i and n]
    if places:
        row["inputs"][random.choice(places)] = None
        while row["inputs"] and row["inputs"][-1] is None:
            row["inputs"].pop()


def _data(row):
    return [i for i in row["inputs"] if i and "values" not in i and "constant" not in i]


def _number(random, key, row):
    places = [(i, n) for i in row["inputs"] if i and "values" not in i for n in range(len(i["shape"]))]
    if places:
        given, axis = random.choice(places)
        given["shape"][axis] = random.choice([0, 1, 2, 3, given["shape"][axis] + 1])


def _rank(random, key, row):
    data = _data(row)
    if data:
        given = random.choice(data)
        if given["shape"] and random.random() < 0.5:
            del given["shape"][random.randrange(len(given["shape"]))]
        else:
            given["shape"].insert(random.choice([0, len(given["shape"])]), random.choice([1, 2]))


def _content(random, key, row):
    constants = [i for i in row["inputs"] if i and i["type"] in INTEGERS and ("values" in i or "constant" in i)]
    if not constants:
        return
    given = random.choice(constants)
    size = int(np.prod(given["shape"]))
    items = list(given.pop("values", [0] * size))
    given.pop("constant", None)
    if len(given["shape"]) == 1 and random.random() < 0.3:
        items = items[:-1] if items and random.random() < 0.5 else [*items, 1]
        given["shape"] = [len(items)]
    elif items:
        least = 0 if given["type"] in ("uint8", "bool", "uint16") else -3
        most = 1 if given["type"] == "bool" else 5
        items[random.randrange(len(items))] = random.randint(least, most)
    given["values"] = items


def _version(random, key, row):
    domain = row.get("domain", "")
    if domain not in ("", "ai.onnx.ml"):
        return
    try:
        versions = {s.since_version for s in defs.get_all_schemas_with_history() if (s.domain, s.name) == key}
    except Exception:
        return
    field = "domain_version" if domain else "opset"
    if versions:
        row[field] = max(random.choice(sorted(versions)), 1 if domain else 7)


def _openness(random, key, row):
    """Make a constant an input of the model, or an input a constant."""
    given = random.choice([i for i in row["inputs"] if i] or [None])
    if given is None:
        return
    if "values" in given or "constant" in given:
        given.pop("values", None), given.pop("constant", None)
    else:
        given["constant"] = True


def _symbols(random, row):
    """Replace some sizes of inputs by symbols; equal sizes often get one name."""
    data = _data(row)
    places = [(given, n) for given in data for n in range(len(given["shape"]))]
    row["symbols"] = []
    for name in "ABC"[: random.choice([1, 1, 2, 2, 2, 3])]:
        left = [(g, n) for g, n in places if isinstance(g["shape"][n], int)]
        if not left:
            break
        given, axis = random.choice(left)
        number = given["shape"][axis]
        together = [(given, axis)]
        if random.random() < 0.55:
            together = [(g, n) for g, n in left if g["shape"][n] == number and (g is not given or n == axis)]
        for g, n in together:
            g["shape"][n] = name
        row["symbols"].append(name)
    row["symbols"] = sorted({d for g in data for d in g["shape"] if isinstance(d, str)})
    row["sizes"] = [list(p) for p in product(range(6 if len(row["symbols"]) < 3 else 4), repeat=len(row["symbols"]))]


# Running.


def contents(row):
    """Return how inputs are filled: with ones, and where integers or single numbers are data with others too."""
    if any(i["type"] in INTEGERS for i in _data(row)):
        return ("1", "0", "2", "%3", "5")
    return ("1", "0") if any(not i["shape"] for i in _data(row)) else ("1",)


def _filled(shape, kind, how):
    if how == "%3":
        return (np.arange(int(np.prod(shape, dtype=int))) % 3).reshape(shape).astype(kind)
    return np.full(shape, int(how)).astype(kind)


def _runs(row, sizes):
    """Run a row at some sizes, and yield what comes out: of each of the contents the shapes, or that it failed."""
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    proto = model(row)
    kinds = dict(TYPES.values())
    try:
        session = onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except Exception:
        session = None
    for point in sizes:
        at = dict(zip(row["symbols"], point, strict=True))
        found = []
        for how in contents(row) if session else ():
            feeds = {
                i.name: _filled(
                    [at[d.dim_param] if d.dim_param else d.dim_value for d in i.type.tensor_type.shape.dim],
                    kinds[i.type.tensor_type.elem_type],
                    how,
                )
                for i in proto.graph.input
            }
            try:
                outputs = session.run(None, feeds)
                found.append(";".join(map(_text, outputs)))
            except Exception:
                found.append(FAILED)
        yield "|".join(dict.fromkeys(found)) or FAILED


def _text(output):
    """Return the shape of an output as text; a sequence has none."""
    return ",".join(map(str, output.shape)) or SCALAR if hasattr(output, "shape") else SEQUENCE


def outcomes(row):
    """Return what ONNX Runtime does with a row at each of its sizes: the different outcomes, by ``|``."""
    import onnxruntime  # noqa: F401 the fork has it then

    found = forked(_runs(row, row["sizes"]), PATIENCE)
    while len(found) < len(row["sizes"]):
        found.append(CRASHED)
        found += forked(_runs(row, row["sizes"][len(found) :]), PATIENCE)
    return found


def packed(runs):
    """Return outcomes as text, a run of equal ones as ``<count>*<outcome>``."""
    counted = ((outcome, len(list(group))) for outcome, group in groupby(runs))
    return " ".join(outcome if count == 1 else f"{count}*{outcome}" for outcome, count in counted)


def unpacked(row):
    """Return a recorded row with its sizes, and its outcomes."""
    sizes = [list(p) for p in product(range(4), repeat=len(row["symbols"]))]
    runs = []
    for part in row["outcomes"].split(" "):
        count, star, outcome = part.partition("*")
        runs += [outcome] * int(count) if star else [part]
    return {**row, "sizes": sizes}, runs


# Holding.


BEYOND = {"Conv", "FusedConv", "Inverse", "MatMulIntegerToFloat", "NonMaxSuppression"}
"""Operators that read beyond their inputs at some sizes: whether that ends the process or not is luck."""


def is_luck(row):
    """Return whether a run says little where the answer refuses one, as pools of blocks and `BEYOND` do."""
    return row["op"] in BEYOND or row.get("domain") == "com.microsoft.nchwc"


def faults(row, runs, min_size=0):
    """Return what is wrong in a report about a row, by outcome, each at the first sizes that show it."""
    try:
        report = sb.onnx.check(model(row), runtime="onnxruntime", min_size=min_size)
    except sb.ModelError as error:
        worked = [point for point, run in zip(row["sizes"], runs, strict=True) if ran(run)]
        return {"refused": f"ran at {worked[0]}: {error}"} if worked else {}
    except Exception as error:
        return {"error": repr(error)}
    found = {}
    try:
        for point, run in zip(row["sizes"], runs, strict=True):
            if min(point, default=min_size) >= min_size:
                outcome, detail = _held(row, report, point, run)
                if outcome:
                    found.setdefault(outcome, f"{point}: {run} {detail}| {report.condition}")
    except Exception as error:
        found["error"] = repr(error)
    return found


def ran(run):
    return any(shapes not in (FAILED, CRASHED) for shapes in run.split("|"))


def _held(row, report, point, run):
    at = dict(zip(row["symbols"], point, strict=True))
    verdict = report.verdict
    is_noted = bool(report.unanalysed) or str(report.data_condition) != "True"
    if verdict is sb.Verdict.ALWAYS and not (ran(run) and (is_noted or not {FAILED, CRASHED} & {*run.split("|")})):
        return "always", ""
    if verdict is sb.Verdict.NEVER and ran(run) and not is_luck(row):
        return "refused", "never "
    try:
        accepts = report.guard()(**at)
    except sb.UndecidedError:
        accepts = True
    if not ran(run):
        is_data = any(i["type"] in INTEGERS for i in _data(row))
        is_open = is_noted or is_luck(row) or verdict is sb.Verdict.UNKNOWN
        return ("missed", "") if accepts and not is_open and not is_data else ("", "")
    if not accepts:
        return ("", "") if is_luck(row) else ("refused", "")
    return _of_shapes(row, report, point, run)


def _of_shapes(row, report, point, run):
    from running import Answer, fits

    at = dict(zip(row["symbols"], point, strict=True))
    answer = Answer(report)
    for shapes in run.split("|"):
        if shapes in (FAILED, CRASHED):
            continue
        for number, text in enumerate(shapes.split(";")):
            if text == SEQUENCE:
                continue
            real = () if text == SCALAR else tuple(map(int, text.split(",")))
            known = answer.shape(f"out{number}", at)
            if not fits(known, real):
                return "wrong", f"out{number} is {known} "
    return "", ""


def told(row):
    """Return a row in one line, nearly as in `node_templates.txt`."""
    words = [f"{row.get('domain', '')}.{row['op']}"]
    letters = {name: letter for letter, name in LETTERS.items()}
    for given in row["inputs"]:
        if given is None:
            words.append("-")
            continue
        shape = "x".join(map(str, given["shape"]))
        letter = letters.get(given["type"], given["type"])
        if "values" in given:
            words.append(f"{letter}={given['values'] if len(given['values']) < 10 else '...'}@{shape}")
        else:
            words.append(f"{letter}{'=0@' if 'constant' in given else ':'}{shape}")
    words += [f"{name}={str(value)[:60]}" for name, value in row["attributes"].items()]
    return " ".join(words) + f" -> {row.get('count', 1)} @ {row.get('domain_version', row['opset'])}"


def serve():
    """Answer rows on standard input by their outcomes, a line each, until it ends."""
    for line in sys.stdin:
        print(json.dumps(outcomes(json.loads(line))), flush=True)


def main():
    if sys.argv[1:] == ["--serve"]:
        serve()
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("count", type=int)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--only")
    options = parser.parse_args()
    counts, crashed, operators = Counter(), Counter(), Counter()
    for number in range(options.start, options.start + options.count):
        row = drawn(Random(number), options.only)
        runs = outcomes(row)
        operators[f"{row.get('domain', '')}.{row['op']}"] += 1
        counts["runs" if any(map(ran, runs)) else "never runs"] += 1
        if CRASHED in runs:
            crashed[row["op"]] += 1
        for outcome, text in faults(row, runs).items():
            counts[outcome] += 1
            print(number, outcome, told(row), text, sep=" | ", flush=True)
    print(dict(counts), len(operators), "operators; crashed:", dict(crashed))


if __name__ == "__main__":
    main()
