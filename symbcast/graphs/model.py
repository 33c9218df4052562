"""Models as front ends read them, and walked models with their condition on the sizes of inputs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symbcast.answers.public.conditions import Condition
from symbcast.core.algebra.arithmetic import add, multiply, subtract
from symbcast.core.algebra.formulas import FALSE, Comparison, Formula, all_of, any_of, negate, with_leaves
from symbcast.core.algebra.terms import Dim, Symbol, symbols_of, term
from symbcast.core.characters import near_file
from symbcast.core.effort import answer_within_budget
from symbcast.core.programs.arguments import Assumption
from symbcast.core.programs.conditions import condition_of_answer
from symbcast.core.programs.program import Program
from symbcast.core.solver.evaluation import replace_in_formula, symbols_in
from symbcast.core.solver.f4_products.projection import Cases, project
from symbcast.core.structs import NamedTuple
from symbcast.errors import MissingExtraError, ModelError, UndecidedError
from symbcast.graphs.walking.facts import without_whole_quotients

if TYPE_CHECKING:
    from symbcast.graphs.graph import Graph
    from symbcast.graphs.inputs import KnownInputs, ModelInputs
    from symbcast.graphs.walking.requirements import Requirements
    from symbcast.graphs.walking.walk import Walk


# Compute a model's condition on its input sizes, separately from conditions on sizes that data decide.


# How many sizes by cases of a clause are followed to find sizes that meet it: each may double its length.
_CASES = 6


class _Split(NamedTuple):
    """The requirements on the input sizes, those that involve other sizes, and whether no clause was dropped."""

    inputs: Program
    data: tuple[Formula, ...]
    is_whole: bool


class ModelConditions:
    """The requirements on a model's input sizes, and on sizes that data decide.

    ``inputs`` is an environment with only the input sizes; ``data`` holds the clauses that involve other sizes too.
    """

    def __init__(
        self, env: Program, asker: Requirements, again: Callable[[Sequence[Assumption]], ModelConditions]
    ) -> None:
        """``again`` returns the conditions of another walk through the model, with more assumptions."""
        self._env = env
        self._asker = asker
        self._again = again
        self._found: _Split | None = None
        self._was_stopped = False
        self._kept: dict[str, tuple[tuple[Formula, ...], Condition]] = {}

    @property
    def _split(self) -> _Split:
        if self._found is None:
            self._found = answer_within_budget(self._env.budget, self._divided, self._forget)
        split = self._found
        if self._was_stopped:
            self._found, self._was_stopped = None, False
        return split

    def _forget(self, _: str) -> None:
        self._was_stopped = True

    def _divided(self) -> _Split:
        own = frozenset(self._asker.origins)
        clauses = without_whole_quotients(self._env.clauses, self._asker.facts.whole, self._asker.bounds)
        is_plain = not own or all(own.isdisjoint(symbols_in(c)) for c in clauses)
        if is_plain and clauses == self._env.clauses:
            return self._with_generic_sizes(_Split(self._env, (), True))
        assumed = [a.formula for a in self._env.assumptions]
        projection = project((*clauses, *self._within_limits(clauses)), own, assumed, self._asker.cases)
        inputs = Program(on_conflict="record", budget=self._env.budget)
        for s in self._env.shown:
            if s not in own:
                inputs.met(s)
        inputs.assume(*(a for a in self._env.assumptions if own.isdisjoint(symbols_in(a.formula))))
        for clause in projection.inputs:
            inputs.require(Assumption(clause))
        return self._with_generic_sizes(_Split(inputs, projection.data, projection.is_whole))

    def _within_limits(self, clauses: Sequence[Formula]) -> Iterator[Formula]:
        """Yield what clauses require of the limits of sizes that data decide."""
        for clause in clauses:
            for size in symbols_in(clause):
                most = self._asker.most.get(size)
                # A limit that is a product is no assumption, because every question about the size would be hard; but a
                # clause that needs many elements needs a limit that is as large.
                required = None if most is None else at_the_most(clause, size, most)
                if required is not None:
                    yield required

    def _with_generic_sizes(self, split: _Split) -> _Split:
        """Have questions about large sizes answered by a walk in which these make sizes short."""
        if self._asker.zeros:
            split.inputs.elsewhere = self._under
        return split

    def _under(self, assumptions: Sequence[Assumption]) -> Program:
        conditions = self._again(assumptions)
        if conditions.undecided:
            raise UndecidedError(conditions.inputs.decided_reason)
        return conditions.inputs

    @property
    def inputs(self) -> Program:
        """The environment with only the inputs' sizes."""
        return self._split.inputs

    @property
    def data(self) -> tuple[Formula, ...]:
        """The clauses that involve sizes that data decide."""
        return self._split.data

    @property
    def undecided(self) -> tuple[Formula, ...]:
        """The clauses that the input sizes may decide in a way that was not analysed."""
        split, sizes = self._split, self._asker.undecided if self._split.is_whole else self._asker.origins.keys()
        return tuple(c for c in split.data if not sizes.isdisjoint(symbols_in(c)))

    @property
    def proved(self) -> Formula:
        """Input sizes that meet the condition, and all undecided clauses too, whatever the other sizes are."""
        own, cases, env = frozenset(self._asker.origins), self._asker.cases, self.inputs.fork()
        for clause in self.undecided:
            env.require(Assumption(_whatever(clause, own, cases)))
        return all_of(env.clauses)

    @property
    def is_open(self) -> bool:
        """Whether the condition on the inputs' sizes is undecided for some of them."""
        return bool(self.undecided) or self.inputs.is_open

    @property
    def condition(self) -> Condition:
        """The condition on the inputs' sizes: necessary, and sufficient with suitable data."""
        return self._condition("inputs", self.inputs.clauses, self.inputs)

    @property
    def data_condition(self) -> Condition:
        """The additional condition on sizes that data decide."""
        return self._condition("data", self.data, self._env)

    def _condition(self, kind: str, clauses: tuple[Formula, ...], program: Program) -> Condition:
        """Return clauses as a condition, made once; other clauses replace those that a budget cut short."""
        known = self._kept.get(kind)
        if known is None or known[0] != clauses:
            known = clauses, condition_of_answer(Condition, all_of(clauses), program)
            self._kept[kind] = known
        return known[1]


