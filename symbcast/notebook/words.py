"""The wording that plots and the explorer share, and failures grouped by who is to blame."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import PurePath
from typing import TYPE_CHECKING

from symbcast.answers.explanation.words import Namer, rule_text
from symbcast.answers.public.env import ShapeEnv, program_of
from symbcast.answers.public.result import Result, call_of
from symbcast.core.algebra.formulas import FALSE, Formula, all_of, clauses
from symbcast.core.characters import prose_list, shorten_end, sizes_text, visible
from symbcast.core.structs import NamedTuple
from symbcast.notebook.subjects import NOT_FOLLOWED, RANKS, FailureSource
from symbcast.notebook.surveys import Outcome, Survey
from symbcast.paths.answer import PathsAnswer, conclusions_of

if TYPE_CHECKING:
    from symbcast.onnx.report import ModelReport


_WIDEST = 60
_STEPS = {1: "every size", 2: "every 2nd size", 3: "every 3rd size"}


def question_text(subject: Result | ShapeEnv | PathsAnswer | ModelReport) -> str:
    """Return a short form of the question: "numpy: (N, 3), (M, 1)"."""
    if isinstance(subject, Result):
        namer = Namer(call_of(subject))
        return f"{rule_text(subject.rule)}: {', '.join(map(namer.shape, subject.operands))}"
    if isinstance(subject, ShapeEnv):
        count = sum(op.kind != "assume" for op in subject.operations)
        return f"{count} operation{'' if count == 1 else 's'} over {_counted(len(subject.symbols))}"
    if isinstance(subject, PathsAnswer):
        return subject.title
    return PurePath(subject.source).name or "model"


def condition_text(subject: Result | ShapeEnv | PathsAnswer | ModelReport) -> str:
    """Return where the answer is valid: "works where N == M or N == 1 or M == 1"."""
    if isinstance(subject, Result):
        return _where(subject.clauses, Namer(call_of(subject)))
    if isinstance(subject, PathsAnswer):
        conclusions = conclusions_of(subject)
        where = _where(clauses(conclusions.formula), Namer.of(conclusions.names))
        return where if subject.complete else f"as far as it was traced, {where}"
    env = program_of(subject) if isinstance(subject, ShapeEnv) else subject._env
    return _where(env.clauses, Namer.of(env.shown))


def assumed_text(subject: Result | ShapeEnv | PathsAnswer | ModelReport) -> str:
    """Return the assumptions as they were written; empty if there are only bounds and ``min_size``."""
    return ", ".join(dict.fromkeys([a if isinstance(a, str) else a.text for a in subject.assumptions]))


def works_text(axis: int | None) -> str:
    """Return the legend text for working cells, in which the sizes of an output axis are written."""
    return "works" if axis is None else f"works, with the size of output axis {axis}"


def fails_text(blames: Sequence[FailureSource]) -> str:
    """Return the legend text for failing cells.

    >>> first, second = FailureSource("axis 0 (-2)", 0), FailureSource("axis 1 (-1)", 1)
    >>> fails_text([first]), fails_text([first, second])
    ('fails on axis 0 (-2)', 'fails on axes 0 and 1')
    """
    if any(b is NOT_FOLLOWED for b in blames):
        return "result unknown"
    axes = [b for b in blames if b.axis is not None]
    others = [b.label for b in blames if b.axis is None and b is not RANKS]
    places = []
    if len(axes) == 1:
        places.append(f"on {axes[0].label}")
    elif axes:
        places.append(f"on axes {prose_list([str(b.axis) for b in axes], limit=6)}")
    if any(b is RANKS for b in blames):
        places.insert(0, "because of the ranks")
    if others:
        places.append(f"at {prose_list([shorten_end(name, 32) for name in others], limit=3)}")
    return shorten_end(f"fails {' and '.join(places)}", _WIDEST)


def excluded_text(assumed: str) -> str:
    """Return the legend text for cells that the assumptions exclude."""
    return f"excluded by {assumed}" if assumed else "excluded by the assumptions"


def fixed_text(fixed: Mapping[str, int], following: Mapping[str, str] | None = None) -> str:
    """Return the sizes that do not vary, and those that follow from others: "K = 3, L = 1"."""
    shown = [f"{name} = {size}" for name, size in (*fixed.items(), *(following or {}).items())]
    return ", ".join(shown[:6]) + (f" and {len(shown) - 6} more" if len(shown) > 6 else "")


def sizes_shown(sizes: Sequence[int]) -> str:
    """Return the sizes on an axis in words.

    >>> sizes_shown(range(17)), sizes_shown(range(0, 257, 8)), sizes_shown((1, 2, 64))
    ('0 to 16', '0 to 256, every 8th size', '1 to 64, 3 sizes')
    """
    if len(sizes) == 1:
        return str(sizes[0])
    steps = {b - a for a, b in pairwise(sizes)}
    (step,) = steps if len(steps) == 1 else (0,)
    ends = f"{min(sizes)} to {max(sizes)}"
    if step == 1:
        return ends
    return f"{ends}, {_STEPS.get(step, f'every {step}th size')}" if step > 1 else f"{ends}, {len(sizes)} sizes"


def missing_text(subject: Result | ShapeEnv | PathsAnswer | ModelReport, survey: Survey) -> str:
    """Return why a survey shows only one of two possible outcomes, and where the other occurs; else an empty string."""
    both = {Outcome.WORKS, Outcome.FAILS}
    if survey.outcomes >= both:
        return ""
    works, fails = subject.witness(), subject.counterexample()
    if not works or not fails:
        return ""
    if Outcome.FAILS not in survey.outcomes and Outcome.WORKS not in survey.outcomes:
        return f"everything here is excluded; it works at {sizes_text(works)} and fails at {sizes_text(fails)}"
    if Outcome.FAILS not in survey.outcomes:
        return f"nothing fails at these sizes; it fails at {sizes_text(fails)}"
    return f"nothing works at these sizes; it works at {sizes_text(works)}"


def description(question: str, condition: str, survey: Survey) -> str:
    """Return a description of a picture of a survey, for people who cannot see it."""
    cells = [cell for row in survey.rows for cell in row]
    counts = [(outcome.value, sum(c.outcome is outcome for c in cells)) for outcome in Outcome]
    shown = [f"{name} ({sizes_shown(sizes)})" for name, sizes in zip(survey.names, survey.sizes, strict=True)]
    others = fixed_text(survey.fixed, survey.following)
    where = f"for sizes of {prose_list(shown)}{f', with {others}' if others else ''}"
    parts = [f"Plot of where it works and where it fails, {where}", f"{question} {condition}"]
    outcomes = prose_list([f"{count} {_VERBS[value]}" for value, count in counts if count])
    parts.append(f"Of {len(cells)} {'cell' if len(cells) == 1 else 'cells'}, {outcomes}")
    kinds = dict.fromkeys(cell.blamed for cell in cells if cell.outcome is Outcome.FAILS)
    said = [fails_text([survey.blames[n] for n in blamed]) for blamed in list(kinds)[:4]]
    if said:
        parts.append(f"It {prose_list(said, 'or')}")
    return visible(". ".join(parts) + ".")


_VERBS = {"works": "work", "fails": "fail", "excluded": "are excluded"}


def _where(clauses: Sequence[Formula], namer: Namer) -> str:
    if not clauses:
        return "works for all sizes"
    return "works for no sizes" if FALSE in clauses else f"works where {namer.formula(all_of(clauses))}"


def _counted(sizes: int) -> str:
    return "1 size" if sizes == 1 else f"{sizes} sizes"


# Failures in a plot, grouped by who is to blame.


# The most kinds of failure that a plot distinguishes.
MOST = 6


class FailureCategory(NamedTuple):
    """A kind of failure: its label in the legend, and the sets of blamed parts that belong to it."""

    label: str
    blamed: frozenset[tuple[int, ...]]


def categories(surveys: Iterable[Survey], blames: Sequence[FailureSource]) -> list[FailureCategory]:
    """Return the kinds of failure in several surveys of one question, ordered by who is to blame.

    If there are few sets of blamed parts, each is a kind. Otherwise the most common sets are kinds, and the others are
    grouped by their first blamed part.
    """
    cells = (cell for survey in surveys for row in survey.rows for cell in row)
    counts = Counter(cell.blamed for cell in cells if cell.outcome is Outcome.FAILS)
    common = sorted(counts, key=lambda blamed: (-counts[blamed], blamed))
    for common_count in range(min(MOST, len(common)), -1, -1):
        alone, rest = sorted(common[:common_count]), common[common_count:]
        firsts = sorted({blamed[0] for blamed in rest})
        if common_count + len(firsts) <= MOST:
            groups = [[blamed for blamed in rest if blamed[0] == first] for first in firsts]
            break
    else:
        firsts_by_count = Counter[int]()
        for blamed, count in counts.items():
            firsts_by_count[blamed[0]] += count
        chosen = sorted(first for first, _ in firsts_by_count.most_common(MOST - 1))
        alone = []
        groups = [[blamed for blamed in common if blamed[0] == first] for first in chosen]
        groups.append([blamed for blamed in common if blamed[0] not in chosen])
    categories = [FailureCategory(fails_text([blames[n] for n in blamed]), frozenset([blamed])) for blamed in alone]
    categories += [FailureCategory(_group_label(group, blames), frozenset(group)) for group in groups]
    return sorted(categories, key=lambda category: min(category.blamed, key=lambda blamed: (len(blamed), blamed)))


def _group_label(group: Sequence[tuple[int, ...]], blames: Sequence[FailureSource]) -> str:
    firsts = {blamed[0] for blamed in group}
    if len(firsts) > 1:
        return "fails elsewhere"
    (first,) = firsts
    return f"{fails_text([blames[first]])} first"
