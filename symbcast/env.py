"""Whole programs: `ShapeEnv` takes operations one after another and answers for all of them together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

from symbcast.broadcasting import Rule, find_rule
from symbcast.errors import DimensionError, ShapeTypeError
from symbcast.programs.op import Op
from symbcast.shapes import Shape, ShapeLike, from_dim, shape, shape_of
from symbcast.sizes import check_size
from symbcast.verdicts import Verdict

if TYPE_CHECKING:
    import sympy
    from sympy.logic.boolalg import Boolean

    from symbcast.algebra.symbols import Symbol
    from symbcast.algebra.terms import Dim
    from symbcast.assumptions import Assumption
    from symbcast.export.guards import Guard
    from symbcast.formulas import Formula
    from symbcast.programs.answers import Requirement
    from symbcast.programs.recording import OnConflict
    from symbcast.programs.trace import Trace


class ShapeEnv:
    """The sizes of a program, and what its operations ask of them.

    Each operation returns its output `Shape` at once, and what it asks stays in the environment: a conditional one is
    no error. An operation that no sizes allow beside those before it raises `IncompatibleProgramError`, which names
    the operations that clash, and is left out; with ``on_conflict="record"`` it is kept, and the verdict is never.

    ``assume``, ``min_size`` and ``budget`` are as in `symbcast.broadcast`. A name is one size throughout; an unknown in
    text (``?``) is another one each time, unless the text labels it (``?a``). Use an environment from one thread at a
    time.

    >>> env = ShapeEnv(assume=["batch >= 1"])
    >>> x = env.broadcast("batch, 1, T", "T, 1", origin="add")
    >>> env.broadcast(x, "batch, S, S", origin="mask")
    Shape('(batch, broadcast(S, T), broadcast(S, T))')
    >>> env.condition
    Eq(S, 1) | Eq(T, 1) | Eq(T, S)
    >>> env.equal("S", "T"), env.broadcast("S, 1", "T", origin="scale")
    (Shape('(T,)'), Shape('(T, T)'))
    """

    def __init__(
        self,
        assume: Any = (),
        min_size: int = 0,
        *,
        on_conflict: OnConflict = "raise",
        budget: float | None = None,
    ) -> None:
        from symbcast.assumptions import check_min_size
        from symbcast.deciding.budget import check_budget
        from symbcast.programs.recording import Recording

        if on_conflict not in ("raise", "record"):
            raise ShapeTypeError(on_conflict, "an answer to conflicts", "write on_conflict='raise' or 'record'")
        self._recording = Recording(check_min_size(min_size), on_conflict, check_budget(budget))
        if type(assume) is not tuple or assume:
            self.assume(assume)

    # What the program does.

    def broadcast(
        self, *shapes: ShapeLike, rule: str | Rule = "numpy", origin: str | None = None, **attributes: Any
    ) -> Shape:
        """Add a broadcast, which the caller knows as ``origin``, and return its output shape.

        Shapes, rule and attributes are as in `symbcast.broadcast`. Raises `IncompatibleProgramError` where no sizes
        allow it beside what there is already, and other `SymbcastError` for wrong input.
        """
        if origin is not None:
            _check_origin(origin)
        recording = self._recording
        if recording.plain is not None and rule == "numpy" and not attributes:
            output = recording.plain.broadcast(shapes, origin)
            if output is not None:
                return output
        found = _NUMPY if rule == "numpy" and not attributes else find_rule(rule, attributes)
        if found is _NUMPY and len(shapes) == 2:
            left, right = shapes
            if type(left) is Shape and type(right) is Shape:
                trace = recording.trace
                output = trace.known(left, right)
                if output is not None:
                    trace.ops.append(Op(len(trace.ops), "broadcast", origin, (left, right), found, output=output))
                    return output
        operands = [(s if isinstance(s, Shape) else shape(s), isinstance(s, str)) for s in shapes]
        found.check_shapes([s.dims for s, _ in operands])
        return self._recording.add_shapes("broadcast", origin, operands, found)

    def equal(self, left: Any, right: Any, *, origin: str | None = None) -> Shape:
        """Ask that two shapes, or two dimensions, be equal, axis by axis; return the shape that both are then.

        >>> ShapeEnv().equal("N, 4", ("M", "K"))
        Shape('(N, 4)')
        """
        _check_origin(origin)
        operands = [(_as_shape(s), isinstance(s, str)) for s in (left, right)]
        return self._recording.add_shapes("equal", origin, operands, None)

    def require(self, *requirements: Any, origin: str | None = None) -> None:
        """Ask that relations between sizes hold: text such as ``"N % 8 == 0"``, sympy relations or `Condition`.

        Unlike an assumption, a requirement is part of the condition.
        """
        from symbcast.assumptions import read_assumptions

        _check_origin(origin)
        for read in [a for given in requirements for a in read_assumptions(given)]:
            self._recording.add_formula("require", origin, read)

    def assume(self, *assumptions: Any) -> None:
        """Take relations between sizes for granted from now on; the condition does not repeat them.

        Raises `AssumptionError` where they contradict what was assumed before, and `IncompatibleProgramError` where
        they rule out what was asked.
        """
        from symbcast.assumptions import read_assumptions

        for read in [a for given in assumptions for a in read_assumptions(given)]:
            self._recording.add_formula("assume", None, read)

    def symbol(self, name: str) -> sympy.Symbol:
        """Return the size that a name means here; one of ``?`` and letters is an unknown."""
        from symbcast.algebra.door import symbol_to_sympy

        return symbol_to_sympy(self.named(name))

    def named(self, name: str) -> Symbol:
        """Return the size that a name means here, as it is within."""
        if not isinstance(name, str) or name in ("", "?"):
            raise ShapeTypeError(name, "a name", "write a name such as 'N', a label such as '?a', or fresh()")
        return self._recording.named(name)

    def fresh(self, lower: int = 0, upper: int | None = None) -> sympy.Symbol:
        """Return a new unknown size, with inclusive bounds.

        >>> env = ShapeEnv()
        >>> env.broadcast((env.fresh(), 3), (env.fresh(2, 5), 1))
        Shape('(2..5, 3)')
        """
        low, high = _as_bound(lower), None if upper is None else _as_bound(upper)
        if high is not None and low > high:
            raise DimensionError(low, f"the lower bound is above the upper bound {high}")
        from symbcast.algebra.door import symbol_to_sympy

        return symbol_to_sympy(self._recording.fresh(low, high))

    # Branches.

    def fork(self) -> ShapeEnv:
        """Return an environment that goes its own way from here; this one does not hear of it."""
        made = ShapeEnv.__new__(ShapeEnv)
        made._recording = self._recording.copy()
        return made

    @contextmanager
    def assuming(self, *assumptions: Any) -> Iterator[ShapeEnv]:
        """Give a fork in which more is assumed, for a branch of the program.

        >>> env = ShapeEnv()
        >>> with env.assuming("N >= 2", "M >= 2") as branch:
        ...     branch.broadcast("N", "M")
        Shape('(N,)')
        >>> env.operations
        ()
        """
        branch = self.fork()
        branch.assume(*assumptions)
        yield branch

    # Answers about the whole.

    @property
    def verdict(self) -> Verdict:
        """Whether the program is valid always, sometimes, never, or it is unknown (then `reason` says why)."""
        return self._recording.ask(lambda answers: answers.verdict)

    @property
    def condition(self) -> Boolean:
        """The necessary and sufficient condition under the assumptions, as a sympy Boolean, irredundant."""
        from symbcast.booleans import conjunction

        return conjunction(self.clauses)

    @property
    def clauses(self) -> tuple[Formula, ...]:
        """The conjuncts of the condition; none when it is true."""
        return tuple(self._recording.ask(lambda answers: answers.clauses))

    @property
    def unproven(self) -> tuple[Formula, ...]:
        """The conjuncts of which it was not decided whether the others imply them."""
        return self._recording.ask(lambda answers: tuple(c for c in answers.clauses if c in answers.unproven))

    @property
    def reason(self) -> str:
        """Why something is unknown or unproven; empty when nothing was left open."""
        return self._recording.reason

    def witness(self) -> dict[str, int] | None:
        """Return the smallest sizes at which every operation is valid; None where there are none."""
        return self._recording.ask(lambda answers: answers.witness())

    def counterexample(self, clause: Formula | None = None) -> dict[str, int] | None:
        """Return the smallest sizes at which some operation is not valid; None where the assumptions leave none.

        Of a conjunct of the condition, those at which it does not hold, and the others do where that can be.
        """
        if clause is not None:
            return self._recording.ask_all(lambda answers: answers.breaking(clause))
        return self._recording.ask(lambda answers: answers.counterexample())

    @property
    def conflict(self) -> tuple[Op, ...]:
        """The fewest operations that cannot hold together; none unless the verdict is never."""
        return self._recording.ask(lambda answers: answers.conflict)

    def requirements(self) -> tuple[Requirement, ...]:
        """Return the conjuncts of the condition, each with the operations that it comes from, the first one first."""
        return self._recording.ask_all(lambda answers: answers.requirements)

    def requirement(self, clause: Formula) -> Requirement:
        """Return something that the condition implies, with the operations that it comes from."""
        return self._recording.ask_all(lambda answers: answers.requirement(clause))

    def explain(self) -> str:
        """Return the answer in words: each condition and where it comes from first, an example, a failure."""
        from symbcast.explaining.program import explanation

        return explanation(self)

    @property
    def operations(self) -> tuple[Op, ...]:
        """What was done, in order; assumptions too."""
        return tuple(self._recording.ops)

    @property
    def symbols(self) -> tuple[sympy.Symbol, ...]:
        """The sizes in order of appearance."""
        from symbcast.algebra.door import symbol_to_sympy

        return tuple(map(symbol_to_sympy, self.shown))

    @property
    def names(self) -> dict[sympy.Symbol, str]:
        """What each size is called in witnesses, guards and words."""
        from symbcast.algebra.door import symbol_to_sympy

        return {symbol_to_sympy(s): name for s, name in self.shown.items()}

    @property
    def shown(self) -> Mapping[Symbol, str]:
        """What each size, as it is within, is called."""
        return self._recording.shown

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """What is assumed."""
        return tuple(self._recording.assumptions)

    @property
    def min_size(self) -> int:
        """The least size of all symbols."""
        return self._recording.min_size

    @property
    def on_conflict(self) -> OnConflict:
        """What becomes of an operation that cannot hold: ``"raise"`` or ``"record"``."""
        return self._recording.on_conflict

    @property
    def budget(self) -> float | None:
        """How many seconds each question may take; None where no clock decides."""
        return self._recording.budget

    def __repr__(self) -> str:
        count = sum(op.kind != "assume" for op in self._recording.ops)
        sizes = len(self.shown)
        plurals = ["" if n == 1 else "s" for n in (count, sizes)]
        return f"<ShapeEnv of {count} operation{plurals[0]} over {sizes} size{plurals[1]}>"

    def _repr_html_(self) -> str:
        from symbcast.display.html.program import page

        return page(self)

    def _repr_latex_(self) -> str:
        from symbcast.display.latex.program import program_latex

        return program_latex(self)

    def __bool__(self) -> NoReturn:
        raise TypeError("an environment has no truth value: compare its .verdict")

    # Guards: the condition in the words of those who check it.

    def guard(self, *, with_assumptions: bool = False) -> Guard:
        """Return the condition as a Python predicate of the sizes by name: ``guard(batch=4, T=7)``.

        Like the condition it says nothing of sizes that the assumptions exclude, unless ``with_assumptions``: then it
        is false there. So it is with the other guards.
        """
        from symbcast.export.guards import python_guard

        return python_guard(self._guarded(with_assumptions), self.shown)

    def to_python(self, name: str = "guard", *, with_assumptions: bool = False) -> str:
        """Return the source of a Python function that tells whether the condition holds; it imports nothing."""
        from symbcast.export.guards import python_source

        return python_source(self._guarded(with_assumptions), self.shown, name)

    def to_cpp(self, name: str = "guard", *, with_assumptions: bool = False) -> str:
        """Return the source of a C++17 function of ``std::int64_t`` sizes that tells whether the condition holds."""
        from symbcast.export.guards import cpp_source

        return cpp_source(self._guarded(with_assumptions), self.shown, name)

    def to_smtlib(self, name: str = "guard", *, with_assumptions: bool = False) -> str:
        """Return an SMT-LIB 2.6 script that defines the condition and asks whether it can hold."""
        from symbcast.export.guards import smtlib_source

        return smtlib_source(self._guarded(with_assumptions), self.shown, name)

    def to_mlir(self, name: str = "guard", *, with_assumptions: bool = False) -> str:
        """Return an MLIR module with the condition as witnesses of the shape dialect and a region that assumes them."""
        from symbcast.export.guards import mlir_source

        return mlir_source(self._guarded(with_assumptions), self.shown, name)

    # Exchange.

    def to_dict(self) -> dict[str, Any]:
        """Return the program and the answer about it as data for JSON, as `json_schema` describes it."""
        from symbcast.export.program import program_to_dict

        return program_to_dict(self)

    @staticmethod
    def from_dict(data: Any) -> ShapeEnv:
        """Return the environment that `to_dict` wrote; the answer in it is not read, but found again.

        Raises `ExchangeError` for other data.
        """
        from symbcast.export.program import program_from_dict

        return program_from_dict(data)

    @staticmethod
    def json_schema() -> dict[str, Any]:
        """Return the JSON Schema (2020-12) of what `to_dict` returns."""
        from symbcast.export.program import json_schema

        return json_schema()

    def __reduce__(self) -> tuple[Any, ...]:
        return restored, (self.operations, self.min_size, self.on_conflict, tuple(self.shown), self.budget)

    # Inside.

    @property
    def _trace(self) -> Trace:
        return self._recording.trace

    def _guarded(self, with_assumptions: bool) -> Formula:
        from symbcast.formulas import all_of

        return all_of([*(self._assumed() if with_assumptions else ()), *self.clauses])

    def _assumed(self) -> list[Formula]:
        """Return all that is assumed: in so many words, and of each symbol by itself."""
        from symbcast.assumptions import own_set
        from symbcast.deciding.describing import describe

        own = [describe(s, own_set(s, self.min_size)) for s in self.shown]
        return [*own, *(a.formula for a in self.assumptions)]


def restored(
    ops: Iterable[Op],
    min_size: int,
    on_conflict: OnConflict,
    symbols: Iterable[Symbol],
    budget: float | None = None,
) -> ShapeEnv:
    """Return an environment with recorded operations, over the given sizes."""
    from symbcast.programs.recording import Recording

    made = ShapeEnv.__new__(ShapeEnv)
    made._recording = Recording.of(ops, min_size, on_conflict, symbols, budget)
    return made


_NUMPY = find_rule("numpy", {})


def _check_origin(origin: Any) -> None:
    if origin is not None and not isinstance(origin, str):
        raise ShapeTypeError(origin, "an origin", "write text: what the operation is called")


def _as_bound(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ShapeTypeError(value, "a bound", "write an integer such as 2")
    return check_size(value)


def _as_shape(value: Any) -> Shape:
    """Return a shape, or the one of a single dimension."""
    dims: tuple[Dim, ...]
    if isinstance(value, int) or hasattr(type(value), "free_symbols"):
        dims = (from_dim(value),)
        return shape_of(dims)
    return shape(value)
