"""Errors with advice: calls that do not fit a signature, and attributes that do not exist.

The message says how to write the call, with the names of other libraries mapped, or what a misspelt or guessed name
probably means.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import wraps
from importlib import import_module
from types import FunctionType
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeVar, cast

from symbcast.core.characters import closest, parts_of_list, prose_list, shorten_end
from symbcast.errors import CallError, SymbcastError, render_traceback

if TYPE_CHECKING:
    from inspect import Parameter, Signature


F = TypeVar("F", bound=Callable[..., Any])

# Names that libraries have for the same parameter. The first line that has the wrong and a right name decides.
_SAME = tuple(
    line.split()
    for line in (
        "axis axes dim dims dimension dimensions axis_ perm permutation order",
        "batch_axes batch_dims batch_dim",
        "keepdims keepdim keep_dims",
        "start starts begin begins start_dim start_axis from_",
        "end ends end_dim end_axis stop stops",
        "steps step strides stride",
        "strides stride subsample window_strides",
        "dilations dilation dilation_rate rate rhs_dilation",
        "padding paddings pads pad auto_pad",
        "widths pad_width pad pads padding paddings",
        "kernel kernel_size kernel_shape ksize pool_size window window_shape window_size",
        "groups group feature_group_count num_groups n_groups",
        "target shape newshape new_shape size sizes output_shape to",
        "sizes size output_size target shape",
        "scales scale_factor scale",
        "parts indices_or_sections chunks sections split_size split_size_or_sections num_or_size_splits num_outputs",
        "repeats reps repeat multiples times",
        "count k n num",
        "classes depth num_classes n_classes",
        "right other b y mat2 second",
        "left a x input mat1 first",
        "data input inputs x a tensor array self",
        "shapes tensors arrays inputs input_shapes input_shape operands xs",
        "indices index ind idx",
        "updates src source values",
        "weights weight filters filter kernel w",
        "scale weight gamma",
        "bias b beta",
        "equation subscripts pattern",
        "mask attn_mask attention_mask",
        "query q",
        "key k",
        "value v",
        "hidden hidden_size units",
        "layers num_layers n_layers",
        "projection proj_size",
        "assume assumptions assuming assumption constraints constraint given where hints",
        "bind binding bindings sizes dims",
        "values data feeds inputs constants",
        "min_size minimum min_dim lower min",
        "lower min minimum low",
        "max_size max_value maximum max_dim",
        "upper max maximum high",
        "rule rules",
        "rules rule",
        "select rule rules code codes only",
        "ignore exclude skip",
        "out output result target out_shape",
        "returns return_ ret output out result",
        "origin name label",
        "name function_name function func",
        "max_paths paths limit",
        "limit max_cases count maximum",
        "budget timeout time_limit seconds",
        "runtime backend engine provider",
        "trace verbose debug steps",
        "args arguments example_inputs inputs",
        "enforce strict check",
        "form kind",
        "model path file filename program module",
    )
)
# Names of parameters that are numbers of axes.
AXIS_NAMES = ("axis", "axes", "dim", "dims")

# What to write for keywords that mean no single parameter, by method and keyword.
_MEANT = {
    tuple(call.split(".")): use
    for line in (
        "transpose.dim0 transpose.dim1 transpose.axis1 transpose.axis2 -> order=, all axes in their new order, such as "
        "order=(0, 2, 1)",
        "matmul.transpose_a matmul.transpose_b matmul.adjoint_a matmul.adjoint_b -> transpose(x, (..., -1, -2)) first",
        "conv.kernel_size conv.kernel_shape conv.out_channels conv.in_channels conv.filters -> the weights as a shape, "
        "such as conv(x, '64, 3, 7, 7')",
        "conv_transpose.kernel_size conv_transpose.kernel_shape conv_transpose.out_channels -> the weights as a shape, "
        "such as conv_transpose(x, '64, 32, 2, 2')",
        "layer_norm.normalized_shape -> axis=, the first normalised axis, or scale=, which has the shape of these axes",
        "assume.min require.min -> the relation as text: assume('N >= {}')",
        "assume.max require.max -> the relation as text: assume('N <= {}')",
        "Condition.* -> Condition('N == M') & Condition('M == 1'), or | for either",
        "Condition.assume Condition.assumptions -> both as one: Condition(...) & Condition({})",
        "ShapeEnv.rule ShapeEnv.rules -> rule= for each broadcast: env.broadcast('N', 'M', rule={})",
        "trace.dtype -> the type with the shape: array('N, 3', dtype={})",
        "plot.* -> plot().save({}), which writes a page",
        "checked.shape checked.shapes -> the shapes first: @checked({})",
        "trace.bind trace.sizes -> the sizes as relations: assume='N == 3'",
        "trace.shapes trace.shape -> shapes after the function: trace(f, 'N, 3')",
    )
    for calls, _, use in [line.partition(" -> ")]
    for call in calls.split()
}

# Keywords of operators on which no shape depends.
NOT_OF_SHAPES = frozenset(
    word
    for line in (
        "optimize dtype out device inplace copy requires_grad casting where initial ddof correction memory_format",
        "layout largest sorted stable training momentum eps epsilon precision preferred_element_type order alpha beta",
        "value constant_values fill_value data_format generator",
    )
    for word in line.split()
)


def with_advice(function: F, owner: type | None = None, shown: str = "") -> F:
    """Make calls that do not fit the signature raise `CallError`, with the call to write; change no other call.

    >>> @with_advice
    ... def reduced(data, axes=None): ...
    >>> reduced("N, 3", dim=1)
    Traceback (most recent call last):
        ...
    symbcast.errors.CallError: reduced: there is no argument dim=; write axes=1
    """

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        try:
            return function(*args, **kwargs) if kwargs else function(*args)
        except (TypeError, AttributeError) as error:
            wrong = None if isinstance(error, SymbcastError) else _misfit(function, owner, shown, args, kwargs)
            if wrong is None:
                raise
        raise wrong

    call.__has_advice__ = True  # type: ignore[attr-defined]
    return cast("F", call)


def advise_methods(cls: type) -> None:
    """Apply `with_advice` to the public methods and constructors that a class defines or inherits from this package."""
    for base in cls.__mro__:
        if base.__module__.partition(".")[0] != "symbcast":
            continue
        for name, value in list(vars(base).items()):
            if name[:1] == "_" and name != "__init__":
                continue
            is_bound = not isinstance(value, (classmethod, staticmethod))
            plain = value if is_bound else value.__func__
            if type(plain) is not FunctionType or hasattr(plain, "__has_advice__"):
                continue
            advised = with_advice(plain, base, cls.__name__) if is_bound else type(value)(with_advice(plain))
            setattr(base, name, advised)


def advised_keyword(name: str, known: Sequence[str], value: object = None, function: str = "") -> str:
    """Return what to write for a keyword that does not exist; ``known`` are those that do. Empty if nothing is close.

    >>> advised_keyword("keepdim", ["axes", "keepdims"], True), advised_keyword("axees", ["axes"])
    ('write keepdims=True', 'write axes=None')
    """
    use = _MEANT.get((function, name))
    if use is not None:
        return f"write {use.replace('{}', _text(value))}"
    known_name = same_parameter(name, known) or (
        None if name in NOT_OF_SHAPES and "origin" in known else closest(name, known)
    )
    return f"write {known_name}={_text(value)}" if known_name else ""


def _misfit(
    function: Callable[..., Any], owner: type | None, shown: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> CallError | None:
    """Return the error for a call that does not fit; None if it fits, and the error came from inside."""
    from inspect import signature  # for messages only

    taken, name, holder = signature(function), function.__name__, None
    if owner is not None and not (args and isinstance(args[0], owner)):
        hint = "make one first: env = ShapeEnv()" if shown == "ShapeEnv" else ""
        return CallError(name, f"must be called on {'an' if shown[:1] in 'AEIOU' else 'a'} {shown}", hint)
    if next(iter(taken.parameters), "") in ("self", "cls"):
        holder, args = args[0], args[1:]
        taken = taken.replace(parameters=list(taken.parameters.values())[1:])
        name = type(holder).__name__ if name == "__init__" else name
    try:
        taken.bind(*args, **kwargs)
    except TypeError:
        return CallError(name, *_Call(name, taken, args, kwargs, holder).advice())
    return None


class _Call:
    """A call that does not fit a signature, which is without ``self``."""

    def __init__(
        self, name: str, taken: Signature, args: tuple[Any, ...], kwargs: Mapping[str, Any], holder: object
    ) -> None:
        parameters = list(taken.parameters.values())
        self.name, self.args, self.kwargs, self.holder = name, args, kwargs, holder
        self.named = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        self.only_named = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.name not in kwargs]
        self.positional = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        self.more = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "")
        self.takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters)
        self.mappings = [p.name for p in parameters if "Mapping" in str(p.annotation)]
        self.required = [p.name for p in parameters if _is_required(p)]
        self.of_shapes = {p.name for p in parameters if "ShapeLike" in str(p.annotation)}

    def advice(self) -> tuple[str, str]:
        """Return the problem and what to write instead."""
        missing = [p for p in self.required if p not in (*self.positional[: len(self.args)], *self.kwargs)]
        wrong = [k for k in self.kwargs if k not in self.named and (not self.takes_any or same_parameter(k, missing))]
        if wrong:
            return self._of_keywords(wrong)
        if len(self.args) > len(self.positional) and not self.more:
            return self._of_too_many()
        twice = [k for k in self.kwargs if k in self.positional[: len(self.args)]]
        if twice:
            listing = self._as_list() or self._as_sequence()
            return f"the argument {twice[0]} is given twice", f"write {listing}" if listing else self._all()
        problem = (
            f"the argument{'s' * (len(missing) > 1)} {prose_list(missing)} {'are' if missing[1:] else 'is'} missing"
        )
        return problem, self._filled(missing)

    def _of_keywords(self, wrong: Sequence[str]) -> tuple[str, str]:
        if len(self.args) > 1 and self._as_list():
            right = {same_parameter(k, self.named) or k if k in wrong else k: v for k, v in self.kwargs.items()}
            return f"takes a list of {self.positional[0]}", f"write {self._text((list(self.args),), right)}"
        names = prose_list([f"{name}=" for name in wrong])
        problem = f"there is no argument {names}" if len(wrong) == 1 else f"there are no arguments {names}"
        known = [n for n in self.named if n not in self.positional[: len(self.args)]]
        advice = [self._of_keyword(name, known) for name in wrong]
        written = [f.removeprefix("write ") for f in advice if f.startswith("write ")]
        others = [f for f in dict.fromkeys(advice) if f and not f.startswith("write ")]
        return problem, "; ".join([*([f"write {', '.join(dict.fromkeys(written))}"] if written else []), *others])

    def _of_keyword(self, name: str, known: Sequence[str]) -> str:
        value = self.kwargs[name]
        if name in ("rule", "rules") and "rules" in known and isinstance(value, str):
            value = parts_of_list(value)
        if self.more == "shapes" and same_parameter(name, ["shapes"]):
            return "give the shapes by position"
        if self.more in ("assumptions", "requirements") and type(value) is int and (self.name, name) not in _MEANT:
            return f"write {self.name}('{name} == {value}')"
        if (self.name, name) not in _MEANT and type(value) is int and name.isidentifier():
            if "bind" in known and not advised_keyword(name, known):
                return f"write bind={{{name!r}: {value}}}"
            if self.required and self.required[0] in known and self.name in ("implies", "equivalent"):
                return f"write {self.name}('{name} == {value}')"
            if "assume" in known and not advised_keyword(name, known):
                return f"write assume='{name} == {value}'"
            if self.name == "guard":
                return (
                    f"write {self._text((), {k: v for k, v in self.kwargs.items() if k in self.named})}({name}={value})"
                )
        if type(value) is tuple and [*map(type, value)] == [int, int] and "assume" in known and len(name) == 1:
            return f"write assume='{value[0]} <= {name} <= {value[1]}'"
        return advised_keyword(name, known, value, self.name) or (
            "leave it out: no shape depends on it" if name in NOT_OF_SHAPES and "origin" in self.named else self._all()
        )

    def _of_too_many(self) -> tuple[str, str]:
        given = zip(self.positional, self.args, strict=False)
        number = next((n for n, a in given if n in self.of_shapes and type(a) is int), "")
        if number and (use := _MEANT.get((self.name, "out_channels"))):
            return f"{number} is a shape, not a number", f"write {use}"
        count = len(self.positional)
        names = f" ({', '.join(self.positional)})" if count else ""
        takes = f"takes {count or 'no'} argument{'s' * (count != 1)}{names}"
        problem = f"{takes}{' by position' if not count and self.only_named else ''}, not {len(self.args)}"
        return problem, f"write {use}" if (use := self._in_other_words()) else self._all()

    def _in_other_words(self) -> str:
        """Return the call that was probably meant by one with too many arguments."""
        extra = self.args[len(self.positional) :]
        if use := _MEANT.get((self.name, "*")):
            return use.replace("{}", _text(extra[0]))
        language = f"to_{extra[0]}" if isinstance(extra[0], str) else ""
        if language.isidentifier() and hasattr(type(self.holder), language):
            return f"{language}()"
        if self.positional[:1] == ["sizes"] and self.takes_any:
            names = list(getattr(getattr(self.holder, "_shown", {}), "values", list)())
            return self._text((), {str(n): v for n, v in zip(names, self.args, strict=False)})
        skipped = [*_LAST, *(() if any(isinstance(v, Mapping) for v in extra) else self.mappings)]
        # A number is no shape: the third argument of a convolution is its strides, not its bias.
        skipped += self.of_shapes if all(type(v) is int for v in extra) else ()
        free = [n for n in self.only_named if n not in skipped]
        fitting = self.args[: len(self.positional)]
        return (
            self._as_list()
            or self._as_sequence()
            or (self._text(fitting, dict(zip(free, extra, strict=False))) if len(extra) <= len(free) else "")
            or self._in_pairs()
            or _MEANT.get((self.name, "dim0"), "")
            or self._one_by_one()
        )

    def _one_by_one(self) -> str:
        """Return several calls instead of one with several values for the only argument."""
        if len(self.positional) != 1 or self.kwargs or len({type(a) for a in self.args}) > 1:
            return ""
        return " and ".join(self._text((a,), {}) for a in self.args[:3])

    def _as_list(self) -> str:
        """Return the call with shapes in a list, as `concat` takes them."""
        return self._text((list(self.args),), self.kwargs) if self.positional[:1] in (["shapes"], ["paths"]) else ""

    def _as_sequence(self) -> str:
        """Return the call with the numbers after the first argument in a tuple, as `reshape` takes them."""
        is_sequence = self.positional[1:2] and self.positional[1] in _SEQUENCES
        rest = self.args[1:]
        is_order = self.positional[1:2] != ["order"] or {*rest} == {*range(len(rest))}
        if not is_sequence or not is_order or not all(isinstance(a, (int, str)) for a in rest):
            return ""
        return self._text((self.args[0], rest), {k: v for k, v in self.kwargs.items() if k in self.only_named})

    def _in_pairs(self) -> str:
        return f"{self.name}({', '.join(self.positional)}) for two at a time" if self.positional == _PAIR else ""

    def _filled(self, missing: Sequence[str]) -> str:
        """Return the call with names for its missing arguments."""
        if self.positional[1:3] == ["starts", "stops"] and len(self.args) == 2 and (ends := _ends(self.args[1])):
            return f"write {self._text((self.args[0], *ends), self.kwargs)}"
        gathered = len(self.args) > 1 and self._as_list()
        if gathered:
            return f"write {gathered}"
        if self.more and len(missing) == 1 and len(self.args) > 2:  # the last shape is the wanted output
            return f"write {self._text(self.args[:-1], {missing[0]: self.args[-1]})}"
        places = [n for n in self.positional if n in missing]
        texts = [*map(_text, self.args), *places, *(f"{n}=..." for n in missing if n not in places)]
        texts += [f"{k}={_text(v)}" for k, v in self.kwargs.items()]
        return f"write {self.name}({', '.join(texts)})"

    def _all(self) -> str:
        names = list(dict.fromkeys((*self.positional, *self.named)))
        return f"its arguments are {prose_list(names)}" if names else f"write {self.name}()"

    def _text(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
        return f"{self.name}({', '.join([*map(_text, args), *(f'{k}={_text(v)}' for k, v in kwargs.items())])})"


_LAST = ("origin", "open", "with_assumptions", "budget")
_PAIR = ["left", "right"]
# Parameters after the first that take a tuple, whose items other libraries take one by one.
_SEQUENCES = frozenset({"target", "order", "axes", "repeats", "widths", "kernel", "sizes"})


def same_parameter(name: str, known: Sequence[str]) -> str | None:
    """Return the parameter that has another name elsewhere.

    >>> same_parameter("keepdim", ["axes", "keepdims"])
    'keepdims'
    """
    words = (name, *(word for word in name.split("_") if "_" in name))
    return next((p for w in words for group in _SAME if w in group for p in group if p in known and p != name), None)


def _is_required(parameter: Parameter) -> bool:
    is_variadic = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    return parameter.default is parameter.empty and not is_variadic


def _ends(value: object) -> tuple[object, object] | None:
    """Return start and stop of a slice, or of a text such as ``"1:5"``."""
    if isinstance(value, slice):
        return value.start, value.stop
    match = re.fullmatch(r"\s*(-?\w*)\s*:\s*(-?\w*)\s*", value) if isinstance(value, str) else None
    return None if match is None else (_position(match[1]), _position(match[2]))


def _position(text: str) -> object:
    try:
        return int(text) if text else None
    except ValueError:
        return text


def _text(value: object) -> str:
    """Return a value as the caller may write it; an ellipsis for one without such a text."""
    try:
        text = repr(value)
    except Exception:
        return "..."
    return "..." if text[:1] == "<" else shorten_end(text, 60)


# Missing attributes: errors that say what a misspelt or guessed name probably means.


def guessed_meanings(*lines: str, base: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the meanings of guessed names, from lines of names and their replacements.

    >>> guessed_meanings("ok valid -> verdict", "example -> witness()")
    {'ok': 'verdict', 'valid': 'verdict', 'example': 'witness()'}
    """
    meanings = dict(base or {})
    for line in lines:
        names, _, use = line.partition(" -> ")
        meanings.update(dict.fromkeys(names.split(), use))
    return meanings


