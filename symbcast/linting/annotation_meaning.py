"""What annotations mean for a trace: the arguments to trace with, and when a result is what was promised."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from symbcast.arrays.arguments import ArrayArgument, BuiltArgument, SizeArgument
from symbcast.core.algebra.arithmetic import replace_symbols
from symbcast.core.algebra.formulas import FALSE, TRUE, Formula, all_of, any_of, at_most, equal
from symbcast.core.algebra.terms import Dim, symbols_of
from symbcast.core.shapes import Shape, shape
from symbcast.errors import SymbcastError
from symbcast.linting import specs

# The arguments that annotations allow: symbolic arrays and sizes, in each form.
#
# An annotation may allow several forms: a union, any number of axes, an axis that may have size 1. The first form of
# each is traced together with the first forms of all others; then each other form, with the first forms of the others.


# The maximum number of forms of one function's arguments that are traced.
MAX_FORMS = 24
# The numbers of axes that are traced for ``*batch``.
_MANY = (1, 2, 0)
# The numbers of axes that are traced for ``...``, 0 only where no other axis is named: nobody means a number by it.
_ANY_MANY = (2, 1, 0)
# How many items a sequence of any length has: nobody means a number by that either.
_LENGTHS = (2, 3)
_LENGTH = "a length"
# How many of these options a proof needs; the others cast doubt on findings.
_FOR_PROOF = {"...": 2, _LENGTH: 1}


class NoArgumentError(Exception):
    """No argument can be made from an annotation; the text says for which parameter, and why."""


@dataclasses.dataclass
class ArgumentForm:
    """One form of a function's arguments.

    Attributes:
        arguments: The arguments, by parameter.
        sizes: The sizes that each name of an axis stands for: one, or several for a name such as ``*batch``.
        ranks: The number of axes of each ``*batch`` and of ``...``.
        length: The number of items of each sequence of any length; 0 if there is none.
        samples: The parameters whose annotation allows more values than were taken.
        integers: The names of sizes that are integer arguments, not axes.
        written: The text of each size that an expression may mention, such as ``self.n``.
        dots: The names of the sizes of ``...``.
        chosen: The alternative of each union, as text, by where it stands.
    """

    arguments: dict[str, Any] = dataclasses.field(default_factory=dict)
    sizes: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    ranks: dict[str, int] = dataclasses.field(default_factory=dict)
    length: int = 0
    samples: list[str] = dataclasses.field(default_factory=list)
    integers: set[str] = dataclasses.field(default_factory=set)
    written: dict[str, str] = dataclasses.field(default_factory=dict)
    dots: set[str] = dataclasses.field(default_factory=set)
    chosen: dict[str, str] = dataclasses.field(default_factory=dict)

    @property
    def is_for_doubt(self) -> bool:
        """Whether this form only has to show that a finding is not about a number that nobody means."""
        return self.length == _LENGTHS[1] or self.ranks.get("...") == 0

    @property
    def text(self) -> str:
        """The ranks and alternatives of this form in words, to tell forms apart; empty if there is nothing to tell."""
        ranks = [f"{n} of {k} ax{'i' if k == 1 else 'e'}s" for n, k in self.ranks.items() if n != "..."]
        return ", ".join([*ranks, *(f"{place} as {text}" for place, text in self.chosen.items())])


def forms_of(
    parameters: Mapping[str, specs.Spec], dtypes: Callable[[str], Any], numbers: Mapping[str, int] | None = None
) -> tuple[list[ArgumentForm], list[str]]:
    """Return the forms of the arguments of a function, and in words what they leave out; nothing if they are all.

    Those for doubt come last. ``dtypes`` makes a library's dtype; ``numbers`` are the sizes of names that are known.

    Raises `NoArgumentError` if no argument can be made.
    """
    first = _ArgumentMaker({}, dtypes, numbers or {})
    forms = [first.form(parameters)]
    count = 1
    for key, options in first.options.items():
        count *= min(options, _FOR_PROOF.get(key, options))
        for option in range(1, options):
            if len(forms) < MAX_FORMS:
                try:
                    forms.append(_ArgumentMaker({key: option}, dtypes, numbers or {}).form(parameters))
                except NoArgumentError:
                    forms[0].samples.append(key)
    forms.sort(key=lambda form: form.is_for_doubt)
    return forms, list(_left_out([f for f in forms if not f.is_for_doubt], count))


def _left_out(forms: Sequence[ArgumentForm], count: int) -> Iterator[str]:
    """Yield in words which ranks, values and combinations were traced, where annotations allow others too."""
    ranks: dict[str, set[int]] = {}
    for form in forms:
        for name, rank in form.ranks.items():
            ranks.setdefault(name, set()).add(rank)
    yield from (f"{name} of {', '.join(map(str, sorted(counts)))} axes" for name, counts in ranks.items())
    samples = dict.fromkeys(place for form in forms for place in form.samples)
    if samples:
        yield f"one of many values of {', '.join(samples)}"
    if count > len(forms):
        yield f"{len(forms)} of {count} combinations of alternatives"


class _ArgumentMaker:
    """Makes one form: ``chosen`` says which option is taken where it is not the first."""

    def __init__(self, chosen: Mapping[str, int], dtypes: Callable[[str], Any], numbers: Mapping[str, int]) -> None:
        self.chosen, self.dtypes, self.numbers = chosen, dtypes, numbers
        self.options: dict[str, int] = {}
        self._form = ArgumentForm(sizes={n: (str(size),) for n, size in numbers.items()})
        self._fresh = 0
        self._prefix = ""
        self._axes: set[str] = set()

    def form(self, parameters: Mapping[str, specs.Spec]) -> ArgumentForm:
        self._axes = {
            a.text for s in parameters.values() for array in specs.arrays_in(s) for a in array.axes if a.kind == "name"
        }
        # Expressions of axes may mention integers and objects, which therefore come first.
        for name, spec in sorted(
            parameters.items(), key=lambda item: not isinstance(item[1], (specs.SizeSpec, specs.ObjectSpec))
        ):
            self._form.arguments[name] = self._argument(spec, name)
        self._form.arguments = {name: self._form.arguments[name] for name in parameters}
        return self._form

    def _option(self, key: str, count: int) -> int:
        self.options[key] = max(count, self.options.get(key, 1))
        return self.chosen.get(key, 0)

    def _argument(self, spec: specs.Spec, place: str) -> Any:
        match spec:
            case specs.ArraySpec():
                return ArrayArgument(", ".join(self._dims(spec, place)), self.dtypes(spec.dtype))
            case specs.SizeSpec():
                return SizeArgument(self._integer(place))
            case specs.ValueSpec(values, is_sample):
                if is_sample:
                    self._form.samples.append(place)
                value = values[self._option(place, len(values))]
                # A string argument such as mode="same" must not be read as a shape.
                return BuiltArgument(lambda _: value, ()) if isinstance(value, str) else value
            case specs.UnionSpec(parts):
                known = [p for p in parts if not isinstance(p, specs.UnknownSpec)]
                if not known:
                    raise NoArgumentError(
                        f"{place}: {parts[0].text if isinstance(parts[0], specs.UnknownSpec) else place}"
                    )
                if len(known) < len(parts):
                    self._form.samples.append(place)
                # Arrays come first: the first form is traced together with the first forms of all other arguments.
                known.sort(
                    key=lambda p: (
                        not isinstance(p, (specs.ArraySpec, specs.TreeSpec, specs.TupleSpec, specs.ObjectSpec))
                    )
                )
                one = known[self._option(f"{place}, kind", len(known))]
                if len(known) > 1:
                    self._form.chosen[place] = specs.spec_text(one)
                return self._argument(one, place)
            case specs.TupleSpec():
                return self._sequence(spec, place)
            case specs.TreeSpec(leaf):
                self._form.samples.append(place)
                if self._option("a tree", 2):
                    return {f"leaf_{n}": self._argument(leaf, f"{place}[{n}]") for n in range(2)}
                return self._argument(leaf, place)
            case specs.ObjectSpec():
                return self._object(spec, place)
        raise NoArgumentError(f"{place}: {spec.text}")

    def _object(self, spec: specs.ObjectSpec, place: str) -> BuiltArgument:
        if spec.numbers is not None:
            self._form.samples.append(f"{place} (a {spec.name})")
        return BuiltArgument(spec.make, {n: self._argument(s, f"{place}.{n}") for n, s in spec.fields.items()})

    def _integer(self, place: str) -> str:
        """Return the name of an integer; a field that is called like an axis is the size of that axis."""
        field = place.rpartition(".")[2]
        if "." in place and field in self._axes:
            text = self._form.written[place] = specs.name_for(field)
            return text
        text = self._form.written[place] = specs.name_for(place.replace(".", "_").replace("[", "_").replace("]", ""))
        self._form.integers.add(text)
        return text

    def _sequence(self, spec: specs.TupleSpec, place: str) -> Any:
        if spec.rest is None:
            return tuple(self._argument(p, f"{place}[{n}]") for n, p in enumerate(spec.parts))
        self._form.samples.append(place)
        self._form.length = _LENGTHS[self._option(_LENGTH, len(_LENGTHS))]
        items = [self._argument(spec.rest, f"{place}[{n}]") for n in range(self._form.length)]
        return items if spec.is_list else tuple(items)

    # Axes.

    def _dims(self, spec: specs.ArraySpec, place: str) -> Iterator[str]:
        for number, axis in enumerate(spec.axes):
            if axis.is_many:
                yield from self._many(axis, place, is_alone=len(spec.axes) == 1)
            elif axis.kind == "any":
                yield self._new("any")
            elif axis.can_stretch and self._option(f"{place}, axis {number}", 2):
                yield "1"
            elif axis.kind == "fixed":
                yield axis.text
            elif axis.kind == "term":
                yield self._term(axis.text)
            else:
                yield self._name(axis, place)

    def _name(self, axis: specs.AnnotatedAxis, place: str) -> str:
        if axis.text in self.numbers:
            return str(self.numbers[axis.text])
        leaf = re.search(r"\[(\d+)\]$", place) if axis.is_of_leaf else None
        text = specs.name_for(f"{axis.text}_{leaf[1]}" if leaf else axis.text)
        self._form.sizes.setdefault(axis.text, (text,))
        return text

    def _many(self, axis: specs.AnnotatedAxis, place: str, *, is_alone: bool) -> Iterator[str]:
        key = "..." if axis.kind == "any" else f"*{axis.text}"
        ranks = _ANY_MANY if axis.kind == "any" else _MANY
        rank = self._form.ranks[key] = ranks[self._option(key, len(ranks) - (axis.kind == "any" and not is_alone))]
        if axis.kind == "any":
            dots = [self._new("any") for _ in range(rank)]
            self._form.dots.update(dots)
            yield from dots
            return
        names = tuple(specs.name_for(f"{axis.text}_{n}") for n in range(rank))
        self._form.sizes[f"*{axis.text}"] = names
        if axis.can_stretch and rank:
            option = self._option(f"{place}, {axis}", 3)
            names = (names, names[1:], ("1",) * rank)[option]
        yield from names

    def _new(self, name: str) -> str:
        self._fresh += 1
        return specs.name_for(f"{name}_{self._fresh}")

    def _term(self, text: str) -> str:
        size = term_text(text, self._form)
        if size is None:
            raise NoArgumentError(f"the axis {text!r}: it is computed from a value that is not known")
        # A name that no other axis has is a size of the arguments too: a result must not choose it.
        for name in re.findall(r"[^\W\d]\w*", re.sub(r"\{[^{}]*\}", "", text)):
            self._form.sizes.setdefault(name, (specs.name_for(name),))
        return size


def term_text(text: str, form: ArgumentForm) -> str | None:
    """Return an expression of an axis as text for `symbcast.shape`; None if it cannot be read as a size.

    ``{self.n}`` is the size of that name, or the value of the argument.
    """
    substituted = re.sub(r"\{([^{}]*)\}", lambda part: _value(part[1].strip(), form), text)
    substituted = re.sub(
        r"[A-Za-z_]\w*", lambda part: form.sizes.get(part[0], (specs.name_for(part[0]),))[0], substituted
    )
    # The second axis makes text that holds several axes, or none, differ from one size.
    try:
        return substituted if "None" not in substituted and len(shape(f"{substituted}, 1").dims) == 2 else None
    except (SymbcastError, TypeError):
        return None


def _value(text: str, form: ArgumentForm) -> str:
    """Return what is written between braces as a term, ``None`` if it is not known."""
    if text in form.written:
        return form.written[text]
    place, *path = text.split(".")
    value = form.arguments.get(place)
    for name in path:
        value = value.parts.get(name) if isinstance(value, BuiltArgument) else getattr(value, name, None)
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else "None"


# The condition under which a value is what an annotation promises.


class SizesOfAxes:
    """What the names of axes stand for: the sizes of a trace or numbers, by their names in text.

    ``at`` are all sizes by name. A name that no argument has gets its size where it first occurs in a result.
    """

    def __init__(self, form: ArgumentForm, at: Mapping[str, Dim]) -> None:
        numbers = {t: int(t) for texts in form.sizes.values() for t in texts if t.isdecimal()}
        self.form, self.at = form, {**numbers, **at}
        self.bound: dict[str, tuple[Dim, ...]] = {
            name: tuple(self.at[t] for t in texts)
            for name, texts in form.sizes.items()
            if all(t in self.at for t in texts)
        }

    def copy(self) -> SizesOfAxes:
        """Return a copy with the names bound so far."""
        copy = SizesOfAxes(self.form, self.at)
        copy.bound = dict(self.bound)
        return copy

    def term(self, text: str) -> Dim | None:
        """Return the value of an expression; None if it mentions a name without a size."""
        substituted = term_text(text, self.form)
        if substituted is None:
            return None
        (dim,) = shape(f"{substituted},").dims
        known = {s: self.at.get(s.name, self.bound.get(s.name, (None,))[0]) for s in symbols_of((dim,))}
        sizes = {s: size for s, size in known.items() if size is not None}
        return replace_symbols(dim, sizes) if len(sizes) == len(known) else None


def possible_terms(spec: specs.Spec, sizes: SizesOfAxes) -> Formula:
    """Return the condition under which no axis of an annotation is negative, such as ``n-2``."""
    terms = (sizes.term(a.text) for array in specs.arrays_in(spec) for a in array.axes if a.kind == "term")
    return all_of(at_most(0, term) for term in terms if term is not None)


def promise_condition(value: Any, spec: specs.Spec, sizes: SizesOfAxes) -> Formula:
    """Return the condition under which a traced result has the shapes that an annotation promises.

    Arrays in the result are shapes, or anything with a ``shape``; parts of annotations that say nothing hold always.
    """
    match spec:
        case specs.ArraySpec():
            dims = dims_in(value)
            return FALSE if dims is None else _axes(dims, spec, sizes)
        case specs.UnionSpec(parts):
            return _one_of(value, parts, sizes)
        case specs.TupleSpec(parts, rest):
            if not _is_sequence(value):
                return FALSE
            items = [rest] * len(value) if rest is not None else list(parts)
            if len(items) != len(value):
                return FALSE
            return all_of(promise_condition(v, s, sizes) for v, s in zip(value, items, strict=True) if s is not None)
        case specs.TreeSpec(leaf):
            return all_of(_of_leaf(v, leaf, sizes, n) for n, v in enumerate(leaves(value)))
        case specs.ObjectSpec(fields=fields):
            values = value if isinstance(value, Mapping) else {n: getattr(value, n, None) for n in fields}
            return all_of(
                promise_condition(values.get(n), s, sizes) for n, s in fields.items() if isinstance(s, specs.ArraySpec)
            )
    return TRUE


def dims_in(value: Any) -> tuple[Dim, ...] | None:
    """Return the dimensions of an array or a number; None for any other value."""
    if isinstance(value, Shape):
        return tuple(value.dims)
    dims = getattr(value, "dims", None) if hasattr(type(value), "dims") else getattr(value, "shape", None)
    if isinstance(dims, Shape):
        return tuple(dims.dims)
    if dims is not None and not callable(dims):
        return tuple(dims)
    if value is float or isinstance(value, (bool, int, float, complex)) or hasattr(value, "free_symbols"):
        return ()
    return None


def _is_sequence(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and not isinstance(value, Shape)  # a shape is a tuple too


def leaves(value: Any) -> Iterator[Any]:
    """Yield the leaves of a tree."""
    if isinstance(value, Mapping):
        for key in value:
            yield from leaves(value[key])
    elif _is_sequence(value):
        for part in value:
            yield from leaves(part)
    elif dataclasses.is_dataclass(value) and not isinstance(value, (type, Shape)):
        for field in dataclasses.fields(value):
            yield from leaves(getattr(value, field.name, None))
    elif value is not None:
        yield value


def _of_leaf(value: Any, leaf: specs.Spec, sizes: SizesOfAxes, number: int) -> Formula:
    """Return the condition on one leaf; sizes of its own, such as ``?n``, are those of the same leaf of arguments."""
    inner = sizes.copy()
    for name in [n for n in inner.bound if not n.startswith("*")]:
        own = sizes.at.get(f"{name}_{number}")
        if (
            own is not None
            and isinstance(leaf, specs.ArraySpec)
            and any(a.is_of_leaf and a.text == name for a in leaf.axes)
        ):
            inner.bound[name] = (own,)
    condition = promise_condition(value, leaf, inner)
    known = [] if not isinstance(leaf, specs.ArraySpec) else [a.text for a in leaf.axes if not a.is_of_leaf]
    sizes.bound.update({n: d for n, d in inner.bound.items() if n.lstrip("*") in known})
    return condition


def _one_of(value: Any, parts: Sequence[specs.Spec], sizes: SizesOfAxes) -> Formula:
    conditions: list[Formula] = []
    first: SizesOfAxes | None = None
    for part in parts:
        if isinstance(part, specs.ValueSpec):
            is_fitting = value in part.values if value is None or isinstance(value, (bool, str)) else part.is_sample
            conditions.append(TRUE if is_fitting and (value is None or dims_in(value) in (None, ())) else FALSE)
            continue
        inner = sizes.copy()
        condition = promise_condition(value, part, inner)
        conditions.append(condition)
        first = first or (inner if condition != FALSE else None)
    if first is not None:
        sizes.bound = first.bound
    return any_of(conditions)


def _axes(dims: tuple[Dim, ...], spec: specs.ArraySpec, sizes: SizesOfAxes) -> Formula:
    many = next((n for n, a in enumerate(spec.axes) if a.is_many), None)
    if many is None:
        if len(dims) != len(spec.axes):
            return FALSE
        return all_of(_axis(d, a, sizes) for d, a in zip(dims, spec.axes, strict=True))
    after = len(spec.axes) - many - 1
    if len(dims) < many + after:
        return FALSE
    stop = len(dims) - after
    conditions = [_axis(d, a, sizes) for d, a in zip(dims[:many], spec.axes[:many], strict=True)]
    conditions += [_axis(d, a, sizes) for d, a in zip(dims[stop:], spec.axes[many + 1 :], strict=True)]
    return all_of([*conditions, _many(dims[many:stop], spec.axes[many], sizes)])


def _axis(dim: Dim, axis: specs.AnnotatedAxis, sizes: SizesOfAxes) -> Formula:
    promised: Dim | None
    if axis.kind == "any":
        return TRUE
    if axis.kind == "fixed":
        promised = int(axis.text)
    elif axis.kind == "term":
        promised = sizes.term(axis.text)
    else:
        promised = sizes.bound.setdefault(axis.text, (dim,))[0]
    return _is(dim, promised, axis.can_stretch)


def _many(dims: tuple[Dim, ...], axis: specs.AnnotatedAxis, sizes: SizesOfAxes) -> Formula:
    if axis.kind == "any":
        return TRUE
    bound = sizes.bound.setdefault(f"*{axis.text}", dims)
    if axis.can_stretch and len(dims) <= len(bound):
        bound = bound[len(bound) - len(dims) :]
    if len(bound) != len(dims):
        return FALSE
    return all_of(_is(d, b, axis.can_stretch) for d, b in zip(dims, bound, strict=True))


def _is(dim: Dim, promised: Dim | None, can_stretch: bool) -> Formula:
    if promised is None or dim == promised:
        return TRUE
    condition = _equal(dim, promised)
    return any_of([condition, _equal(dim, 1)]) if can_stretch else condition


def _equal(a: Dim, b: Dim) -> Formula:
    if isinstance(a, int) and isinstance(b, int):
        return TRUE if a == b else FALSE
    return equal(a, b)
