"""Shapes: tuples of dimensions, and readers for every kind of shape.

This is the one place where sizes of every kind are read: integers, text, sympy expressions, those of other frameworks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import isnan
from operator import index
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, SupportsIndex, TypeAlias

from symbcast.core.advice import Guessable, MissingAttributeError, guessed_meanings, with_advice
from symbcast.core.algebra.arithmetic import MAX_SIZE, check_size, index_of, replace_symbols, value_of
from symbcast.core.algebra.symbols import (
    AxisSequence,
    SequenceSymbol,
    Unknown,
    distinct_labels,
    is_sequence,
    sequences_of,
)
from symbcast.core.algebra.terms import Dim, Symbol, Term, symbols_of
from symbcast.core.characters import closest, prose_list
from symbcast.core.hooks import hooks
from symbcast.core.text import parse_dim, parse_shape
from symbcast.core.text.notation import shape_text
from symbcast.errors import (
    CallError,
    DimensionError,
    MissingShapeError,
    ShapeSyntaxError,
    ShapeTypeError,
    UnknownRankError,
)

if TYPE_CHECKING:
    import sympy


# Dimensions: every kind of size is read here.


class Reader(Protocol):
    """The reader of shapes and sizes of another framework: a module of `symbcast.adapters`."""

    def read(self, value: Any) -> tuple[Any, ...]:
        """Return a shape of the framework as a `Shape`."""

    def read_dim(self, value: Any, unknowns: int) -> Dim | None:
        """Return a size of the framework, None if it is not symbolic; ``unknowns`` numbers one without a name."""


# What is wanted where a shape is.
EXPECTED_SHAPE = "a shape"


def read_dims(dims: Sequence[object]) -> Sequence[Dim]:
    """Return dimensions of any accepted kind in internal form, at most one of them a sequence of axes."""
    read: list[Dim] = []
    for dim in dims:
        read.append(from_dim(dim, unknowns=len(read)))
    if sum(map(is_sequence, read)) > 1:
        raise ShapeTypeError(tuple(dims), EXPECTED_SHAPE, "a shape has one sequence of axes ('...', '*name')")
    unknowns = [s for s in symbols_of(read) if isinstance(s, Unknown)]
    return _labelled(read, unknowns) if len(unknowns) > 1 else read


def _labelled(dims: Iterable[Dim], unknowns: Sequence[Unknown]) -> Sequence[Dim]:
    """Return dimensions that were read one by one, with a label for each unknown; equal labels mean the same size."""
    spoken: dict[str, Unknown] = {}
    for u in unknowns:
        if u.is_spoken:
            bounded = spoken.setdefault(u.name, u)
            if not u.is_bounded or (bounded.lower, bounded.upper) == (u.lower, u.upper):
                continue
            if bounded.is_bounded:
                raise DimensionError(u.name, "has two different bounds", "give its bounds once")
            spoken[u.name] = u
    by_label = {u: spoken[u.name] if u.is_spoken else u for u in unknowns}
    other = distinct_labels([*spoken.values(), *by_label.values()])
    bound = {u: other.get(unknown, unknown) for u, unknown in by_label.items()}
    return [replace_symbols(d, {u: unknown for u, unknown in bound.items() if u is not unknown}) for d in dims]


def from_dim(value: object, unknowns: int = 0) -> Dim:
    """Return one dimension; ``unknowns`` is the number in the label of an unknown one."""
    if type(value) is int and value != -1:
        return check_size(value)
    if value is Ellipsis:
        return AxisSequence.anonymous().rest()
    if value is None or (isinstance(value, int) and value == -1 and not isinstance(value, bool)):
        return Unknown(f"?{unknowns}")
    if isinstance(value, str):
        return _from_text(value)
    if isinstance(value, bool):
        raise ShapeTypeError(value, "a dimension", "write 1 or 0 if a size was meant")
    if isinstance(value, float):
        if isnan(value):
            return Unknown(f"?{unknowns}")  # Dask's unknown number of rows
        hint = f"write {int(value)}" if 0 <= value < 1e9 and value.is_integer() else "write a whole number"
        raise DimensionError(value, "a size is an integer, not a float", hint)
    return _from_object(value, unknowns)


def _from_text(value: str) -> Dim:
    try:
        return parse_dim(value)
    except ShapeSyntaxError:
        if "," in value and "->" not in value:
            raise ShapeTypeError(value, "a dimension", _SEVERAL) from None
        raise


_SEVERAL = "give several shapes as separate arguments, not in a list"


def _from_object(value: Any, unknowns: int) -> Dim:
    if type(value).__module__ == "sympy.core.symbol":
        from symbcast.core.algebra.sympy_conversion import from_sympy

        return from_sympy(value)
    if (load := hooks.readers.get(framework_of(value))) is not None:
        # Before `index`: torch would answer with one size for a symbolic one, and rely on it from then on.
        dim: Dim | None = load().read_dim(value, unknowns)
        if dim is not None:
            return dim
    number = index_of(value)
    if number is not None:
        return from_dim(number, unknowns)
    if hasattr(type(value), "free_symbols"):  # looked up on the class: on the value, the search may recurse too deeply
        from symbcast.core.algebra.sympy_conversion import check_dim

        return check_dim(value)
    if isinstance(value, (tuple, list)):
        raise ShapeTypeError(value, "a dimension", _SEVERAL)
    raise ShapeTypeError(value, "a dimension", "write an int, a name such as 'N', a sympy expression or None")


def framework_of(value: Any) -> str:
    """Return the package that defines a value's class, without importing it."""
    return str(type(value).__module__).partition(".")[0]


