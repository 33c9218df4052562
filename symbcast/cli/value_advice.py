"""Values of options that a shell divided, that hold several values, or that are of another kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from symbcast.cli.command import Option
from symbcast.cli.terminal import EQUALS, SIGNS, argument_text, command_line, is_number, path_exists, repeated_option
from symbcast.core.rules.registry import is_rule_name, parameters_of, takers_of
from symbcast.core.text import parse_formula
from symbcast.errors import ShapeSyntaxError, SymbcastError

RELATIONS = ("--assume", "--that")
# What people write before a shape that they expect.
_OUTPUT = re.compile(r"\s*(?:output|out|shape|result)(?:\.shape)?\s*(?:={1,2}|is)\s*(?=[\[(])")
# Options whose value is a name, ``=``, and what is known about it.
_PAIRS = ("--bind", "--range", "--typical", "--shapes", "--values")
# Options with one word, of which several are often written with commas.
_LISTS = ("--rule", "--select", "--ignore")
_PAIR = re.compile(r"[^\W\d][\w.:/]*\s*=(?!=).+", re.DOTALL)
_NEXT_PAIR = re.compile(r"\s*[,;]\s*(?=[^\W\d][\w.:/]*\s*=(?!=))")
_COMMA = re.compile(r"\s*[,;]\s*(?![^()\[\]]*[)\]])")
_BETWEEN_RULES = re.compile(rf"{_COMMA.pattern}|\s+(?:vs\.?|versus|and|or|against)\s+")
_CODE = re.compile(r"SYM\d+", re.IGNORECASE)
_TERM = re.compile(r"[^\W\d][\w.]*(?:\s*[%*+/-]+\s*\w+)*")
_DIMENSION = re.compile(r"[\w?*+/.-]+[,\])]*|[\])]")


def is_relation(text: str) -> bool:
    """Return whether a text is a complete assumption: a type in MLIR also has angle brackets."""
    try:
        return parse_formula(text) is not None
    except SymbcastError:
        return False


def meant_relation(text: str) -> str:
    """Return a text that is an assumption, or the one that its error suggests; empty if there is none."""
    try:
        parse_formula(text)
    except ShapeSyntaxError as error:
        return error.correction
    return text


def split_value_fault(option: Option, value: str, after: Sequence[str], command: str, shapes: Sequence[str]) -> str:
    """Return the error for a value that goes on in the arguments after it, or that holds several; empty if it is fine.

    ``shapes`` are all arguments of the command that are not options.
    """
    name = option.names[0]
    if name == "--that" and _OUTPUT.match(value):
        rest = _OUTPUT.sub("", value).strip("\"'")
        solved = command_line("solve", [s for s in shapes if s not in after] or ["N, 3", "M, 1"], "--out", rest)
        return f"--that {argument_text(value)}: a relation is between sizes; for an output, write {solved}"
    words = list(after[: next((n for n, a in enumerate(after) if a.startswith("-") and not is_number(a)), len(after))])
    several = _several(name, value, words)
    if len(several) > 1:
        separate = separated(option, several, command, shapes)
        return (
            f"{name} {argument_text(value)}: give the option once for each: {separate}" if option.repeats else separate
        )
    whole = _whole(name, value, words, option, shapes)
    return f"the value of {name} goes on after a space; write {name} {argument_text(whole)}" if whole else ""


def separated(option: Option, values: Sequence[str], command: str, shapes: Sequence[str]) -> str:
    """Return how to write several values of an option: the option once for each, or a comparison of several rules."""
    name = option.names[0]
    if option.repeats:
        return repeated_option(name, values)
    own = [text for text in shapes if text not in values]
    rules = [part for rule in values for part in (name, rule)]
    return f"{command} takes one rule; several are compared: {command_line('compare', own, rules)}"


def several_rules(value: str, others: Sequence[str]) -> list[str]:
    """Return the rules in the value of an option, and those among the arguments that are not options."""
    return _several("--rule", value, [text for text in others if is_rule_name(text)])


def _several(name: str, value: str, words: Sequence[str]) -> list[str]:
    """Return the values in one: divided by commas, or followed by others of the same kind."""
    if name in _PAIRS:
        values = _NEXT_PAIR.split(value)
        return [*values, *_leading(words, lambda w: bool(_PAIR.fullmatch(w)) and not path_exists(w))]
    if name in _LISTS:
        values = [part for part in (_BETWEEN_RULES if name == "--rule" else _COMMA).split(value) if part]
        if name == "--rule" and not all(is_rule_name(part.partition("(")[0]) for part in values[1:]):
            values = [value]
        is_alike = is_rule_name if name == "--rule" else lambda w: bool(_CODE.fullmatch(w))
        return [*values, *_leading(words, lambda w: is_alike(w.partition("(")[0]))]
    return [value]


def _leading(words: Sequence[str], test: Callable[[str], bool]) -> list[str]:
    return list(words[: next((n for n, word in enumerate(words) if not test(word)), len(words))])


def _whole(name: str, value: str, words: Sequence[str], option: Option, shapes: Sequence[str]) -> str:
    """Return the value together with the words that a shell divided from it; empty if it was not divided."""
    if not words:
        return ""
    if name in RELATIONS:
        return _relation(value, words)
    if name in _PAIRS and "=" not in value:
        return _pair(name, value, words)
    if option.repeats and is_number(value) and is_number(words[0]) and (len(shapes) > 2 or name not in _AXES):
        return ",".join([value, *_leading(words, is_number)])
    if name == "--shapes" and "=" in value:
        dims = _leading(words, lambda w: bool(_DIMENSION.fullmatch(w)) and not path_exists(w) and "." not in w)
        return ", ".join([value, *(d.rstrip(",") for d in dims)]) if dims else ""
    return ""


_CONNECTIVES = {"and": "and", "or": "or", "&&": "and", "||": "or", "&": "and", "|": "or"}


def _pair(option: str, name: str, words: Sequence[str]) -> str:
    """Return a name and the values after it as one value of an option, such as ``N=1..8``; empty if there are none."""
    name, numbers = name.rstrip(":"), _leading(words, lambda w: _NUMBER_OR_RANGE.fullmatch(w.strip("=,")) is not None)
    sizes = [number.strip("=,") for number in numbers if number.strip("=,")]
    if not sizes or not re.fullmatch(r"[^\W\d][\w.:/]*", name):
        return ""
    if option == "--range" and len(sizes) in (2, 3) and all(map(str.isdecimal, sizes)):
        step = f" step {sizes[2]}" if sizes[2:] else ""
        return f"{name}={sizes[0]}..{sizes[1]}{step}"
    return f"{name}={', '.join(sizes)}" if option == "--shapes" else f"{name}={','.join(sizes)}"


_NUMBER_OR_RANGE = re.compile(r"(?:-?[0-9]+(?:\.\.[0-9]+)?(?:,\s*|$))*")

_AXES = ("--axes", "--keep", "--broadcast-dimensions")


def _relation(value: str, words: Sequence[str]) -> str:
    """Return the relation that a value begins; a shell takes ``>`` and ``<`` for itself."""
    if is_relation(value) and words[0].casefold() not in _CONNECTIVES:
        return ""
    if is_relation(value):
        count = next((n for n in range(0, len(words), 2) if words[n].casefold() not in _CONNECTIVES), len(words))
        return " ".join([value, *[_CONNECTIVES.get(word.casefold(), word) for word in words[:count]]])
    # The most words first: of `N >= 2 and M`, a shorter part is a relation too, which would lose the rest.
    for count in range(len(words), 0, -1):
        relation = meant_relation(" ".join([value, *words[:count]]))
        if relation:
            return relation
    is_cut = _TERM.fullmatch(value) and re.fullmatch(r"\d+|[^\W\d]\w?", words[0])
    return f"{value} >= {words[0]}" if is_cut else ""


def sign_among(command: str, shapes: Sequence[str], options: Sequence[str]) -> str:
    """Return the error for a sign between shapes, which are separate arguments; empty if there is none.

    >>> sign_among("solve", ["N, 3", "M, 1", "=", "5, 3"], [])
    '= precedes an output: symbcast solve "N, 3" "M, 1" --out "5, 3"'
    """
    sign = next((text.strip() for text in shapes if text.strip() in (*SIGNS, *EQUALS)), "")
    own = [text for text in shapes if text.strip() not in (*SIGNS, *EQUALS)]
    if sign in EQUALS and shapes[-2:-1] == [sign] and len(own) > 1:
        return f"{sign} precedes an output: {command_line('solve', own[:-1], '--out', own[-1])}"
    if not sign or not own:
        return ""
    words = [part for option in options for part in option.split("=", 1)]
    return f"shapes are separate arguments: leave {sign} out: {command_line(command, own, words)}"


def _joined(words: Sequence[str]) -> tuple[str, int]:
    """Return the words of one shape, and how many they are: it ends with a word without a comma at its end."""
    count = next((n for n, word in enumerate(words, 1) if not word.rstrip().endswith(",")), len(words))
    return " ".join(words[:count]), count


def unquoted_shapes(command: str, arguments: Sequence[str]) -> str:
    """Return the error for shapes that were not quoted, so that a shell divided them at their spaces; else empty.

    ``(N,)`` is a tuple of Python, and ``N,`` alone is one too: only a comma before an argument without commas tells.
    """
    joined: list[str] = []
    rest = list(arguments)
    while rest:
        text, count = _joined(rest)
        joined.append(text)
        rest = rest[count:]
    ends = next((a for a, b in pairwise(arguments) if _is_open(a) and _is_end(b)), "")
    if not ends or len(joined) == len(arguments):
        return ""
    shapes = joined if len(joined) > 1 else ["N, 3", "M, 1"]
    return f"{_quoted(ends)} ends with a comma: quote each shape: symbcast {command} {' '.join(map(_quoted, shapes))}"


def _is_open(argument: str) -> bool:
    return re.fullmatch(r"[(\[]?[^,()\[\]]*,", argument.strip()) is not None


def _is_end(argument: str) -> bool:
    return re.fullmatch(r"[^,()\[\]]+,?[)\]]?", argument.strip()) is not None


def _quoted(text: str) -> str:
    said = argument_text(text)
    return said if said.startswith('"') else f'"{said}"'


def misplaced_binding(others: Sequence[str], takes_ranges: bool) -> str:
    """Return the error for an argument of a command on models that is a size and its value; empty if none is."""
    for text in others:
        pair = re.fullmatch(r"([^\W\d][\w.]*)\s*={1,2}\s*(.+)", text, re.DOTALL)
        if pair is None or path_exists(text):
            continue
        name, value = pair[1], pair[2].strip()
        ends = re.fullmatch(r"([0-9]+)\.\.([0-9]+)", value)
        if takes_ranges:
            return f"{argument_text(text)} is not a file; write --range {argument_text(f'{name}={value}')}"
        if value.isdecimal():
            return f"{argument_text(text)} is not a file; write --bind {name}={value}"
        if ends:
            return f'{argument_text(text)} is not a file; write --assume "{ends[1]} <= {name} <= {ends[2]}"'
        return f"{argument_text(text)} is not a file; write --shapes {argument_text(text)}"
    return ""


def rule_among(others: Sequence[str], rules: Sequence[str]) -> str:
    """Return the error for rules given as if they were shapes of a comparison; empty if there are none."""
    named = [
        text for text in others if "," not in text and is_rule_name(text)
    ]  # the packages installed are searched for it
    own = [text for text in others if text not in named and text not in SIGNS]
    if not named or (not own and len(named) < 2):
        return ""
    compared = list(dict.fromkeys((*rules, *named)))
    compared += ["pdpd" if compared[0] == "numpy" else "numpy"] if len(compared) == 1 else []
    own = own or ["N, 3", "M, 1"]
    option_words = [part for rule in compared for part in ("--rule", rule)]
    return f"compare takes shapes, and rules by --rule: {command_line('compare', own, option_words)}"


def attributes_among(others: Sequence[str], rules: Sequence[str]) -> str:
    """Return the error for attributes of a rule given as if they were shapes; empty if there are none.

    >>> attributes_among(["N, 3", "axis=0"], ["pdpd"])
    'axis=0 is not a shape; an attribute follows the rule in parentheses: --rule "pdpd(axis=0)"'
    """
    pairs = [pair for text in others if (pair := re.fullmatch(r"\s*(\w+)\s*=(?!=)\s*(.+)", text, re.DOTALL))]
    attributes = [(p[1], p[2].strip()) for p in pairs if takers_of(p[1])]
    if not attributes:
        return ""
    takers = takers_of(attributes[0][0])
    first = attributes[0][0]
    rule = next((r for r in reversed(rules) if first in [p.name for p in parameters_of(r.partition("(")[0])]), "")
    name, _, own = (rule or takers[0]).partition("(")
    inside = ", ".join([*filter(None, [own.rstrip(") ")]), *(f"{n}={v}" for n, v in attributes)])
    problem = f"{argument_text('='.join(attributes[0]))} is not a shape; an attribute follows the rule in parentheses"
    return f'{problem}: --rule "{name}({inside})"'


def number_fault(name: str, value: str, example: str, kind: str) -> str:
    """Return the error for a value that is no number."""
    said = f"{name} {argument_text(value)}: write {kind}, as in {example}"
    if value.isdecimal():
        return f"{name} {argument_text(value)}: is too large; write {kind}, as in {example}"
    if value.casefold() in ("all", "none", "any", "inf", "unlimited", "max", "no"):
        return f"{said}, or leave {name} out"
    return said
