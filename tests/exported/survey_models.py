"""Holds reports on the models of ``surveyed_models.py`` against torch.

``PYTHONPATH=tests:tests/support python tests/exported/survey_models.py [PACKAGE[:NAME] ...]`` prints a row for each as
JSON. It needs timm, transformers, diffusers, torchvision, torchaudio and segmentation_models_pytorch. Each model runs
in a process of its own. ``further`` stands for the ten further models. ``--sum FILE`` prints what the rows of a file
come to.
"""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import warnings
from pathlib import Path
from statistics import median
from time import process_time

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))

from surveyed_models import allow_imports, case_of, chosen, further

LIMIT = 580
"""Seconds for a model."""


def report_of(package, names):
    """Return the first model's name that is made small and exported, its report, and why others were not."""
    import symbcast as sb

    passed = {}
    for name in names:
        print("trying", name, flush=True)
        try:
            case = case_of(package, name)
        except Exception as error:
            passed[name] = f"not made small: {type(error).__name__}: {error}"[:200]
            continue
        try:
            return name, sb.torch.check(case.module, case.args, case.kwargs, dynamic_shapes=case.auto()), passed
        except sb.errors.ModelError as error:
            passed[name] = str(error)[:300]
    return "", None, passed


def operators_of(module):
    """Return the operators of a graph and of its branches."""
    inner = [part for part in module.modules() if hasattr(part, "graph")]
    return {str(n.target).removeprefix("aten.") for part in inner for n in part.graph.nodes if n.op == "call_function"}


def row(package, names):
    """Return what is found about the first of some models that is exported, as data."""
    import torch
    from run_models import judged

    from symbcast.torch.export import refusal_of
    from symbcast.torch.report import TorchReport

    allow_imports()
    torch.manual_seed(0)
    name, report, passed = report_of(package, names)
    if report is None:
        return {"model": f"{package}:{names[0]}", "passed": passed}
    start = process_time()
    report.condition, report.findings  # noqa: B018
    checked = process_time() - start
    start = process_time()
    clauses = report.guards.clauses
    digest = process_time() - start
    found = judged(report)
    suggestions = [report.suggest(), TorchReport(report._checked).suggest()]  # with the module and without
    refusals = [refusal_of(report._module, report.program.example_inputs, s) for s in suggestions]
    return {
        "model": f"{package}:{name}",
        "passed": passed,
        "nodes": len(report._model.graph.nodes),
        "guards": len(report.guards),
        "clauses": len(clauses),
        "check": round(checked, 2),
        "digest": round(digest, 2),
        "runs": found.runs,
        "fails": found.fails,
        "shapes": found.shapes,
        "wrong": len(found.wrong),
        "refused": sum(r is not None for r in refusals),
        "unanalysed": sorted({f"{u.op_type}: {u.reason[:70]}" for u in report.unanalysed if not u.is_about_data}),
        "what": [*found.wrong[:3], *(r.text[:300] for r in refusals if r is not None)],
        "condition": str(report.condition)[:200],
        "suggest": [*suggestions[0].lines, suggestions[0].shapes[:200]],
        "operators": sorted(operators_of(report.program.graph_module)),
    }


def rows(package, names):
    """Yield the row of a model; if its process dies, that of the next one."""
    left = list(names)
    while left:
        command = [sys.executable, __file__, "--one", package, *left]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
            said, problem = done.stdout, done.stderr[-300:]
        except subprocess.TimeoutExpired as error:
            said, problem = (error.stdout or b"").decode(), f"more than {LIMIT} s"
        lines = said.splitlines()
        found = [line for line in lines if line.startswith("{")]
        if found:
            yield found[-1]
            return
        tried = [line.removeprefix("trying ") for line in lines if line.startswith("trying ")]
        yield json.dumps({"model": f"{package}:{tried[-1] if tried else left[0]}", "error": problem})
        left = left[max(1, len(tried)) :]


def summary(lines):
    """Return what rows come to, as text."""
    every = [json.loads(line) for line in lines]
    done = [r for r in every if "runs" in r]
    parts = [f"{len(done)} models"]
    parts += [f"{sum(r[key] for r in done)} {key}" for key in ("runs", "fails", "shapes", "wrong", "refused")]
    parts.append(f"{sum(not r['unanalysed'] for r in done)} wholly analysed")
    times = sorted(r["digest"] for r in done)
    parts.append(f"digest {median(times)} s in the median, {times[-1]} s at most")
    for r in done:
        if r["wrong"] or r["refused"] or r["unanalysed"]:
            parts.append(f"  {r['model']}: {r['what']} {r['unanalysed']}")
    for r in every:
        passed = {n: why for n, why in r.get("passed", {}).items() if "torch does not export it" in why}
        parts += [f"  not exported by torch: {n}: {why}" for n, why in passed.items()]
        parts += [f"  {r['model']}: {r['error']}"] if "error" in r else []
    return "\n".join(parts)


def main(names):
    allow_imports()
    for package, candidates in further() if names == ["further"] else chosen():
        if names in ([], ["further"]) or package in names or f"{package}:{candidates[0]}" in names:
            for line in rows(package, candidates):
                print(line, flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(row(sys.argv[2], sys.argv[3:])), flush=True)
    elif sys.argv[1:2] == ["--sum"]:
        print(summary(Path(sys.argv[2]).read_text("utf-8").splitlines()))
    else:
        main(sys.argv[1:])