class HasShape(Protocol):
    """Anything with a shape: an array, a tensor, or a framework's symbolic shape."""

    @property
    def shape(self) -> object:
        """The sizes, as a sequence or as text."""


ShapeLike: TypeAlias = "Shape | str | Iterable[int | str | sympy.Expr | None] | Iterable[object] | HasShape"
"""What `shape` accepts: text, a tuple or list of dimensions (of frameworks too), or an object with a ``.shape``."""

# Those whose shapes are no tuples, or whose ``.shape`` is not for symbolic sizes: the adapter knows where to look.
_OWN_SHAPES = ("dask", "onnx_ir", "openvino")

_KNOWN_BY_MODULE = ("symbcast", *_OWN_SHAPES)

_HINT = "write text such as 'N, 3', a tuple such as ('N', 3), or pass an object with a .shape"


class LazySize:
    """A size that is computed on first access: a program creates joins of thousands of names, one at a time."""

    __slots__ = ("_dim", "_make", "_of")

    def __init__(self, make: Callable[[int], Dim], of: int) -> None:
        self._make = make
        self._of = of
        self._dim: Dim | None = None

    @property
    def dim(self) -> Dim:
        """The size."""
        if self._dim is None:
            self._dim = self._make(self._of)
        return self._dim


class Shape(Guessable, tuple["int | sympy.Expr", ...]):
    """The sizes of the axes, outermost first: each an ``int`` or a sympy expression. Rank 0 is ``()``.

    ``==`` is structural, and unknown sizes (``?``) are distinguished only by position: two shapes are equal if they are
    written the same. Whether sizes agree is a question for a condition, not for ``==``.

    ``dims`` are the same sizes in internal form: integers and terms. An element taken out of the shape is a sympy
    expression, created on access.

    >>> shape("N, 3"), shape("()"), shape("N, 3").rank
    (Shape('(N, 3)'), Shape('()'), 2)
    >>> shape("?, 3") == shape("?, 3"), shape("N") == shape("M")
    (True, False)
    """

    __slots__ = ()

    _meanings = guessed_meanings(
        "ndim ndims ndimension -> rank",
        "size numel num_elements prod -> math.prod(shape)",
        "shape sizes axes dim tolist as_list to_list -> dims, or list(shape)",
        "names variables free_symbols params -> symbols",
        "condition verdict explain guard witness counterexample -> those of its answer, or of its ShapeEnv",
        "is_static is_known is_fully_defined -> is_concrete",
        "broadcast broadcast_with merge merge_with -> symbcast.broadcast(shape, other)",
        "at subs substitute bind eval concrete -> evaluate(...)",
    )

    def __new__(cls, value: ShapeLike = ()) -> Shape:
        """Return the same shape as `shape`: its elements are always dimensions, and repr shows ``Shape('(N, 3)')``."""
        return shape(value)

    def __reduce__(self) -> tuple[Any, ...]:
        return any_shape_of, (self.dims,)

    @property
    def dims(self) -> tuple[Dim, ...]:
        """The sizes in internal form."""
        dims: tuple[Any, ...] = tuple.__getitem__(self, _WHOLE)
        if LazySize in map(type, dims):
            return tuple([d.dim if type(d) is LazySize else d for d in dims])
        return dims

    @property
    def values(self) -> tuple[Dim, ...]:
        """The sizes in internal form, without parts that cancel but remain in their text: for ``N - N + 3``, 3."""
        return tuple(map(value_of, self.dims))

    @property
    def has_values(self) -> bool:
        """Whether `values` are the sizes themselves: nothing in them cancels."""
        return all(type(d) in _WITHOUT_PARTS or value_of(d) is d for d in self.dims)

    @property
    def raw(self) -> tuple[Any, ...]:
        """The sizes in internal form, including deferred ones."""
        dims: tuple[Any, ...] = tuple.__getitem__(self, _WHOLE)
        return dims

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self)

    @property
    def is_concrete(self) -> bool:
        """Whether every dimension is an ``int``."""
        for dim in tuple.__iter__(self):  # noqa: SIM110 - twice as fast as all(), on the path of every call
            if type(dim) is not int:
                return False
        return True

    @property
    def symbols(self) -> tuple[sympy.Symbol, ...]:
        """The symbols of the shape in order of first appearance."""
        if self.is_concrete:
            return ()
        from symbcast.core.algebra.sympy_conversion import symbol_to_sympy

        return tuple(map(symbol_to_sympy, symbols_of(self.dims)))

    def __iter__(self) -> Iterator[int | sympy.Expr]:
        return tuple.__iter__(self) if self.is_concrete else map(_to_sympy(), self.dims)

    def __getitem__(self, place: Any) -> Any:
        if self.is_concrete:
            return tuple.__getitem__(self, place)
        size = self.dims[place]
        return tuple(map(_to_sympy(), size)) if isinstance(size, tuple) else _to_sympy()(size)

    def __contains__(self, dim: object) -> bool:
        return any(d == dim for d in self)

    def evaluate(self, sizes: Mapping[Any, int] | None = None, /, **named: int) -> tuple[int, ...]:
        """Return the shape at given sizes, by name or by symbol; a sequence of axes takes a tuple.

        Raises `BindingError` for a size that is missing, unknown or not a size, and `DimensionError` where an axis has
        no size: there, what has this shape does not work.

        >>> shape("N, (H - 1)//2").evaluate(N=2, H=9), shape("*batch, 3").evaluate(batch=(5, 1))
        ((2, 4), (5, 1, 3))
        """
        return hooks.shape_at(self, sizes, named)

    if not TYPE_CHECKING:  # type checkers refuse such a call themselves

        def __call__(self, *_args: object, **sizes: object) -> NoReturn:
            raise CallError("shape", "is a shape, not a method", f"for numbers, write shape.{_evaluation(sizes)}")

    def index(self, dim: object, *bounds: SupportsIndex) -> int:
        """Return the first axis with a size, which may be text. Raises ValueError if there is none."""
        size = from_dims([dim])[0] if isinstance(dim, str) else dim
        try:
            return tuple(self).index(size, *bounds)
        except ValueError:
            raise ValueError(f"{self} has no axis of size {dim}") from None

    def count(self, dim: object) -> int:
        """Return the number of axes with a size."""
        return tuple(self).count(from_dims([dim])[0] if isinstance(dim, str) else dim)

    def __add__(self, other: Any) -> Any:
        return tuple(self) + tuple(other)

    def __radd__(self, other: Any) -> Any:
        return tuple(other) + tuple(self)

    def __eq__(self, other: object) -> bool:
        if tuple.__eq__(self, other) is True:
            return True  # identical sizes
        if not isinstance(other, Shape):
            return isinstance(other, tuple) and len(self) == len(other) and tuple(self) == other
        if len(self) != len(other) or self.is_concrete or other.is_concrete:
            return False
        return self._key() == other._key()

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        if self.is_concrete:
            return tuple.__hash__(self)
        if any(s.is_Dummy for s in symbols_of(self.dims)):
            # Compare keys: unreferenced placeholders for unknowns are freed and recreated as other objects.
            return hash(tuple(d if isinstance(d, int) else d.key for d in self._key()))
        return hash(tuple(self))

    def __str__(self) -> str:
        if self.is_concrete:
            return str(tuple(self))
        return shape_text(self.dims)

    def __repr__(self) -> str:
        return f"Shape({str(self)!r})"

    def _repr_html_(self) -> str:
        return hooks.shape_html(self.dims)

    def _repr_latex_(self) -> str:
        return hooks.shape_latex(self.dims)

    def _key(self) -> tuple[Any, ...]:
        """Return the dimensions with every unknown replaced by its index among the unknowns and its bounds."""
        unknowns = [s for s in symbols_of(self.dims) if isinstance(s, Unknown)]
        # Negative numbers are not sizes, so they can mark the positions.
        placed = {u: Unknown("?", u.lower, u.upper, number=-1 - n) for n, u in enumerate(unknowns)}
        dims = self.dims
        return tuple(replace_symbols(d, placed) for d in dims) if unknowns else dims


