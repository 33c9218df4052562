"""The only module that imports z3: its thread, sessions, sizes at which formulas hold, and the least sizes."""

from __future__ import annotations

import atexit
import os
import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from functools import reduce
from itertools import repeat
from operator import ge, itemgetter, le, mul
from typing import Any, Generic, TypeVar

from symbcast.core.structs import NamedTuple

try:
    import z3
except ModuleNotFoundError:  # as in a browser: what needs it stays undecided
    z3 = None

from symbcast.core import effort
from symbcast.core.algebra.arithmetic import MAX_SIZE
from symbcast.core.algebra.formulas import (
    COMPARED,
    AllOf,
    AnyOf,
    Clashing,
    Comparison,
    Compatible,
    Formula,
    expand,
    is_total,
    needs,
)
from symbcast.core.algebra.terms import Operation, Symbol, Term, term
from symbcast.core.effort import OPTIMISED_LIMIT, RESOURCE_LIMIT, EffortSpentError, Satisfiability, charge
from symbcast.core.effort import current as current_effort
from symbcast.core.solver.evaluation import holds_at
from symbcast.core.solver.f3_linear.lattices import reduced_basis
from symbcast.core.solver.points import GivenUpError, Point, SmallestPointQuestion
from symbcast.errors import UndecidedError

if z3 is None:
    effort.lacks(effort.NO_Z3)


class NoSolverError(UndecidedError, EffortSpentError):
    """There is no z3 in this process: inside as if it had spent its effort, and for users an open question."""

    def __init__(self) -> None:
        super().__init__(effort.NO_Z3)


# The only thread on which z3 runs.
#
# A z3 context must not be shared between threads, and signals are not handled during a check. So z3 runs only on a
# single worker thread, while the calling thread waits and forwards interrupts.


_POLL_SECONDS = 0.05

T = TypeVar("T")
K = TypeVar("K")


@dataclass(slots=True)
class WorkerJob(Generic[T]):
    """A function run on the worker thread, and its outcome."""

    function: Callable[[], T]
    done: threading.Event = field(default_factory=threading.Event)
    variables: Context = field(default_factory=copy_context)
    running: z3.Context | None = None
    result: T | None = None
    error: BaseException | None = None
    cancelled: bool = False


class JobCancelled(Exception):  # noqa: N818 - not an error: the caller interrupted
    """The job's caller was interrupted."""


