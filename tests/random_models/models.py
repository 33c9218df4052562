"""Random models, with the sizes to run them at."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from hypothesis import strategies as st
from onnx import ModelProto, printer
from random_models import (
    contents,
    control,
    elementwise,
    fused,
    indexing,
    normalization,
    numbers,
    quantized,
    ranges,
    sequences,
    shaping,
    vision,
    windows,
)
from random_models.maker import Maker, Step

FAMILIES: dict[str, list[Step]] = {
    "elementwise": elementwise.STEPS,
    "shaping": shaping.STEPS,
    "indexing": indexing.STEPS,
    "control": control.STEPS,
    "windows": windows.STEPS,
    "normalization": normalization.STEPS,
    "quantized": quantized.STEPS,
    "fused": fused.STEPS,
    "vision": vision.STEPS,
    "ranges": ranges.STEPS,
    "sequences": sequences.STEPS,
}
MAX_STEPS = 8
_RANKS = {"windows": (3, 4), "normalization": (2, 4), "quantized": (2, 4), "fused": (2, 3), "vision": (2, 4)}
"""From which rank to which the inputs are."""


@dataclass(frozen=True)
class RandomModel:
    """A model, the names of its sizes, and the least size that any has."""

    proto: ModelProto
    symbols: str
    min_size: int

    def points(self) -> Iterator[dict[str, int]]:
        """Yield sizes to run it at: all up to 5, and with few symbols 6 and 7 too."""
        sizes = range(6 if len(self.symbols) == 3 else 8)
        for point in itertools.product([s for s in sizes if s >= self.min_size], repeat=len(self.symbols)):
            yield dict(zip(self.symbols, point, strict=True))

    def __str__(self) -> str:
        return f"min_size={self.min_size}\n{printer.to_text(self.proto)}"


def random_model(random: Random, family: str) -> RandomModel:
    """Return a model, half of whose nodes are of one family."""
    min_size = random.choice([1, 1, 1, 0])
    ranks = _RANKS.get(family, (1, 3))
    maker = Maker(random, min_size, *ranks)
    others = [*elementwise.STEPS, *shaping.STEPS, *indexing.STEPS]
    for _ in range(random.randint(1, MAX_STEPS)):
        random.choice(FAMILIES[family] if random.randrange(2) else others)(maker)
    return RandomModel(maker.model(), maker.symbols, min_size)


def random_numbers(random: Random) -> RandomModel:
    """Return a model that works out integers from sizes."""
    maker = Maker(random)
    numbers.counted(maker)
    for _ in range(random.randint(1, 2 * MAX_STEPS)):
        random.choice(numbers.STEPS)(maker)
    return RandomModel(maker.model(), maker.symbols, 1)


@st.composite
def random_models(draw: st.DrawFn, family: str) -> RandomModel:
    """Draw a model; Hypothesis makes it smaller where something is wrong with it."""
    return random_model(draw(st.randoms(use_true_random=False)), family)


@st.composite
def models_of_numbers(draw: st.DrawFn) -> RandomModel:
    """Draw a model that works out integers from sizes."""
    return random_numbers(draw(st.randoms(use_true_random=False)))


def random_contents(random: Random) -> RandomModel:
    """Return a model in which integers that sizes alone decide are worked out, and decide whether it runs."""
    min_size = random.choice([1, 1, 0])
    maker = Maker(random, min_size, 1, 2)
    numbers.counted(maker)
    for _ in range(random.randint(1, MAX_STEPS)):
        random.choice(contents.INTEGERS)(maker)
    for _ in range(random.randint(1, 2)):
        random.choice(contents.USES)(maker)
    return RandomModel(maker.model(), maker.symbols, min_size)


@st.composite
def models_of_contents(draw: st.DrawFn) -> RandomModel:
    """Draw a model in which integers that sizes decide say whether it runs."""
    return random_contents(draw(st.randoms(use_true_random=False)))