class NamedShapes(dict[str, "Shape | None"]):
    """Shapes by name; a name that is not there raises `MissingShapeError`.

    ``kind`` is what has a name here, such as ``"operation"``.
    """

    def __init__(self, shapes: Iterable[tuple[str, Shape | None]], kind: str) -> None:
        super().__init__(shapes)
        self._kind = kind

    @property
    def _attribute(self) -> str:
        """The attribute of an answer that has these shapes."""
        return f"{self._kind}s" if self._kind in ("input", "output") else "shapes"

    def __missing__(self, name: object) -> NoReturn:
        close = closest(str(name), self)
        there = (
            f"there {'are' if len(self) > 1 else 'is'} {prose_list([*self], limit=10)}" if self else "there are none"
        )
        raise MissingShapeError(name, f"did you mean {close!r}?" if close else there, self._kind)

    if not TYPE_CHECKING:  # type checkers refuse such a call themselves

        def __call__(self, *_args: object, **sizes: object) -> NoReturn:
            use = _evaluation(sizes)
            raise CallError(self._attribute, "are shapes by name, not a method", f"for numbers, write {use}")

        def __getattr__(self, name: str) -> Any:
            if name not in self:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            raise MissingAttributeError("a mapping of shapes", name, {name: f"{self._attribute}[{name!r}]"}, tuple)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (tuple(self.items()), self._kind)


