"""Tensors that have a shape, an element type and known elements, but no data."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from symbcast.graphs.values.value import Value
from symbcast.torch.reading.held import Held
from symbcast.torch.reading.library import load

if TYPE_CHECKING:
    from symbcast.operators.context import Dims


class Memory:
    """The memory that a tensor shares with its views; once it is written to, nothing is known about elements."""

    def __init__(self) -> None:
        self.is_written = False


@lru_cache(maxsize=1)
def tensor_class() -> type:
    """Return the class of tensors without data; it is made when torch is there."""
    torch = load()

    class SymbolicTensor(torch.Tensor):  # type: ignore[misc, name-defined]
        """A tensor without data: ``value`` is what is known of it, ``run`` is the run that it belongs to.

        Torch asks ``__torch_dispatch__`` of the run's mode for sizes, strides and contiguity.
        """

        value: Value
        memory: Memory
        run: Any
        is_given: bool
        """Whether it is an argument, so that data can be any numbers."""

        @staticmethod
        def __new__(cls: Any, value: Value, dtype: Any, run: Any, memory: Memory) -> Any:
            assert value.shape is not None
            # Torch never reads these sizes: it asks for them by operators.
            made = torch.Tensor._make_wrapper_subclass(
                cls, (2,) * len(value.shape), dtype=dtype, device="cpu", dispatch_sizes_strides_policy="sizes"
            )
            made.value, made.memory, made.run, made.is_given = value, memory, run, False
            return made

        def __init__(self, *given: Any) -> None:
            super().__init__()

        def __repr__(self, **options: Any) -> str:
            return f"tensor of shape {self.value.shape}"

        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            raise RuntimeError("a tensor is used outside its own run")

        def tolist(self) -> Any:
            if not self.dim():
                return self.item()
            return [row.tolist() for row in self.unbind(0)]

        def numpy(self, **options: Any) -> Any:
            self.run.give_up("the elements of a tensor are needed as a NumPy array")

        def __array__(self, *given: Any, **options: Any) -> Any:
            self.run.give_up("the elements of a tensor are needed as a NumPy array")

        def data_ptr(self) -> int:
            return int(self.run.give_up("the memory of a tensor is read"))

        def __deepcopy__(self, memo: Any) -> Any:
            return self.clone()

        def __reduce_ex__(self, protocol: Any) -> Any:
            self.run.give_up("a tensor is pickled")

        __torch_function__ = torch._C._disabled_torch_function_impl

    return SymbolicTensor


def is_symbolic(value: Any) -> bool:
    """Return whether a value is a tensor without data."""
    return isinstance(value, tensor_class())


def value_of(tensor: Any) -> Value:
    """Return what is known of a tensor, with or without data."""
    if not is_symbolic(tensor):
        return Held(tensor)
    found: Value = tensor.value
    return found.with_content(None) if tensor.memory.is_written else found


def dims_of(tensor: Any) -> Dims:
    """Return the shape of a tensor, with or without data."""
    found = value_of(tensor).shape
    assert found is not None
    return found
