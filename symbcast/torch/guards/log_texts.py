"""The text of torch's errors and logs: log prefixes removed, repeated errors dropped, and names for the sizes in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from symbcast.core.algebra.symbols import symbol
from symbcast.core.algebra.terms import Dim
from symbcast.graphs.inputs.knowledge import identifier
from symbcast.torch.guards.guard_texts import GuardReader
from symbcast.torch.reading.inputs import shown_source

_ACCESS = r"(?:\[[^\[\]]*\]|\.(?!size\(\))\w+)*"
SOURCE = rf"(?:L\['\w+'\]|(?<![\w\]'.*])[A-Za-z_]\w*){_ACCESS}\.size\(\)\[\d+\]"
"""A size of an argument: ``L['x'].size()[2]`` when torch exports or compiles, ``x.size()[2]`` when a program is run."""
SIZE = re.compile(SOURCE)
INTEGER = re.compile(r"L\['\w+'\](?:\[[^\[\]]*\])*(?![\[.\w])")
"""An integer argument."""
_NAMED = re.compile(rf"(?<![\w.])(\w+) = ({SOURCE})")
_SYMBOLS = (
    re.compile(rf"create_symbol (?P<symbol>\w+) = \S+ for (?P<source>{SOURCE}|{INTEGER.pattern})"),
    re.compile(rf"'(?P<symbol>[sz]\w*\d+)': \"(?P<source>{SOURCE}|{INTEGER.pattern})\""),
    re.compile(rf"^\s+(?P<symbol>s\d+): (?P<source>{SOURCE}|{INTEGER.pattern})\s*$", re.M),
)
_BACKED = re.compile(r"(?<![\w.'\"])s\d+(?![\w.'\"(])")
_PREFIXES = (
    re.compile(
        r"^(?:\[\w+\]:?\s?)?(?:\[[\d\- :.,]+\]\s*)?[VIWEC]\d{4} \d\d:\d\d:\d\d\.\d+ \d+ \S+:\d+\]"
        r"(?: \[(?:[\d/_!]+|__\w+)\])* ?",
        re.M,
    ),
    re.compile(r"^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+\](?: \[[\d/_]+\])? [\w.]+: \[\w+\] ?", re.M),
    re.compile("\x1b\\[[0-9;]*m"),
)
_STARTS = re.compile(r"Constraints violated \(|\bcreate_env\b|WARNING: \d+ issue\(s\) found during export")
_VIOLATED = "Constraints violated ("
LARGEST_TEXT = 4_000_000
"""The largest number of characters that are read of a log; its end is kept."""


def plain(text: str) -> str:
    """Return a text without the prefixes of log lines and without colours.

    >>> plain("I1124 11:30:45.8 13 torch/fx/symbolic_shapes.py:8081] [0/0] eval Eq(s0, 4) [guard added]")
    'eval Eq(s0, 4) [guard added]'
    """
    text = text[-LARGEST_TEXT:]
    for pattern in _PREFIXES:
        text = pattern.sub("", text)
    return re.sub(r"(satisfy the generated guard:?)\s*\n\s+", r"\1 ", text)


def errors_in(text: str) -> Iterator[str]:
    """Yield the parts of a text about one export each.

    An exception that is raised again, or shown again after "The above exception", is one error. What torch logged
    during an export belongs to the error that ends it.
    """
    places = [found.start() for found in _STARTS.finditer(text)]
    seen: set[str] = set()
    part = text[: places[0]] if places else text
    for start, end in pairwise([*places, len(text)]):
        block = text[start:end]
        if block.startswith(_VIOLATED):
            said = _items(block)
            if said in seen:
                part += block[len(said) :]
                continue
            seen.add(said)
            if _VIOLATED not in part:
                part += block
                continue
        if part.strip():
            yield part
        part = block
    if part.strip():
        yield part


def _items(block: str) -> str:
    """Return an error's first lines, through its last listed constraint."""
    found = re.match(r"[^\n]*(?:\n\s+(?:-|\d+\.) [^\n]*)*", block)
    return found[0] if found is not None else block


class Names:
    """Names of the sizes in one error: the user's `Dim`, or argument and axis."""

    def __init__(self, text: str) -> None:
        self.by_source: dict[str, str] = {}
        for name, source in _NAMED.findall(text):
            if not re.fullmatch(r"[su]\d+", name):
                self.by_source.setdefault(source, name)
        for pattern in (SIZE, INTEGER):
            for source in pattern.findall(text):
                self.by_source.setdefault(source, called(source))
        self.by_symbol: dict[str, str] = {}
        self.source_of_symbol: dict[str, str] = {}
        for pattern in _SYMBOLS:
            for found in pattern.finditer(text):
                self.by_symbol[found["symbol"]] = self.by_source[found["source"]]
                self.source_of_symbol[found["symbol"]] = found["source"]
        for backed in _BACKED.findall(text):  # a symbol whose argument the text does not name
            self.by_symbol.setdefault(backed, backed)
        sizes: dict[str, Dim] = {source: symbol(name) for source, name in self.by_source.items()}
        sizes |= {s: symbol(name) for s, name in self.by_symbol.items()}
        self.reader = GuardReader(sizes)
        self.dims = {name for name, _ in _NAMED.findall(text)}

    def __contains__(self, source: str) -> bool:
        return source in self.by_source

    def name_of(self, source: str) -> str:
        """Return the name of a size, given by its source or already by its name."""
        return self.by_source.get(source, source)

    def axis_of(self, source: str) -> str:
        """Return a size as users write it: ``x.shape[2]``."""
        return shown_axis(source) if source in self.by_source else source

    def spelled(self, expression: str) -> str:
        """Return an expression of torch with the names of sizes in it."""
        for source, name in sorted(self.by_source.items(), key=lambda pair: -len(pair[0])):
            expression = expression.replace(source, name)
        return re.sub(r"(?<!\w)[suz]+\w*\d+(?!\w)", lambda m: self.by_symbol.get(m[0], m[0]), expression)


def called(source: str) -> str:
    """Return a name for a size without one: ``x_dim_0``; an integer argument has its own name."""
    argument, _, axis = source.partition(".size()")
    name = identifier(re.sub(r"\W+", "_", shown_source(argument) if argument.startswith("L[") else argument).strip("_"))
    return f"{name}_dim_{axis.strip('[]')}" if axis else name


def shown_axis(source: str) -> str:
    """Return a size as users write it: ``x.shape[2]`` for ``L['x'].size()[2]``."""
    shown = shown_source(source) if source.startswith("L[") else source
    argument, found, axis = shown.rpartition(".size()")
    return f"{argument}.shape{axis}" if found else shown
