"""The table of all engines, as a page of the site: ``docs/conformance.md`` between two marks, and ``answers.json``."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from conformance.runner import OUTCOMES, Judged, judged, read

PAGE = Path(__file__).parents[2] / "docs" / "conformance.md"
ANSWERS = Path(__file__).with_name("answers.json")
ENGINES = {
    "onnx": ("onnx_engines", "OnnxInference", "onnx", "`onnx.shape_inference`, strict, with data propagation"),
    "onnx_shape_inference": ("onnx_engines", "OnnxShapeInference", "onnx-shape-inference", "`infer_symbolic_shapes`"),
    "onnxruntime": ("onnx_engines", "OnnxRuntimeTool", "onnxruntime", "`symbolic_shape_infer` with `auto_merge`"),
    "tvm": ("tvm_engine", "Tvm", "apache-tvm", "Relax, imported from ONNX"),
    "jax": ("jax_engine", "Jax", "jax", "`jax.eval_shape` over symbolic dimensions"),
    "torch": ("torch_engine", "Torch", "torch", "`torch.export` with `Dim.AUTO`"),
    "tinygrad": ("tinygrad_engine", "Tinygrad", "tinygrad", "tensors with `Variable` sizes"),
    "symbcast": ("symbcast_engine", "Symbcast", "symbcast", "`sb.broadcast`, `sb.onnx.check`"),
}
"""By name: the module, class and package of an engine, and what of it is asked."""
KINDS = ("broadcast", "operator", "model")
_MARK = re.compile(r"(?<=<!-- table -->\n).*?(?=<!-- end of table -->)", re.DOTALL)


def answers(name: str) -> list[Judged] | None:
    """Return what an engine's answers are worth; None if it is not installed."""
    module, cls, package, _ = ENGINES[name]
    try:
        version(package)
    except PackageNotFoundError:
        return None
    engine = getattr(import_module(f"conformance.engines.{module}"), cls)()
    return [judged(engine, case) for case in read()]


def record(names: Iterable[str]) -> None:
    """Ask some engines, keep their answers, and write the table; what is kept of others stays."""
    kept: dict[str, Any] = json.loads(ANSWERS.read_text("utf-8")) if ANSWERS.exists() else {}
    for name in names:
        found = answers(name)
        if found is not None:
            release = version(ENGINES[name][2])
            kept[name] = {"release": release, "date": date.today().isoformat(), "cases": _summary(found)}
    lines = ",\n ".join(f"{json.dumps(n)}: {json.dumps(kept[n])}" for n in ENGINES if n in kept)
    ANSWERS.write_text(f"{{{lines}}}\n", "utf-8")
    page = PAGE.read_text("utf-8")
    PAGE.write_text(_MARK.sub(lambda _: table(kept), page), "utf-8")


def _summary(found: Iterable[Judged]) -> dict[str, Any]:
    """Return the counts of each case in the order of `OUTCOMES`: at all sizes, and at those from 1 on."""
    return {
        f"{j.kind}: {j.case}": [[counts.get(o, 0) for o in OUTCOMES] for counts in (j.counts, j.from_one)]
        for j in found
        if j.counts
    }


def table(kept: Mapping[str, Any]) -> str:
    """Return the tables of recorded answers: cases by their worst outcome, and sizes."""
    named = [(name, kept[name]) for name in ENGINES if name in kept]
    dates = sorted({answers["date"] for _, answers in named})
    return "\n".join(
        [
            "",
            f"Asked on {' and '.join(dates)}. **Cases**, each by its worst outcome at any sizes:",
            "",
            *_lines((f"{_label(name, answers)}: {ENGINES[name][3]}", _by_case(answers, 0)) for name, answers in named),
            "",
            "**Cases, from size 1 on**: the same where no size is 0.",
            "",
            *_lines((_label(name, answers), _by_case(answers, 1)) for name, answers in named),
            "",
            "**Sizes**, over all cases that were asked:",
            "",
            *_lines((_label(name, answers), _by_size(answers)) for name, answers in named),
            "",
            "",
        ]
    )


def _label(name: str, answers: Mapping[str, Any]) -> str:
    return f"{ENGINES[name][2]} {answers['release']}"


def _by_case(answers: Mapping[str, Any], which: int) -> Counter[str]:
    """Return the number of cases by their worst outcome: at all sizes (0), or at those from 1 on (1)."""
    return Counter(
        max((o for o, count in zip(OUTCOMES, counts[which], strict=True) if count), key=OUTCOMES.index, default="right")
        for counts in answers["cases"].values()
    )


def _by_size(answers: Mapping[str, Any]) -> Counter[str]:
    sums: Counter[str] = Counter()
    for counts, _ in answers["cases"].values():
        sums.update(dict(zip(OUTCOMES, counts, strict=True)))
    return sums


def _lines(rows: Iterable[tuple[str, Counter[str]]]) -> Iterator[str]:
    yield f"| engine | asked | {' | '.join(OUTCOMES)} |"
    yield "|---" * (len(OUTCOMES) + 2) + "|"
    for label, sums in rows:
        yield f"| {label} | {sum(sums.values()):,} | {' | '.join(f'{sums[o]:,}' for o in OUTCOMES)} |"