def _evaluation(sizes: Mapping[str, object]) -> str:
    """Return the call that gives shapes in numbers."""
    given = ", ".join(f"{name}={size!r}" for name, size in sizes.items())
    return f"evaluate({given or 'N=2'})"


def _joined(first: Shape, second: Shape) -> Shape:
    """Return the sizes of two shapes, concatenated."""
    if type(first) is type(second) is OpenShape:
        raise ShapeTypeError(second, "a shape of known rank", "a shape has one sequence of axes ('...', '*name')")
    return any_shape_of((*first.dims, *second.dims))


_WHOLE = slice(None)
_WITHOUT_PARTS = frozenset((int, Symbol, Unknown))


class OpenShape(Shape):
    """A shape of unknown rank: the sizes before and after a sequence of any number of axes (``...``, ``*batch``).

    Its `rank` is None, and it has no length. Axes are counted from an end that is known: ``[-1]`` is the last size if
    there are sizes after the sequence, ``[0]`` the first if there are sizes before it. ``dims`` includes the sequence
    as one element.

    >>> x = shape("*batch, N, 3")
    >>> x, x.rank, x[-1], x[-2]
    (Shape('(*batch, N, 3)'), None, 3, N)
    """

    __slots__ = ()

    @property
    def rank(self) -> Any:
        return None

    @property
    def is_concrete(self) -> bool:
        return False

    @property
    def place(self) -> int:
        """The number of sizes before the sequence."""
        return next(n for n, dim in enumerate(self.dims) if is_sequence(dim))

    def __getitem__(self, place: Any) -> Any:
        dims, known = self.dims, self.place
        if not isinstance(place, slice):
            number = index(place)
            if -(len(dims) - known) < number < known:
                return _to_sympy()(dims[number])
        elif place.step in (None, 1):
            first, last = (0 if place.start is None else index(place.start)), place.stop
            if first >= 0 and last is not None and 0 <= index(last) <= known:
                return tuple(map(_to_sympy(), dims[first:last]))
            if -(len(dims) - known) < first < 0 and (last is None or index(last) < 0):
                return tuple(map(_to_sympy(), dims[first:last]))
        raise IndexError(f"{self} has no known axis there: its rank is not known, count from an end with known axes")

    def __len__(self) -> int:
        raise TypeError(f"{self} has no length: its rank is not known")

    __iter__ = __len__  # type: ignore[assignment]

    def __bool__(self) -> bool:
        raise TypeError(f"whether {self} has axes is not known")

    def __contains__(self, dim: object) -> bool:
        return any(not is_sequence(d) and _to_sympy()(d) == dim for d in self.dims)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpenShape) and (self.dims == other.dims or self._key() == other._key())

    def __hash__(self) -> int:
        return hash(tuple(d if isinstance(d, int) else d.key for d in self._key()))

    def __str__(self) -> str:
        return shape_text(self.dims)

    def __add__(self, other: Any) -> Any:
        return _joined(self, shape(other))

    def __radd__(self, other: Any) -> Any:
        return _joined(shape(other), self)

    def _key(self) -> tuple[Any, ...]:
        dims = super()._key()
        symbols = [s for s in symbols_of(dims) if isinstance(s, SequenceSymbol)]
        anonymous = [sequence for sequence in sequences_of(symbols) if sequence.is_anonymous]
        placed = {sequence: AxisSequence("...", -1 - n) for n, sequence in enumerate(anonymous)}
        bound = {s: s.of(placed[s.sequence]) for s in symbols if s.sequence in placed}
        return tuple(replace_symbols(d, bound) for d in dims) if bound else dims


