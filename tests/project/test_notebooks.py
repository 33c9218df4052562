"""Each notebook opens with its answer and ends with one exercise, whose solution is run."""

from __future__ import annotations

import doctest
import json
import re

import pytest
from documents import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
EXTRAS = {"5_a_real_onnx_model": "onnxruntime", "8_what_to_give_the_server": "onnx"}


def texts(notebook):
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_opens_with_its_answer_and_ends_with_an_exercise(notebook, monkeypatch):
    pytest.importorskip(EXTRAS.get(notebook.stem, "symbcast"))
    first, *_, last = texts(notebook)
    assert first.startswith("# ")
    assert first.count("**The answer") == 1
    assert sum(text.count("**Exercise.**") for text in texts(notebook)) == last.count("**Exercise.**") == 1
    monkeypatch.chdir(notebook.parent)
    for code in re.findall(r"^```python\n(.*?)^```", last, re.DOTALL | re.MULTILINE):
        parsed = doctest.DocTestParser().get_doctest(code, {}, notebook.stem, str(notebook), 0)
        assert parsed.examples
        assert doctest.DocTestRunner().run(parsed).failed == 0


def test_there_are_solutions():
    assert sum("<summary>Solution</summary>" in texts(notebook)[-1] for notebook in NOTEBOOKS) == len(NOTEBOOKS) == 11
