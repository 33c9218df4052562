"""The documentation site: ``sphinx-build -W docs docs/_build/html`` writes pages that open from a file.

Pages that repeat what the repository has elsewhere are generated into ``docs/generated``: see `generated_pages`.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import generated_pages  # noqa: E402

from symbcast.core import __version__  # noqa: E402

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "symbcast"
author = "the symbcast authors"
copyright = "the symbcast authors"
version = release = __version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton", "sphinx_design"]
exclude_patterns = ["_build"]
nitpicky = False
suppress_warnings = ["ref.python"]  # annotations name classes without their module, and three are called Finding
default_role = "py:obj"

myst_enable_extensions = ["colon_fence", "deflist"]
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
myst_heading_anchors = 4
nb_execution_mode = "off"  # notebooks are committed with their output, and run by the tests
nb_mime_priority_overrides = [("html", "application/vnd.jupyter.widget-view+json", None)]  # a picture is next to it

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_inherit_docstrings = True
napoleon_use_ivar = True

html_theme = "furo"
html_title = f"symbcast {version}"
html_copy_source = False
html_show_sourcelink = False
html_static_path = ["static"]
html_search_scorer = str(HERE / "static" / "scorer.js")
html_css_files = ["site.css"]

generated_pages.write(HERE / "generated")

_kept: dict[str, list[str]] = {}


def _keep(_app: object, what: str, name: str, *others: Any) -> None:
    if what == "property":
        _kept[name] = list(others[-1])


def _restore(_app: object, what: str, name: str, *others: Any) -> None:
    if what == "property":
        others[-1][:] = _kept.pop(name)
    if others[-1][:1] and others[-1][0].startswith("Alias for field number"):
        del others[-1][:]  # Python's own text for the fields of a named tuple


def _prepare(_app: object, page: str, source: list[str]) -> None:
    # Doctest needs the empty line after an example; a page does not.
    source[0] = re.sub(r"\n\n( *```\n)", r"\n\1", source[0])
    if not page.startswith("generated/"):
        source[0] = generated_pages.with_page_links(source[0], (HERE / page).parent)


def setup(app: Sphinx) -> None:
    """Adapt documents to pages, and leave the types of properties to their annotations.

    Napoleon reads a property's summary up to a colon as its type.
    """
    app.connect("source-read", _prepare)
    app.connect("autodoc-process-docstring", _keep, priority=400)
    app.connect("autodoc-process-docstring", _restore, priority=600)
