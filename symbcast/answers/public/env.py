"""Whole programs: `ShapeEnv` takes operations one after another and answers for all of them together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from inspect import currentframe
from types import FunctionType
from typing import TYPE_CHECKING, NoReturn
from warnings import warn

from symbcast.answers.data import ProgramData
from symbcast.answers.public.answer import AskedAnswer, ModuleAnswer
from symbcast.answers.show.documented import Documented
from symbcast.core.advice import guessed_meanings
from symbcast.core.algebra.symbols import sizes_and_sequences_of
from symbcast.core.characters import prose_list, quoted_name
from symbcast.core.effort import one_call
from symbcast.core.programs.operations import IncompatibleProgramError, Op, distinct_names
from symbcast.core.programs.program import OnConflict, Program
from symbcast.core.shapes import NamedShapes, Shape
from symbcast.core.verdicts import Verdict
from symbcast.errors import AssumptionWarning, ShapeTypeError
from symbcast.operators.layer_methods import LayerFunctions

if TYPE_CHECKING:
    import sympy

    from symbcast.answers.cases.cases import Cases
    from symbcast.answers.cases.division import Hint
    from symbcast.answers.findings import Finding
    from symbcast.answers.program_report import Format
    from symbcast.answers.public.conditions import GenericAnswer
    from symbcast.answers.public.consequences import Expansion
    from symbcast.answers.show.document import Document, Room


class ShapeEnv(LayerFunctions, ModuleAnswer, AskedAnswer, Documented):
    """The sizes of a program, and the requirements of its operations.

    Each operation returns its output `Shape` at once, and the environment keeps its requirements: a conditional one is
    not an error. An operation that no sizes satisfy together with the earlier ones is left out and raises
    `IncompatibleProgramError`, which names the operations that clash; with ``on_conflict="record"`` it is kept, and the
    verdict is never.

    ``assume``, ``min_size`` and ``budget`` are as in `symbcast.broadcast`. A name is one size throughout; each ``?`` in
    text is a new unknown. It is shown by a label (``?0``), which refers to it in text from then on; text can also
    introduce labels (``?a``). Use an environment from one
    thread at a time: recording while another thread uses it raises `ConcurrentUseError`.

    >>> env = ShapeEnv(assume=["batch >= 1"])
    >>> x = env.broadcast("batch, 1, T", "T, 1", origin="add")
    >>> env.broadcast(x, "batch, S, S", origin="mask")
    Shape('(batch, broadcast(S, T), broadcast(S, T))')
    >>> env.condition
    Condition('T == S or T == 1 or S == 1')
    >>> env.equal("S", "T"), env.broadcast("S, 1", "T", origin="scale")
    (Shape('(T,)'), Shape('(T, T)'))
    """

    _links_checked = -1
    """The number of operations when `_subject` last compared the names in assumptions with theirs."""
    _meanings = guessed_meanings(
        "concatenate cat -> concat(...)",
        "permute swapaxes moveaxis -> transpose(...)",
        "max_pool avg_pool maxpool avgpool max_pool2d pool2d -> pool(...)",
        "conv1d conv2d conv3d convolution -> conv(...)",
        "view -> reshape(...)",
        "interpolate upsample -> resize(...)",
        "add mul sub div where maximum elementwise -> broadcast(...)",
        "sum mean max min reduce_sum reduce_mean amax amin logsumexp var std -> reduce(x, axes=...)",
        "dot mm bmm linear dense -> matmul(...)",
        "guvectorize vectorize frompyfunc -> gufunc('(m,n),(n)->(m)', ...)",
        "expand_dims newaxis -> unsqueeze(...)",
        "repeat -> tile(...)",
        "chunk unbind -> split(...)",
        "broadcast_to -> expand(...)",
        "take index_select embedding -> gather(...)",
        "add_constraint constrain check -> require(...)",
        "assert_equal eq -> equal(...)",
        "shape output outputs result -> shapes, by operation",
        "ops -> operations",
        "input placeholder dim size variable new_symbol new_dim var -> symbol(...), fresh() or text such as 'N, 3'",
        "divide subtract multiply pow minimum -> broadcast(...)",
        "softmax log_softmax relu gelu exp sqrt elu dropout cast sigmoid tanh -> broadcast(x), which keeps the shape",
        "cumsum flip roll sort -> equal(...), if the shape stays the same",
        "argmax argmin any all prod norm -> reduce(x, axes=...)",
        "multihead_attention scaled_dot_product_attention sdpa -> attention(...)",
        "conv_transpose2d deconv conv2d_transpose -> conv_transpose(...)",
        "copy clone branch push -> fork(), or with assuming(...)",
        "add_assumption assumes given -> assume(...)",
        "verify prove solve -> verdict, or implies(...)",
        "save dump -> to_dict()",
        "load loads -> from_dict(...)",
        "conflicts unsat_core core -> conflict",
        "scope -> symbols, or assumptions",
        "tiers -> explain(trace=True)",
        "requirement clashes -> findings",
        base=ModuleAnswer._meanings,
    )

    @one_call
    def explain(self, *, trace: bool = False) -> str:
        """Return the answer in words: first each condition with its origin, then an example and a failure.

        With ``trace``, also the steps that decided it: see `Result.explain`.
        """
        return self._in_words(self._subject.tiers, lambda: self.verdict) if trace else self._in_words()

    @one_call
    def _document(self, *room: Room) -> Document:
        from symbcast.answers.show.program import program_document

        return program_document(self._subject, *room)

    def _repr_latex_(self) -> str:
        return self._in_latex()

    @one_call
    def cases(self, hints: Iterable[Hint] = (), limit: int | None = None) -> Cases:
        """Return the cases that the valid sizes divide into: see `Result.cases`.

        ``hints`` are expected sizes such as ``{"batch": 1, "T": 128}``, all or some, or conditions on sizes. The cases
        that contain them come first, those with the most hints leading, so that ``limit`` cases serve as many hints
        as possible. Raises `BindingError` for a hint that no valid sizes meet.

        >>> env = ShapeEnv()
        >>> x = env.broadcast("batch, T", "batch, S", origin="mask")
        >>> (kernel,) = env.cases([{"batch": 8, "T": 128, "S": 128}], limit=1)
        >>> kernel, kernel.shapes
        (<Case 0: T == S: (batch, T)>, {'mask': Shape('(batch, T)')})
        """
        from symbcast.answers.cases.cases import Cases
        from symbcast.answers.cases.division import cases_of_program
        from symbcast.answers.public.conditions import Condition

        return cases_of_program(Cases, self._program, Condition(self), hints, limit)

    @property
    def shapes(self) -> NamedShapes:
        """The output of each operation by the operation's name, as it was when recorded.

        The second operation of one name is ``name#2``, the third ``name#3``; so are further outputs of one operation.
        """
        ops = [op for op in self.operations if op.output is not None]
        return NamedShapes(zip(distinct_names(ops), (op.output for op in ops), strict=True), "operation")

    @property
    def _subject(self) -> Program:
        program = self._program
        if program.assumptions and self._links_checked != program.length:
            self._links_checked = program.length
            self._warn_of_mistyped_names()
        return program

    @property
    def _plain(self) -> Program:
        return self._program

    def _warn_of_mistyped_names(self) -> None:
        for text, close in self._program.mistyped_assumptions().items():
            said = f"the assumption {text!r} mentions no size of the operations; did you mean {quoted_name(close)}?"
            warn(said, AssumptionWarning, stacklevel=_frames_inside())

    def _stop(self, sizes: Mapping[str, int]) -> tuple[str, str] | None:
        from symbcast.answers.findings import first_stop

        at = {s: sizes[name] for s, name in self._program.shown.items() if name in sizes}
        stop = first_stop(self._program, at)
        return None if stop is None else (stop.op.name, stop.requirement)

    @property
    def _length(self) -> int:
        return self._program.length

    # What was recorded.

    @property
    def operations(self) -> tuple[Op, ...]:
        """What was done, in order; assumptions too."""
        return self._program.operations

    @property
    def names(self) -> dict[sympy.Symbol, str]:
        """What each size is called in witnesses, guards and words."""
        return dict(zip(self.symbols, self._program.shown.values(), strict=True))

    @property
    def min_size(self) -> int:
        """The least size of all symbols."""
        return self._program.min_size

    @property
    def on_conflict(self) -> OnConflict:
        """What becomes of an operation that cannot hold: ``"raise"`` or ``"record"``."""
        return self._program.on_conflict

    # The answer.

    @property
    def conflict(self) -> tuple[Op, ...]:
        """The fewest operations that cannot hold together; none unless the verdict is never."""
        return self._program.conflict

    @property
    def generic(self) -> GenericAnswer | None:
        """The answer for large sizes and those for smaller ones; None if the one for all sizes is decided and short.

        >>> env = ShapeEnv()
        >>> _ = env.broadcast(env.broadcast(env.broadcast("max(A - 2, 0)", "max(B - 3, 0)"), "C"), "max(D - 1, 0)")
        >>> env.generic.large.where, env.generic.large.condition
        (Condition('A >= 4 and B >= 5 and C >= 2 and D >= 3'), Condition('A + 1 == B and A == C + 2 and C + 1 == D'))
        >>> str(env.generic.exceptions[0].where), str(env.generic.exceptions[0].condition), env.generic.unanalysed
        ('A <= 2', 'B <= 4 and (C == 0 or C == 1) and D <= 2', ())
        """
        from symbcast.answers.public.conditions import generic_of

        return generic_of(self._subject)

    @one_call
    def expands(self, operation: str | int | Op, operand: int | str, axis: int) -> Expansion:
        """Return whether an operand of a broadcast is stretched on an axis of its output: always, never, or when.

        ``operation`` is its name, its number, or one of `operations`; the other parameters are as in `Result.expands`.
        All requirements of the program are taken into account. Raises `IncompatibleProgramError` if no sizes are valid,
        and `ShapeTypeError` for another operation, operand or axis.

        >>> env = ShapeEnv(assume="T >= 2")
        >>> x = env.broadcast("batch, T", "batch, S", origin="mask")
        >>> print(env.expands("mask", "B", -1))
        B of mask on axis 1 (-1): stretched when S == 1
        """
        from symbcast.answers.public.conditions import Condition
        from symbcast.answers.public.consequences import ExpansionPlace, expansion_of
        from symbcast.core.programs.conditions import condition_of_answer

        program = self._program
        op = _broadcast_named(program, operation)
        if self.verdict is Verdict.NEVER:
            raise IncompatibleProgramError(op, self.conflict, [a.text for a in program.needed_assumptions()])
        assert op.rule is not None
        place = ExpansionPlace.of(op.rule, list(map(len, op.aligned)), operand, axis, program.open_axes(op))
        stretch = program.stretch(op, place.operand, place.axis)
        return expansion_of(stretch, condition_of_answer(Condition, stretch.formula, program), op.rule, place, op.name)

    @property
    @one_call
    def findings(self) -> tuple[Finding, ...]:
        """The program's requirements, in the order of the operations that first require them.

        There is one finding for each conjunct of the condition, with why it is required and the smallest sizes at
        which it fails. If no sizes are valid, there is one for each clashing operation.

        >>> env = ShapeEnv()
        >>> x = env.matmul("batch, T, d", "k, 64", origin="proj")
        >>> (found,) = env.findings
        >>> found.operation, found.text, found.code, found.counterexample, found.sizes_there
        ('proj', 'd == k', 'matmul', {'batch': 1, 'T': 1, 'd': 1, 'k': 2}, '(1, 1, 1) and (2, 64)')
        """
        from symbcast.answers.findings import findings_of

        return findings_of(self._program)

    @one_call
    def report(self, format: Format = "text", source: str = "") -> str:
        """Return the findings in a format for tools that show or collect them.

        ``format`` is ``"text"``, a line for each finding as in compilers, with its evidence below; ``"json"``,
        which `symbcast.answers.program_report.report_schema` describes; ``"sarif"``, for code scanning; or
        ``"github"``, the GitHub workflow commands that annotate a file. ``source`` is the program's file or name.
        Raises `ShapeTypeError` for another format.

        >>> env = ShapeEnv()
        >>> x = env.broadcast("batch, T", "batch, S", origin="mask")
        >>> print(env.report("text", "net.py"))
        net.py: warning: mask (numpy): the program is valid only when T and S are equal, or one of them is 1
            numpy requires: on axis 1 (-1), sizes must be equal or 1
            operands: A (batch, T), B (batch, S)
            fails at batch=1, T=2, S=3: (1, 2) and (1, 3)
            fix: assume "T == S" if that is known
        """
        from symbcast.answers.program_report import report

        return report(self._program, format, source)

    # Exchange.

    def _outputs(self) -> Mapping[str, Shape | None]:
        return self.shapes

    @one_call
    def to_dict(self) -> ProgramData:
        """Return the program and the answer about it as data for JSON, as `json_schema` describes it."""
        from symbcast.answers.exchange import program_to_dict

        return program_to_dict(self._program)

    @staticmethod
    def from_dict(data: object) -> ShapeEnv:
        """Return the environment that `to_dict` wrote; the stored answer is not read but computed again.

        Raises `ExchangeError` for other data.
        """
        from symbcast.answers.exchange import program_from_dict

        return ShapeEnv._of(program_from_dict(data))

    @staticmethod
    def json_schema() -> dict[str, object]:
        """Return the JSON Schema (2020-12) of the data that `to_dict` returns."""
        from symbcast.answers.exchange import program_schema

        return program_schema()

    def __repr__(self) -> str:
        count = sum(op.kind != "assume" for op in self.operations)
        sizes = len(sizes_and_sequences_of(self._program.shown))
        plurals = ["" if n == 1 else "s" for n in (count, sizes)]
        return f"<ShapeEnv of {count} operation{plurals[0]} over {sizes} size{plurals[1]}>"

    def __bool__(self) -> NoReturn:
        raise TypeError("an environment has no truth value: compare its .verdict")


def _name_methods() -> None:
    """Name the inherited methods after the class that users know: Python's errors show it."""
    for base in ShapeEnv.__mro__[1:]:
        for name, method in vars(base).items():
            if isinstance(method, FunctionType) and base.__module__.startswith("symbcast.operators"):
                method.__qualname__ = f"ShapeEnv.{name}"


