"""The errors that symbcast raises for wrong input: fields hold the data, and the message is created when shown."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from types import TracebackType

_CARET_CONTEXT = 60
_PACKAGE = __file__.removesuffix("errors.py")
_PYTHON = os.__file__.removesuffix("os.py")


def render_traceback(error: BaseException) -> list[str]:
    """Return what IPython shows of an error: its traceback up to the caller's line, without symbcast's frames.

    An error behind it is shown only if it was raised by code of the user's, such as a function that is traced.
    """
    trace = _of_callers(error.__traceback__) or error.__traceback__
    shell = sys.modules["IPython"].get_ipython()
    cause, is_suppressed = error.__cause__, error.__suppress_context__
    behind = cause or (None if is_suppressed else error.__context__)
    error.__cause__ = behind if behind is not None and _is_from_user(behind.__traceback__) else None
    try:
        return list(shell.InteractiveTB.structured_traceback(type(error), error, trace))
    finally:
        error.__cause__, error.__suppress_context__ = cause, is_suppressed


def _is_from_user(trace: TracebackType | None) -> bool:
    """Return whether a traceback has a frame of code other than this package, installed ones and Python's own."""
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if not name.startswith((_PACKAGE, _PYTHON, "<frozen")) and "site-packages" not in name:
            return True
        trace = trace.tb_next
    return False


