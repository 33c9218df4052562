"""The explorer: an anywidget whose traits hold its field contents and its display, and the data that it shows."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import traitlets
from anywidget import AnyWidget

from symbcast.answers.comparison import Comparison
from symbcast.answers.comparison.comparison import comparison_document
from symbcast.answers.public.result import Result, call_of
from symbcast.answers.show import axis_steps as working
from symbcast.answers.show import broadcast, html
from symbcast.answers.show.axis_steps import axis_steps_at
from symbcast.answers.show.broadcast import one_line_summary
from symbcast.answers.show.document import Room
from symbcast.answers.show.html import FAILURES, FINE, IMPOSSIBLE, channels
from symbcast.core.algebra.terms import Symbol
from symbcast.core.characters import shorten_end, shorten_middle, sizes_text, visible
from symbcast.core.programs.scope import Scope
from symbcast.core.rules import REQUIRED, Parameter
from symbcast.core.rules.registry import listed_rules
from symbcast.core.solver.evaluation import size_at
from symbcast.core.structs import NamedTuple
from symbcast.core.verdicts import Verdict
from symbcast.errors import BindingError, MissingExtraError, SymbcastError
from symbcast.notebook import words
from symbcast.notebook.explorer.question import (
    LARGEST_MAP,
    LARGEST_SIZE,
    MAP_UP_TO,
    MOST_SIZES,
    ExplorerQuestion,
    FieldError,
    fixed_question,
    quoted,
    rule_info,
)
from symbcast.notebook.sections import Ranges, Section, informative_axis, plain_section, section, stepped
from symbcast.notebook.subjects import SurveySubject, subject_of
from symbcast.notebook.surveys import Cell, Outcome, Survey, survey_of
from symbcast.notebook.words import FailureCategory

if TYPE_CHECKING:
    from symbcast.notebook.figures.layout import Picture


# How many characters of a symbol's name are shown.
_NAME = 40


def rules_data() -> list[dict[str, Any]]:
    """Return the rules to choose from, with the data for their attribute fields."""
    return [
        {
            "name": rule.name,
            "summary": rule.summary,
            "operands": list(rule.operands),
            "variadic": rule.variadic,
            "attributes": [_attribute(p) for p in rule.parameters],
        }
        for rule in listed_rules()
    ]


def _attribute(parameter: Parameter) -> dict[str, Any]:
    default = "" if parameter.default in (REQUIRED, None, ()) else str(parameter.default)
    return {
        "name": parameter.name,
        "default": default,
        "choices": list(parameter.choices),
        "hint": parameter.kind.value,
    }


def faults_data(faults: Mapping[str, FieldError]) -> dict[str, list[Any]]:
    """Return each field's error as message, start and stop."""
    return {name: list(fault) for name, fault in faults.items()}


class ViewSettings(NamedTuple):
    """The settings of an explorer other than its question; whatever is not set is chosen automatically."""

    sizes: Mapping[str, int]
    over: Sequence[str]
    up_to: int | None
    shade: int | None


def view_data(
    result: Result, looking: ViewSettings, decided: bool, sections: dict[Any, Section] | None = None
) -> dict[str, Any]:
    """Return the sliders, the map of sizes, and the steps of the broadcast at the slider sizes.

    A slider has a name, its display form, and the size. Sizes are text, since a page's numbers are exact only up to
    2**53. Defaults are better once the answer is decided; ``sections`` caches them: they do not change when a slider
    moves along the map. Without symbols there is nothing to set, and the answer is complete by itself.
    """
    scope = call_of(result).scope
    if scope is None or not scope.names:
        return {"sizes": [], "bound": "", "map": None, "working": ""}
    subject = subject_of(result)
    chosen = section_to_show(subject, looking, decided, sections)
    sizes = _sizes(scope, looking, chosen)
    return {
        "sizes": [[name, visible(shorten_middle(name, _NAME)), str(sizes[name])] for name in scope.names.values()],
        "bound": visible(sizes_text(sizes)),
        "map": _map(result, survey_of(subject, chosen), looking, decided),
        "working": html.render(working.axis_steps_document(axis_steps_at(call_of(result), sizes))),
    }


