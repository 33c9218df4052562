"""What a kernel shows of plots, and what the notebooks that are kept show of them."""

from __future__ import annotations

import json

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


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name_of)
def test_notebooks_are_kept_with_their_pictures(path):
    cells = [c for c in json.loads(path.read_text("utf-8"))["cells"] if c["cell_type"] == "code"]
    for cell in cells:
        draws = any(call in "".join(cell["source"]) for call in ("sb.notebook.plot", "plt.show"))
        assert pictures_in(cell) == draws, "".join(cell["source"])