class _Worker:
    """The worker thread and its current job."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.jobs: queue.SimpleQueue[WorkerJob[Any] | None] = queue.SimpleQueue()
        self.current: WorkerJob[Any] | None = None
        self.thread = threading.Thread(target=self._serve, name="symbcast-z3", daemon=True)
        self.thread.start()

    def _serve(self) -> None:
        while (job := self.jobs.get()) is not None:
            self.current = job
            if job.cancelled:  # before it began
                self.current = None
                continue
            try:
                # Run in the caller's context, which holds its budget.
                job.result = job.variables.run(job.function)
            except BaseException as error:
                # Remove the traceback: its frames hold solvers, which must be freed on this thread.
                job.error = error.with_traceback(None)
                job.error.__context__ = None
            job.running = None
            self.current = None
            job.done.set()
            del job  # otherwise the result would be held until the next job

    def run(self, function: Callable[[], T]) -> T:
        if threading.current_thread() is self.thread:
            return function()
        job = WorkerJob(function)
        self.jobs.put(job)
        try:
            while not job.done.wait(_POLL_SECONDS):
                pass
        except BaseException:
            job.cancelled = True
            # A job that has not begun never will; one that has is waited for, so that the worker is free afterwards.
            while self.current is job and not job.done.wait(_POLL_SECONDS):
                running = job.running
                if running is not None:
                    running.interrupt()
            raise
        if job.error is not None:
            raise job.error
        return job.result  # type: ignore[return-value]

    def stop(self) -> None:
        if self.pid == os.getpid():
            self.jobs.put(None)
            self.thread.join(timeout=1)


_worker: _Worker | None = None
_worker_lock = threading.Lock()


def on_worker(function: Callable[[], T]) -> T:
    """Run a function that uses z3 on the worker thread and return its result, which must hold no z3 object.

    An interrupt of the calling thread ends the job within about a tenth of a second and is raised again. Without z3,
    raises `NoSolverError`.
    """
    if z3 is None:
        raise NoSolverError
    global _worker  # noqa: PLW0603 - one worker a process; a fork leaves the thread behind and needs a new one
    with _worker_lock:
        if _worker is None or _worker.pid != os.getpid() or not _worker.thread.is_alive():
            _worker = _Worker()
            atexit.register(_worker.stop)
        worker = _worker
    return worker.run(function)


def running_job(context: z3.Context) -> None:
    """Register what the current job is executing, so that an interrupt can stop it."""
    if _worker is not None and _worker.current is not None:
        _worker.current.running = context


def end_if_cancelled() -> None:
    """Raise `JobCancelled` if the caller of the current job was interrupted."""
    if _worker is not None and _worker.current is not None and _worker.current.cancelled:
        raise JobCancelled


# Tiers F3 and F4: the only interface to z3. Nothing else imports z3.
#
# z3 is given formulas over integers and asked whether they can hold. Each `Session` has its own context, in which
# symbols are declared in the order of the question: z3 orders by the numbers of its objects, so in a shared context
# earlier questions would affect models and when z3 gives up (a context costs 2 ms). The limit is z3's own resource
# count, which is the same on every run. Products are linearised step by step and by small Groebner bases, which are
# counted.


__all__ = ["Satisfiability", "Session", "on_worker", "some_point"]

# What z3 does without counting it is switched off or kept small: `nlsat` may compute for seconds uncounted, larger
# Groebner bases take up to 8 microseconds a unit and prove no more. An interrupt is the calling thread's to hear.
_NLSAT = "arith.nl.nra"
OPTIONS = {
    _NLSAT: False,
    "arith.nl.grobner_max_simplified": 500,
    "arith.nl.grobner_expr_size_growth": 1,
    "ctrl_c": False,
}
# Cuts from Hermite normal forms. Beside products they take up to 33 microseconds a unit, and are seldom needed.
_CUTS = "arith.enable_hnf"
# Units of effort for a unit of z3: it takes 0.2 to 1 microseconds in linear arithmetic, 1 to 3 with products, and 8
# with cuts in addition.
_UNIT = 1
_UNIT_OF_PRODUCTS = 3
_UNIT_OF_CUTS = 8
# Beside products, bits by which sizes may exceed the largest number in the formulas: see `Translator.limit`.
_BITS = 64
# Units of effort for a context, and for a check before it begins.
_SESSION = 4_000
_CHECK = 300
# Units of effort for an object of z3, which is made through its Python interface.
_OBJECT = 10
_OBJECTS_OF_OPERATION = 5
_PAIRWISE_UP_TO = 4
_CHOSEN_UP_TO = 3


class Translator:
    """Translates formulas to z3, each term once."""

    def __init__(self, context: z3.Context, basis: Mapping[Symbol, Mapping[int, int]]) -> None:
        self.context = context
        self.basis = basis
        self.symbols: dict[Symbol, Any] = {}
        self.terms: dict[Term, Any] = {}
        self.formulas: dict[Formula, Any] = {}
        self.operations: dict[Operation, Any] = {}
        self.fresh = 0
        self.definitions: list[Any] = []
        self.largest = 1
        self.has_products = False

    def symbol(self, symbol: Symbol) -> Any:
        """Return a symbol: a z3 constant named by its number, or its expression in the basis."""
        return _translated(self.symbols, symbol, self._new_symbol)

    def _new_symbol(self, symbol: Symbol) -> Any:
        multiples = self.basis.get(symbol)
        if multiples is None:
            return z3.Int(f"x{len(self.symbols)}", self.context)
        return z3.Sum([self.number(0), *(c * z3.Int(f"y{n}", self.context) for n, c in multiples.items())])

    def number(self, value: int) -> Any:
        """Return an integer as a z3 value."""
        return z3.IntVal(value, self.context)

    def term(self, value: Term) -> Any:
        """Return a term as a z3 integer expression."""
        return _translated(self.terms, value, self._new_term)

    def _new_term(self, value: Term) -> Any:
        parts = [self._monomial(m, c) for m, c in value.coefficients.items()]
        return parts[0] if len(parts) == 1 else z3.Sum(parts) if parts else self.number(0)

    def _monomial(self, monomial: Sequence[Any], coefficient: int) -> Any:
        charge(_OBJECT * (1 + len(monomial)))
        self.largest = max(self.largest, abs(coefficient))
        factors = [self._operation(a) if isinstance(a, Operation) else self.symbol(a) for a in monomial]
        self.has_products = self.has_products or len(factors) > 1
        if not factors:
            return self.number(coefficient)
        product = reduce(mul, factors)
        return product if coefficient == 1 else coefficient * product

    def _operation(self, operation: Operation) -> Any:
        return _translated(self.operations, operation, self._new_operation)

    def _new_operation(self, operation: Operation) -> Any:
        charge(_OBJECT * _OBJECTS_OF_OPERATION * len(operation.args))
        if operation.kind in ("//", "%"):
            return self._division(operation)
        args = [self.term(a) for a in operation.args]
        if operation.kind != "join" and len(args) > _CHOSEN_UP_TO:
            return self._extremum(operation.kind, args)
        value = args[-1]
        for arg in reversed(args[:-1]):
            first = {"min": arg <= value, "max": arg >= value, "join": value == 1}[operation.kind]
            value = z3.If(first, arg, value)
        return value

    def _extremum(self, kind: str, args: Sequence[Any]) -> Any:
        """Return a constant and define it: nested choices over a hundred sizes would be too deep for z3."""
        value = self._fresh()
        beyond = le if kind == "min" else ge
        self.definitions += [*(beyond(value, arg) for arg in args), z3.Or([value == arg for arg in args])]
        return value

    def _division(self, operation: Operation) -> Any:
        """Return a quotient or remainder, of any value where the divisor is 0; another constraint excludes that.

        z3 divides by positive numbers itself. A symbolic divisor is multiplied: the quotient is a constant q with ``b*q
        <= a < b*q + b``, on which z3 spends far less than on its own division.
        """
        dividend, divisor = operation.args
        if divisor.is_constant and divisor.constant > 0:
            above, by = self.term(dividend), self.term(divisor)
            return above / by if operation.kind == "//" else above % by
        if operation.kind == "%":
            quotient = self._operation(Operation("//", operation.args))
            return self.term(dividend) - self.term(divisor) * quotient
        return self._quotient(dividend, divisor)

    def _quotient(self, dividend: Term, divisor: Term) -> Any:
        self.has_products = True
        above, by, quotient = self.term(dividend), self.term(divisor), self._fresh()
        rest = above - by * quotient
        positive = z3.And(rest >= 0, rest < by)
        low = divisor.lower_bound
        if low is None or low < 0:
            self.definitions.append(z3.Implies(by < 0, z3.And(rest <= 0, rest > by)))
        elif (dividend.lower_bound or -1) >= 0:
            self.definitions.append(z3.Implies(by > 0, z3.And(quotient >= 0, quotient <= above)))
        self.definitions.append(positive if low is not None and low > 0 else z3.Implies(by > 0, positive))
        return quotient

    def formula(self, formula: Formula) -> Any:
        """Return a formula as a z3 Boolean; fresh constants in it represent existential variables."""
        return _translated(self.formulas, formula, self._new_formula)

    def _new_formula(self, formula: Formula) -> Any:
        if isinstance(formula, (AllOf, AnyOf)) or is_total(formula):
            return self._leaf(formula)
        # z3 gives a value to every term: that a leaf is false where a term has none is a part of it.
        return z3.And([*map(self._leaf, needs(formula)), self._leaf(formula)])

    def _leaf(self, formula: Formula) -> Any:
        charge(_OBJECT * (1 + len(formula.parts) if isinstance(formula, (AllOf, AnyOf)) else 3))
        match formula:
            case Comparison(operator, left, right):
                return COMPARED[operator](self.term(term(left)), self.term(term(right)))
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

    def limit(self, mark: Any) -> Any:
        """Return the constraint that no size is huge, if a mark holds.

        Without it, z3 derives bounds of products from bounds of their factors and back, each twice as long as the one
        before, and never reaches its next check of the limit. The bound is on the sum of the sizes: z3 would multiply
        separate bounds, and most proofs would rest on them.
        """
        charge(_OBJECT * len(self.symbols))
        return z3.Implies(mark, z3.Sum([self.number(0), *self.symbols.values()]) <= self.number(self.largest << _BITS))


class NamedTranslator(Translator):
    """Translates formulas for a user: symbols have names, and formulas may be negated, as nothing is existential."""

    def __init__(self, names: Mapping[Symbol, str]) -> None:
        super().__init__(z3.main_ctx(), {})
        self.symbols = {s: z3.Int(name, self.context) for s, name in names.items()}

    def _leaf(self, formula: Formula) -> Any:
        # More than a few members would share a constant that exists where they join: its negation says nothing.
        if isinstance(formula, (Compatible, Clashing)):
            return self.formula(expand(formula))
        return super()._leaf(formula)


class Z3Form(NamedTuple):
    """A condition in z3's terms, in z3's main context.

    Attributes:
        condition: z3's expression.
        names: the integer variable of each size.
        known: what also holds: the bounds of sizes, and the definitions of quotients, minima and maxima that z3 lacks.
            Assert it together with the condition, or with its negation.
    """

    condition: Any
    names: dict[str, Any]
    known: Any


def z3_form(formula: Formula, assumed: Formula, names: Mapping[Symbol, str]) -> Z3Form:
    """Return a condition and what is assumed in z3's terms."""
    if z3 is None:
        raise NoSolverError
    translator = NamedTranslator(names)
    condition, known = translator.formula(formula), translator.formula(assumed)
    bounds = [symbol >= 0 for symbol in translator.symbols.values()]
    variables = {names[s]: variable for s, variable in translator.symbols.items() if s in names}
    return Z3Form(condition, variables, z3.And(known, *bounds, *translator.definitions))


