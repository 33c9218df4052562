"""Texts that are not in our notation: what was probably meant, and what is wrong, in plain words."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from symbcast.core.structs import NamedTuple
from symbcast.core.text.sentences import read_sentence, read_size_sentence
from symbcast.core.text.spoken_sizes import RESERVED
from symbcast.core.text.words import LOOKALIKES

# Shapes with other or missing brackets and separators, and the types of other tools: each item is read by itself.


# Longer shapes are not taken apart: each of their items is parsed.
_MOST = 400
_QUOTE = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_PARTS = re.compile(rf"{_QUOTE}|[()\[\]{{}}]|,|.", re.DOTALL)
# Functions whose result is no shape, or another one.
_OF_ALL = r"(?:\w+\.)*(?:prod|sum|len|max|min|any|all|mean|gcd|lcm|set|sorted|reversed|rank|ndim|numel|hash|str)\("
# Types of other tools around a shape in brackets.
_WRAPPERS = (
    r"\s*!torch\.v?tensor\s*<\s*(\[[^\[\]]*\]).*>\s*",
    rf"\s*(?!{_OF_ALL})[\w.]*[A-Za-z][\w.]*\(\s*(\[[^()]*\]|\([^()]*\))\s*\)\s*",  # torch.Size([2, 3])
    r"\s*[A-Za-z]+\d+\s*(\[[^\[\]]*\])\s*(?:\{[\d,\s]*\})?\s*",  # f32[2,3]{1,0}
    r"\s*(\[[^\[\]]*\])\s*\{[\d,\s]*\}\s*",
    r"\s*<([^<>]*)>\s*",
)
_CROSSED = re.compile(r"(?:\d+|\?)(?:x(?:\d+|\?))+")
_BETWEEN_SIZES = re.compile(r"(?<=[\w?)])\s*\u00d7\s*(?=[\w?(])|(?<=[\w?)])\s+(?:[xX]|by)\s+(?=[\w?(])")
_SPACE = re.compile(r"(?<=[\w?).])\s+(?=[\w?(.])")
# A word before another: in a shape with commas, both are one name.
_SPACED_WORDS = re.compile(r"(?<![\w.?])([^\W\d]\w+)\s+(?=[^\W\d]\w+(?![\w.(]))")
# Sizes with bounds; ``2:5`` includes 5 in some languages only.
_BOUNDED = (
    (r"(\d+)\s*(?:-|to|\.\.\.)\s*(\d+)", r"\1..\2"),
    (r"(?:<=|\u2264)\s*(\d+)", r"..\1"),
    (r"(?:>=|\u2265)\s*(\d+)", r"\1.."),
    (r"(\d+)\s*\.\.\s*(?:inf|\u221e)", r"\1.."),
    (r":", "?"),
)


_SAME = {ord(sign): meant for sign, meant in LOOKALIKES.items() if len(meant) == 1 and sign not in ";{}"}


class RewrittenShape(NamedTuple):
    """A text in our notation; with slips, it is suggested and not accepted."""

    text: str
    is_slip: bool


def rewrite_shape(text: str, reads: Callable[[str], bool]) -> RewrittenShape | None:
    """Return a shape in our notation, None if it has no certain reading.

    ``reads`` says whether a text is a shape in our notation.

    >>> rewrite_shape("2 x 3", lambda text: "x" not in text), rewrite_shape("2:5, 3", lambda text: ":" not in text)
    (RewrittenShape(text='2, 3', is_slip=True), None)
    """
    if len(text) > _MOST:
        return None
    if re.match(r"\s*vector\s*<", text):
        tensor = re.sub(r"\s*vector\s*<", "tensor<", text, count=1)
        return RewrittenShape(tensor, True) if reads(tensor) else None
    plain = text.translate({ord("\u201c"): "", ord("\u201d"): "", ord("\u2018"): "", ord("\u2019"): ""})
    for pattern in _WRAPPERS:
        if wrapped := re.fullmatch(pattern, plain, re.DOTALL):
            inner = _read(wrapped[1], reads)
            return inner and RewrittenShape(inner.text, True)
    rewritten = _read(plain, reads)
    return rewritten and (rewritten if plain == text else RewrittenShape(rewritten.text, True))


def _read(text: str, reads: Callable[[str], bool]) -> RewrittenShape | None:
    body, opening, is_slip = _without_brackets(re.sub(r"\]\s*\[", ", ", text.strip()))
    is_slip |= text.strip()[1:-1] != body and text.strip() != body
    items = _items(body)
    if items is None:
        return None
    is_slip |= any(item[1] for item in items)
    texts = [item[0] for item in items]
    is_list = len(texts) > 1 or "," in body
    parts = [_item(item, reads) for item in texts] if is_list else _single(texts[0], reads)
    shape: list[str] = []
    for part in parts:
        if part is None:
            return None
        shape.append(part.text)
        is_slip |= part.is_slip
    joined = ", ".join(shape)
    is_tuple = opening and (len(shape) != 1 or opening == "[" or body.rstrip().endswith(","))
    if is_tuple and len(shape) == 1 and opening == "(":
        joined += ","
    whole = f"{opening}{joined}{_CLOSING[opening]}" if is_tuple and opening else joined
    return RewrittenShape(whole, is_slip) if reads(whole) else None


def _without_brackets(text: str) -> tuple[str, str, bool]:
    """Return a shape without the brackets around it, the opening one, and whether they were not as they should be."""
    opened: list[tuple[str, int]] = []
    for match in _PARTS.finditer(text):
        if match[0] in _CLOSING:
            opened.append((match[0], match.start()))
        elif match[0] in _CLOSING.values():
            if not opened:
                whole = match.end() == len(text)
                return (text[:-1], "(" if match[0] != "]" else "[", True) if whole else (text, "", True)
            bracket, start = opened.pop()
            if not start and match.end() == len(text):
                return text[1:-1], "[" if bracket == "[" else "(", bracket == "{" or _CLOSING[bracket] != match[0]
    if opened and opened[0][1] == 0 and len(opened) == 1:
        return text[1:], "[" if opened[0][0] == "[" else "(", True
    return text, "", False


def _items(text: str) -> list[tuple[str, bool]] | None:
    """Return the items between commas, and whether each comma before it was another sign; None if brackets clash."""
    items, item, opened, is_other = list[tuple[str, bool]](), "", list[str](), False
    for match in _PARTS.finditer(text):
        sign = LOOKALIKES.get(match[0], match[0])
        if match[0] in _CLOSING:
            opened.append(_CLOSING[match[0]])
        elif match[0] in _CLOSING.values() and (not opened or opened.pop() != match[0]):
            return None
        if sign == "," and not opened:
            items.append((item, is_other or match[0] != ","))
            item, is_other = "", False
        else:
            item += match[0]
    if opened:
        return None
    return [*items, (item, is_other)] if item.strip() or not items else items


def _single(text: str, reads: Callable[[str], bool]) -> list[RewrittenShape | None]:
    """Return the items of a shape without commas: sizes between spaces, crosses or words, or one size."""
    if _CROSSED.fullmatch(text.strip()):
        return [RewrittenShape(part, True) for part in text.strip().split("x")]
    parts = _BETWEEN_SIZES.split(text)
    if len(parts) == 1:
        whole = _item(text, reads)
        if whole is not None:
            return [whole]
        parts = _SPACE.split(text.strip())
        if (len(parts) == 2 and parts[0].isdecimal()) or not RESERVED.isdisjoint(text.casefold().split()):
            return [None]  # `2 N` may be a product, and `N is 4` is no shape
    rewritten = [_item(part, reads) for part in parts]
    return [item and RewrittenShape(item.text, True) for item in rewritten]


def _item(text: str, reads: Callable[[str], bool]) -> RewrittenShape | None:
    """Return one size."""
    text = text.strip()
    if text and reads(text):
        return RewrittenShape(text, False)
    for pattern, replacement in _BOUNDED:
        if match := re.fullmatch(pattern, text):
            bounded = match.expand(replacement)
            return RewrittenShape(bounded, True) if reads(bounded) else None
    plain = text.translate(_SAME)
    if plain != text and reads(plain):
        return RewrittenShape(plain, True)
    size = read_size_sentence(text)
    if size is not None and reads(size[0]):
        return RewrittenShape(size[0], size[1] or re.fullmatch(r"[\d.]+", text) is not None)
    joined = _SPACED_WORDS.sub(r"\1_", text)
    if joined == text or not RESERVED.isdisjoint(text.casefold().split()):
        return None
    found_parts = _SPACE.split(joined)
    return RewrittenShape(", ".join(found_parts), True) if all(reads(part) for part in found_parts) else None


def has_spaced_name(text: str) -> bool:
    """Return whether a shape with commas has two words, of two or more letters each, with only a space between them.

    >>> has_spaced_name("batch size, 3"), has_spaced_name("batch size 3"), has_spaced_name("B T, 3")
    (True, False, False)
    """
    return "," in text and _SPACED_WORDS.search(text) is not None


def relation_within(text: str, position: int) -> str:
    """Return the relation, between commas or brackets, at a position in a shape; empty if there is none.

    >>> relation_within("N, (M=3)", 5), relation_within("f32[<=10]", 4)
    ('M == 3', '')
    """
    first = max(text.rfind(character, 0, position) for character in ",([") + 1
    ends = [n for n in (text.find(character, position) for character in ",)]") if n >= 0]
    part = text[first : min(ends, default=len(text))]
    sentence = read_sentence(part)
    return sentence[0] if sentence else ""


# Syntax errors in plain words.


RELATION = "a relation such as 'N >= 2'"
_MOST_CHECKED = 400
_TYPE = re.compile(r"\s*(!?[^\W\d][\w.]*)\s*<.*>\s*", re.DOTALL)

_TERMINALS_IN_WORDS = {
    "INT": "a number",
    "LPAR": "'('",
    "COLON": "':'",
    "COMMA": "','",
    "AND": "'and'",
    "OR": "'or'",
    "RPAR": "')'",
    "RSQB": "']'",
    "$END": "the end",
}
_CHARACTERS = {
    "=": ("a single '='", "'==' for equality"),
    "/": ("exact division of a size is not supported", "'//' for floor division"),
    ".": ("a dot stands only between the words of a name, as in layer.0", ""),
    "'": ("a quote that is not closed", ""),
    '"': ("a quote that is not closed", ""),
    "&": ("unexpected '&'", "'and'"),
    "|": ("unexpected '|'", "'or'"),
    "!": ("unexpected '!'", "'!=' or 'not'"),
    "~": ("unexpected '~'", "'not'"),
    "^": ("there is no operator '^'", "'**' for a power"),
}
_RANGE = re.compile(r"\s*((\d+)\s*\.\.\s*(\d+))\s*")
_DECIMAL = re.compile(r"(?<![\w.])\d*\.\d+(?![\w.])")
_LAST_NAME = re.compile(r"[^\W\d][\w.]*(?=\s*\Z)")


class Fault(NamedTuple):
    """The problem at ``span``, and what is expected there instead."""

    span: tuple[int, int]
    problem: str
    expected: str = ""


def fault_at_character(source: str, position: int, is_formula: bool) -> Fault:
    """Return the fault for a character that begins no token; relations are allowed only in a formula."""
    character = source[position]
    if (fault := _wrong_number(source, position)) is not None:
        return fault
    factorial = re.match(r"!(?!=)", source[position:]) and re.search(r"[\w)]\s*\Z", source[:position])
    if factorial:
        name = _LAST_NAME.search(source[:position])
        return Fault((position, position + 1), f"{_brief(name[0] if name else '...')[1:-1]}! is not a size")
    if character in "=<>!&|~" and not is_formula:
        return _relation(source, position)
    if character in LOOKALIKES:
        return Fault((position, position + 1), f"unexpected {character!r}", f"'{LOOKALIKES[character]}'")
    if source[position : position + 2] in ("=>", "=<"):
        written = source[position : position + 2]
        return Fault((position, position + 2), f"there is no relation '{written}'", f"'{written[::-1]}'")
    bare = _RANGE.fullmatch(source) if is_formula else None
    if bare:
        return Fault(
            bare.span(1), "an assumption needs the name of a size", f"{bare[2]} <= N <= {bare[3]}, for example"
        )
    if character == "[" and is_formula:
        return Fault((position, position + 1), "a size has a name, and no index", "a relation such as 'N >= 2'")
    problem, expected = _CHARACTERS.get(character, (f"unexpected character {character!r}", ""))
    return Fault((position, position + 1), problem, expected)


def _wrong_number(source: str, position: int) -> Fault | None:
    """Return the fault for a number with decimals, such as a size or an exponent."""
    number = next((m for m in _DECIMAL.finditer(source) if m.start() <= position < m.end()), None)
    if number is None:
        return None
    if source[: number.start()].rstrip().endswith(("**", "^")):
        return Fault(number.span(), f"an exponent is a whole number; no roots of sizes, such as **{number[0]}")
    return Fault(number.span(), f"sizes are whole numbers; {number[0]} is not")


def _relation(source: str, position: int) -> Fault:
    """Return the fault for a relation among the sizes of a shape, or for an unsupported MLIR type."""
    other = _TYPE.fullmatch(source)
    if other and source[position] in "<!":
        return Fault(other.span(1), f"MLIR type {_brief(other[1])} is not supported", "tensor<...> or memref<...>")
    relation = relation_within(source[:_MOST_CHECKED], position) or "N >= 2"
    expected = f'a size; to assume {relation}, add assume={relation!r} in Python, --assume "{relation}" in a command'
    return Fault((position, position + 1), "a relation is not a size", expected)


def fault_at_token(source: str, span: tuple[int, int], is_name: bool, accepted: Collection[str]) -> Fault:
    """Return the fault for a token where it is not allowed, but tokens of the accepted kinds are."""
    start, stop = span
    token = source[start:stop]
    expected = expected_in_words(accepted)
    if not token:
        return Fault(span, "the text ends too early" if start else "the text is empty", expected)
    before = source[max(0, start - 200) : start].rstrip()
    called = _LAST_NAME.search(before) if token == "(" else None
    if called:
        end = len(source[:start].rstrip())
        span = (end - len(called[0]), end)
        if called[0] == "rank":
            return Fault(span, "'rank' takes the name of a sequence of axes", "'rank(batch)' for the rank of '*batch'")
        return Fault(span, f"there is no function {_brief(called[0])}", _functions(accepted))
    if is_name and before[-1:].isdigit() and "STAR" in accepted:
        return Fault((start, stop), f"unexpected {_brief(token)} after a number", "'*' between them")
    is_in_name = is_name and "COMMA" in accepted and has_spaced_name(f"{source[:stop][-200:]},")
    problem = f"a name has no spaces before {_brief(token)}" if is_in_name else f"unexpected {_brief(token)}"
    return Fault((start, stop), problem, expected)


def expected_in_words(accepted: Collection[str]) -> str:
    """Describe in words what is allowed where the parser accepts these terminals.

    >>> expected_in_words({"COMMA", "PLUS", "$END"}), expected_in_words({"NAME", "INT", "NONE"})
    ("',' or the end", 'a dimension')
    """
    if "NOT" in accepted:
        return RELATION
    if "NAME" in accepted:
        return "a dimension"
    words = [word for terminal, word in _TERMINALS_IN_WORDS.items() if terminal in accepted]
    if "COMPARE" in accepted and not {"AND", "$END"} & set(accepted):
        words.insert(0, RELATION)
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} or {words[-1]}"


def _functions(accepted: Collection[str]) -> str:
    relations = ", compatible" if "COMPARE" in accepted else ""
    return f"one of min, max, mod, floordiv, broadcast{relations}"


def _brief(text: str) -> str:
    return f"'{text}'" if len(text) <= 30 else f"'{text[:27]}...'"
