"""The answers of the playground: questions as the page sends them, answers as pages show them.

It runs in the browser under Pyodide, and in tests as it is: it needs only symbcast.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

import symbcast as sb

# The plot has a cell for each pair of sizes below these.
CELLS = 17
MOST_NAMES = 8


def answer(text: str) -> str:
    """Return the answer to a question, both as JSON: ``html``, the ``plot`` if two sizes can be drawn, ``seconds``.

    ``error`` is what is wrong with the question.
    """
    started = time.perf_counter()
    question = json.loads(text)
    try:
        subject = _KINDS[question["kind"]](question)
        said = {"html": subject._repr_html_(), **_plot(subject, question.get("axes", ()))}
    except sb.SymbcastError as error:
        said = {"error": str(error)}
    except Exception as error:  # of a program that the user wrote
        said = {"error": f"{type(error).__name__}: {error}"}
    return json.dumps({**said, "seconds": time.perf_counter() - started})


def rules() -> str:
    """Return the names of the rules and those of their attributes, as JSON."""
    return json.dumps([rule.name for rule in sb.rules() if rule.name != "none"])


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _rule(question: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rule and its attributes, which are written as in a call: ``axis=1``."""
    attributes = {}
    for part in filter(None, (p.strip() for p in question.get("attributes", "").split(";"))):
        name, _, value = part.partition("=")
        attributes[name.strip()] = json.loads(value.replace("(", "[").replace(")", "]").replace("'", '"'))
    return {"rule": question["rule"], **{n: tuple(v) if isinstance(v, list) else v for n, v in attributes.items()}}


def _broadcast(question: Mapping[str, Any]) -> Any:
    shapes, assume = _lines(question["shapes"]), _lines(question["assume"])
    return sb.broadcast(*shapes, assume=assume, **_rule(question))


def _compare(question: Mapping[str, Any]) -> Any:
    shapes, assume = _lines(question["shapes"]), _lines(question["assume"])
    return sb.compare(*shapes, rules=question["rules"], assume=assume)


def _program(question: Mapping[str, Any]) -> Any:
    env = sb.ShapeEnv(assume=_lines(question["assume"]))
    exec(compile(question["program"], "program", "exec"), {"env": env, "sb": sb})  # in the user's own browser
    return env


_KINDS: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "broadcast": _broadcast,
    "compare": _compare,
    "program": _program,
}


def _plot(subject: Any, axes: Sequence[str]) -> dict[str, Any]:
    """Return the plot of the sizes that work, and the names that it can have as axes; nothing if there are none."""
    condition = getattr(subject, "condition", None)
    if condition is None or subject.verdict is sb.Verdict.UNKNOWN:
        return {}
    guard = subject.guard(with_assumptions=True)
    names = list(guard.names.values())
    if not names or len(names) > MOST_NAMES or any(not n.lstrip("?").replace("_", "").isalnum() for n in names):
        return {}  # sequences of axes have no sizes of their own
    needed = re.findall(r"[?\w]+", str(condition))  # its symbols are sympy's, which takes long to load
    names.sort(key=lambda name: name not in needed)  # those that the condition is about first
    chosen = [*[a for a in axes if a in names], *[n for n in names if n not in axes]][:2]
    witness = subject.witness() or {}
    others = {n: witness.get(n, 1) for n in names if n not in chosen}
    works = [
        [bool(guard({**others, **dict(zip(chosen, (x, y), strict=False))})) for x in range(CELLS)]
        for y in range(CELLS if len(chosen) > 1 else 1)
    ]
    return {"plot": _drawn(works, chosen, others), "names": names, "axes": chosen}


def _drawn(works: Sequence[Sequence[bool]], axes: Sequence[str], others: Mapping[str, int]) -> str:
    """Return the plot as SVG; sizes that fail are hatched, so that colours are not needed."""
    size, left, top = 18, 44, 8
    width, height = left + CELLS * size + 8, top + len(works) * size + 40
    count = sum(map(sum, works))
    held = f", with {', '.join(f'{n} = {s}' for n, s in others.items())}" if others else ""
    said = (
        f"{count} of {sum(map(len, works))} cells work, for sizes of {' and '.join(axes)} from 0 to {CELLS - 1}{held}"
    )
    parts = [
        f'<svg viewBox="0 0 {width} {height}" width="{width}" role="img" aria-label="{escape(said)}">',
        '<defs><pattern id="fails" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        '<path d="M0 0V4" stroke="currentColor" stroke-opacity=".45"/></pattern></defs>',
    ]
    for y, row in enumerate(works):
        for x, is_right in enumerate(row):
            place = (
                f'x="{left + x * size}" y="{top + (len(works) - 1 - y) * size}" width="{size - 1}" height="{size - 1}"'
            )
            fill = "#009e73" if is_right else "url(#fails)"
            at = ", ".join(f"{n} = {s}" for n, s in zip(axes, (x, y), strict=False))
            parts.append(
                f'<rect {place} fill="{fill}"><title>{escape(at)}: {"works" if is_right else "fails"}</title></rect>'
            )
    below = top + len(works) * size
    text = 'font-size="11" fill="currentColor"'
    for n in range(0, CELLS, 4):
        parts.append(f'<text {text} x="{left + n * size + size / 2}" y="{below + 14}" text-anchor="middle">{n}</text>')
        if len(works) > 1:
            middle = top + (len(works) - 1 - n) * size + size / 2 + 4
            parts.append(f'<text {text} x="{left - 6}" y="{middle}" text-anchor="end">{n}</text>')
    parts.append(
        f'<text {text} x="{left + CELLS * size / 2}" y="{below + 32}" text-anchor="middle">{escape(axes[0])}</text>'
    )
    if len(axes) > 1:
        parts.append(
            f'<text {text} x="12" y="{top + len(works) * size / 2}" text-anchor="middle">{escape(axes[1])}</text>'
        )
    return "".join([*parts, "</svg>", f"<p>{escape(said)}; the others are hatched.</p>"])
