"""One OpenVINO node with its known inputs, for an operator function."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from symbcast.graphs.values.contents import is_size
from symbcast.graphs.values.value import Value
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.openvino.element_types import number_of
from symbcast.operators.context import Dims

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.graphs.values.contents import Content


class OpenVinoCall(NodeCall):
    """A node with its inputs; its outputs get OpenVINO's element types."""

    # Outputs.

    def made(self, shape: Dims | None, content: Content | None = None, output: int = 0) -> Value:
        """Return an output with OpenVINO's element type."""
        return Value(shape, number_of(self.node.raw.get_output_element_type(output)), content)

    # Numeric inputs.

    def input_numbers(self, position: int, what: str) -> list[int]:
        """Return the numbers that an input lists; give up on the node if they are unknown."""
        found = self.numbers(position)
        if found is None:
            self.give_up(f"{what} are in {self.input_name(position)}, whose elements are not known")
        return found

    def input_axes(self, position: int, rank: int) -> list[int]:
        """Return the axes that an input lists, counted from the front."""
        return [self.axis(a, rank) for a in self.input_numbers(position, "the axes")]

    def axes_of(self, dims: Dims, axes: Iterable[int]) -> list[int]:
        """Return axes counted from the front; 0 and -1 are valid for a scalar and dropped."""
        found = [self.axis(a, max(len(dims), 1)) for a in axes]
        return found if dims else []

    def input_sizes(self, position: int, least: int = 0) -> tuple[Dim, ...]:
        """Return the sizes that an input lists; each unknown size is a new symbol."""
        items: Sequence[object] | None = self.elements(position)
        if items is None:
            lengths = self.shape(position)
            if len(lengths) > 1 or any(not isinstance(n, int) for n in lengths):
                self.give_up(f"the sizes are in {self.input_name(position)}, whose elements are not known")
            items = (None,) * (int(lengths[0]) if lengths else 1)  # type: ignore[arg-type]
        name = self.input_name(position)
        dims: list[Dim] = []
        for n, item in enumerate(items):
            if is_size(item):
                if least >= 0:
                    self.is_size(item, "a size must not be negative")
                dims.append(item)
                continue
            dims.append(self.fresh(f"size_{n}", f"element {n} of {name}", by=[position]))
            reason = f"not checked: element {n} of {name}, which is data, must not be negative"
            self.note(reason, is_about_data=True, by=[position])
        return tuple(dims)
