"""Random programs of several operators, whose shapes are computed from sizes and from integer arguments."""

from __future__ import annotations

import random

from stablehlo_corpora.random_modules import Module, array, kind, opened, reducer

INT = "tensor<i32>"


class Program:
    """Draws a program: a pool of tensors with dynamic sizes, and a pool of integers."""

    def __init__(self, seed: object) -> None:
        self.draw = random.Random(f"program {seed}")
        self.lines: list[str] = []
        self.arguments: list[tuple[tuple[int | None, ...], str]] = []
        self.tensors: list[tuple[str, int, str]] = []
        """Name, rank and type of each."""
        self.integers: list[str] = []
        for n in range(self.draw.randint(1, 3)):
            sizes = tuple(self.draw.choice((None, None, None, 2, 3)) for _ in range(self.draw.randint(1, 2)))
            self.arguments.append((sizes, "f32"))
            self.tensors.append((f"%arg{n}", len(sizes), kind(sizes)))
        if self.draw.random() < 0.4:
            self.integers.append(f"%arg{len(self.arguments)}")
            self.arguments.append(((), "i32"))

    def line(self, text: str) -> str:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name

    def tensor(self, rank: int | None = None) -> tuple[str, int, str] | None:
        found = [t for t in self.tensors if rank in (None, t[1])]
        return self.draw.choice(found) if found else None

    def add(self, name: str, rank: int, type_: str | None = None) -> None:
        self.tensors.append((name, rank, type_ or opened(rank)))

    def integer(self) -> str:
        if self.integers and self.draw.random() < 0.6:
            return self.draw.choice(self.integers)
        ranked = [t for t in self.tensors if t[1]]
        if ranked and self.draw.random() < 0.8:
            name, rank, type_ = self.draw.choice(ranked)
            axis = self.draw.randrange(rank)
            made = self.line(f'"stablehlo.get_dimension_size"({name}) {{dimension = {axis} : i64}} : ({type_}) -> {INT}')
            self.integers.append(made)
            return made
        return self.line(f"stablehlo.constant dense<{self.draw.randint(-1, 4)}> : {INT}")

    def vector(self, count: int) -> str:
        parts = [self.line(f"stablehlo.reshape {self.integer()} : ({INT}) -> tensor<1xi32>") for _ in range(count)]
        kinds = ", ".join(["tensor<1xi32>"] * count)
        return self.line(f"stablehlo.concatenate {', '.join(parts)}, dim = 0 : ({kinds}) -> tensor<{count}xi32>")

    def test(self) -> str:
        direction = self.draw.choice(("EQ", "NE", "LT", "LE", "GT", "GE"))
        x, y = self.integer(), self.integer()
        return self.line(f"stablehlo.compare {direction}, {x}, {y} : ({INT}, {INT}) -> tensor<i1>")

    # Steps.

    def arithmetic(self) -> None:
        operator = self.draw.choice(("add", "add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum"))
        x, y = self.integer(), self.integer()
        if operator in ("divide", "remainder"):
            y = self.line(f"stablehlo.constant dense<{self.draw.randint(2, 4)}> : {INT}")
        self.integers.append(self.line(f"stablehlo.{operator} {x}, {y} : {INT}"))

    def change(self) -> None:
        operator = self.draw.choice(("abs", "negate", "sign"))
        self.integers.append(self.line(f"stablehlo.{operator} {self.integer()} : {INT}"))

    def choice(self) -> None:
        test, x, y = self.test(), self.integer(), self.integer()
        self.integers.append(self.line(f"stablehlo.select {test}, {x}, {y} : tensor<i1>, {INT}"))

    def longer(self) -> None:
        wide = self.line(f"stablehlo.convert {self.integer()} : ({INT}) -> tensor<i64>")
        two = self.line(f"stablehlo.constant dense<{self.draw.randint(1, 3)}> : tensor<i64>")
        made = self.line(f"stablehlo.multiply {wide}, {two} : tensor<i64>")
        self.integers.append(self.line(f"stablehlo.convert {made} : (tensor<i64>) -> {INT}"))

    def iota(self) -> None:
        rank = self.draw.randint(1, 2)
        shape = self.vector(rank)
        self.add(self.line(f"stablehlo.dynamic_iota {shape}, dim = 0 : (tensor<{rank}xi32>) -> {opened(rank)}"), rank)

    def reshaped(self) -> None:
        name, _, type_ = self.tensor()
        rank = self.draw.randint(1, 2)
        if self.draw.random() < 0.5:
            sizes = [self.line(f'"stablehlo.get_dimension_size"({name}) {{dimension = {n} : i64}} : ({type_}) -> {INT}') for n in range(type_.count("x"))]
            product = sizes[0]
            for size in sizes[1:]:
                product = self.line(f"stablehlo.multiply {product}, {size} : {INT}")
            shape, rank = self.line(f"stablehlo.reshape {product} : ({INT}) -> tensor<1xi32>"), 1
        else:
            shape = self.vector(rank)
        made = self.line(f"stablehlo.dynamic_reshape {name}, {shape} : ({type_}, tensor<{rank}xi32>) -> {opened(rank)}")
        self.add(made, rank)

    def broadcast(self) -> None:
        name, rank, type_ = self.tensor()
        wanted = self.draw.randint(rank, 2) if rank < 2 else 2
        shape, dims = self.vector(wanted), sorted(self.draw.sample(range(wanted), rank))
        types = f"({type_}, tensor<{wanted}xi32>) -> {opened(wanted)}"
        made = self.line(f'"stablehlo.dynamic_broadcast_in_dim"({name}, {shape}) {{broadcast_dimensions = {array(dims)}}} : {types}')
        self.add(made, wanted)

    def joined(self) -> None:
        name, rank, type_ = self.tensor()
        other = self.tensor(rank)
        axis = self.draw.randrange(rank)
        types = f"({type_}, {other[2]}) -> {opened(rank)}"
        self.add(self.line(f'"stablehlo.concatenate"({name}, {other[0]}) {{dimension = {axis} : i64}} : {types}'), rank)

    def added(self) -> None:
        name, rank, type_ = self.tensor()
        other = self.tensor(rank)
        self.add(self.line(f'"stablehlo.add"({name}, {other[0]}) : ({type_}, {other[2]}) -> {opened(rank)}'), rank)

    def turned(self) -> None:
        found = self.tensor(2)
        if found:
            made = self.line(f'"stablehlo.transpose"({found[0]}) {{permutation = {array([1, 0])}}} : ({found[2]}) -> {opened(2)}')
            self.add(made, 2)

    def product(self) -> None:
        x, y = self.tensor(2), self.tensor(2)
        if x and y:
            self.add(self.line(f'"stablehlo.dot"({x[0]}, {y[0]}) : ({x[2]}, {y[2]}) -> {opened(2)}'), 2)

    def part(self) -> None:
        name, rank, type_ = self.tensor()
        starts, limits = self.vector(rank), self.vector(rank)
        steps = self.line(f"stablehlo.constant dense<{[self.draw.randint(1, 2) for _ in range(rank)]}> : tensor<{rank}xi32>")
        types = f"({type_}, {', '.join([f'tensor<{rank}xi32>'] * 3)}) -> {opened(rank)}"
        self.add(self.line(f'"stablehlo.real_dynamic_slice"({name}, {starts}, {limits}, {steps}) : {types}'), rank)

    def padded(self) -> None:
        name, rank, type_ = self.tensor()
        value = self.line("stablehlo.constant dense<0.0> : tensor<f32>")
        low, high = self.vector(rank), self.vector(rank)
        inner = self.line(f"stablehlo.constant dense<{[self.draw.randint(0, 1) for _ in range(rank)]}> : tensor<{rank}xi32>")
        types = f"({type_}, tensor<f32>, {', '.join([f'tensor<{rank}xi32>'] * 3)}) -> {opened(rank)}"
        self.add(self.line(f'"stablehlo.dynamic_pad"({name}, {value}, {low}, {high}, {inner}) : {types}'), rank)

    def summed(self) -> None:
        found = self.tensor(2)
        if found:
            zero = self.line("stablehlo.constant dense<0.0> : tensor<f32>")
            dims = array([self.draw.randrange(2)])
            types = f"({found[2]}, tensor<f32>) -> {opened(1)}"
            self.add(self.line(f'"stablehlo.reduce"({found[0]}, {zero}) {reducer()} {{dimensions = {dims}}} : {types}'), 1)

    def asserted(self) -> None:
        self.lines.append(
            f'stablehlo.custom_call @shape_assertion({self.test()}) {{error_message = "must hold", has_side_effect = true}} : (tensor<i1>) -> ()'
        )

    def module(self) -> Module:
        steps = ("arithmetic", "arithmetic", "change", "choice", "longer", "iota", "reshaped", "broadcast", "broadcast")
        steps += ("joined", "added", "added", "turned", "product", "part", "padded", "summed", "asserted")
        for _ in range(self.draw.randint(2, 7)):
            getattr(self, self.draw.choice(steps))()
        taken = ", ".join(f"%arg{n}: {kind(*a)}" for n, a in enumerate(self.arguments))
        # The refinement drops what no result needs, and then refuses nothing for it.
        results = self.tensors[sum(bool(sizes) for sizes, _ in self.arguments) :] or self.tensors[:1]
        types, names = ", ".join(t for *_, t in results), ", ".join(name for name, *_ in results)
        body = "\n  ".join(self.lines)
        text = f"func.func @main({taken}) -> ({types}) {{\n  {body}\n  return {names} : {types}\n}}\n"
        return Module("program", text, tuple(sizes for sizes, _ in self.arguments))


def program(seed: object) -> Module:
    """Return a random program; the same for the same seed."""
    return Program(seed).module()