class MissingAttributeError(SymbcastError, AttributeError):
    """An attribute does not exist; the message, with a suggestion, is built only when it is read.

    ``meanings`` are those of guessed names, ``known`` returns the existing names, and ``sizes`` those of the
    sizes, which replace ``{sizes}`` in a meaning.
    """

    _render_traceback_ = render_traceback

    def __init__(
        self,
        owner: str,
        name: str,
        meanings: Mapping[str, str],
        known: Callable[[], Collection[str]],
        sizes: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        super().__init__(owner, name)
        self._owner, self._guess = owner, name
        self._meanings, self._known, self._sizes = meanings, known, sizes

    def __str__(self) -> str:
        meaning = self._meanings.get(self._guess) or self._meanings.get(self._guess.lower())
        known = self._known()
        close = None if meaning else closest(self._guess, [n for n in known if not n.startswith("_")])
        if not meaning and self._guess.startswith("to_"):
            meaning = prose_list([f"{n}()" for n in sorted(known) if n.startswith("to_")], "or")
            close = None
        named = ", ".join(f"{size}=..." for size in self._sizes() if size.isidentifier())
        hint = (
            f": use {meaning.replace('{sizes}', named)}" if meaning else f": did you mean {close!r}?" if close else ""
        )
        return f"{self._owner} has no attribute {self._guess!r}{hint}"

    def __reduce__(self) -> tuple[Any, ...]:
        return AttributeError, (str(self),)


def missing_name_advice(module: str, names: Collection[str], *lines: str) -> Callable[[str], NoReturn]:
    """Return a module's ``__getattr__``, which answers a missing name with a suggestion.

    ``names`` are the public ones, and ``lines`` are as in `guessed_meanings`.

    >>> missing_name_advice("shapes", ["check"], "load open -> check(path)")("open")
    Traceback (most recent call last):
        ...
    symbcast.core.advice.MissingAttributeError: module 'shapes' has no attribute 'open': use check(path)
    """

    def missing(name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        raise MissingAttributeError(f"module {module!r}", name, guessed_meanings(*lines), lambda: names)

    return missing


def lazy_names(module: str, places: Mapping[str, str], *lines: str) -> Callable[[str], Any]:
    """Return a module's ``__getattr__``, which loads each name from its place when it is first used.

    A missing name is answered as in `missing_name_advice`.
    """

    def load(name: str) -> Any:
        if name not in places:
            missing_name_advice(module, places, *lines)(name)
        value = getattr(import_module(places[name]), name)
        setattr(sys.modules[module], name, value)
        return value

    return load


# Names that people try in the module of a front end, and what they mean.
GUESSED_CHECKS = (
    "load open parse read check_model check_file infer infer_shapes shapes analyze analyse validate -> check(...)",
    "verify run report test from_file from_model from_path import_model convert -> check(...)",
)


class Guessable:
    """A class whose users guess: missing attributes, and calls that do not fit, raise errors with advice."""

    __slots__ = ()

    _meanings: ClassVar[Mapping[str, str]] = {}
    """What names that people try mean here."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        advise_methods(cls)

    if not TYPE_CHECKING:  # type checkers refuse such names themselves

        def __getattr__(self, name: str) -> Any:
            if hasattr(type(self), name):  # a property that itself failed with an AttributeError
                return object.__getattribute__(self, name)
            owner = f"{type(self).__name__!r} object"
            if name.startswith("_"):
                raise AttributeError(f"{owner} has no attribute {name!r}")
            # `hasattr` of a name that is not there is a usual question, so nothing is collected for the message yet.
            raise MissingAttributeError(owner, name, type(self)._meanings, lambda: dir(self), lambda: _sizes_of(self))


def _sizes_of(subject: object) -> Iterable[str]:
    """Return the names of an answer's sizes, if it has some."""
    shown = getattr(subject, "_shown", None) if hasattr(type(subject), "_shown") else None
    return shown.values() if isinstance(shown, Mapping) else ()