def _to_sympy() -> Callable[[Dim], Any]:
    from symbcast.core.algebra.sympy_conversion import to_sympy

    return to_sympy


@with_advice
def shape(value: ShapeLike, dialect: str | None = None) -> Shape:
    """Return the shape that ``value`` describes.

    ``value`` is text (the grammar is in `symbcast.core.text`), a tuple or list of dimensions (``int``, text, sympy
    expression, ``None``, ``-1`` or ``nan`` for an unknown size), or an object with a ``.shape``. Dimensions of Dask,
    jax, torch, onnx-ir and OpenVINO are also accepted (see `symbcast.adapters`), without the framework's assumptions
    about them. ``dialect`` names the notation of text: ``"einops"`` and ``"jaxtyping"`` are separated by spaces.

    Raises `ShapeSyntaxError`, `ShapeTypeError` or `DimensionError`, each a `SymbcastError`.

    >>> shape((2, "N + 1", None)), shape("tensor<?x3xf32>"), shape("b 3", dialect="einops")
    (Shape('(2, N + 1, ?)'), Shape('(?, 3)'), Shape('(b, 3)'))
    """
    if type(value) is Shape or type(value) is OpenShape:
        return value
    if dialect is not None and not isinstance(dialect, str):
        raise CallError("shape", "takes one shape", f"write shape(({value!r}, {dialect!r}))")
    if isinstance(value, str):
        return from_text(value, dialect)
    if isinstance(value, (tuple, list)):
        return from_dims(value)
    if str(type(value).__module__).startswith(_KNOWN_BY_MODULE):
        if framework_of(value) in _OWN_SHAPES:
            return shape(hooks.readers[framework_of(value)]().read(value))
        if framework_of(value) == "symbcast":
            # A Result has a shape, but only under a condition, which would be lost if it were taken as an operand.
            hint = "pass its .shape, and join the conditions: Condition(a) & Condition(b)"
            raise ShapeTypeError(value, EXPECTED_SHAPE, hint)
    inner = getattr(value, "shape", None)
    if value is None:
        raise ShapeTypeError(value, EXPECTED_SHAPE, "write () for rank 0")
    if inner is None or (callable(inner) and not isinstance(inner, Shape)):
        raise ShapeTypeError(value, EXPECTED_SHAPE, _HINT)
    if isinstance(inner, str):
        return from_text(inner, dialect)
    try:
        return from_dims(tuple(inner))
    except TypeError as error:
        if isinstance(error, ShapeTypeError):
            raise
        raise ShapeTypeError(value, EXPECTED_SHAPE, f"its .shape is {inner!r}; {_HINT}") from None


