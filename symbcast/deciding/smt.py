"""Tiers F3 and F4: z3, behind one door. Nothing else imports it.

z3 is given formulas over integers and asked whether they can hold. All of it runs on one worker thread with a context
of its own, because a z3 context must not be shared between threads and a signal is not seen inside a check: the
calling thread waits, and passes an interrupt on. The limit is z3's own resource count, the same on every run; wall
time is a backstop only.
"""

from __future__ import annotations

import atexit
import os
import queue
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import repeat
from operator import eq, le, lt, ne
from typing import Any, Generic, TypeAlias, TypeVar

import sympy
import z3

from symbcast.formulas import AllOf, AnyOf, Clashing, Comparison, Compatible, Formula, Operator, expand
from symbcast.reading import term
from symbcast.terms import Operation, Term

RESOURCE_LIMIT = 2_000_000
"""z3 resource units for one check: about 0.3 s."""
WALL_LIMIT_MS = 1_000
"""The backstop: on products of symbols z3 can compute for long without using resource units."""
SHORT_LIMITS = (100_000, 100)
"""Resource units and milliseconds for a check once another about the same formulas has been given up."""
_POLL_SECONDS = 0.05
_PAIRWISE_UP_TO = 4
_CACHE_SIZE = 20_000
_GIVEN_UP_AT_MOST = 3
_IMPROVED_AT_MOST = 1000
_COMPARED: dict[Operator, Callable[[Any, Any], Any]] = {"==": eq, "!=": ne, "<=": le, "<": lt}
_SESSIONS_KEPT = 16

T = TypeVar("T")


class Answer(Enum):
    """What z3 says of some formulas."""

    SATISFIABLE = "satisfiable"
    UNSATISFIABLE = "unsatisfiable"
    UNKNOWN = "unknown"


@dataclass(slots=True)
class Job(Generic[T]):
    """A function run on the worker thread, and what became of it."""

    function: Callable[[], T]
    done: threading.Event
    result: T | None = None
    error: BaseException | None = None
    cancelled: bool = False


class _Worker:
    """The thread that owns the z3 context."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.jobs: queue.SimpleQueue[Job[Any] | None] = queue.SimpleQueue()
        self.current: Job[Any] | None = None
        self.context: z3.Context | None = None
        self.translator: Translator | None = None
        self.sessions: OrderedDict[Asked, Session] = OrderedDict()
        self.thread = threading.Thread(target=self._serve, name="symbcast-z3", daemon=True)
        self.thread.start()

    def _serve(self) -> None:
        while (job := self.jobs.get()) is not None:
            self.current = job
            if job.cancelled:  # before it began
                self.current = None
                continue
            try:
                if self.context is None or self.translator is None or self.translator.is_full:
                    self.sessions.clear()
                    self.context = z3.Context()
                    self.translator = Translator(self.context)
                job.result = job.function()
            except BaseException as error:
                # Without its traceback, whose frames hold solvers: they must be freed on this thread.
                job.error = error.with_traceback(None)
                job.error.__context__ = None
            self.current = None
            job.done.set()
        # The context is freed on the thread that used it.
        self.sessions.clear()
        self.translator = self.context = None

    def run(self, function: Callable[[], T]) -> T:
        if threading.current_thread() is self.thread:
            return function()
        job = Job(function, threading.Event())
        self.jobs.put(job)
        try:
            while not job.done.wait(_POLL_SECONDS):
                pass
        except BaseException:
            job.cancelled = True
            # A job that has not begun never will; one that has is waited for, so that the worker is free afterwards.
            while self.current is job and not job.done.wait(_POLL_SECONDS):
                if self.current is job and self.context is not None:
                    self.context.interrupt()
            raise
        if job.error is not None:
            raise job.error
        return job.result  # type: ignore[return-value]

    def stop(self) -> None:
        if self.pid == os.getpid():
            self.jobs.put(None)
            self.thread.join(timeout=1)


class Cancelled(Exception):  # noqa: N818 - not an error: the caller interrupted
    """The job's caller was interrupted."""


def _end_if_cancelled() -> None:
    if _worker is not None and _worker.current is not None and _worker.current.cancelled:
        raise Cancelled


_worker: _Worker | None = None
_worker_lock = threading.Lock()