_name_methods()


def _frames_inside() -> int:
    """Return the number of frames of symbcast above the caller's line, as `warn` counts them."""
    frame, count = currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").startswith("symbcast"):
        frame, count = frame.f_back, count + 1
    return count


def program_of(env: ShapeEnv) -> Program:
    """Return the plain program that an environment shows."""
    return env._program


def _broadcast_named(program: Program, operation: str | int | Op) -> Op:
    """Return the one broadcast that a caller means."""
    outputs = [op for op in program.operations if op.output is not None]
    numbered = {op.number: name for op, name in zip(outputs, distinct_names(outputs), strict=True)}
    named = [op for op in program.operations if operation in (op.name, op.number, op)]
    named = named or [op for op in outputs if numbered[op.number] == operation]
    if len(named) == 1 and named[0].kind == "broadcast":
        return named[0]
    several = f"several operations have this name: write the number, such as {named[0].number}" if named else ""
    there = [repr(op.name) for op in program.operations if op.kind == "broadcast"]
    own = f"its broadcasts are {prose_list(there)}; origin= names one when it is recorded" if there else "it has none"
    hint = several if len(named) > 1 else own
    raise ShapeTypeError(operation, "a broadcast of this program", hint)


@one_call
def message_of_refusal(error: IncompatibleProgramError) -> str:
    """Return the message of an error about a program."""
    from symbcast.answers.show import document, program

    return document.message(program.refusal_text(error.operation, error.operations, error.assumptions))