def sizes_of(shape: Shape) -> tuple[int, ...]:
    """Return the sizes of a shape that contains only integers."""
    sizes: Any = shape.dims
    return tuple(sizes)


def shape_of(dims: Iterable[Dim]) -> Shape:
    """Return the shape of internal dimensions without reading or checking them; none may be a sequence of axes."""
    return tuple.__new__(Shape, dims)


def any_shape_of(dims: Iterable[Dim]) -> Shape:
    """Return the shape of internal dimensions, at most one of which is a sequence of axes."""
    sizes = tuple(dims)
    is_known = _NO_SEQUENCES.issuperset(map(type, sizes)) or not any(map(is_sequence, sizes))
    return tuple.__new__(Shape if is_known else OpenShape, sizes)


# The types of the sizes of nearly every shape: a quick test for the absence of sequences.
_NO_SEQUENCES = frozenset((int, Symbol, Term, Unknown))


def is_open(shape: Shape) -> bool:
    """Return whether the rank of a shape is unknown."""
    return type(shape) is OpenShape


def known_rank(shape: Shape, question: str, hint: str = "ask for each rank separately") -> Shape:
    """Return a shape if its rank is known; raise `UnknownRankError` otherwise, because the question needs a known rank.

    ``hint`` says what to ask instead.
    """
    if type(shape) is OpenShape:
        raise UnknownRankError(question, str(shape), hint)
    return shape


def from_text(text: str, dialect: str | None = None) -> Shape:
    """Return the shape written in ``text``; every ``?`` becomes a fresh unknown."""
    return any_shape_of(parse_shape(text, dialect))


def from_dims(dims: Iterable[object]) -> Shape:
    """Return the shape of a sequence of dimensions of any accepted kind."""
    sizes: tuple[Any, ...] = tuple(dims)
    for dim in sizes:
        if type(dim) is not int or not 0 <= dim <= MAX_SIZE:
            return any_shape_of(read_dims(sizes))
    return shape_of(sizes)