def on_worker(function: Callable[[], T]) -> T:
    """Run a function that uses a `Session` on the worker thread and return its result.

    An interrupt of the calling thread ends the job within about a tenth of a second and is raised again.
    """
    global _worker  # noqa: PLW0603 - one worker a process; a fork leaves the thread behind and needs a new one
    with _worker_lock:
        if _worker is None or _worker.pid != os.getpid() or not _worker.thread.is_alive():
            _worker = _Worker()
            atexit.register(_worker.stop)
        worker = _worker
    return worker.run(function)


class Translator:
    """Formulas to z3, each term once."""

    def __init__(self, context: z3.Context) -> None:
        self.context = context
        self.symbols: dict[sympy.Symbol, Any] = {}
        self.terms: dict[Term, Any] = {}
        self.formulas: dict[Formula, Any] = {}
        self.fresh = 0

    @property
    def is_full(self) -> bool:
        """Whether so much is cached that a new context is due."""
        return max(len(self.terms), len(self.formulas), self.fresh) > _CACHE_SIZE

    def symbol(self, symbol: sympy.Symbol) -> Any:
        """Return the z3 constant of a symbol."""
        found = self.symbols.get(symbol)
        if found is None:
            found = self.symbols[symbol] = z3.Int(f"{symbol.name}#{len(self.symbols)}", self.context)
        return found

    def number(self, value: int) -> Any:
        """Return an integer as a z3 value."""
        return z3.IntVal(value, self.context)

    def term(self, value: Term) -> Any:
        """Return a term as a z3 integer expression."""
        found = self.terms.get(value)
        if found is None:
            parts = [self._monomial(m, c) for m, c in value.coefficients.items()]
            found = parts[0] if len(parts) == 1 else z3.Sum(parts) if parts else self.number(0)
            self.terms[value] = found
        return found

    def _monomial(self, monomial: Sequence[Any], coefficient: int) -> Any:
        factors = [self._operation(a) if isinstance(a, Operation) else self.symbol(a) for a in monomial]
        if not factors:
            return self.number(coefficient)
        product = factors[0]
        for factor in factors[1:]:
            product = product * factor
        return product if coefficient == 1 else coefficient * product

    def _operation(self, operation: Operation) -> Any:
        args = [self.term(a) for a in operation.args]
        if operation.kind in ("//", "%"):
            return self._division(operation, *args)
        value = args[-1]
        for arg in reversed(args[:-1]):
            first = {"min": arg <= value, "max": arg >= value, "join": value == 1}[operation.kind]
            value = z3.If(first, arg, value)
        return value

    def _division(self, operation: Operation, dividend: Any, divisor: Any) -> Any:
        # z3's quotient is Euclidean: it is the floor where the divisor is positive, and of the negations otherwise.
        # A divisor of 0 has any quotient; that it is not 0 is a constraint of its own.
        by = operation.args[1]
        if operation.kind == "//":
            quotient = dividend / divisor
            if by.is_constant and by.constant > 0:
                return quotient
            return z3.If(divisor > 0, quotient, (-dividend) / (-divisor))
        remainder = dividend % divisor
        if by.is_constant and by.constant > 0:
            return remainder
        return z3.If(divisor > 0, remainder, -((-dividend) % (-divisor)))

    def formula(self, formula: Formula) -> Any:
        """Return a formula as a z3 Boolean; fresh constants in it stand for what exists."""
        found = self.formulas.get(formula)
        if found is None:
            found = self.formulas[formula] = self._formula(formula)
        return found

    def _formula(self, formula: Formula) -> Any:
        match formula:
            case Comparison(operator, left, right):
                return _COMPARED[operator](self.term(term(left)), self.term(term(right)))
            case AllOf(parts):
                return z3.And([self.formula(p) for p in parts] or [z3.BoolVal(True, self.context)])
            case AnyOf(parts):
                return z3.Or([self.formula(p) for p in parts] or [z3.BoolVal(False, self.context)])
            case Compatible(dims) | Clashing(dims) if len(dims) <= _PAIRWISE_UP_TO:
                return self.formula(expand(formula))
            case Compatible(dims):
                common = self._fresh()
                return z3.And([z3.Or(d == 1, d == common) for d in self._dims(dims)])
            case Clashing(dims):
                common = self._fresh()
                values = self._dims(dims)
                return z3.And(
                    common != 1,
                    z3.Or([v == common for v in values]),
                    z3.Or([z3.And(v != 1, v != common) for v in values]),
                )

    def _dims(self, dims: Iterable[Any]) -> list[Any]:
        return [self.term(term(d)) for d in dims]

    def _fresh(self) -> Any:
        self.fresh += 1
        return z3.Int(f"join#{self.fresh}", self.context)


