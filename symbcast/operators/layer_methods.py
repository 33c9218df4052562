"""Layers as methods of a program, and operators that read or write elements by index."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from symbcast.core.shapes import Shape, ShapeLike
from symbcast.operators.program_methods import Axes, ShapeFunctions, Size

if TYPE_CHECKING:
    from fractions import Fraction


class LayerFunctions(ShapeFunctions):
    """A program with the shape functions of layers; arguments and errors are as in `ShapeFunctions`."""

    # Attention and normalisation.

    def attention(  # noqa: PLR0913 - its attributes are its own
        self,
        query: ShapeLike,
        key: ShapeLike,
        value: ShapeLike,
        mask: ShapeLike | None = None,
        *,
        grouped: bool = False,
        origin: str | None = None,
    ) -> Shape:
        """Add ``softmax(query @ key.T + mask) @ value`` of (..., L, E), (..., S, E) and (..., S, V): (..., L, V).

        The axes before the last two are broadcast. With ``grouped``, equal groups of heads (on the axis before these
        two) share keys and values. A mask broadcasts onto the scores (..., L, S).

        >>> from symbcast import ShapeEnv
        >>> env = ShapeEnv(min_size=1)
        >>> env.attention("batch, heads, L, d", "batch, groups, S, d", "batch, groups, S, v", grouped=True)
        Shape('(batch, heads, L, v)')
        >>> env.condition
        Condition('heads % groups == 0')
        """
        return self._operate("attention", _given(query, key, value, mask), origin, grouped=grouped)

    def layer_norm(
        self,
        data: ShapeLike,
        scale: ShapeLike | None = None,
        bias: ShapeLike | None = None,
        *,
        axis: int = -1,
        origin: str | None = None,
    ) -> Shape:
        """Add a normalisation over the axes from ``axis`` on; scale and bias have the shape of these axes.

        >>> from symbcast import ShapeEnv
        >>> env = ShapeEnv()
        >>> env.layer_norm("batch, T, d", "768", "768"), env.condition
        (Shape('(batch, T, 768)'), Condition('d == 768'))
        """
        return self._operate("layer_norm", _given(data, scale, bias), origin, axis=axis)

    def group_norm(
        self,
        data: ShapeLike,
        groups: int,
        scale: ShapeLike | None = None,
        bias: ShapeLike | None = None,
        *,
        origin: str | None = None,
    ) -> Shape:
        """Add a normalisation of (N, C, ...) in equal groups of channels; scale and bias have the shape (C,).

        >>> from symbcast import ShapeEnv
        >>> env = ShapeEnv()
        >>> env.group_norm("N, C, H, W", 8), env.condition
        (Shape('(N, C, H, W)'), Condition('C % 8 == 0'))
        """
        return self._operate("group_norm", _given(data, scale, bias), origin, groups=groups)

    def batch_norm(self, data: ShapeLike, *parameters: ShapeLike, origin: str | None = None) -> Shape:
        """Add a normalisation of (N, C, ...); scale, bias, means and variances, all optional, have the shape (C,).

        >>> from symbcast import ShapeEnv
        >>> env = ShapeEnv()
        >>> env.batch_norm("N, C, H, W", "64", "64"), env.condition
        (Shape('(N, 64, H, W)'), Condition('C == 64'))
        """
        return self._operate("batch_norm", (data, *parameters), origin)

    # Sizes of images.

    def resize(
        self,
        data: ShapeLike,
        sizes: ShapeLike | None = None,
        *,
        scales: Iterable[float | Fraction] | None = None,
        axes: Axes | None = None,
        origin: str | None = None,
    ) -> Shape:
        """Add a resize of the named axes, or of all, to the given sizes or by scales.

        Size times scale is computed exactly and rounded down: a scale of 0.7 is 7/10, whereas runtimes may round in
        floats.

        >>> from symbcast import ShapeEnv
        >>> env = ShapeEnv()
        >>> env.resize("N, C, H, W", scales=(2, 0.5), axes=(2, 3)), env.resize("N, C, H, W", ("h", 224), axes=(2, 3))
        (Shape('(N, C, 2*H, W//2)'), Shape('(N, C, h, 224)'))
        """
        ratios = tuple(scales) if isinstance(scales, Iterable) else scales
        return self._operate("resize", _given(data, sizes), origin, axes=axes, scales=ratios)

    # Elements by rank and index.

    def top_k(self, data: ShapeLike, count: Size, axis: int = -1, *, origin: str | None = None) -> Shape:
        """Add the ``count`` greatest elements along an axis of at least that size: the shape of values and indices.

        >>> from symbcast import ShapeEnv
        >>> env = ShapeEnv()
        >>> env.top_k("batch, classes", 5), env.condition
        (Shape('(batch, 5)'), Condition('classes >= 5'))
        """
        return self._operate("top_k", (data, (count,)), origin, axis=axis)

    def one_hot(self, data: ShapeLike, classes: Size, axis: int = -1, *, origin: str | None = None) -> Shape:
        """Add a new axis for classes, at a place in the output.

        >>> from symbcast import ShapeEnv
        >>> ShapeEnv().one_hot("batch, T", "classes")
        Shape('(batch, T, classes)')
        """
        return self._operate("one_hot", (data, (classes,)), origin, axis=axis)

    def gather_elements(
        self, data: ShapeLike, indices: ShapeLike, axis: int = 0, *, origin: str | None = None
    ) -> Shape:
        """Add `torch.gather`: one element per index; on the other axes, indices must not exceed the data.

        >>> from symbcast import ShapeEnv
        >>> env = ShapeEnv(min_size=1)
        >>> env.gather_elements("N, M", "K, 3", axis=1), env.condition
        (Shape('(K, 3)'), Condition('K <= N'))
        """
        return self._operate("gather_elements", (data, indices), origin, axis=axis)

    def gather_nd(
        self, data: ShapeLike, indices: ShapeLike, batch_axes: int = 0, *, origin: str | None = None
    ) -> Shape:
        """Add slices of the data; the last axis of the indices holds the components of each index.

        The first ``batch_axes`` axes of data and indices must be equal; they are paired.

        >>> from symbcast import ShapeEnv
        >>> ShapeEnv(min_size=1).gather_nd("N, M, d", "K, 2")
        Shape('(K, d)')
        """
        return self._operate("gather_nd", (data, indices), origin, batch_axes=batch_axes)

    def scatter(
        self, data: ShapeLike, indices: ShapeLike, updates: ShapeLike, axis: int = 0, *, origin: str | None = None
    ) -> Shape:
        """Add the replacement of slices along an axis by updates of the shape that `gather` returns.

        >>> from symbcast import ShapeEnv
        >>> env = ShapeEnv(min_size=1)
        >>> env.scatter("N, d", "K", "M, 3"), env.condition
        (Shape('(N, 3)'), Condition('d == 3 and K == M'))
        """
        return self._operate("scatter", (data, indices, updates), origin, axis=axis)

    def scatter_elements(
        self, data: ShapeLike, indices: ShapeLike, updates: ShapeLike, axis: int = 0, *, origin: str | None = None
    ) -> Shape:
        """Add `torch.scatter` of updates with the shape of the indices, which must not exceed the data on other axes.

        >>> from symbcast import ShapeEnv
        >>> env = ShapeEnv(min_size=1)
        >>> env.scatter_elements("N, M", "K, 3", "K, 3", axis=1), env.condition
        (Shape('(N, M)'), Condition('K <= N'))
        """
        return self._operate("scatter_elements", (data, indices, updates), origin, axis=axis)

    def scatter_nd(
        self, data: ShapeLike, indices: ShapeLike, updates: ShapeLike, *, origin: str | None = None
    ) -> Shape:
        """Add the replacement of slices; the last axis of the indices holds the components of each index.

        >>> from symbcast import ShapeEnv
        >>> env = ShapeEnv(min_size=1)
        >>> env.scatter_nd("N, M, d", "K, 2", "K, 8"), env.condition
        (Shape('(N, M, 8)'), Condition('d == 8'))
        """
        return self._operate("scatter_nd", (data, indices, updates), origin)

    # Recurrent layers.

    def lstm(  # noqa: PLR0913 - its attributes are its own
        self,
        data: ShapeLike,
        hidden: Size,
        *,
        operands: Mapping[str, ShapeLike] | None = None,
        layers: int = 1,
        bidirectional: bool = False,
        batch_first: bool = False,
        projection: Size | None = None,
        origin: str | None = None,
    ) -> tuple[Shape, Shape, Shape]:
        """Add LSTM layers over (T, N, features): all hidden states, and the last hidden and cell states.

        ``operands`` maps names to the shapes that must fit: ``hidden`` (D, N, hidden) and ``cell`` for the first
        states, ``weights`` (gates * hidden, features) and ``recurrence`` (gates * hidden, hidden) of the first layer,
        its ``bias`` (gates * hidden,), and ``lengths`` (N,). D counts the directions of all layers. With
        ``batch_first``, data are (N, T, features); with a ``projection``, hidden states have that size.

        >>> from symbcast import ShapeEnv
        >>> env = ShapeEnv()
        >>> env.lstm("T, N, 80", "H", bidirectional=True, operands={"hidden": "2, N, 256"})
        (Shape('(T, N, 512)'), Shape('(2, N, 256)'), Shape('(2, N, 256)'))
        >>> env.condition
        Condition('H == 256')
        """
        sizes = (hidden,) if projection is None else (hidden, projection)
        attributes: dict[str, Any] = {"layers": layers, "bidirectional": bidirectional, "batch_first": batch_first}
        output, last, cell = self._recurrent("LSTM", 3, (data, sizes), operands, origin, attributes)
        return output, last, cell

    def gru(  # noqa: PLR0913 - its attributes are its own
        self,
        data: ShapeLike,
        hidden: Size,
        *,
        operands: Mapping[str, ShapeLike] | None = None,
        layers: int = 1,
        bidirectional: bool = False,
        batch_first: bool = False,
        origin: str | None = None,
    ) -> tuple[Shape, Shape]:
        """Add GRU layers over (T, N, features), like `lstm`: all hidden states, and the last ones.

        >>> from symbcast import ShapeEnv
        >>> ShapeEnv().gru("N, T, 80", "H", layers=2, batch_first=True)
        (Shape('(N, T, H)'), Shape('(2, N, H)'))
        """
        attributes: dict[str, Any] = {"layers": layers, "bidirectional": bidirectional, "batch_first": batch_first}
        output, last = self._recurrent("GRU", 2, (data, (hidden,)), operands, origin, attributes)
        return output, last

    def rnn(  # noqa: PLR0913 - its attributes are its own
        self,
        data: ShapeLike,
        hidden: Size,
        *,
        operands: Mapping[str, ShapeLike] | None = None,
        layers: int = 1,
        bidirectional: bool = False,
        batch_first: bool = False,
        origin: str | None = None,
    ) -> tuple[Shape, Shape]:
        """Add plain recurrent layers over (T, N, features), like `lstm`: all hidden states, and the last ones.

        >>> from symbcast import ShapeEnv
        >>> ShapeEnv().rnn("T, N, 80", "H")
        (Shape('(T, N, H)'), Shape('(1, N, H)'))
        """
        attributes: dict[str, Any] = {"layers": layers, "bidirectional": bidirectional, "batch_first": batch_first}
        output, last = self._recurrent("RNN", 2, (data, (hidden,)), operands, origin, attributes)
        return output, last

    def _recurrent(  # noqa: PLR0913, PLR0917 - what the three cells have in common
        self,
        cell: str,
        count: int,
        shapes: tuple[ShapeLike, ...],
        operands: Mapping[str, ShapeLike] | None,
        origin: str | None,
        attributes: Mapping[str, Any],
    ) -> tuple[Shape, ...]:
        named = dict(operands or {})
        shapes, roles = (*shapes, *named.values()), tuple(named)
        return self._operate_parts("recurrent", shapes, origin, count, cell=cell, roles=roles, **attributes)


def _given(*shapes: ShapeLike | None) -> tuple[ShapeLike, ...]:
    """Return the operands that are not None."""
    return tuple(s for s in shapes if s is not None)