def _of_callers(trace: TracebackType | None) -> TracebackType | None:
    """Return a traceback without the frames of this package."""
    frames: list[TracebackType] = []
    while trace is not None:
        if not trace.tb_frame.f_code.co_filename.startswith(_PACKAGE):
            frames.append(trace)
        trace = trace.tb_next
    for frame in reversed(frames):
        trace = TracebackType(trace, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return trace


class SymbcastError(Exception):
    """The base class of every error raised by symbcast."""

    _render_traceback_ = render_traceback


class ShapeSyntaxError(SymbcastError, ValueError):
    """Text that is not a shape, a dimension or an assumption.

    ``source`` is the text, ``span`` the half-open range of characters at fault, ``expected`` what could be there;
    ``correction`` is the whole corrected text, if it can then be read.
    """

    def __init__(
        self, source: str, span: tuple[int, int], problem: str, expected: str = "", correction: str = ""
    ) -> None:
        super().__init__(source, span, problem, expected, correction)
        self.source = source
        self.span = span
        self.problem = problem
        self.expected = expected
        self.correction = correction

    def __str__(self) -> str:
        return f"{self.message()}\n{self.pointer()}"

    def message(self) -> str:
        """Return the problem, what is expected, and a replacement for the whole text."""
        expected = f"; expected {self.expected}" if self.expected else ""
        return f"{self.problem}{expected}{f'; write {self.correction}' if self.correction else ''}"

    def pointer(self, width: int = 2 * _CARET_CONTEXT + 10) -> str:
        """Return the source line with carets under the span, cut to a window of ``width`` columns."""
        start, stop = self.span
        room = max(3, (width - 10) // 2)
        first = max(0, start - room)
        last = min(len(self.source), start + room)
        window = "".join(c if c.isprintable() else " " for c in self.source[first:last])
        prefix = "..." if first else ""
        suffix = "..." if last < len(self.source) else ""
        width = max(1, min(stop, last) - start)
        return f"    {prefix}{window}{suffix}\n    {' ' * (len(prefix) + start - first)}{'^' * width}"


class ShapeTypeError(SymbcastError, TypeError):
    """A value of a kind that cannot be a shape or a dimension."""

    def __init__(self, value: object, wanted: str, hint: str = "") -> None:
        super().__init__(value, wanted, hint)
        self.value = value
        self.wanted = wanted
        self.hint = hint

    def __str__(self) -> str:
        text = f"{_brief(self.value)} ({type(self.value).__name__}) is not {self.wanted}"
        return f"{text}; {self.hint}" if self.hint else text


class CallError(SymbcastError, TypeError):
    """A call whose arguments do not fit: an unknown keyword, too many arguments, or a missing one.

    ``function`` is the name of what was called, ``problem`` what does not fit, and ``hint`` the call to write instead.
    """

    def __init__(self, function: str, problem: str, hint: str = "") -> None:
        super().__init__(function, problem, hint)
        self.function = function
        self.problem = problem
        self.hint = hint

    def __str__(self) -> str:
        text = f"{self.function}: {self.problem}"
        return f"{text}; {self.hint}" if self.hint else text


class DimensionError(SymbcastError, ValueError):
    """A dimension that no size can satisfy: negative, too large, or not an integer expression."""

    def __init__(self, value: object, problem: str, hint: str = "") -> None:
        super().__init__(value, problem, hint)
        self.value = value
        self.problem = problem
        self.hint = hint

    def __str__(self) -> str:
        text = f"{_brief(self.value)}: {self.problem}"
        return f"{text}; {self.hint}" if self.hint else text


class UnknownRuleError(SymbcastError, ValueError):
    """A rule name that does not exist.

    ``known`` are the existing names; ``problems`` lists the installed packages with rules that could not be loaded.
    """

    def __init__(
        self,
        name: object,
        known: Sequence[str],
        suggestion: str | None = None,
        problems: Sequence[RulePluginError] = (),
    ) -> None:
        super().__init__(name, known, suggestion, problems)
        self.name = name
        self.known = tuple(known)
        self.suggestion = suggestion
        self.problems = tuple(problems)

    def __str__(self) -> str:
        hint = f"did you mean {self.suggestion!r}? The" if self.suggestion else "the"
        text = f"there is no rule {_brief(self.name)}; {hint} rules are {', '.join(self.known)}."
        return "\n".join([text, *map(str, self.problems)])


class RuleArgumentError(SymbcastError, ValueError):
    """An attribute or a number of operands that a rule does not take.

    ``rule`` is the rule's name; empty if a call of the default rule has an argument that does not exist.
    ``attribute`` is the name of the attribute at fault; empty if it is not an attribute.
    """

    def __init__(self, rule: str, problem: str, hint: str = "", attribute: str = "") -> None:
        super().__init__(rule, problem, hint, attribute)
        self.rule = rule
        self.problem = problem
        self.hint = hint
        self.attribute = attribute

    def __str__(self) -> str:
        text = f"rule {self.rule!r}: {self.problem}" if self.rule else self.problem
        return f"{text}; {self.hint}" if self.hint else text


class OperatorError(SymbcastError, ValueError):
    """Operands or attributes that an operator takes at no sizes: ranks, axes, or values of a wrong kind.

    ``operator`` is the operator's name, such as ``"matmul"``.
    """

    def __init__(self, operator: str, problem: str, hint: str = "") -> None:
        super().__init__(operator, problem, hint)
        self.operator = operator
        self.problem = problem
        self.hint = hint

    def __str__(self) -> str:
        text = f"{self.operator}: {self.problem}"
        return f"{text}; {self.hint}" if self.hint else text


class UnknownRankError(SymbcastError, ValueError):
    """A question that requires shapes of known rank was asked about one with a sequence of axes.

    ``question`` is the question, such as ``"cases"``, ``subject`` the shape or other thing with the sequence, and
    ``hint`` what to ask instead.
    """

    def __init__(self, question: str, subject: str, hint: str = "ask for each rank separately") -> None:
        super().__init__(question, subject, hint)
        self.question = question
        self.subject = subject
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.question}: the rank is not known in {_brief(self.subject)}; {self.hint}"


class RuleDefinitionError(SymbcastError, TypeError):
    """A class that cannot be added to the rules: something is missing, or another rule has one of its names."""

    def __init__(self, rule: str, problem: str, hint: str = "") -> None:
        super().__init__(rule, problem, hint)
        self.rule = rule
        self.problem = problem
        self.hint = hint

    def __str__(self) -> str:
        text = f"the definition of rule {self.rule!r}: {self.problem}"
        return f"{text}; {self.hint}" if self.hint else text


class RulePluginError(SymbcastError, ImportError):
    """The rules of an installed package cannot be loaded; ``entry`` is its entry point."""

    def __init__(self, package: str, entry: str, problem: str) -> None:
        super().__init__(package, entry, problem)
        self.package = package
        self.entry = entry
        self.problem = problem

    def __str__(self) -> str:
        return (
            f"the package {self.package!r} adds the rule {self.entry!r}, which cannot be loaded: {self.problem}; "
            f"repair or uninstall {self.package}"
        )


class RulePluginWarning(UserWarning):
    """Rules of an installed package that cannot be loaded were left out of a list."""


class AssumptionError(SymbcastError, ValueError):
    """Assumptions that cannot be used; ``clashing`` are the ones that contradict each other, as written."""

    def __init__(self, problem: str, clashing: Iterable[str] = (), hint: str = "") -> None:
        self.problem = problem
        self.clashing = tuple(clashing)
        self.hint = hint
        super().__init__(problem, self.clashing, hint)

    def __str__(self) -> str:
        text = self.problem
        if self.clashing:
            text = f"{text}: {', '.join(self.clashing)}"
        return f"{text}; {self.hint}" if self.hint else text


class AssumptionWarning(UserWarning):
    """An assumption of a program mentions no size of its operations, but a name that is close to one.

    It is issued when the program is asked, as later operations may have the size.
    """


class BindingError(SymbcastError, ValueError):
    """Sizes given for symbols are missing, for unknown names, not sizes, or contradict the assumptions."""

    def __init__(self, problem: str, hint: str = "") -> None:
        super().__init__(problem, hint)
        self.problem = problem
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.problem}; {self.hint}" if self.hint else self.problem


