"""Shapes: a tuple of dimensions, and the one door through which every kind of shape comes in."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from operator import index
from typing import TYPE_CHECKING, Any, TypeAlias

from symbcast.errors import DimensionError, ShapeTypeError
from symbcast.sizes import MAX_SIZE, check_size

if TYPE_CHECKING:
    import sympy

    from symbcast.dims import Dim

ShapeLike: TypeAlias = "Shape | str | Iterable[int | str | sympy.Expr | None] | Any"
"""What `shape` accepts: text, a tuple or list of dimensions, or an object with a ``.shape``."""

_ADAPTERS = ("jax", "onnx_ir", "openvino", "torch")
"""The frameworks whose dimensions are told by the package their class is of; each has an adapter of that name."""

_OWN_SHAPES = ("onnx_ir", "openvino")
"""Those whose shapes are no tuples, or whose ``.shape`` is not for symbolic sizes: the adapter knows where to look."""

_TOLD_BY_MODULE = ("symbcast", *_OWN_SHAPES)

_WANTED = "a shape"
_HINT = "write text such as 'N, 3', a tuple such as ('N', 3), or pass an object with a .shape"


class Shape(tuple["Dim", ...]):
    """The sizes of the axes, outermost first: each an ``int`` or a sympy expression. Rank 0 is ``()``.

    ``==`` is structural, and unknown sizes (``?``) are told apart by place alone: two shapes are equal when
    they are written the same. Whether sizes agree is a question for a condition, not for ``==``.

    >>> shape("N, 3"), shape("()"), shape("N, 3").rank
    (Shape('(N, 3)'), Shape('()'), 2)
    >>> shape("?, 3") == shape("?, 3"), shape("N") == shape("M")
    (True, False)
    """

    __slots__ = ()

    def __new__(cls, value: ShapeLike = ()) -> Shape:
        """Return what `shape` does: a shape is made of dimensions only, and ``Shape('(N, 3)')`` is what repr shows."""
        return shape(value)

    def __reduce__(self) -> tuple[Any, ...]:
        return shape_of, (tuple(self),)

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self)

    @property
    def is_concrete(self) -> bool:
        """Whether every dimension is an ``int``."""
        for dim in self:  # noqa: SIM110 - twice as fast as all(), on the path of every call
            if type(dim) is not int:
                return False
        return True

    @property
    def symbols(self) -> tuple[sympy.Symbol, ...]:
        """The symbols of the shape in order of first appearance."""
        if self.is_concrete:
            return ()
        from symbcast.reading import symbols_of

        return symbols_of(self)

    def __eq__(self, other: object) -> bool:
        if tuple.__eq__(self, other) is True:
            return True
        if not isinstance(other, Shape) or len(self) != len(other) or self.is_concrete or other.is_concrete:
            return False
        return self._key() == other._key()

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return tuple.__hash__(self if self.is_concrete else self._key())

    def __str__(self) -> str:
        if self.is_concrete:
            return str(tuple(self))
        from symbcast.printing import shape_text

        return shape_text(self)

    def __repr__(self) -> str:
        return f"Shape({str(self)!r})"

    def _repr_html_(self) -> str:
        from symbcast.display.html.values import shape_html

        return shape_html(self)

    def _repr_latex_(self) -> str:
        from symbcast.display.latex.values import shape_display

        return shape_display(self)

    def _key(self) -> tuple[Any, ...]:
        """Return the dimensions with every unknown replaced by its place among the unknowns and its bounds."""
        from symbcast.dims import Unknown

        unknowns = {u: n for n, u in enumerate(u for u in self.symbols if isinstance(u, Unknown))}
        if not unknowns:
            return tuple(self)
        names = {u: Unknown("?", u.lower, u.upper, number=-1 - n) for u, n in unknowns.items()}
        bounds = tuple((u.lower, u.upper) for u in unknowns)
        return (bounds, *(d if isinstance(d, int) else d.xreplace(names) for d in self))


def shape(value: ShapeLike, dialect: str | None = None) -> Shape:
    """Return the shape that ``value`` names.

    ``value`` is text (the grammar is in `symbcast.parsing`), a tuple or list of dimensions (``int``, text, sympy
    expression, ``None`` or ``-1`` for an unknown size), or an object with a ``.shape``. Symbolic dimensions of jax,
    torch, onnx-ir and OpenVINO are read too (see `symbcast.adapters`), without what the framework assumes of them.
    ``dialect`` names the notation of text: ``"einops"`` and ``"jaxtyping"`` are separated by spaces.

    Raises `ShapeSyntaxError`, `ShapeTypeError` or `DimensionError`, each a `SymbcastError`.

    >>> shape((2, "N + 1", None)), shape("tensor<?x3xf32>"), shape("b 3", dialect="einops")
    (Shape('(2, N + 1, ?)'), Shape('(?, 3)'), Shape('(b, 3)'))
    """
    if type(value) is Shape:
        return value
    if isinstance(value, str):
        return from_text(value, dialect)
    if isinstance(value, (tuple, list)):
        return from_dims(value)
    if type(value).__module__.startswith(_TOLD_BY_MODULE):
        if _framework(value) in _OWN_SHAPES:
            found: Shape = _adapter(value).read(value)
            return found
        if _framework(value) == "symbcast":
            # A Result has a shape, but only under a condition: taken as an operand it would be forgotten.
            hint = "pass its .shape, and join the conditions: Condition(a) & Condition(b)"
            raise ShapeTypeError(value, _WANTED, hint)
    inner = getattr(value, "shape", None)
    if inner is None or callable(inner):
        raise ShapeTypeError(value, _WANTED, _HINT)
    if isinstance(inner, str):
        return from_text(inner, dialect)
    try:
        return from_dims(tuple(inner))
    except TypeError as error:
        if isinstance(error, ShapeTypeError):
            raise
        raise ShapeTypeError(value, _WANTED, f"its .shape is {inner!r}; {_HINT}") from None


def shape_of(dims: Iterable[Dim]) -> Shape:
    """Return the shape of dimensions that are such already: nothing is read or checked."""
    return tuple.__new__(Shape, dims)


def from_text(text: str, dialect: str | None = None) -> Shape:
    """Return the shape written in ``text``, every ``?`` in it a fresh unknown."""
    from symbcast.parsing import parse_shape

    return shape_of(parse_shape(text, dialect))


def from_dims(dims: Iterable[Any]) -> Shape:
    """Return the shape of a sequence of dimensions of any accepted kind."""
    found = tuple(dims)
    for dim in found:
        if type(dim) is not int or not 0 <= dim <= MAX_SIZE:
            break
    else:
        return shape_of(found)
    made: list[Dim] = []
    for dim in found:
        made.append(from_dim(dim, unknowns=len(made)))
    return shape_of(made)


def from_dim(value: Any, unknowns: int = 0) -> Dim:
    """Return one dimension; ``unknowns`` numbers the label of an unknown one."""
    if type(value) is int and value != -1:
        return check_size(value)
    if value is None or (isinstance(value, int) and value == -1 and not isinstance(value, bool)):
        from symbcast.dims import Unknown

        return Unknown(f"?{unknowns}")
    if isinstance(value, str):
        from symbcast.parsing import parse_dim

        return parse_dim(value)
    if isinstance(value, bool):
        raise ShapeTypeError(value, "a dimension", "write 1 or 0 if a size was meant")
    if isinstance(value, float):
        hint = f"write {int(value)}" if 0 <= value < 1e9 and value.is_integer() else "write a whole number"
        raise DimensionError(value, "a size is an integer, not a float", hint)
    return _from_object(value, unknowns)


def _from_object(value: Any, unknowns: int) -> Dim:
    if type(value).__module__.startswith(_ADAPTERS) and _framework(value) in _ADAPTERS:
        # Before `index`: for a symbolic size, torch would answer with one size and from then on rely on it.
        found: Dim | None = _adapter(value).read_dim(value, unknowns)
        if found is not None:
            return found
    try:
        number = index(value)
    except TypeError:
        pass
    else:
        return from_dim(number, unknowns)
    if hasattr(value, "free_symbols"):
        from symbcast.reading import check_dim

        return check_dim(value)
    raise ShapeTypeError(value, "a dimension", "write an int, a name such as 'N', a sympy expression or None")


def _framework(value: Any) -> str:
    """Return the package that the class of a value is of; the framework is not imported for it."""
    return type(value).__module__.partition(".")[0]


def _adapter(value: Any) -> Any:
    return import_module(f"symbcast.adapters.{_framework(value)}")