def _whatever(clause: Formula, own: frozenset[Symbol], cases: Cases) -> Formula:
    """Return where a clause holds whatever the sizes in ``own`` are, as far as its parts show."""
    left = _CASES
    for size in reversed(list(cases)):  # a later one may depend on earlier ones
        if size in symbols_in(clause) and left:
            left -= 1
            chosen, yes, no = cases[size]
            one, other = replace_in_formula(clause, {size: yes}), replace_in_formula(clause, {size: no})
            clause = all_of((any_of((negate(chosen), one)), any_of((chosen, other))))
    return _without(clause, own)


def _without(formula: Formula, own: frozenset[Symbol]) -> Formula:
    """Return a formula that implies another one, and does not mention some sizes."""
    return with_leaves(formula, lambda leaf: leaf if own.isdisjoint(symbols_in(leaf)) else FALSE)


def at_the_most(clause: Formula, size: Symbol, most: Dim) -> Formula | None:
    """Return what a comparison requires of the limit of a size that grows its larger side; None for others.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> from symbcast.core.algebra.formulas import at_most
    >>> c, N, M = symbol("c"), symbol("N"), symbol("M")
    >>> at_the_most(at_most(2, c), c, N * M), at_the_most(at_most(c, 2), c, N * M)
    (Comparison('<=', 0, M*N - 2), None)
    """
    if not isinstance(clause, Comparison) or clause.operator not in ("<=", "<", "=="):
        return None
    for low, high in ((clause.left, clause.right), (clause.right, clause.left)):
        rest = term(high) - term(low)
        factor = rest.coefficients.get((size,), 0)
        others = subtract(rest.dim(), multiply(factor, size))
        if factor > 0 and size not in symbols_of((others,)):
            operator = "<=" if clause.operator == "==" else clause.operator
            return Comparison(operator, 0, add(others, multiply(factor, most)))
        if clause.operator != "==":
            return None
    return None


