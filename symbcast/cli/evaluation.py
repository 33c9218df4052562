"""``--at N=2,M=3``: whether something works at given sizes, and the output shapes there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from symbcast.answers.show.document import Document, Fields, Line, Span, Tone, field, heading, words
from symbcast.cli.command import Meaning
from symbcast.cli.terminal import UsageError, argument_text, print_json, show
from symbcast.core.characters import prose_list, quoted_name, sizes_text, visible
from symbcast.core.programs.operations import IncompatibleShapesError
from symbcast.core.structs import NamedTuple
from symbcast.core.verdicts import Verdict
from symbcast.errors import BindingError, MissingSizesError, UndecidedError

if TYPE_CHECKING:
    from symbcast.answers.public.answer import Answer

At: TypeAlias = Annotated[
    list[str] | None,
    Meaning(
        "Sizes, such as N=2,H=64: print only whether it works there, and the output shapes there; may be repeated."
    ),
]
# A name and its size or sizes, as in ``N=2``, ``x=1,3,64,64`` and ``batch=(4,5)``; a list alone is the only input's.
_NUMBERS = r"[0-9]+(?:\s*,\s*[0-9]+)*(?![^\W\d])"
_NAME = r"([^=:<>!,;()\s][^=:<>!,;()]*?)\s*(={1,2}|:)\s*"
_SIZES = re.compile(rf"(?:{_NAME})?(?:({_NUMBERS})|\(\s*({_NUMBERS})?\s*,?\s*\))")
_BETWEEN = re.compile(r"[\s,;]*")


def sizes_of(texts: Sequence[str] | None, guard: str | None = None) -> dict[str, Any] | None:
    """Return the sizes that ``--at`` gives, by name; None without the option.

    Raises `UsageError` for text that cannot be read, and if a guard is wanted too.

    >>> sizes_of(["N=2, M=3", "batch=(4,5)"]), sizes_of(["x=1,3,64,64"])
    ({'N': 2, 'M': 3, 'batch': (4, 5)}, {'x': (1, 3, 64, 64)})
    """
    if texts is None:
        return None
    if guard is not None:
        raise UsageError("--at prints an answer at some sizes, and --guard source text: give one of them")
    sizes: dict[str, Any] = {}
    for name, size in (pair for text in texts for pair in _pairs(text)):
        if sizes.setdefault(name, size) != size:
            raise UsageError(f"--at {name}={size}: {name} is {sizes[name]} already; give it once")
    return sizes


def _pairs(text: str) -> list[tuple[str, Any]]:
    """Return the names and sizes in one value of ``--at``; a list without a name has an empty one."""
    pairs: list[tuple[str, Any]] = []
    place, equals = _BETWEEN.match(text).end(), "="  # type: ignore[union-attr] # it matches everywhere
    while place < len(text):
        match = _SIZES.match(text, place)
        if match is None or text[match.end() : match.end() + 2] == "..":
            raise UsageError(f"--at {text}: {_fault(text[place:])}")
        numbers = tuple(map(int, re.findall("[0-9]+", match[3] or match[4] or "")))
        pairs.append((match[1] or "", numbers[0] if match[3] and len(numbers) == 1 else numbers))
        equals = match[2] if match[2] not in (None, "=") else equals
        place = _BETWEEN.match(text, match.end()).end()  # type: ignore[union-attr] # as above
    if equals != "=":
        written = ",".join(f"{name}={size}" for name, size in pairs)
        raise UsageError(f"--at {argument_text(text)}: write --at {argument_text(written)}")
    return pairs


def _fault(text: str) -> str:
    """Return what is wrong with a name and its size, and how they are written."""
    match = re.match(r"\s*([^\W\d]\w*)?\s*=?\s*(-[0-9]+)?(?:([0-9]+)\.\.([0-9]+))?", text)
    name, negative, low, high = match.groups() if match else (None,) * 4
    if low:
        return f'it takes numbers; for a range, write --assume "{low} <= {name or "N"} <= {high}"'
    if negative:
        return f"a size is not negative; write a number, as in --at {name or 'N'}=2"
    return f"write a name and its size, as in --at {name or 'N'}=2"


class EvaluatedAnswer(NamedTuple):
    """Whether something works at given sizes, None if that is open; the output shapes there, or why there are none."""

    sizes: Mapping[str, Any]
    works: bool | None
    outputs: Any = None
    reason: str = ""

    @property
    def verdict(self) -> Verdict:
        """The verdict on these sizes alone."""
        return {True: Verdict.ALWAYS, False: Verdict.NEVER, None: Verdict.UNKNOWN}[self.works]

    def document(self, source: str) -> Document:
        """Return the answer in words; ``source`` is what was asked about."""
        said = {True: "works", False: "fails", None: "open whether it works"}[self.works]
        tone = {True: Tone.FINE, False: Tone.IMPOSSIBLE, None: Tone.UNDECIDED}[self.works]
        title = heading(f"{visible(source)} at {sizes_text(self.sizes)}" if self.sizes else visible(source), said)
        shapes = [(*_named(name), Span(_text(shape), True)) for name, shape in _flat(self.outputs)]
        label = "output" if len(shapes) == 1 else "outputs"
        return Document(title, tone, (Fields((field(label, *shapes), field("reason", words(self.reason)))),))

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as data for JSON."""
        return {"sizes": dict(self.sizes), "works": self.works, "outputs": self.outputs, "reason": self.reason}


