"""What stands above a plot: the question, the condition, and the sizes that are fixed."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from matplotlib.font_manager import FontProperties

from symbcast.api.env import ShapeEnv
from symbcast.api.result import Result
from symbcast.explanation.names import Namer, rule_text
from symbcast.logic.formulas import FALSE, Formula, all_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.text import Text

    from symbcast.onnx.report.model_report import ModelReport


def question_text(subject: Result | ShapeEnv | ModelReport) -> str:
    """Return the question in short: "numpy: (N, 3), (M, 1)"."""
    if isinstance(subject, Result):
        namer = Namer(subject)
        return f"{rule_text(subject.rule)}: {', '.join(map(namer.shape, subject.operands))}"
    if isinstance(subject, ShapeEnv):
        count = sum(op.kind != "assume" for op in subject.operations)
        return f"{count} operation{'' if count == 1 else 's'} over {_counted(len(subject.symbols))}"
    return PurePath(subject.source).name or "model"


def condition_text(subject: Result | ShapeEnv | ModelReport) -> str:
    """Return where the answer is valid: "works where N == M or N == 1 or M == 1"."""
    if isinstance(subject, Result):
        return _where(subject.clauses, Namer(subject))
    env = subject if isinstance(subject, ShapeEnv) else subject._env
    return _where(env.clauses, Namer.of(env.shown))


def assumed_text(subject: Result | ShapeEnv | ModelReport) -> str:
    """Return what is assumed, as it was written; empty where only bounds and ``min_size`` are."""
    texts = [a if isinstance(a, str) else a.text for a in subject.assumptions]
    return ", ".join(dict.fromkeys(texts))


def fit(text: Text, words: str, points: float) -> None:
    """Write words into a text on one line, their end left out where they are longer than so many points."""
    words = plain(words)
    text.set_text(words)
    scale = 72.0 / text.get_figure().dpi  # type: ignore[union-attr]
    while len(words) > 8 and (wide := max(text.get_window_extent().size) * scale) > points:
        words = f"{words[: max(5, min(len(words) - 4, int(len(words) * points / wide) - 3))].rstrip()}..."
        text.set_text(words)


def points_of(size: str | float) -> float:
    """Return a size of letters, such as "small", in points."""
    return float(FontProperties(size=size).get_size_in_points())


def plain(words: str) -> str:
    """Return words on one line: a name may hold any character."""
    return "".join(c if c.isprintable() else " " for c in words)


def _where(clauses: Sequence[Formula], namer: Namer) -> str:
    if not clauses:
        return "works for all sizes"
    return "works for no sizes" if FALSE in clauses else f"works where {namer.formula(all_of(clauses))}"


def _counted(sizes: int) -> str:
    return "1 size" if sizes == 1 else f"{sizes} sizes"