# Models as read by front ends, and models with the results of a walk, from which all answers are derived.


def import_library(module: str, user: str, extra: str) -> Any:
    """Return a module of an optional library; raises `MissingExtraError`, for ``user``, without it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != module.partition(".")[0]:
            raise  # the library is there, and a module that it needs is not
        raise MissingExtraError(user, extra) from error


def check_path(source: str, hint: str) -> None:
    """Raise `ModelError` unless a path is that of a file; some are none that the system could have."""
    try:
        is_file = Path(source).is_file()
    except (OSError, ValueError) as error:
        raise ModelError(source, f"is not a path: {getattr(error, 'strerror', None) or error}", hint) from error
    if not is_file:
        near = near_file(source)
        raise ModelError(source, "there is no such file", f"did you mean {near}?" if near else hint)


class Model(ABC):
    """A model of some framework, after reading.

    Attributes:
        source: its name in answers: its file, or its own name.
        graph: the graph to walk.
        path: the file that it came from, if any.
        raw: the framework's object for it.
        inner: the number of nodes in nested graphs and in functions.
    """

    def __init__(self, source: str, graph: Graph, *, path: Path | None = None, raw: Any = None, inner: int = 0) -> None:
        self.source = source
        self.graph = graph
        self.path = path
        self.raw = raw
        self.inner = inner

    @property
    def input_names(self) -> tuple[str, ...]:
        """The names of the inputs that a caller gives."""
        return tuple(self.graph.inputs)

    @property
    def axes_in_file(self) -> Mapping[str, tuple[int | None, ...]]:
        """The shapes that the model's own file has for inputs and outputs: numbers, and None for a size that is open.

        A tensor whose rank the file does not have is not in it; nor is any if the front end does not say.
        """
        return {}

    @abstractmethod
    def read_inputs(self, env: Program, given: KnownInputs, *, are_open: bool = False) -> ModelInputs:
        """Return the inputs as values, with a caller's knowledge about them; see `symbcast.graphs.inputs`.

        ``are_open`` says that a tensor of unspecified rank gets a sequence of axes. Raises `BindingError` if the
        caller's knowledge does not fit these inputs.
        """

    def said(self, inputs: ModelInputs, min_size: int) -> Iterable[tuple[Formula, str]]:
        """Yield the model's own constraints on its sizes, each with a text for users, which may be empty."""
        return ()

    def note(self, walk: Walk) -> None:  # noqa: B027 - most models have no notes
        """Add notes about the model as a whole to a finished walk."""

    def settle(self, walk: Walk) -> None:  # noqa: B027 - as above
        """Raise `ModelError` if the last walk shows that the model is malformed."""


class CheckedModel(NamedTuple):
    """A model that was walked, and all results of the walk.

    ``env`` holds all sizes, including data-dependent ones; ``assumptions`` are the user's own, as written, with the
    ``known_inputs``; ``again`` walks through the model once more with other given values, assumptions
    or runtime, or with sizes as the rules write them (``is_plain``), if they are passed. ``taken`` describes the
    assumptions made about the runtime; it may be empty. ``aliases`` maps short names, for reading and writing, to the
    model's own names.
    """

    source: str
    model: Model
    env: Program
    conditions: ModelConditions
    asker: Requirements
    walk: Walk
    inputs: ModelInputs
    assumptions: tuple[str, ...]
    min_size: int
    known_inputs: KnownInputs
    again: Callable[..., CheckedModel]
    taken: str
    aliases: Mapping[str, str]
