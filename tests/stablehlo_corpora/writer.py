"""Writes modules with one operator each, as text: what `random_modules` and `random_networks` draw."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

Sizes = tuple[int | None, ...]
"""The sizes of a tensor; None for dynamic ones."""


def kind(sizes: Iterable[int | None], element: str = "f32") -> str:
    written = ("?" if s is None else str(s) for s in sizes)
    return f"tensor<{'x'.join((*written, element))}>"


def array(numbers: Iterable[int], element: str = "i64") -> str:
    listed = ", ".join(str(n).lower() for n in numbers)
    return f"array<{element}: {listed}>" if listed else f"array<{element}>"


class Module(NamedTuple):
    """A module, and the sizes of the arguments of its ``main``."""

    operator: str
    text: str
    arguments: tuple[Sizes, ...]


class Writer:
    """Writes the body of a module with one operator; the arguments get sizes that are known or dynamic at random."""

    def __init__(self, seed: object) -> None:
        self.draw = random.Random(str(seed))
        self.lines: list[str] = []
        self.arguments: list[tuple[Sizes, str]] = []
        self._made = 0

    def sizes(self, rank: int, known: float = 0.25) -> Sizes:
        return tuple(self.draw.randint(0, 4) if self.draw.random() < known else None for _ in range(rank))

    def argument(self, rank: int, element: str = "f32", known: float = 0.25) -> str:
        """Return a new argument; its type is `type_of` it."""
        self.arguments.append((self.sizes(rank, known), element))
        return f"%arg{len(self.arguments) - 1}"

    def type_of(self, name: str) -> str:
        return kind(*self.arguments[int(name[4:])])

    def line(self, text: str) -> str:
        """Write an operation with one result, and return the result's name."""
        self._made += 1
        self.lines.append(f"%v{self._made} = {text}")
        return f"%v{self._made}"

    def constant(self, numbers: Sequence[int], element: str = "i32") -> str:
        return self.line(f"stablehlo.constant dense<{list(numbers)}> : tensor<{len(numbers)}x{element}>")

    def size_of(self, argument: str, axis: int) -> str:
        """Return the size of an argument on an axis, changed by a small number at times, as ``tensor<1xi32>``."""
        types = f"({self.type_of(argument)}) -> tensor<i32>"
        found = self.line(f'"stablehlo.get_dimension_size"({argument}) {{dimension = {axis} : i64}} : {types}')
        if self.draw.random() < 0.4:
            other = self.line(f"stablehlo.constant dense<{self.draw.choice((-1, 1, 2, 3))}> : tensor<i32>")
            operator = self.draw.choice(("add", "multiply", "divide", "maximum", "minimum", "subtract"))
            found = self.line(f"stablehlo.{operator} {found}, {other} : tensor<i32>")
        return self.line(f"stablehlo.reshape {found} : (tensor<i32>) -> tensor<1xi32>")

    def numbers(self, count: int, lowest: int = 0, highest: int = 4) -> str:
        """Return integers, as ``tensor<countxi32>``: numbers, and sizes of arguments."""
        parts = []
        for _ in range(count):
            ranked = [n for n, (sizes, _) in enumerate(self.arguments) if sizes]
            if ranked and self.draw.random() < 0.6:
                number = self.draw.choice(ranked)
                parts.append(self.size_of(f"%arg{number}", self.draw.randrange(len(self.arguments[number][0]))))
            else:
                parts.append(self.constant([self.draw.randint(lowest, highest)]))
        if count == 0:
            return self.line("stablehlo.constant dense<> : tensor<0xi32>")
        if count == 1:
            return parts[0]
        kinds = ", ".join(["tensor<1xi32>"] * count)
        return self.line(f"stablehlo.concatenate {', '.join(parts)}, dim = 0 : ({kinds}) -> tensor<{count}xi32>")

    def op(
        self, name: str, operands: Sequence[str], kinds: Sequence[str], attributes: str, result: str, regions: str = ""
    ) -> str:
        """Write an operator in generic form."""
        return self.line(
            f'"{name}"({", ".join(operands)}) {regions} {{{attributes}}} : ({", ".join(kinds)}) -> {result}'
        )

    def module(self, operator: str, results: Sequence[tuple[str, str]]) -> Module:
        taken = ", ".join(f"%arg{n}: {kind(*a)}" for n, a in enumerate(self.arguments))
        kinds = ", ".join(k for _, k in results)
        body = "\n  ".join(self.lines)
        returned = f"return {', '.join(n for n, _ in results)} : {kinds}"
        text = f"func.func @main({taken}) -> ({kinds}) {{\n  {body}\n  {returned}\n}}\n"
        return Module(operator, text, tuple(sizes for sizes, _ in self.arguments))


Results = list[tuple[str, str]]
Maker = Callable[[Writer], Results]


def opened(rank: int, element: str = "f32") -> str:
    return kind([None] * rank, element)


def reducer(operation: str = "add", element: str = "f32", pairs: int = 1) -> str:
    scalar = f"tensor<{element}>"
    taken = ", ".join(f"%{side}{n}: {scalar}" for side in "xy" for n in range(pairs))
    lines = " ".join(f"%r{n} = stablehlo.{operation} %x{n}, %y{n} : {scalar}" for n in range(pairs))
    made, kinds = ", ".join(f"%r{n}" for n in range(pairs)), ", ".join([scalar] * pairs)
    return f"({{ ^bb0({taken}): {lines} stablehlo.return {made} : {kinds} }})"


def several(
    w: Writer,
    name: str,
    operands: Sequence[str],
    kinds: Sequence[str],
    attributes: str,
    results: Sequence[str],
    regions: str = "",
) -> Results:
    """Write an operator with several results."""
    if len(results) == 1:
        return [(w.op(name, operands, kinds, attributes, results[0], regions), results[0])]
    made = w.op(name, operands, kinds, attributes, f"({', '.join(results)})", regions)
    w.lines[-1] = w.lines[-1].replace(f"{made} =", f"{made}:{len(results)} =", 1)
    return [(f"{made}#{n}", k) for n, k in enumerate(results)]


def makers(found: Mapping[str, object]) -> dict[str, Maker]:
    """Return the functions of a module that write an operator, by its name."""
    wanted = {"w": "Writer", "return": "Results"}
    return {name.rstrip("_"): made for name, made in found.items() if getattr(made, "__annotations__", {}) == wanted}