def section_to_show(
    subject: SurveySubject, looking: ViewSettings, decided: bool, cache: dict[Any, Section] | None = None
) -> Section:
    """Return the map's sizes: of the selected symbols, else of the most informative ones once the answer is decided."""
    cache = {} if cache is None else cache
    axes = _axes(subject, looking, decided, cache)
    fixed = {s: looking.sizes[name] for s, name in subject.names.items() if s not in axes and name in looking.sizes}
    ranges = _ranges(subject, looking, axes)
    if not decided:
        return plain_section(subject, axes, fixed, ranges)
    key = (tuple(axes), tuple(fixed.items()), ranges)
    if key not in cache:
        chosen = section(subject, axes, fixed, ranges)
        assert chosen is not None
        cache[key] = chosen
    return cache[key]


def _axes(subject: SurveySubject, looking: ViewSettings, decided: bool, cache: dict[Any, Section]) -> list[Symbol]:
    """Return the symbols of the map."""
    by_name = {name: s for s, name in subject.names.items()}
    axes = [by_name[name] for name in dict.fromkeys(looking.over) if name in by_name][:2]
    if len(axes) == min(2, len(by_name)):
        return axes
    telling = [*by_name.values()]
    if decided:
        key = looking.up_to
        if key not in cache:
            chosen = section(subject, None, {}, _ranges(subject, looking, ()))
            assert chosen is not None
            cache[key] = chosen
        telling = [*cache[key].axes, *telling]
    return [*axes, *(s for s in dict.fromkeys(telling) if s not in axes)][: min(2, len(by_name))]


def _ranges(subject: SurveySubject, looking: ViewSettings, axes: Sequence[Symbol]) -> Ranges:
    """Return the range of the map; if set, it starts at 0, or at a symbol's least size if that is beyond the range."""
    up_to = looking.up_to
    if up_to is None:
        return Ranges(MAP_UP_TO, MOST_SIZES)
    sizes = stepped(up_to, MOST_SIZES)
    first = [subject.first_sizes(s, min(up_to, MOST_SIZES - 1)) for s in axes]
    across, along = ([*(f if f[0] > up_to else sizes for f in first), None, None])[:2]
    return Ranges(up_to, MOST_SIZES, (across, along))


def _sizes(scope: Scope, looking: ViewSettings, chosen: Section) -> dict[str, int]:
    """Return a size for each symbol of a broadcast: the one given, else one of the section's.

    For the map's symbols, these are the sizes of a failing cell if the map has both failing and working cells, else
    small sizes that differ.
    """
    names, known = scope.names, scope.assumption_set
    shown: dict[str, int] = {}
    # Sizes that the assumptions make equal move together with the one that is set.
    moved = {known.values.get(s, s): looking.sizes[name] for s, name in names.items() if name in looking.sizes}
    start = dict(zip(chosen.axes, chosen.fails_at or (), strict=False))
    for place, symbol in enumerate((*chosen.axes, *(s for s in names if s not in chosen.axes))):
        name, stands = names[symbol], known.values.get(symbol, symbol)
        if name in looking.sizes:
            shown[name] = looking.sizes[name]
        elif isinstance(stands, int):
            shown[name] = stands
        elif stands in moved:
            shown[name] = moved[stands]
        elif symbol in chosen.following:
            shown[name] = max(
                0, size_at(chosen.following[symbol], {s: shown[n] for s, n in names.items() if n in shown})
            )
        elif symbol in chosen.fixed:
            shown[name] = chosen.fixed[symbol]
        elif symbol in start:
            shown[name] = start[symbol]
        else:
            sizes = chosen.axes[symbol]
            shown[name] = next((size for size in sizes if size >= 2 + place), sizes[-1])
    return {name: shown[name] for name in names.values()}