def _translated(known: dict[K, Any], key: K, make: Callable[[K], Any]) -> Any:
    expression = known.get(key)
    if expression is None:
        expression = known[key] = make(key)
    return expression


def some_point(
    symbols: Sequence[Symbol], formulas: Sequence[Formula], limit: int | None = None, *, nlsat: bool = False
) -> Point | None:
    """Return sizes at which formulas hold, None if there are none; raise `GivenUpError` if z3 gives up.

    The same question gets the same answer, whatever was asked before. ``nlsat`` is for small limits: see `OPTIONS`.
    """
    if z3 is None:
        raise GivenUpError

    def run() -> tuple[Satisfiability, Point]:
        session = Session(symbols, formulas, limit=limit)
        if nlsat:
            session.solver.set(_NLSAT, True)
        return session.check(), session.sizes

    answer, sizes = on_worker(run)
    if answer is Satisfiability.UNKNOWN:
        raise GivenUpError
    return sizes if answer is Satisfiability.SATISFIABLE else None


def _units_of(solver: Any) -> int:
    """Return the units that z3 used in the context of a solver so far."""
    statistics = solver.statistics()
    return int(statistics.get_key_value("rlimit count")) if "rlimit count" in statistics.keys() else 0  # noqa: SIM118


def _allowed_units(limit: int, unit: int) -> int:
    """Charge for a check and return its limit: within the remaining effort, of which a unit of z3 takes ``unit``."""
    counter = current_effort()
    if counter is None or counter.is_call:
        return limit
    counter.charge(_CHECK)
    return max(1, min(limit, counter.left // unit))


class Session:
    """A solver with some formulas asserted permanently; create and use it only inside `on_worker`.

    If they have large coefficients, the symbols are expressed in a reduced basis
    (`symbcast.core.solver.f3_linear.lattices`).
    """

    def __init__(self, symbols: Iterable[Symbol], formulas: Iterable[Formula], *, limit: int | None = None) -> None:
        context = z3.Context()
        running_job(context)
        self.symbols = tuple(symbols)
        self.formulas = list(formulas)
        self.limit = RESOURCE_LIMIT if limit is None else limit
        basis = reduced_basis(self.symbols, self.formulas)
        self.is_reduced = basis is not None
        self.translator = Translator(context, basis or {})
        self.solver = z3.SimpleSolver(ctx=context)
        for option, value in OPTIONS.items():
            self.solver.set(option, value)
        # The sizes at which the formulas of the last satisfiable check hold.
        self.sizes: dict[Symbol, int] = {}
        self._defined = 0
        self._used = 0
        self.reason = ""
        charge(_SESSION)
        for symbol in self.symbols:
            self.solver.add(self.translator.symbol(symbol) >= 0)
        self._add(self.formulas)

    def _add(self, formulas: Iterable[Formula], marks: Iterable[Any] = repeat(None)) -> None:
        for formula, mark in zip(formulas, marks, strict=False):
            end_if_cancelled()
            said = self.translator.formula(formula)
            self.solver.add(said if mark is None else z3.Implies(mark, said))
        self._define()

    def _define(self) -> None:
        """Assert the definitions of fresh constants; permanently if no scope is open, as they outlive a scope."""
        new = self.translator.definitions[self._defined :]
        if new:
            self.solver.add(*new)
        if not self.solver.num_scopes():
            self._defined += len(new)

    def check(self, formulas: Sequence[Formula] = ()) -> Satisfiability:
        """Return whether the formulas can hold together with those asserted."""
        if not formulas:
            return self._check()
        with self._scope():
            self._add(formulas)
            answer = self._check()
        # The formulas of this check may have large rows, and a basis is chosen when the symbols are declared.
        if answer is Satisfiability.UNKNOWN and not self.is_reduced:
            again = Session(self.symbols, [*self.formulas, *formulas], limit=self.limit)
            if again.is_reduced:  # by rows of those formulas
                answer = again.check()
                self.sizes, self.reason = again.sizes, again.reason
            running_job(self.translator.context)
        return answer

    def check_beside(self, expression: Any) -> Satisfiability:
        """Return whether a z3 expression can hold together with the assertions."""
        with self._scope():
            self.solver.add(expression)
            return self._check()

    @contextmanager
    def _scope(self) -> Iterator[None]:
        """Assert what is asserted in this block for the time of it."""
        self.solver.push()
        try:
            yield
        finally:
            self.solver.pop()
            self._define()

    def _check(self, *marks: Any) -> Satisfiability:
        limit = effort.current_budget()
        if limit is not None:
            if limit.over():
                self.reason = limit.reason
                return Satisfiability.UNKNOWN
            self.solver.set("timeout", limit.milliseconds)
        answer = self._counted_check(*marks)
        if answer == z3.unknown:
            self.reason = self.solver.reason_unknown()
            if limit is not None and limit.over():
                self.reason = limit.reason
            return Satisfiability.UNKNOWN
        if answer == z3.unsat:
            return Satisfiability.UNSATISFIABLE
        model = self.solver.model()
        values = ((s, model.eval(self.translator.symbol(s), model_completion=True)) for s in self.symbols)
        self.sizes = {s: value.as_long() for s, value in values}
        return Satisfiability.SATISFIABLE

    def _counted_check(self, *marks: Any) -> Any:
        """Check within the remaining effort, and charge what z3 used."""
        if not self.translator.has_products:
            return self._limited_check(_UNIT, *marks)
        within = z3.FreshBool("within", self.translator.context)
        self.solver.add(self.translator.limit(within))
        self.solver.set(_CUTS, False)
        answer = self._limited_check(_UNIT_OF_PRODUCTS, *marks, within)
        if answer == z3.unknown and "incomplete" in self.solver.reason_unknown():
            self.solver.set(_CUTS, True)
            answer = self._limited_check(_UNIT_OF_CUTS, *marks, within)
        clash = self.solver.unsat_core() if answer == z3.unsat else ()
        return z3.unknown if any(within.eq(mark) for mark in clash) else answer

    def _limited_check(self, unit: int, *marks: Any) -> Any:
        counter, allowed = current_effort(), _allowed_units(self.limit, unit)
        self.solver.set("rlimit", allowed)
        before = self._used
        answer = self.solver.check(*marks)
        end_if_cancelled()
        self._used = _units_of(self.solver)
        if counter is not None:
            counter.left -= min(allowed, self._used - before) * unit
            if answer == z3.unknown and allowed < self.limit and self._used - before >= allowed:
                counter.charge(max(0, counter.left) + 1)  # the effort ended the check, not the limit of the question
        return answer

    def core(self, formulas: Sequence[Formula]) -> list[int]:
        """Return the positions of an irreducible set of formulas that clash with the asserted ones.

        All of the formulas together are known to clash; if this cannot be confirmed again within the limits, or
        removals stay undecided, more of them are returned.
        """
        clashing = self._tracked(formulas)
        for position in reversed(clashing):
            fewer = [n for n in clashing if n != position]
            if self.check([formulas[n] for n in fewer]) is Satisfiability.UNSATISFIABLE:
                clashing = fewer
        return clashing

    def _tracked(self, formulas: Sequence[Formula]) -> list[int]:
        context = self.translator.context
        marks = [z3.Bool(f"mark#{n}", context) for n in range(len(formulas))]
        with self._scope():
            self._add(formulas, marks)
            if self._check(*marks) is not Satisfiability.UNSATISFIABLE:
                return list(range(len(formulas)))
            core = {mark.decl().name() for mark in self.solver.unsat_core()}
            return [n for n, mark in enumerate(marks) if mark.decl().name() in core]

    def least(self, weights: Mapping[Symbol, int]) -> dict[Symbol, int]:
        """Return sizes of at least 1 with a small weighted sum, by z3's optimisation; empty if none were found.

        They need not be the smallest. In the `sizes` of a check, one may have as many digits as a bound allows.
        """
        context, translate = self.translator.context, self.translator.symbol
        optimize = z3.Optimize(ctx=context)
        for option, value in OPTIONS.items():
            optimize.set(option, value)
        limit = effort.current_budget()
        if limit is not None:
            optimize.set("timeout", limit.milliseconds)
        optimize.add(*self.solver.assertions())
        for symbol in self.symbols:
            optimize.add(translate(symbol) >= 1, translate(symbol) <= self.translator.number(MAX_SIZE))
        optimize.minimize(self.weighted(weights))
        unit = _UNIT_OF_PRODUCTS if self.translator.has_products else _UNIT
        counter, allowed = current_effort(), _allowed_units(OPTIMISED_LIMIT, unit)
        optimize.set("rlimit", allowed)
        before = _units_of(self.solver)
        answer = optimize.check()
        end_if_cancelled()
        used = _units_of(optimize) - before
        if counter is not None:
            counter.left -= min(allowed, max(0, used)) * unit
        try:
            model = optimize.model()  # where z3 reached its limit, the best one so far
        except z3.Z3Exception:
            return {}
        if answer == z3.unsat:
            return {}
        values = {s: model.eval(translate(s), model_completion=True) for s in self.symbols}
        return {s: value.as_long() for s, value in values.items() if z3.is_int_value(value)}

    def weighted(self, weights: Mapping[Symbol, int]) -> Any:
        """Return a weighted sum of sizes as a z3 expression, for the bounds passed to `check_beside`."""
        return z3.Sum([self.translator.number(0), *(w * self.translator.symbol(s) for s, w in weights.items())])

    def zeros(self, weights: Mapping[Symbol, int]) -> Any:
        """Return the total weight of the sizes that are 0."""
        translate, number = self.translator.symbol, self.translator.number
        weighted = [z3.If(translate(s) == 0, number(w), number(0)) for s, w in weights.items()]
        return z3.Sum([number(0), *weighted])

    def earlier(self, sizes: Mapping[Symbol, int]) -> Any:
        """Return a z3 expression: the sizes come before some others in the order of the symbols."""
        earlier: Any = z3.BoolVal(False, self.translator.context)
        for s in reversed(self.symbols):
            size = self.translator.symbol(s)
            earlier = z3.Or(size < sizes[s], z3.And(size == sizes[s], earlier))
        return earlier


# Least sizes by z3: each bound is lowered until z3 refutes the next one, so the result is unique.
#
# The models that z3 finds on the way do not matter: fewest zeros, then least weighted sum, then first in order
# determine a single point.


_GIVEN_UP_AT_MOST = 3


def smallest_point(question: SmallestPointQuestion) -> Point | None:
    """Return the smallest sizes, None if there are none; raise `GivenUpError` with the smallest found."""
    if z3 is None:
        raise GivenUpError
    formulas = question.described()

    def run() -> tuple[Satisfiability, Point]:
        search = _Least(Session(question.symbols, formulas), formulas, question.weights)
        return search.answer, search.sizes

    answer, sizes = on_worker(run)
    if answer is Satisfiability.UNSATISFIABLE:
        return None
    is_right = bool(sizes) and all(holds_at(f, sizes) for f in formulas)  # z3 gives undefined terms any value
    if answer is Satisfiability.UNKNOWN or not is_right:
        raise GivenUpError(*([sizes] if is_right else []))
    return sizes


class _Least:
    """The search for a least model: ``sizes`` are the least if the answer is satisfiable, otherwise the least found."""

    def __init__(self, session: Session, formulas: Sequence[Formula], weights: Mapping[Symbol, int]) -> None:
        self.session = session
        self._formulas = formulas
        self.weights = {s: weights[s] for s in session.symbols}
        self.sizes: Point = {}
        self._lowest = 0
        self._gave_up = 0
        self.answer = self._start()
        if self.answer is not Satisfiability.SATISFIABLE:
            return
        try:
            self._avoid_zeros()
            self._minimise(session.weighted(self.weights), self._sum)
            self._put_in_order()
        except EffortSpentError:
            self.answer = Satisfiability.UNKNOWN

    def _start(self) -> Satisfiability:
        """Find the first sizes: small ones without 0, if z3's optimisation finds any."""
        with suppress(EffortSpentError):
            sizes = self.session.least(self.weights)
            if len(sizes) == len(self.session.symbols) and all(holds_at(f, sizes) for f in self._formulas):
                self.sizes = sizes
                return Satisfiability.SATISFIABLE
        answer = self.session.check()
        if answer is Satisfiability.SATISFIABLE:
            self.sizes = self.session.sizes
        return answer

    def _sum(self, sizes: Point) -> int:
        return sum(w * sizes[s] for s, w in self.weights.items())

    def _zeros(self, sizes: Point) -> int:
        return sum(w for s, w in self.weights.items() if sizes[s] == 0)

    def _avoid_zeros(self) -> None:
        zeros = self.session.zeros(self.weights)
        if self._zeros(self.sizes) == 0 or self._better(zeros == 0):
            for s in self.session.symbols:
                self.session.solver.add(self.session.translator.symbol(s) >= 1)
            self._lowest = 1
        else:
            self._minimise(zeros, self._zeros)

    def _minimise(self, expression: Any, cost: Callable[[Point], int], low: int = 0) -> None:
        """Find sizes that minimise a cost, at least ``low``, then fix the cost."""
        high = cost(self.sizes)
        middle = high - 1  # the first sizes found are often the least
        while low < high and self._gave_up < _GIVEN_UP_AT_MOST:
            if self._better(expression <= middle):
                high = cost(self.sizes)
            else:
                low = middle + 1
            middle = (low + high) // 2
        self.session.solver.add(expression == high)

    def _put_in_order(self) -> None:
        """Minimise each size in turn, given those before it."""
        session = self.session
        for symbol in session.symbols:
            if self._gave_up >= _GIVEN_UP_AT_MOST or not self._better(session.earlier(self.sizes)):
                return
            self._minimise(session.translator.symbol(symbol), itemgetter(symbol), self._lowest)

    def _better(self, expression: Any) -> bool:
        """Use sizes at which an additional constraint holds, if z3 finds any."""
        answer = self.session.check_beside(expression)
        if answer is Satisfiability.SATISFIABLE:
            self.sizes = self.session.sizes
        elif answer is Satisfiability.UNKNOWN:
            self.answer = answer
            self._gave_up += 1
        return answer is Satisfiability.SATISFIABLE