Asked: TypeAlias = tuple[tuple[sympy.Symbol, ...], tuple[Formula, ...]]


def check(
    symbols: tuple[sympy.Symbol, ...], assumed: tuple[Formula, ...], formulas: Sequence[Formula]
) -> tuple[Answer, dict[sympy.Symbol, int]]:
    """Return whether some formulas can hold beside those assumed, and sizes at which they do.

    The solvers stay on the worker thread, the last few with what they know: z3's objects must be freed where they
    are used. A check about assumptions of which another was given up is given less.
    """
    return on_worker(lambda: _check((symbols, assumed), formulas))


def _check(asked: Asked, formulas: Sequence[Formula]) -> tuple[Answer, dict[sympy.Symbol, int]]:
    assert _worker is not None
    sessions = _worker.sessions
    session = sessions.pop(asked, None)
    if session is None:
        session = Session(*asked)
    sessions[asked] = session
    if len(sessions) > _SESSIONS_KEPT:
        sessions.popitem(last=False)
    answer = session.check(formulas)
    if answer is Answer.UNKNOWN:
        session.hurry()
    return answer, session.model() if answer is Answer.SATISFIABLE else {}


class Session:
    """A solver with some formulas asserted for good; use it inside `on_worker` only, and keep it there."""

    def __init__(self, symbols: Iterable[sympy.Symbol], formulas: Iterable[Formula]) -> None:
        assert _worker is not None and _worker.translator is not None
        self.translator = _worker.translator
        self.symbols = tuple(symbols)
        self.solver = z3.SimpleSolver(ctx=self.translator.context)
        self.solver.set("rlimit", RESOURCE_LIMIT)
        self.solver.set("timeout", WALL_LIMIT_MS)
        self.solver.set("ctrl_c", False)  # an interrupt is the calling thread's to hear
        self._model: Any = None
        self.reason = ""
        for symbol in self.symbols:
            self.solver.add(self.translator.symbol(symbol) >= 0)
        self._add(formulas)

    def _add(self, formulas: Iterable[Formula], marks: Iterable[Any] = repeat(None)) -> None:
        for formula, mark in zip(formulas, marks, strict=False):
            _end_if_cancelled()
            said = self.translator.formula(formula)
            self.solver.add(said if mark is None else z3.Implies(mark, said))

    def check(self, formulas: Sequence[Formula]) -> Answer:
        """Return whether the formulas can hold beside those asserted."""
        if not formulas:
            return self._check()
        self.solver.push()
        try:
            self._add(formulas)
            return self._check()
        finally:
            self.solver.pop()

    def _check(self) -> Answer:
        answer = self.solver.check()
        _end_if_cancelled()
        if answer == z3.unknown:
            self.reason = self.solver.reason_unknown()
            return Answer.UNKNOWN
        if answer == z3.unsat:
            return Answer.UNSATISFIABLE
        self._model = self.solver.model()
        return Answer.SATISFIABLE

    def core(self, formulas: Sequence[Formula]) -> list[int]:
        """Return the positions of some of the formulas that clash with those asserted, each of them needed.

        All of them together clash; where that is not found again within the limits, or too few are left open, more
        of them are returned.
        """
        kept = self._tracked(formulas)
        for position in reversed(kept):
            fewer = [n for n in kept if n != position]
            if self.check([formulas[n] for n in fewer]) is Answer.UNSATISFIABLE:
                kept = fewer
        return kept

    def _tracked(self, formulas: Sequence[Formula]) -> list[int]:
        context = self.translator.context
        marks = [z3.Bool(f"mark#{n}", context) for n in range(len(formulas))]
        self.solver.push()
        try:
            self._add(formulas, marks)
            answer = self.solver.check(*marks)
            _end_if_cancelled()
            if answer != z3.unsat:
                return list(range(len(formulas)))
            return sorted(int(mark.decl().name().removeprefix("mark#")) for mark in self.solver.unsat_core())
        finally:
            self.solver.pop()

    def hurry(self) -> None:
        """Give up sooner from now on."""
        units, milliseconds = SHORT_LIMITS
        self.solver.set("rlimit", units)
        self.solver.set("timeout", milliseconds)

    def model(self) -> dict[sympy.Symbol, int]:
        """Return sizes at which the formulas of the last satisfiable check hold."""
        values = ((s, self._model.eval(self.translator.symbol(s), model_completion=True)) for s in self.symbols)
        return {s: value.as_long() for s, value in values}