def evaluated(answer: Answer, sizes: Mapping[str, Any]) -> EvaluatedAnswer:
    """Return an answer at given sizes; raise `UsageError` for sizes that it does not have, or that are missing."""
    from symbcast.answers.public.evaluation import given_by_name

    if "" in sizes and "" not in answer._named_inputs:
        own = list(answer._shown.values())
        numbers = sizes[""] if isinstance(sizes[""], tuple) else (sizes[""],)
        pairs = zip(own, numbers if len(numbers) == len(own) else [2] * len(own), strict=False)
        example = ",".join(f"{name}={size}" for name, size in pairs)
        raise UsageError(f"--at gives sizes without names; write --at {argument_text(example)}")
    try:
        sizes = given_by_name(answer, sizes)
        outputs = answer.evaluate(sizes)
    except IncompatibleShapesError:
        return EvaluatedAnswer(sizes, False, None, answer._failure_at(sizes))
    except UndecidedError as error:
        return EvaluatedAnswer(sizes, None, None, error.reason)
    except MissingSizesError as error:
        example = ",".join(f"{name}={size}" for name, size in {**sizes, **dict.fromkeys(error.missing, 2)}.items())
        names = prose_list(list(map(quoted_name, error.missing)))
        raise UsageError(f"--at gives no size for {names}; write --at {argument_text(example)}") from None
    except BindingError as error:
        raise UsageError(f"--at: {error}") from None
    is_open = answer._account.is_open and not answer.guard(open=False)(dict(sizes))
    return EvaluatedAnswer(sizes, None if is_open else True, outputs, answer.reason if is_open else "")


def _flat(outputs: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the parts of a result that are shapes or numbers, with their names or places."""
    if isinstance(outputs, Mapping):
        for key, part in outputs.items():
            yield from _flat(part, f"{name}[{key!r}]" if name else str(key))
    elif isinstance(outputs, list) or (isinstance(outputs, tuple) and not _is_shape(outputs)):
        for place, part in enumerate(outputs):
            yield from _flat(part, f"{name}[{place}]")
    elif outputs is not None or name:
        yield name, outputs


def _is_shape(value: tuple[Any, ...]) -> bool:
    return all(size is None or type(size) is int for size in value)


def _named(name: str) -> Line:
    return (Span(f"{visible(name)} "),) if name else ()


def _text(shape: Any) -> str:
    """Return a shape, or a number, with ``?`` where data decide."""
    if not isinstance(shape, tuple):
        return "of unknown shape" if shape is None else str(shape)
    sizes = ["?" if size is None else str(size) for size in shape]
    return f"({sizes[0]},)" if len(sizes) == 1 else f"({', '.join(sizes)})"


def written(evaluation: EvaluatedAnswer, source: str, format: str) -> Document | dict[str, Any]:
    """Return an answer at given sizes as a document, or as data for JSON; raise `UsageError` for another format."""
    if format not in ("text", "json"):
        raise UsageError(f"--at prints an answer at some sizes: leave --format {format} out")
    return evaluation.to_dict() if format == "json" else evaluation.document(source)


def print_answer(answer: Document | dict[str, Any]) -> None:
    """Print an answer at given sizes."""
    print_json(answer) if isinstance(answer, dict) else show(answer)
