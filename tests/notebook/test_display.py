"""What a kernel shows of plots, and what the notebooks that are kept show of them."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from documents import NOTEBOOKS, name_of

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("matplotlib")


def pictures_in(cell):
    return sum("image/png" in output.get("data", {}) for output in cell.get("outputs", []))


@pytest.mark.filterwarnings("default")  # those of kernels
def test_each_plot_is_shown_beneath_its_cell():
    """Once the second cell and all after it showed nothing."""
    draw = "sb.notebook.plot(sb.broadcast('N', 'M'), 'N', 'M', range(3));"
    sources = [f"import symbcast as sb\n{draw}", draw, draw]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    assert [pictures_in(cell) for cell in notebook.cells] == [1, 1, 1]


CELLS = """
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

shell = InteractiveShell.instance(colors="NoColor")

def shown(cell):
    with capture_output() as captured:
        shell.run_cell(cell)
    return captured.stdout

shell.run_cell('import symbcast as sb\\ndef mine(a):\\n    return sb.broadcast(a, "M, 3")')
for call, message in {
    "mine('N, (3')": "expected ')'", "mine(3.5)": "is not a shape", "sb.broadcst('N')": "did you mean 'broadcast'",
    "sb.broadcast('N', 'M', ruel=1)": "did you mean rule=", "sb.broadcast('N', M=3, rule='numpi')": "no rule 'numpi'",
}.items():
    text = shown(call)
    assert message in text and call in text and text.count("-> ") == 1 + call.startswith("mine"), text
assert text.count("Traceback") == 1
assert text.count("raise") == 0, text
assert "raise ValueError" in shown("def own():\\n    raise ValueError\\nown()")
"""


def test_a_traceback_ends_at_the_line_of_the_caller():
    """A kernel shows the frames of symbcast for no error that the caller can mend."""
    run = subprocess.run([sys.executable, "-c", CELLS], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name_of)
def test_notebooks_are_kept_with_their_pictures(path):
    cells = [c for c in json.loads(path.read_text("utf-8"))["cells"] if c["cell_type"] == "code"]
    for cell in cells:
        draws = any(call in "".join(cell["source"]) for call in ("sb.notebook.plot", "plt.show"))
        assert pictures_in(cell) == draws, "".join(cell["source"])


TRACEBACKS = """
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance(colors="NoColor")
for cell in CELLS:
    shell.run_cell(cell)
"""
OWN_LINES = [
    ("import symbcast as sb\nsb.onnx.check('none.onnx')", "sb.onnx.check('none.onnx')", "there is no such file"),
    ("import symbcast as sb\nsb.broadcast('N', 'M,,')", "sb.broadcast('N', 'M,,')", "unexpected ','"),
]


@pytest.mark.parametrize(("cell", "line", "message"), OWN_LINES)
def test_a_traceback_has_the_users_line_and_none_of_ours(cell, line, message):
    pytest.importorskip("IPython")
    code = TRACEBACKS.replace("CELLS", repr([cell]))
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert f"> 2 {line}" in shown
    assert message in shown
    assert "symbcast/" not in shown
    assert "direct cause" not in shown
    assert shown.count("Traceback (most recent call last)") == 1


def test_a_traceback_keeps_an_error_of_the_users_own():
    pytest.importorskip("IPython")
    cells = [
        "import symbcast as sb",
        "class Shaped:\n    @property\n    def shape(self):\n        return int('three')",
        "try:\n    Shaped().shape\nexcept ValueError as error:\n    raise sb.SymbcastError('no shape') from error",
    ]
    code = TRACEBACKS.replace("CELLS", repr(cells))
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "return int('three')" in shown
    assert "direct cause" in shown