def least_model(
    symbols: Sequence[sympy.Symbol],
    formulas: Sequence[Formula],
    weights: Mapping[sympy.Symbol, int],
) -> dict[sympy.Symbol, int] | Answer:
    """Return the sizes that satisfy the formulas with least weighted sum, then first in order.

    Returns an `Answer` where there are none, or where it could not be decided.
    """
    return on_worker(lambda: _least_model(Session(symbols, formulas), symbols, weights))


def _least_model(
    session: Session, symbols: Sequence[sympy.Symbol], weights: Mapping[sympy.Symbol, int]
) -> dict[sympy.Symbol, int] | Answer:
    found = _Least(session, symbols, weights)
    return found.answer if found.answer is not Answer.SATISFIABLE else found.sizes


def smallest_model(
    symbols: Sequence[sympy.Symbol],
    formulas: Sequence[Formula],
    weights: Mapping[sympy.Symbol, int],
) -> tuple[Answer, dict[sympy.Symbol, int]]:
    """Return the sizes that satisfy the formulas with fewest zeros, then least weighted sum, then first in order.

    With `Answer.UNKNOWN`, the smallest that were found, if any were.
    """

    def run() -> tuple[Answer, dict[sympy.Symbol, int]]:
        found = _Least(Session(symbols, formulas), symbols, weights, few_zeros=True)
        return found.answer, found.sizes

    return on_worker(run)


class _Least:
    """The search for a least model: ``sizes`` are the least where the answer is satisfiable, else the least found."""

    def __init__(
        self,
        session: Session,
        symbols: Sequence[sympy.Symbol],
        weights: Mapping[sympy.Symbol, int],
        *,
        few_zeros: bool = False,
    ) -> None:
        self.session = session
        self.symbols = tuple(symbols)
        self.sizes: dict[sympy.Symbol, int] = {}
        self._gave_up = 0
        self.answer = session.check(())
        if self.answer is not Answer.SATISFIABLE:
            return
        self.sizes = session.model()
        translate = session.translator.symbol
        if few_zeros and not self._without_zeros():
            zeros = [z3.If(translate(s) == 0, weights[s], 0) for s in symbols]
            self._minimise(z3.Sum(zeros), lambda sizes: sum(weights[s] for s in symbols if sizes[s] == 0))
        total = [weights[s] * translate(s) for s in symbols]
        self._minimise(z3.Sum(total), lambda sizes: sum(weights[s] * sizes[s] for s in symbols))
        self._put_in_order()

    def _without_zeros(self) -> bool:
        """Let no size be 0 if that can be."""
        positive = z3.And([self.session.translator.symbol(s) >= 1 for s in self.symbols])
        if all(self.sizes.values()) or self._better(positive):
            self.session.solver.add(positive)
            return True
        return False

    def _minimise(self, expression: Any, cost: Callable[[Mapping[sympy.Symbol, int]], int]) -> None:
        """Find sizes at which a cost is least, and hold it there; what is found at first is often the least."""
        low, high = 0, cost(self.sizes)
        middle = high - 1
        while low < high and self._gave_up < _GIVEN_UP_AT_MOST:
            if self._better(expression <= middle):
                high = cost(self.sizes)
            else:
                low = middle + 1
            middle = (low + high) // 2
        self.session.solver.add(expression == high)

    def _put_in_order(self) -> None:
        """Find the first sizes in the order of the symbols, those that come before once found asked for each time."""
        translate = self.session.translator.symbol
        for _ in range(_IMPROVED_AT_MOST):
            earlier: Any = z3.BoolVal(False, self.session.translator.context)
            for s in reversed(self.symbols):
                earlier = z3.Or(translate(s) < self.sizes[s], z3.And(translate(s) == self.sizes[s], earlier))
            if self._gave_up >= _GIVEN_UP_AT_MOST or not self._better(earlier):
                return
        self.answer = Answer.UNKNOWN

    def _better(self, wanted: Any) -> bool:
        """Take sizes at which something more holds, if z3 finds any."""
        self.session.solver.push()
        self.session.solver.add(wanted)
        answer = self.session.check(())
        self.session.solver.pop()
        if answer is Answer.SATISFIABLE:
            self.sizes = self.session.model()
        elif answer is Answer.UNKNOWN:
            self.answer = answer
            self._gave_up += 1
        return answer is Answer.SATISFIABLE