def answer_data(result: Result, comparison: Comparison | None) -> dict[str, Any]:
    """Return the answer: its verdict as a sentence, the full answer and any comparison as HTML, and its fix.

    The fix has its words, and the contents of the fields with it; None if there is no fix.
    """
    fixed = fixed_question(result)
    return {
        "verdict": result.verdict.value,
        "sentence": f"{result.rule.called}: {broadcast.verdict_words(call_of(result))}",
        "html": html.render(broadcast.broadcast_document(call_of(result), Room.PAGE)),
        "comparison": "" if comparison is None else html.render(comparison_document(comparison)),
        "fix": None if fixed is None else {"text": visible(fixed[0]), "fields": _fields_of(fixed[1])},
    }


def _fields_of(question: ExplorerQuestion) -> dict[str, Any]:
    """Return the contents of the fields that a fix changes."""
    return {
        "shapes": list(question.shapes),
        "rule": question.rule,
        "attributes": dict(question.attributes),
        "assume": question.assume,
        "min_size": question.min_size,
    }


def explorer_call(question: ExplorerQuestion, state: Mapping[str, Any]) -> str:
    """Return the call of `symbcast.notebook.explore` that creates an explorer in this state.

    ``state`` holds those keywords of `explore` that are not part of the question and differ from their defaults.
    """
    more = []
    for name, value in state.items():
        if isinstance(value, dict):
            text = f"{{{', '.join(f'{quoted(key)}: {size}' for key, size in value.items())}}}"
        elif isinstance(value, (list, tuple)):
            text = f"[{', '.join(map(quoted, value))}]"
        elif isinstance(value, str):
            text = quoted(value)
        else:
            text = repr(value)
        more.append(f"{name}={text}")
    # Without shapes the call would use the example's shapes, so the call then passes the answer itself.
    arguments = question.arguments() if question.shapes else [question.call()]
    return f"sb.notebook.explore({', '.join([*arguments, *more])})"


def _map(result: Result, survey: Survey, looking: ViewSettings, decided: bool) -> dict[str, Any]:
    rank = len(next(iter(survey.shapes), ()))
    axis = looking.shade if looking.shade in range(rank) else informative_axis([survey.shapes])
    kinds = words.categories([survey], survey.blames)
    kind_of = {blamed: n for n, kind in enumerate(kinds) for blamed in kind.blamed}
    return {
        "axes": list(survey.names),
        "sizes": [list(sizes) for sizes in survey.sizes],
        "steps": "; ".join(
            f"{visible(shorten_middle(n, _NAME))}: {words.sizes_shown(s)}"
            for n, s in zip(survey.names, survey.sizes, strict=True)
        ),
        "up_to": max(map(max, survey.sizes)),
        "fixed": visible(words.fixed_text(survey.fixed, survey.following)),
        "note": visible(_note(result, survey)) if decided else "",
        "rows": [[_cell(cell, axis, kind_of) for cell in row] for row in survey.rows],
        "blames": _blames(survey, kinds),
        "words": {
            "works": words.works_text(axis),
            "excluded": visible(shorten_end(words.excluded_text(words.assumed_text(result)), 80)),
        },
        "shade": axis,
        "rank": rank,
    }


def _note(result: Result, survey: Survey) -> str:
    """Return the reason why a map shows only one outcome, if it does."""
    if result.verdict in (Verdict.ALWAYS, Verdict.NEVER):
        return words.condition_text(result)
    return words.missing_text(result, survey)


def _cell(cell: Cell, axis: int | None, kind_of: Mapping[tuple[int, ...], int]) -> list[Any]:
    """A cell: the output's shape and its size on the shaded axis, the kind of failure, or that it is left out."""
    match cell.outcome:
        case Outcome.WORKS:
            assert cell.shape is not None
            return ["works", str(cell.shape[axis]) if axis is not None else None, str(cell.shape)]
        case Outcome.FAILS:
            return ["fails", kind_of[cell.blamed]]
        case Outcome.EXCLUDED:
            return ["excluded"]