class MissingSizesError(BindingError):
    """Sizes that are needed were not given; ``missing`` are their names."""

    def __init__(self, missing: Sequence[str], hint: str) -> None:
        SymbcastError.__init__(self, missing, hint)
        self.missing = tuple(missing)
        self.problem = f"no size was given for {', '.join(self.missing)}"
        self.hint = hint


class ExchangeError(SymbcastError, ValueError):
    """Data that is not a program as written by `ShapeEnv.to_dict`; ``place`` is the position of the error."""

    def __init__(self, place: str, problem: str, hint: str = "") -> None:
        super().__init__(place, problem, hint)
        self.place = place
        self.problem = problem
        self.hint = hint

    def __str__(self) -> str:
        text = f"{self.place}: {self.problem}"
        return f"{text}; {self.hint}" if self.hint else text


class ModelError(SymbcastError, ValueError):
    """A model that cannot be read; ``source`` is the file, or the model's name."""

    def __init__(self, source: str, problem: str, hint: str = "") -> None:
        super().__init__(source, problem, hint)
        self.source = source
        self.problem = problem
        self.hint = hint

    def __str__(self) -> str:
        source = self.source.encode("utf-8", "backslashreplace").decode("utf-8")  # a path may hold surrogates
        text = f"{source}: {self.problem}"
        return f"{text}; {self.hint}" if self.hint else text


class UndecidedError(SymbcastError):
    """A required answer could not be decided within the limits; ``reason`` says which limit."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return f"undecided: {self.reason}"


class TargetError(SymbcastError, ValueError):
    """A contract that a target cannot express, or a target or option that does not exist.

    ``target`` is its name, ``problem`` what it cannot express, ``hint`` what to do instead, and ``nearest`` the text of
    the nearest sound thing that the target can express; empty if there is none.
    """

    def __init__(self, target: str, problem: str, hint: str = "", nearest: str = "") -> None:
        super().__init__(target, problem, hint, nearest)
        self.target = target
        self.problem = problem
        self.hint = hint
        self.nearest = nearest

    def __str__(self) -> str:
        text = f"{self.target}: {self.problem}{f'; {self.hint}' if self.hint else ''}"
        return f"{text}\nnearest: {self.nearest}" if self.nearest else text


class MissingShapeError(SymbcastError, KeyError):
    """Nothing has a shape under a name; ``hint`` has the closest name, or those that there are.

    ``kind`` is what was looked for: ``"operation"``, ``"input"``, ``"output"`` or ``"value"``.
    """

    def __init__(self, name: object, hint: str, kind: str = "value") -> None:
        super().__init__(name, hint, kind)
        self.name = name
        self.hint = hint
        self.kind = kind

    def __str__(self) -> str:
        return f"there is no {self.kind} {self.name!r}; {self.hint}"


class ConcurrentUseError(SymbcastError, RuntimeError):
    """A program was changed while another thread used it; the operation was not recorded."""

    def __init__(self) -> None:
        super().__init__()

    def __str__(self) -> str:
        return "another thread is using this environment; give each thread its own fork(), or hold a lock around it"


class MissingExtraError(SymbcastError, ImportError):
    """A feature that needs an optional dependency; ``extra`` is the one to install.

    >>> print(MissingExtraError("symbcast.onnx", "onnx"))
    symbcast.onnx needs the extra onnx: pip install '.[onnx]' in a clone (once published, 'symbcast[onnx]')
    """

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(feature, extra)
        self.feature = feature
        self.extra = extra

    def __str__(self) -> str:
        installed = f"pip install '.[{self.extra}]' in a clone (once published, 'symbcast[{self.extra}]')"
        return f"{self.feature} needs the extra {self.extra}: {installed}"


def _brief(value: object) -> str:
    """Return a one-line repr, shortened if it is long; huge integers are described by their number of bits."""
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 256:
        return f"an integer of {value.bit_length()} bits"
    try:
        text = repr(value).replace("\n", " ")
    except ValueError:
        text = f"<{type(value).__name__}>"
    if text.startswith("<") and not isinstance(value, str):  # an address, or the file of a module, says nothing
        return f"<{getattr(value, '__name__', type(value).__name__).strip('<>')}>"
    return text if len(text) <= 80 else f"{text[:77]}..."
