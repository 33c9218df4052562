"""The answer about a model with its presentation, and its picture as one HTML page that opens without a network.

dagre lays the graph out in the page, again for each block that is unfolded (https://github.com/dagrejs/dagre, release
3.1.3 of npm's @dagrejs/dagre, MIT: ``dagre.min.js`` is its ``dist/dagre.min.js``). It was chosen over ELK (1.6 MB, EPL)
and Graphviz as WebAssembly (1.3 MB): it has 49 kB.
"""

from __future__ import annotations

import json
import os
from base64 import b64encode
from contextlib import suppress
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symbcast.answers.show import html
from symbcast.answers.show.document import Document, Room
from symbcast.answers.show.documented import Explained
from symbcast.core.algebra.formulas import TRUE
from symbcast.core.characters import visible
from symbcast.core.shapes import Shape
from symbcast.graphs.report.answer import GraphAnswer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


_HERE = Path(__file__).parent
# The height of a picture in a notebook, in pixels.
_HEIGHT = 640


class ModelPicture:
    """The graph of a model, with shapes on its edges and the nodes to blame marked, as an interactive page.

    Attributes:
        html: the page, which needs no other file.

    >>> import symbcast as sb
    >>> report = sb.onnx.check("tests/data/onnx/models/ppocr_v4_det.onnx.gz")
    >>> picture = report.plot()
    >>> picture
    <ModelPicture of tests/data/onnx/models/ppocr_v4_det.onnx.gz: 330 nodes, 2 requirements>
    >>> picture.html[:15]
    '<!doctype html>'
    """

    def __init__(self, report: GraphAnswer, answer: Callable[[], Document]) -> None:
        self._report = report
        self._answer = answer

    @cached_property
    def html(self) -> str:
        """The whole page: the answer, and the picture below."""
        answer, said = html.render(self._answer()), html.text(self._told)
        return self._page(f'<details class="answer"><summary>{said}</summary>{answer}</details>\n')

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, which is replaced as a whole; raises `OSError` if that fails."""
        target = Path(path)
        draft = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            draft.write_text(self.html, "utf-8")
            draft.replace(target)
        finally:
            with suppress(OSError):
                draft.unlink(missing_ok=True)

    @property
    def _told(self) -> str:
        return f"{self._report.source}: {self._data['verdict']}"

    @cached_property
    def _data(self) -> dict[str, object]:
        from symbcast.graphs.report.drawing import drawing_of

        return drawing_of(self._report)

    def _page(self, answer: str) -> str:
        title = html.text(self._report.source)
        data = json.dumps(self._data, ensure_ascii=False, separators=(",", ":"))
        # A script's text ends at "</script" and changes its meaning after "<!--".
        data = data.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
        return _PAGE.format(
            policy=_policy(),
            title=title,
            style=_text("picture.css"),
            answer=answer,
            data=data,
            scripts="".join(f"<script>{script}</script>" for script in _scripts()),
        )

    def _repr_html_(self) -> str:
        """Return the picture in a frame, below a line that is there where pages may not run scripts, too."""
        page = self._page("")
        line = html.element("div", html.text(self._told))
        style = f"border:0;width:100%;height:{_HEIGHT}px"
        return line + html.element("iframe", "", style, title="the graph of the model", srcdoc=_RAW).replace(
            _RAW, page.replace("&", "&amp;").replace('"', "&quot;")
        )

    def __repr__(self) -> str:
        items = self._data["items"]
        assert isinstance(items, list)
        nodes = sum(item["k"] == "node" for item in items)
        count = len(self._report.findings)
        requirements = f"{count} requirement{'s' * (count != 1)}"
        return visible(f"<ModelPicture of {self._report.source}: {nodes} node{'s' * (nodes != 1)}, {requirements}>")


_RAW = "symbcast-page"
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
{answer}<main class="work">
<div class="bar" role="toolbar" aria-label="the picture">
<button type="button" data-does="out" aria-label="smaller">&minus;</button>
<button type="button" data-does="in" aria-label="larger">+</button>
<button type="button" data-does="fit">Fit width</button>
<button type="button" data-does="fold">Fold all</button>
<form class="search" role="search"><input type="search" aria-label="find a node" placeholder="node or operator">
<button>Find</button></form>
<span class="status" role="status"></span>
</div>
<div class="view" tabindex="-1"><noscript>The picture is drawn by a script, which is not allowed here.</noscript></div>
<aside class="side" aria-label="requirements and details">
<h2 class="verdict"></h2><p class="condition"></p>
<h2>Requirements</h2><ol class="findings"></ol>
<div class="details" aria-live="polite">Choose a node to see its inputs and outputs. A block unfolds with a click, or
with Enter; Escape folds it.</div>
<ul class="legend"></ul>
</aside>
</main>
<script type="application/json" id="data">{data}</script>
{scripts}
</body>
</html>
"""


@cache
def _text(name: str) -> str:
    return (_HERE / name).read_text("utf-8")


@cache
def _scripts() -> tuple[str, ...]:
    """Return the page's scripts: dagre with its licence, and the picture's own."""
    library = _text("dagre.min.js").partition("/*! For license")[0]
    # HTML has no control characters.
    library = library.replace("\x01", "\\x01")
    return f"{_text('dagre.min.js.LEGAL.txt')}{library}", _text("picture.js")


@cache
def _policy() -> str:
    """Return the page's security policy: it runs only its own scripts, and loads nothing."""
    hashes = " ".join(f"'sha256-{b64encode(sha256(s.encode()).digest()).decode()}'" for s in _scripts())
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src {hashes}"


class GraphReport(Explained, GraphAnswer):
    """The answer about a model, with methods that show and export it."""

    # Presentation and export.

    def plot(self) -> ModelPicture:
        """Return the graph as a picture, with shapes on its edges and the nodes to blame marked.

        A notebook shows it; ``save("model.html")`` writes it as a page that opens in any browser.
        """
        return ModelPicture(self, lambda: self._document(Room.PAGE))

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as data for JSON, as `json_schema` describes it."""
        from symbcast.graphs.report.presentation import model_report_to_dict

        return model_report_to_dict(self)

    def _outputs(self) -> Mapping[str, Shape | None]:
        return self.outputs

    def _not_covered(self) -> Iterator[str]:
        yield from super()._not_covered()
        if self.data_condition.formula != TRUE:
            yield f"Data must meet: {self.data_condition}"

    @staticmethod
    def json_schema() -> dict[str, Any]:
        """Return the JSON Schema (2020-12) of what `to_dict` returns."""
        from symbcast.graphs.report.presentation import model_report_schema

        return model_report_schema()

    def __repr__(self) -> str:
        from symbcast.graphs.report.presentation import model_summary

        return f"<{type(self).__name__} of {model_summary(self)}>"

    def _repr_latex_(self) -> str:

        return self._in_latex(Room.PAGE)

    def _document(self, *room: Room) -> Document:
        from symbcast.graphs.report.presentation import model_document

        return model_document(self, *room)