def _blames(survey: Survey, kinds: Sequence[FailureCategory]) -> list[dict[str, Any]]:
    """Return the name of each kind of failure, and a mark: the axis, or a letter if there is not just one axis."""
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    rows = []
    for kind in kinds:
        axes = {survey.blames[n].axis for blamed in kind.blamed for n in blamed}
        axis = next(iter(axes)) if len(axes) == 1 else None
        rows.append({"label": visible(kind.label), "mark": next(letters) if axis is None else str(axis)})
    return rows


def palette_data() -> dict[str, Any]:
    """Return the colours of the page as red, green and blue values."""
    return {"works": channels(FINE), "fault": channels(IMPOSSIBLE), "fails": list(map(channels, FAILURES))}


# Pages that show a saved notebook run no code: they get the answer and a picture.


_NOTE = "This is an explorer: run the notebook to change the shapes."


def page(result: Result, looking: ViewSettings, comparison: Comparison | None = None) -> str:
    """Return the answer as HTML, with the map as a picture and the comparison with another rule, if there are any."""
    parts = [html.render(broadcast.broadcast_document(call_of(result), Room.PAGE))]
    if result.symbols:
        parts.append(_picture(result, looking))
    if comparison is not None:
        parts.append(html.render(comparison_document(comparison)))
    return "".join((*parts, html.element("div", html.text(_NOTE), "opacity:.75")))


def _picture(result: Result, looking: ViewSettings) -> str:
    try:
        from symbcast.notebook.figures.layout import image

        picture = picture_of(result, looking)
    except ImportError:
        # The text is complete without the picture.
        return html.element("div", html.text(str(MissingExtraError("the picture", "notebook"))))
    return image(b64encode(picture.as_png()), "image/png", picture.description)


def picture_of(result: Result, looking: ViewSettings) -> Picture:
    """Return the map of a result that has symbols as a figure; raises `ImportError` without matplotlib."""
    from symbcast.notebook.figures.layout import picture

    survey = survey_of(subject := subject_of(result), section_to_show(subject, looking, decided=True))
    rank = len(next(iter(survey.shapes), ()))
    axis = looking.shade if looking.shade in range(rank) else informative_axis([survey.shapes])
    return picture(result, survey, axis)


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
            rules=rules_data(),
            page={"colours": palette_data(), "largest_map": LARGEST_MAP, "most_sizes": MOST_SIZES},
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
        return picture_of(self._result, self._looking())

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
            self.checked = {"serial": self._serial, "faults": faults_data(faults)}
            return
        # Everything that needs no decision is sent first, so that it appears at once, even if the question is hard.
        self._look(decided=False)
        self._comparison = question.comparison(self._result)
        self.answer = {"serial": self._serial, **answer_data(self._result, self._comparison)}
        self._look()

    def _look(self, _: Any = None, decided: bool = True) -> None:
        if self._result is None or self._question is None:
            return
        self.checked = {
            "serial": self._serial,
            "faults": {},
            "call": self._question.call(),
            "explorer_call": explorer_call(self._question, self._state()),
            **view_data(self._result, self._looking(), decided, self._sections),
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
            bundle[0]["text/html"] = page(self._result, self._looking(), self._comparison)
        return bundle

    def _looking(self) -> ViewSettings:
        return ViewSettings(self.sizes, self.over, self.up_to, self.shade)

    def __repr__(self) -> str:
        if self._result is None:
            field, (message, *_) = next(iter(self.checked["faults"].items()))
            question = f"{self.rule} of {', '.join(map(repr, self.shapes))}"
            return visible(f"<Explorer {shorten_end(question, 120)}; {field}: {shorten_end(message, 80)}>")
        return f"<Explorer {one_line_summary(call_of(self._result))}>"
