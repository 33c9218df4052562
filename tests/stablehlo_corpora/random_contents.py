"""Random computations of one integer from sizes: the reference interpreter runs them, a report says what it is."""

from __future__ import annotations

import random

import numpy as np
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo
from stablehlo_corpora.refinement import CONTEXT

ARGUMENTS = "%x: tensor<?x?xf32>"


class Contents:
    """Draws a computation on vectors of integers, truth values and floats; it ends in the size of an iota."""

    def __init__(self, seed: object) -> None:
        self.draw = random.Random(f"contents {seed}")
        self.lines: list[str] = []
        self.vectors: list[tuple[str, int]] = [(self.size(0), 1), (self.size(1), 1)]
        """Name and length of vectors of i32."""

    def line(self, text: str) -> str:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name

    def size(self, axis: int) -> str:
        scalar = self.line(f"stablehlo.get_dimension_size %x, dim = {axis} : (tensor<?x?xf32>) -> tensor<i32>")
        return self.line(f"stablehlo.reshape {scalar} : (tensor<i32>) -> tensor<1xi32>")

    def vector(self, length: int | None = None) -> tuple[str, int]:
        """Return a vector, of a given length if there is one; a constant otherwise."""
        found = [v for v in self.vectors if length in (None, v[1])]
        if found and self.draw.random() < 0.8:
            return self.draw.choice(found)
        length = length or self.draw.randint(1, 3)
        numbers = [self.draw.randint(-2, 4) for _ in range(length)]
        return self.line(f"stablehlo.constant dense<{numbers}> : tensor<{length}xi32>"), length

    def add(self, text: str, length: int) -> None:
        self.vectors.append((self.line(text), length))

    def arithmetic(self) -> None:
        x, length = self.vector()
        y, _ = self.vector(length)
        operator = self.draw.choice(("add", "subtract", "multiply", "maximum", "minimum"))
        self.add(f"stablehlo.{operator} {x}, {y} : tensor<{length}xi32>", length)

    def quotient(self) -> None:
        x, length = self.vector()
        numbers = [self.draw.choice((-3, -2, -1, 1, 2, 3, 4)) for _ in range(length)]
        y = self.line(f"stablehlo.constant dense<{numbers}> : tensor<{length}xi32>")
        self.add(f"stablehlo.{self.draw.choice(('divide', 'remainder'))} {x}, {y} : tensor<{length}xi32>", length)

    def unary(self) -> None:
        x, length = self.vector()
        self.add(f"stablehlo.{self.draw.choice(('abs', 'negate', 'sign'))} {x} : tensor<{length}xi32>", length)

    def test(self, length: int) -> str:
        (x, _), (y, _) = self.vector(length), self.vector(length)
        kind = f"tensor<{length}xi32>"
        direction = self.draw.choice(("EQ", "NE", "LT", "LE", "GT", "GE"))
        return self.line(f"stablehlo.compare {direction}, {x}, {y} : ({kind}, {kind}) -> tensor<{length}xi1>")

    def select(self) -> None:
        x, length = self.vector()
        y, _ = self.vector(length)
        test = self.test(length)
        if self.draw.random() < 0.4:
            operator = self.draw.choice(("and", "or", "xor"))
            test = self.line(f"stablehlo.{operator} {test}, {self.test(length)} : tensor<{length}xi1>")
        if self.draw.random() < 0.2:
            test = self.line(f"stablehlo.not {test} : tensor<{length}xi1>")
        self.add(f"stablehlo.select {test}, {x}, {y} : tensor<{length}xi1>, tensor<{length}xi32>", length)

    def truth(self) -> None:
        length = self.draw.randint(1, 2)
        self.add(f"stablehlo.convert {self.test(length)} : (tensor<{length}xi1>) -> tensor<{length}xi32>", length)

    def clamp(self) -> None:
        x, length = self.vector()
        low, high = self.vector(length)[0], self.vector(length)[0]
        self.add(f"stablehlo.clamp {low}, {x}, {high} : tensor<{length}xi32>", length)

    def join(self) -> None:
        (x, n), (y, m) = self.vector(), self.vector()
        if n + m <= 4:
            kinds = f"(tensor<{n}xi32>, tensor<{m}xi32>) -> tensor<{n + m}xi32>"
            self.add(f"stablehlo.concatenate {x}, {y}, dim = 0 : {kinds}", n + m)

    def part(self) -> None:
        x, length = self.vector()
        start = self.draw.randrange(length)
        stop = self.draw.randint(start + 1, length)
        self.add(
            f"stablehlo.slice {x} [{start}:{stop}] : (tensor<{length}xi32>) -> tensor<{stop - start}xi32>", stop - start
        )

    def reverse(self) -> None:
        x, length = self.vector()
        self.add(f"stablehlo.reverse {x}, dims = [0] : tensor<{length}xi32>", length)

    def gather(self) -> None:
        x, length = self.vector()
        where = [self.draw.randint(0, length - 1) for _ in range(2)]
        indices = self.line(f"stablehlo.constant dense<{[[n] for n in where]}> : tensor<2x1xi32>")
        numbers = "#stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>"
        kinds = f"(tensor<{length}xi32>, tensor<2x1xi32>) -> tensor<2xi32>"
        attributes = f"dimension_numbers = {numbers}, slice_sizes = array<i64: 1>"
        self.add(f'"stablehlo.gather"({x}, {indices}) {{{attributes}}} : {kinds}', 2)

    def dynamic_slice(self) -> None:
        x, length = self.vector()
        start = self.scalar(self.vector())
        taken = self.draw.randint(1, length)
        kinds = f"(tensor<{length}xi32>, tensor<i32>) -> tensor<{taken}xi32>"
        self.add(f"stablehlo.dynamic_slice {x}, {start}, sizes = [{taken}] : {kinds}", taken)

    def updated(self) -> None:
        x, length = self.vector()
        y, start = self.vector(1)[0], self.scalar(self.vector())
        kinds = f"(tensor<{length}xi32>, tensor<1xi32>, tensor<i32>) -> tensor<{length}xi32>"
        self.add(f"stablehlo.dynamic_update_slice {x}, {y}, {start} : {kinds}", length)

    def pad(self) -> None:
        x, length = self.vector()
        value, low = self.scalar(self.vector()), self.draw.randint(0, 1)
        kinds = f"(tensor<{length}xi32>, tensor<i32>) -> tensor<{length + 1}xi32>"
        if length < 4:
            edges = f"low = [{low}], high = [{1 - low}], interior = [0]"
            self.add(f"stablehlo.pad {x}, {value}, {edges} : {kinds}", length + 1)

    def reduce(self) -> None:
        x, length = self.vector()
        start = self.line(f"stablehlo.constant dense<{self.draw.choice((0, 1))}> : tensor<i32>")
        operator = self.draw.choice(("add", "multiply", "maximum", "minimum"))
        kinds = f"(tensor<{length}xi32>, tensor<i32>) -> tensor<i32>"
        made = f"stablehlo.reduce({x} init: {start}) applies stablehlo.{operator} across dimensions = [0] : {kinds}"
        self.add(f"stablehlo.reshape {self.line(made)} : (tensor<i32>) -> tensor<1xi32>", 1)

    def spread(self) -> None:
        x = self.vector(1)[0]
        self.add(f"stablehlo.broadcast_in_dim {x}, dims = [0] : (tensor<1xi32>) -> tensor<3xi32>", 3)

    def counted(self) -> None:
        self.add("stablehlo.iota dim = 0 : tensor<3xi32>", 3)

    def floats(self) -> None:
        x, length = self.vector()
        kind = f"tensor<{length}xf32>"
        taken = self.line(f"stablehlo.convert {x} : (tensor<{length}xi32>) -> {kind}")
        factor = self.line(f"stablehlo.constant dense<{self.draw.choice(('0.5', '2.0', '3.0', '0.1'))}> : {kind}")
        made = self.line(f"stablehlo.{self.draw.choice(('multiply', 'divide'))} {taken}, {factor} : {kind}")
        if self.draw.random() < 0.6:
            made = self.line(f"stablehlo.{self.draw.choice(('floor', 'ceil', 'round_nearest_even'))} {made} : {kind}")
        self.add(f"stablehlo.convert {made} : ({kind}) -> tensor<{length}xi32>", length)

    def branch(self) -> None:
        x, length = self.vector()
        y, _ = self.vector(length)
        kind = f"tensor<{length}xi32>"
        test = self.line(f"stablehlo.reshape {self.test(1)} : (tensor<1xi1>) -> tensor<i1>")
        branches = f"{{ stablehlo.return {x} : {kind} }}, {{ stablehlo.return {y} : {kind} }}"
        self.add(f'"stablehlo.if"({test}) ({branches}) : (tensor<i1>) -> {kind}', length)

    def case(self) -> None:
        x, length = self.vector()
        y, _ = self.vector(length)
        kind, index = f"tensor<{length}xi32>", self.scalar(self.vector())
        branches = f"{{ stablehlo.return {x} : {kind} }}, {{ stablehlo.return {y} : {kind} }}"
        self.add(f'"stablehlo.case"({index}) ({branches}) : (tensor<i32>) -> {kind}', length)

    def scalar(self, vector: tuple[str, int]) -> str:
        name, length = vector
        if length > 1:
            name = self.line(
                f"stablehlo.slice {name} [{length - 1}:{length}] : (tensor<{length}xi32>) -> tensor<1xi32>"
            )
        return self.line(f"stablehlo.reshape {name} : (tensor<1xi32>) -> tensor<i32>")

    def texts(self) -> tuple[str, str]:
        """Return a module that makes an iota of the integer, and one that returns the integer."""
        steps = ("arithmetic", "arithmetic", "arithmetic", "quotient", "unary", "select", "select", "truth", "clamp")
        steps += ("join", "join", "part", "reverse", "gather", "dynamic_slice", "updated", "pad", "reduce", "spread")
        steps += ("counted", "floats", "branch", "case")
        for _ in range(self.draw.randint(2, 7)):
            getattr(self, self.draw.choice(steps))()
        last = self.scalar(self.vectors[-1])
        body = "\n  ".join(self.lines)
        made = f"%s = stablehlo.reshape {last} : (tensor<i32>) -> tensor<1xi32>\n  "
        made += (
            "%r = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>\n  return %r : tensor<?xf32>"
        )
        asked = f"func.func @main({ARGUMENTS}) -> tensor<?xf32> {{\n  {body}\n  {made}\n}}\n"
        return asked, f"func.func @main({ARGUMENTS}) -> tensor<i32> {{\n  {body}\n  return {last} : tensor<i32>\n}}\n"


def contents(seed: object) -> tuple[str, str]:
    """Return a module whose result's size is a random integer, and one that returns this integer."""
    return Contents(seed).texts()


def value(text: str, sizes: tuple[int, int]) -> int:
    """Return what the reference interpreter computes for an argument with two sizes."""
    with CONTEXT, ir.Location.unknown():
        module = ir.Module.parse(text.replace("tensor<?x?xf32>", f"tensor<{sizes[0]}x{sizes[1]}xf32>"))
        taken = ir.DenseElementsAttr.get(np.zeros(sizes, np.float32))
        return int(np.array(stablehlo.eval_module(module, [taken])[0]))
