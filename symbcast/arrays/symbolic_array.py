"""Symbolic arrays, a shape of sizes and a dtype; and their elements as Python numbers, text and nested lists."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from typing import Any, ClassVar, NoReturn

import numpy as np

from symbcast.arrays.array_facts import ArrayContents, ArrayMemory, IntegerSpan, dims_of, dtype_of, here
from symbcast.arrays.numbering import Numbering, constant
from symbcast.core.algebra.arithmetic import multiply
from symbcast.core.algebra.formulas import Comparison, equal
from symbcast.core.effort import charge
from symbcast.operators.operator import Dims
from symbcast.paths.exploration import WITHOUT_DATA
from symbcast.paths.sizes import is_whole, sized
from symbcast.paths.steps import called_by

# Units of effort per array, so that a run that makes arrays endlessly is stopped.
_ARRAY = 100


class Dispatched:
    """What NumPy's functions take for an array without data."""

    __slots__ = ()

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return SymbolicArray.universal(ufunc, method, *inputs, **options)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        return SymbolicArray.functions(function, args, options)


class SymbolicArray(Dispatched, np.lib.mixins.NDArrayOperatorsMixin):
    """An array without data, as a traced function sees it; ``isinstance`` takes it for an ``ndarray``.

    Attributes:
        dims: the sizes of its axes.
        dtype: its dtype.
        memory: its elements, which it shares with its views.
    """

    __slots__ = ("_contents", "_writes", "dims", "dtype", "memory")
    __array_priority__ = 1000.0
    functions: ClassVar[Callable[..., Any]]
    """Implements NumPy's functions; set by `symbcast.arrays.functions.array_functions`, which is above this module."""
    universal: ClassVar[Callable[..., Any]]
    """Implements ufuncs; set by `symbcast.arrays.functions.ufuncs`."""
    get_item: ClassVar[Callable[..., Any]]
    """Implements indexing; set by `symbcast.arrays.indexing`."""
    namespace: ClassVar[Callable[[], Any]]
    """Returns NumPy as traced code sees it; set by `symbcast.arrays.functions.replacements`."""

    keeps_texts: ClassVar[Callable[..., bool]]
    """Whether code marks its texts as made of data; set by `symbcast.arrays.loops.rewriting`."""

    set_item: ClassVar[Callable[..., Any]]
    """Implements assignment at an index; set by `symbcast.arrays.indexing`."""
    flattened: ClassVar[Callable[..., Any]]
    """Makes the iterator over the elements; set by `symbcast.arrays.functions.methods`."""

    def __init__(  # noqa: PLR0913 - the facts about an array
        self,
        dims: Dims,
        dtype: Any,
        truth: bool | None = None,
        span: tuple[Any, ...] | None = None,
        *,
        contents: ArrayContents | None = None,
        memory: ArrayMemory | None = None,
    ) -> None:
        charge(_ARRAY)
        self.dtype = np.dtype(dtype)
        self.dims = dims
        # An array of elements that are arrays has their axes behind its own.
        if self.dtype.subdtype is not None:
            self.dtype, inner = self.dtype.subdtype
            self.dims = (*dims, *inner)
        self._contents = contents or ArrayContents(truth, None if span is None else IntegerSpan(*span))
        self.memory = memory or ArrayMemory()
        self._writes = self.memory.writes

    @property
    def contents(self) -> ArrayContents:
        """The known facts about the elements; writes since they were recorded discard them."""
        if self._writes != self.memory.writes:
            self._contents = ArrayContents(is_data=self._contents.is_data, joins=self._contents.joins)
            self._writes = self.memory.writes
        return self._contents

    @property
    def truth(self) -> bool | None:
        """Whether all elements are true, or all are false; None if unknown."""
        return self.contents.truth

    @property
    def span(self) -> IntegerSpan | None:
        """Bounds of the elements, if known."""
        return self.contents.span

    # `isinstance(x, np.ndarray)` is how traced code recognises an array; a subclass would have memory of its own.
    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return np.ndarray

    def __repr__(self) -> str:
        return f"<array ({', '.join(map(str, self.dims))}) of {self.dtype}>"

    def _is_no(self, other: object) -> bool:
        """Return whether a value is text, which no number equals."""
        return isinstance(other, str) and self.dtype.kind in "biufc"

    def __eq__(self, other: object) -> Any:
        return SymbolicArray(self.dims, bool, False) if self._is_no(other) else super().__eq__(other)

    def __ne__(self, other: object) -> Any:
        return SymbolicArray(self.dims, bool, True) if self._is_no(other) else super().__ne__(other)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        return SymbolicArray.namespace()

    def __array__(self, dtype: Any = None, **_: Any) -> Any:
        here().loops.refuse_written(sys._getframe(1), here().root)
        if isinstance(dtype, np.dtype) and dtype.isbuiltin == 1:
            # f2py releases the type twice if a conversion fails, so a few failures would deallocate NumPy's own type.
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(dtype))
        name = called_by(sys._getframe(1))
        what = f"{name or 'a function'} is not supported: it takes the data of an array"
        here().fail_to_trace(what, is_compiled=True)

    # `__getattr__` would offer what every `ndarray` has, and compiled code would read memory through it.
    @property
    def __array_interface__(self) -> Any:
        raise AttributeError("__array_interface__")

    # Attributes.

    @property
    def shape(self) -> tuple[Any, ...]:
        """The sizes, as numbers or sizes that code can compute with."""
        path = here()
        return tuple(sized(d, path) for d in self.dims)

    @shape.setter
    def shape(self, shape: Any) -> None:
        self.dims = self.reshape(shape).dims

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.dims)

    @property
    def size(self) -> Any:
        """The number of elements."""
        return sized(multiply(*self.dims), here())

    @property
    def itemsize(self) -> int:
        """The number of bytes per element."""
        return int(self.dtype.itemsize)

    @property
    def nbytes(self) -> Any:
        """The number of bytes."""
        return self.size * self.itemsize

    @property
    def strides(self) -> tuple[Any, ...]:
        """The byte distance between neighbours on each axis."""
        path = here()
        return tuple(sized(multiply(self.itemsize, *self.dims[n + 1 :]), path) for n in range(self.ndim))

    @property
    def flags(self) -> Any:
        """The flags that an array has if it owns its data."""
        return np.empty(1).flags

    base = None
    device = "cpu"

    @property
    def flat(self) -> Any:
        """The iterator over the elements."""
        return SymbolicArray.flattened(self)

    @flat.setter
    def flat(self, value: Any) -> None:
        self.flat[:] = value

    @property
    def T(self) -> Any:
        """The array with its axes reversed."""
        return self.transpose()

    @property
    def mT(self) -> Any:
        """The array with its last two axes exchanged."""
        return self.swapaxes(-1, -2)

    @property
    def real(self) -> SymbolicArray:
        """The real parts."""
        return SymbolicArray(self.dims, np.empty(0, self.dtype).real.dtype, memory=self.memory)

    @real.setter
    def real(self, value: Any) -> None:
        self.real[...] = value

    @property
    def imag(self) -> SymbolicArray:
        """The imaginary parts."""
        return SymbolicArray(self.dims, np.empty(0, self.dtype).imag.dtype, memory=self.memory)

    @imag.setter
    def imag(self, value: Any) -> None:
        self.imag[...] = value

    def _with(self, dims: Dims) -> SymbolicArray:
        """Return the same elements in another shape, or in another order with the same shape."""
        contents = self.contents.spread
        contents.number = numbering().moved(number_of(self), dims)
        return SymbolicArray(dims, self.dtype, contents=contents, memory=self.memory)

    def same(self) -> SymbolicArray:
        """Return the same elements in the same order and shape."""
        return SymbolicArray(self.dims, self.dtype, contents=self.contents, memory=self.memory)

    # Behaviour as a Python value.

    def __len__(self) -> int:
        # `len` has a stand-in. Other callers want the length only for preallocation, and continue without it.
        raise TypeError("the length of a symbolic array is a size")

    def __iter__(self) -> Iterator[Any]:
        if not self.dims:
            raise TypeError("iteration over a 0-d array")
        return self._rows()

    def _rows(self) -> Iterator[Any]:
        path, number = here(), 0
        while path.ask(Comparison("<", number, self.dims[0]), is_number=True):
            yield self[number]
            number += 1

    def __bool__(self) -> bool:
        path, count = here(), multiply(*self.dims)
        # NumPy answers for one element, whatever the number of axes.
        if self.dims and not path.ask(equal(count, 1)):
            if not path.ask(equal(count, 0)):
                raise ValueError("The truth value of an array with more than one element is ambiguous.")
            raise ValueError("The truth value of an empty array is ambiguous.")
        if self.truth is not None:
            return self.truth
        # The same element is true, or is not, whenever it is asked.
        known, number = numbering(), number_of(self)
        known.values[number].is_asked = True
        return path.ask(known.truth(number))

    def __getitem__(self, key: Any) -> Any:
        return SymbolicArray.get_item(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        SymbolicArray.set_item(self, key, value)

    def forget(self, *written: Any) -> None:
        """Discard the facts about the elements, including those of views, after ``written`` values were assigned."""
        known = [getattr(v, "contents", _CONSTANT) for v in written]
        is_data, joins = any(c.is_data for c in known), {j: None for c in known for j in c.joins}
        # Views share the memory: a write through one changes what is known of all.
        self.memory.write()
        self.contents.is_data |= is_data
        self.contents.joins = (*self.contents.joins, *joins)

    def reorder(self) -> None:
        """Keep only the facts that do not depend on order, for views too: the elements were shuffled."""
        moved = self.contents.spread
        self.memory.write()
        self._contents, self._writes = moved, self.memory.writes

    def _as_number(self, *_: Any) -> Any:
        kind = "an integer" if self.dtype.kind in "biu" else "a number"
        here().loops.refuse_written(sys._getframe(1), here().root)
        return here().fail_to_trace(f"{kind} is made from array data")

    __int__ = __index__ = __float__ = __complex__ = _as_number

    def __format__(self, spec: str) -> str:
        text = formatted_element(self, spec)
        path, frame = here(), sys._getframe(1)
        if not (SymbolicArray.keeps_texts(frame.f_code) or path.is_for_message(frame)):
            path.fail_to_trace("text is made of array data")
        return text

    def __round__(self, digits: int | None = None) -> Any:
        if self.dims:
            raise TypeError("type numpy.ndarray doesn't define __round__ method")
        return integer_of(self) if digits is None else SymbolicArray((), self.dtype)

    def whole(self) -> Any:
        """Return the only element as an integer that data decide."""
        return integer_of(self)

    __floor__ = __ceil__ = __trunc__ = whole

    __hash__ = None  # type: ignore[assignment]

    def __copy__(self) -> SymbolicArray:
        return self.copied()

    def __deepcopy__(self, memo: Any) -> SymbolicArray:
        return self.copied()

    def copied(self) -> SymbolicArray:
        """Return a copy that shares no elements."""
        return SymbolicArray(self.dims, self.dtype, contents=self.contents)

    def __reduce__(self) -> Any:
        raise TypeError("a symbolic array cannot be pickled: it exists only during its trace")

    def __getattr__(self, name: str) -> Any:
        method = METHODS.get(name)
        if method is not None:
            return partial(_called, name, method, self)
        if name.startswith("_") or not hasattr(np.ndarray, name):
            raise AttributeError(f"'ndarray' object has no attribute {name!r}")
        return here().fail_to_trace(f"the method {name} of an array is not supported")


def _in_place(name: str) -> Callable[[SymbolicArray, Any], Any]:
    """Return the operator that changes an array in place; an element is a number, which is not changed."""
    operator, in_place = (getattr(np.lib.mixins.NDArrayOperatorsMixin, f"__{kind}{name}__") for kind in ("", "i"))

    def changed(self: SymbolicArray, other: Any) -> Any:
        if self.dims:
            return in_place(self, other)
        result = operator(self, other)
        if not self.memory.is_number:  # it may be an array without axes, or a view
            self.forget(other)
        return result

    return changed


for _name in "add sub mul matmul truediv floordiv mod pow lshift rshift and or xor".split():  # noqa: SIM905
    setattr(SymbolicArray, f"__i{_name}__", _in_place(_name))


def _called(name: str, method: Callable[..., Any], array: SymbolicArray, *args: Any, **options: Any) -> Any:
    """Return the result of a method; an error about its arguments has the name that the code calls it by."""
    number = number_of(array)  # before the method writes into it
    try:
        result = method(array, *args, **options)
    except TypeError as error:
        text = str(error)
        if not text.startswith(f"{method.__qualname__}()"):
            raise
        raise TypeError(name + text.removeprefix(method.__qualname__)) from None
    return numbered(name, decided_by(result, array, *args, *options.values()), args, options, number)


_CONSTANT = ArrayContents(is_data=False)

# The methods of arrays by name; related methods are in one module.
METHODS: dict[str, Callable[..., Any]] = {}


def method(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function as the methods with these names."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        METHODS.update(dict.fromkeys(names, function))
        return function

    return register


def contents_of(value: Any) -> ArrayContents:
    """Return the facts about the elements of an array, a list of arrays, a number or a size."""
    if hasattr(type(value), "dims"):
        return value.contents  # type: ignore[no-any-return]
    if type(value) in (list, tuple):
        return ArrayContents(is_data=any(contents_of(v).is_data for v in value))
    if isinstance(value, np.ndarray) and value.dtype.kind in "iu" and value.size:
        return ArrayContents(span=IntegerSpan(int(value.min()), int(value.max())), is_data=False)
    return _CONSTANT


def as_array(value: Any) -> Any:
    """Return a symbolic array from any array-like value."""
    if type(value) is SymbolicArray:
        return value
    return SymbolicArray(dims_of(value), dtype_of(value), contents=contents_of(value).spread)


def numbering() -> Numbering:
    """Return the numbers of the values of the path that is running."""
    path = here()
    if path.numbering is None:
        path.numbering = Numbering(path)
    return path.numbering  # type: ignore[no-any-return]


def number_of(array: Any) -> int:
    """Return the number of the elements of an array."""
    contents, known = contents_of(array), numbering()
    if contents.number is None:
        contents.number = known.new(dims_of(array), array.dtype.kind)
    value = known.values[contents.number]
    value.joins, value.span = value.joins or contents.joins, value.span or contents.span
    if contents.truth is not None:
        value.count = multiply(*value.dims) if contents.truth else 0
    return contents.number


def argument(dims: Dims, dtype: Any) -> SymbolicArray:
    """Return an array that a function is called with, whose elements are finite."""
    array, known = SymbolicArray(dims, dtype), numbering()
    array.contents.number = known.number(("argument", len(known.values)), array.dims, array.dtype.kind)
    return array


def operand_of(value: Any) -> Any:
    """Return a value as an operand of a numbered operation: an array, a number, or several of these."""
    if type(value) is SymbolicArray:
        return number_of(value)
    if type(value) in (list, tuple):
        return ("several", *map(operand_of, value))
    if type(value) is slice:
        return ("slice", *map(operand_of, (value.start, value.stop, value.step)))
    return constant(value) or ("new", len(numbering().values))


def numbered(name: str, result: Any, values: Sequence[Any], options: Any = (), *numbers: int) -> Any:
    """Return the result of an operation that does the same for the same values, with numbers of its arrays."""
    several = result if type(result) is tuple else (result,)
    for place, array in enumerate(several):
        if type(array) is SymbolicArray and array.contents.number is None and array.contents.is_data:
            named = sorted((k, v) for k, v in dict(options).items() if v is not None and v is not np._NoValue)
            given = [(k, operand_of(v)) for k, v in named]
            key = (name if array is result else (name, place), *numbers, *map(operand_of, values), *given)
            array.contents.number = numbering().number(key, array.dims, array.dtype.kind)
    return result


def is_of_data(*values: Any) -> bool:
    """Return whether the elements of any of these arrays depend on the values of arguments."""
    return any(contents_of(v).is_data for v in values)


def decided_by(result: Any, *values: Any) -> Any:
    """Return arrays made from some values, with what the values say about their elements."""
    # If no value is data, the elements depend on sizes only; they may not be finite where those of a value may not be.
    is_data = is_of_data(*values)
    known = [v.contents for v in values if hasattr(type(v), "dims")]
    divisors = tuple(dict.fromkeys(d for c in known for d in c.divisors))
    joins = tuple(dict.fromkeys(j for c in known for j in c.joins))
    if not is_data or divisors or joins:
        for array in result if isinstance(result, (tuple, list)) else (result,):
            if type(array) is SymbolicArray:
                array.contents.is_data = array.contents.is_data and is_data
                array.contents.divisors = tuple(dict.fromkeys((*array.contents.divisors, *divisors)))
                array.contents.joins = tuple(dict.fromkeys((*array.contents.joins, *joins)))
    return result


def outputs_or_results(outs: tuple[Any, ...], *results: SymbolicArray) -> Any:
    """Return the output arrays that were passed in, or else the results."""
    whole = [o if o is not None else f for o, f in zip(outs or (None,) * len(results), results, strict=True)]
    return whole[0] if len(whole) == 1 else tuple(whole)


def result_dtypes(ufunc: Any, dtypes: tuple[Any, ...], dtype: Any) -> Any:
    """Return the dtypes of the results. Raises `TypeError` as the ufunc does."""
    if dtype is not None:
        return (np.dtype(dtype),) * ufunc.nout
    return _resolved_of(ufunc, dtypes)


@lru_cache(maxsize=4096)
def _resolved_of(ufunc: Any, dtypes: tuple[Any, ...]) -> Any:
    operands = [d if isinstance(d, np.dtype) or d in (int, float, complex) else np.dtype(d) for d in dtypes]
    if all(not isinstance(g, np.dtype) for g in operands):
        operands = [np.dtype(g) for g in operands]
    try:
        resolved: tuple[Any, ...] = ufunc.resolve_dtypes((*operands, *(None,) * ufunc.nout))
    except (AttributeError, NotImplementedError):
        resolved = (*operands, *(_example(ufunc, operands).dtype,) * ufunc.nout)
    return resolved[len(dtypes) :]


def _example(ufunc: Any, dtypes: Sequence[Any]) -> Any:
    return np.asarray(ufunc(*(np.array(1, d) for d in dtypes)))


WITHOUT_DATA.add(SymbolicArray.__name__)


# Scalars that data decide, as Python's numbers and as text.


# An invisible character in all text made of data, which marks the text wherever it is used.
MARK = "\u2063"


def integer_of(array: SymbolicArray) -> Any:
    """Return a single element as an integer that data decide, within the bounds of the elements: always the same."""
    known, number = numbering(), number_of(array)
    value = known.values[number]
    integer = known.integer(number)
    if integer is None:
        integer = value.integer = known.any_integer(value)
    return sized(integer, here())


class DataText(str):
    """Text that data decide: code may keep it and print it; whatever looks into it ends the path."""

    def __add__(self, other: str) -> Any:
        return DataText(str.__add__(self, other))

    def __radd__(self, other: str) -> Any:
        return DataText(str.__add__(other, self))


def _refuse(*_: Any, **__: Any) -> NoReturn:
    here().fail_to_trace("text that is made of data is compared or measured")


_KEPT = {"__new__", "__init__", "__getattribute__", "__class__", "__str__", "__repr__", "__format__", "__doc__"}
_KEPT |= {"__add__", "__radd__", "__init_subclass__", "__subclasshook__", "__setattr__", "__delattr__", "__dir__"}
for _name in set(dir(str)) - _KEPT:
    setattr(DataText, _name, _refuse)


def text_of_data(value: str) -> str:
    """Return a text; if it is made of data, as such a text."""
    return DataText(value) if type(value) is str and MARK in value else value


def formatted_element(value: Any, spec: str = "") -> str:
    """Return an array in a format, as the text of some element. Raises what NumPy raises for the format."""
    if type(value) is not SymbolicArray:
        return str.__str__(format(value, spec))
    if value.dims:
        if spec:
            raise TypeError("unsupported format string passed to numpy.ndarray.__format__")
        return f"{MARK}[...]"
    return f"{MARK}{np.array(1, value.dtype)[()]:{spec}}"


def percent_formatted(template: str, values: Any) -> str:
    """Return ``template % values``."""
    several = values if type(values) is tuple else (values,)
    if not any(type(v) is SymbolicArray for v in several):
        text: str = template % values
        return text
    examples = (np.array(1, v.dtype)[()] if type(v) is SymbolicArray and not v.dims else v for v in several)
    return DataText(MARK + template % tuple(examples))


class NestedList(Dispatched):
    """A list with one item for each index of the first axis of an array: a number, or another `NestedList`.

    For ``isinstance`` it is a ``list``; NumPy's functions treat it as the array that they would create from it.

    Attributes:
        base: the array.
    """

    def __init__(self, base: SymbolicArray) -> None:
        self.base = base.copied()

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return list

    @property
    def dims(self) -> Any:
        """The shape of the array that NumPy makes from the list: axes after an empty one are lost."""
        return self.array().dims

    @property
    def dtype(self) -> Any:
        """The dtype of the array that NumPy makes from the list."""
        return self.array().dtype

    @property
    def contents(self) -> Any:
        """Facts about the elements."""
        return self.base.contents.spread

    def array(self) -> SymbolicArray:
        """Return the array that NumPy makes from the list."""
        path, dims = here(), self.base.dims
        for number, dim in enumerate(dims):
            is_last = number == len(dims) - 1
            if (not is_last or self.base.dtype.kind != "f") and path.ask(equal(dim, 0)):
                return SymbolicArray(dims[: number + 1], float)
        kind = {"f": float, "i": np.intp, "c": complex}.get(self.base.dtype.kind, self.base.dtype)
        return SymbolicArray(dims, kind, contents=self.base.contents)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        inputs = tuple(v.array() if type(v) is NestedList else v for v in inputs)
        return SymbolicArray.universal(ufunc, method, *inputs, **options)

    def __len__(self) -> int:
        raise TypeError("the length of a symbolic list is a size")

    def __bool__(self) -> bool:
        return not here().ask(equal(self.base.dims[0], 0))

    def __iter__(self) -> Iterator[Any]:
        return (_listed(row) for row in self.base)

    def __getitem__(self, key: Any) -> Any:
        if not is_whole(key) and not isinstance(key, slice):
            raise TypeError("list indices must be integers or slices")
        return _listed(self.base[key])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(list, name):
            raise AttributeError(f"'list' object has no attribute {name!r}")
        return here().fail_to_trace(f"the method {name} of a list of elements is not supported")


def _listed(value: SymbolicArray) -> Any:
    return NestedList(value) if value.dims else value
