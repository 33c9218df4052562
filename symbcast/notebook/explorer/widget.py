"""Implement the explorer: an anywidget whose traits hold its field contents and its display."""

from __future__ import annotations

import os
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import traitlets
from anywidget import AnyWidget

from symbcast.answers.comparison import Comparison
from symbcast.answers.public.result import Result, call_of
from symbcast.answers.show.broadcast import one_line_summary
from symbcast.core.characters import shorten_end, visible
from symbcast.errors import BindingError, MissingExtraError, SymbcastError
from symbcast.notebook.explorer import view
from symbcast.notebook.explorer.question import LARGEST_MAP, LARGEST_SIZE, MOST_SIZES, ExplorerQuestion, rule_info
from symbcast.notebook.explorer.view import ViewSettings
from symbcast.notebook.sections import Section

if TYPE_CHECKING:
    from symbcast.notebook.figures.layout import Picture

_HERE = Path(__file__).parent

# The page already has the typed text, so it needs no echo.
_FIELD = {"sync": True, "echo_update": False}


class Explorer(AnyWidget):
    """An interactive broadcast: its fields, and the answer for their current contents.

    ``shapes``, ``rule``, ``attributes``, ``assume`` and ``min_size`` are the question, as text where the fields are
    text fields; ``compare_with`` is another rule to compare with, or empty; ``sizes`` holds the slider sizes, ``over``
    the symbols of the map, ``up_to`` its largest size, and ``shade`` the output axis that shades it. Each can be set
    here, and is updated when the user types. ``result`` is the answer.
    """

    _esm = "\n".join((_HERE / name).read_text("utf-8") for name in ("history.js", "explorer.js"))
    _css = _HERE / "explorer.css"

    shapes = traitlets.List(traitlets.Unicode()).tag(**_FIELD)
    rule = traitlets.Unicode("numpy").tag(**_FIELD)
    attributes = traitlets.Dict(key_trait=traitlets.Unicode(), value_trait=traitlets.Unicode()).tag(**_FIELD)
    assume = traitlets.Unicode("").tag(**_FIELD)
    min_size = traitlets.Int(0).tag(**_FIELD)
    compare_with = traitlets.Unicode("").tag(**_FIELD)
    sizes = traitlets.Dict(value_trait=traitlets.Int(min=0, max=LARGEST_SIZE), key_trait=traitlets.Unicode())
    sizes.tag(**_FIELD)
    over = traitlets.List(traitlets.Unicode()).tag(**_FIELD)
    up_to = traitlets.Int(None, min=1, max=LARGEST_MAP, allow_none=True).tag(**_FIELD)
    shade = traitlets.Int(None, allow_none=True).tag(**_FIELD)

    rules: traitlets.List[Any] = traitlets.List().tag(sync=True)
    page = traitlets.Dict().tag(sync=True)
    """The page's constants: its colours, the names of operands, and the range of a map."""
    checked = traitlets.Dict().tag(sync=True)
    """The quick part of the answer: faults, calls, sliders, map and working; ``serial`` counts the questions."""
    answer = traitlets.Dict().tag(sync=True)
    """The answer to the question of that ``serial``; it may come later."""

    def __init__(self, question: ExplorerQuestion, **state: Any) -> None:
        self._question: ExplorerQuestion | None = None
        self._result: Result | None = None
        self._comparison: Comparison | None = None
        self._serial = 0
        self._sections: dict[Any, Section] = {}
        super().__init__(
            shapes=list(question.shapes),
            rule=question.rule,
            attributes=dict(question.attributes),
            assume=question.assume,
            min_size=question.min_size,
            compare_with=question.compare_with,
            rules=view.rules_data(),
            page={"colours": view.palette_data(), "largest_map": LARGEST_MAP, "most_sizes": MOST_SIZES},
            **state,
        )
        self._ask()
        # Load the solver only when a question first needs it; a keystroke should not wait for that.
        import_module("symbcast.core.solver.f3_linear.z3_solver")
        self.observe(self._ask, [f.name for f in fields(ExplorerQuestion)])
        self.observe(self._look, ["sizes", "over", "up_to", "shade"])
        self.on_msg(self._answer_page)

    @traitlets.validate("rule")
    def _rule_name(self, proposal: Any) -> str:
        return rule_info(proposal["value"]).name

    @property
    def result(self) -> Result | None:
        """The answer for the fields' contents; None while any of them is invalid."""
        return self._result

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the map as an image; the end of the name selects the format, such as ``.png`` or ``.svg``.

        Raises `BindingError` if there is no map: without symbols, or while a field is invalid.
        """
        self._picture().savefig(path, bbox_inches="tight")

    def _picture(self) -> Picture:
        if self._result is None or not self._result.symbols:
            what = "a field is invalid" if self._result is None else "the shapes have no symbols"
            raise BindingError(f"there is no map to save: {what}", "change the shapes")
        return view.picture_of(self._result, self._looking())

    def _answer_page(self, _: Any, content: Any, __: Any) -> None:
        """Send the image that the page asks for, or the reason why there is none."""
        if not isinstance(content, dict) or content.get("kind") != "image":
            return
        try:
            data = self._picture().as_png()
        except ImportError:
            self.send({"kind": "image", "error": str(MissingExtraError("the picture", "notebook"))})
        except SymbcastError as error:
            self.send({"kind": "image", "error": str(error)})
        else:
            self.send({"kind": "image", "name": "broadcast.png"}, [data])

    def _ask(self, _: Any = None) -> None:
        shapes, attributes = tuple(self.shapes), dict(self.attributes)
        question = ExplorerQuestion(shapes, self.rule, attributes, self.assume, self.min_size, self.compare_with)
        if question == self._question:
            return
        self._question = question
        self._serial += 1
        self._sections = {}
        self._result, faults = question.ask()
        if self._result is None:
            self.checked = {"serial": self._serial, "faults": view.faults_data(faults)}
            return
        # Everything that needs no decision is sent first, so that it appears at once, even if the question is hard.
        self._look(decided=False)
        self._comparison = question.comparison(self._result)
        self.answer = {"serial": self._serial, **view.answer_data(self._result, self._comparison)}
        self._look()

    def _look(self, _: Any = None, decided: bool = True) -> None:
        if self._result is None or self._question is None:
            return
        self.checked = {
            "serial": self._serial,
            "faults": {},
            "call": self._question.call(),
            "explorer_call": view.explorer_call(self._question, self._state()),
            **view.view_data(self._result, self._looking(), decided, self._sections),
        }

    def _state(self) -> dict[str, Any]:
        """Return those of the explorer's settings, other than the question, that differ from the defaults."""
        assert self._result is not None
        names = set(call_of(self._result).shown.values())
        sizes = {name: size for name, size in self.sizes.items() if name in names}
        state: dict[str, Any] = {"compare_with": self.compare_with.strip(), "sizes": sizes}
        state |= {"over": [n for n in self.over if n in names], "up_to": self.up_to, "shade": self.shade}
        defaults: dict[str, Any] = {"compare_with": "", "sizes": {}, "over": [], "up_to": None, "shade": None}
        return {name: value for name, value in state.items() if value != defaults[name]}

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """Return the widget, and static HTML for notebooks that are displayed without running."""
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is not None and self._result is not None:
            bundle[0]["text/html"] = view.page(self._result, self._looking(), self._comparison)
        return bundle

    def _looking(self) -> ViewSettings:
        return ViewSettings(self.sizes, self.over, self.up_to, self.shade)

    def __repr__(self) -> str:
        if self._result is None:
            field, (message, *_) = next(iter(self.checked["faults"].items()))
            question = f"{self.rule} of {', '.join(map(repr, self.shapes))}"
            return visible(f"<Explorer {shorten_end(question, 120)}; {field}: {shorten_end(message, 80)}>")
        return f"<Explorer {one_line_summary(call_of(self._result))}>"
