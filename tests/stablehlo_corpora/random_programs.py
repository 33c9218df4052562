"""Random programs of several operators, whose shapes are computed from sizes and from integer arguments."""

from __future__ import annotations

import random

from stablehlo_corpora.spellings import Tensors
from stablehlo_corpora.writer import Module, array, kind, opened, reducer


class Program:
    """Draws a program: a pool of tensors with dynamic sizes, and a pool of integers in one of two spellings."""

    def __init__(self, seed: object, spelling: type[Tensors]) -> None:
        self.draw = random.Random(f"program {seed}")
        self.write = spelling()
        self.arguments: list[tuple[tuple[int | None, ...], str]] = []
        self.tensors: list[tuple[str, int, str]] = []
        """Name, rank and type of each."""
        self.integers: list[str] = []
        for n in range(self.draw.randint(1, 3)):
            sizes = tuple(self.draw.choice((None, None, None, 2, 3)) for _ in range(self.draw.randint(1, 2)))
            self.arguments.append((sizes, "f32"))
            self.tensors.append((f"%arg{n}", len(sizes), kind(sizes)))
        if self.draw.random() < 0.4:
            self.integers.append(self.write.argument(f"%arg{len(self.arguments)}"))
            self.arguments.append(((), "i32"))
        self.flag = f"%arg{len(self.arguments)}"
        """A truth value that nothing knows."""
        self.arguments.append(((), "i1"))
        self.functions: list[str] = []

    def line(self, text: str) -> str:
        return self.write.line(text)

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
            self.integers.append(self.write.size(name, type_, axis))
            return self.integers[-1]
        return self.write.constant(self.draw.randint(-1, 4))

    def vector(self, count: int) -> str:
        return self.write.vector([self.integer() for _ in range(count)])

    def vectors(self, count: int) -> str:
        """Return the type of a vector of integers."""
        return f"tensor<{count}x{self.write.element}>"

    def test(self) -> str:
        direction = self.draw.choice(("EQ", "NE", "LT", "LE", "GT", "GE"))
        x, y = self.integer(), self.integer()
        return self.write.compare(direction, x, y)

    # Steps.

    def arithmetic(self) -> None:
        operator = self.draw.choice(("add", "add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum"))
        x, y = self.integer(), self.integer()
        if operator in ("divide", "remainder"):
            y = self.write.constant(self.draw.choice((2, 3, 4, 2, 3, -2)))
        self.integers.append(self.write.binary(operator, x, y))

    def change(self) -> None:
        operator = self.draw.choice(("abs", "negate", "sign"))
        self.integers.append(self.write.unary(operator, self.integer()))

    def choice(self) -> None:
        test, x, y = self.test(), self.integer(), self.integer()
        self.integers.append(self.write.choose(test, x, y))

    def longer(self) -> None:
        self.integers.append(self.write.wider(self.integer(), self.draw.randint(1, 3)))

    def iota(self) -> None:
        rank = self.draw.randint(1, 2)
        shape = self.vector(rank)
        self.add(self.line(f"stablehlo.dynamic_iota {shape}, dim = 0 : ({self.vectors(rank)}) -> {opened(rank)}"), rank)

    def reshaped(self) -> None:
        name, _, type_ = self.tensor()
        rank = self.draw.randint(1, 2)
        if self.draw.random() < 0.5:
            sizes = [self.write.size(name, type_, n) for n in range(type_.count("x"))]
            product = sizes[0]
            for size in sizes[1:]:
                product = self.write.binary("multiply", product, size)
            shape, rank = self.write.vector([product]), 1
        else:
            shape = self.vector(rank)
        made = self.line(
            f"stablehlo.dynamic_reshape {name}, {shape} : ({type_}, {self.vectors(rank)}) -> {opened(rank)}"
        )
        self.add(made, rank)

    def broadcast(self) -> None:
        name, rank, type_ = self.tensor()
        wanted = self.draw.randint(rank, 2) if rank < 2 else 2
        shape, dims = self.vector(wanted), sorted(self.draw.sample(range(wanted), rank))
        types = f"({type_}, {self.vectors(wanted)}) -> {opened(wanted)}"
        made = self.line(
            f'"stablehlo.dynamic_broadcast_in_dim"({name}, {shape}) {{broadcast_dimensions = {array(dims)}}} : {types}'
        )
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
            made = self.line(
                f'"stablehlo.transpose"({found[0]}) {{permutation = {array([1, 0])}}} : ({found[2]}) -> {opened(2)}'
            )
            self.add(made, 2)

    def product(self) -> None:
        x, y = self.tensor(2), self.tensor(2)
        if x and y:
            self.add(self.line(f'"stablehlo.dot"({x[0]}, {y[0]}) : ({x[2]}, {y[2]}) -> {opened(2)}'), 2)

    def part(self) -> None:
        name, rank, type_ = self.tensor()
        starts, limits = self.vector(rank), self.vector(rank)
        steps = self.write.vector([self.write.constant(self.draw.randint(1, 2)) for _ in range(rank)])
        types = f"({type_}, {', '.join([self.vectors(rank)] * 3)}) -> {opened(rank)}"
        self.add(self.line(f'"stablehlo.real_dynamic_slice"({name}, {starts}, {limits}, {steps}) : {types}'), rank)

    def padded(self) -> None:
        name, rank, type_ = self.tensor()
        value = self.line("stablehlo.constant dense<0.0> : tensor<f32>")
        low, high = self.vector(rank), self.vector(rank)
        inner = self.write.vector([self.write.constant(self.draw.randint(0, 1)) for _ in range(rank)])
        types = f"({type_}, tensor<f32>, {', '.join([self.vectors(rank)] * 3)}) -> {opened(rank)}"
        self.add(self.line(f'"stablehlo.dynamic_pad"({name}, {value}, {low}, {high}, {inner}) : {types}'), rank)

    def summed(self) -> None:
        found = self.tensor(2)
        if found:
            zero = self.line("stablehlo.constant dense<0.0> : tensor<f32>")
            dims = array([self.draw.randrange(2)])
            types = f"({found[2]}, tensor<f32>) -> {opened(1)}"
            self.add(
                self.line(f'"stablehlo.reduce"({found[0]}, {zero}) {reducer()} {{dimensions = {dims}}} : {types}'), 1
            )

    def asserted(self) -> None:
        self.write.require(self.test())

    def stretched(self) -> None:
        found = self.tensor()
        other = self.tensor(found[1])
        shape, dims = self.write.joined_shape(found, other), array(range(found[1]))
        types = f"({found[2]}, {self.vectors(found[1])}) -> {opened(found[1])}"
        made = f'"stablehlo.dynamic_broadcast_in_dim"({found[0]}, {shape}) {{broadcast_dimensions = {dims}}} : {types}'
        self.add(self.line(made), found[1])

    def inner(self, x: str, type_: str, rank: int, label: str) -> tuple[str, str]:
        """Return the text of an operation or two on a value of a region or a function, and the result's name."""
        result, made = opened(rank), f"%{label}"
        form = self.draw.choice(("negate", "add", "concatenate", "transpose", "pad"))
        if form == "add":
            return f'{made} = "stablehlo.add"({x}, {x}) : ({type_}, {type_}) -> {result}', made
        if form == "concatenate":
            axis = self.draw.randrange(rank)
            text = f'"stablehlo.concatenate"({x}, {x}) {{dimension = {axis} : i64}} : ({type_}, {type_}) -> {result}'
            return f"{made} = {text}", made
        if form == "transpose" and rank == 2:
            return (
                f'{made} = "stablehlo.transpose"({x}) {{permutation = array<i64: 1, 0>}} : ({type_}) -> {result}',
                made,
            )
        if form == "pad":
            low, high, none = ([n] * rank for n in (1, self.draw.choice((-1, 0)), 0))
            parts = (
                f"edge_padding_low = {array(low)}, edge_padding_high = {array(high)}, interior_padding = {array(none)}"
            )
            zero = f"{made}z = stablehlo.constant dense<0.0> : tensor<f32>"
            return (
                f'{zero} {made} = "stablehlo.pad"({x}, {made}z) {{{parts}}} : ({type_}, tensor<f32>) -> {result}',
                made,
            )
        return f'{made} = "stablehlo.negate"({x}) : ({type_}) -> {result}', made

    def branched(self) -> None:
        name, rank, type_ = self.tensor()
        other = self.tensor(rank)
        label = f"b{len(self.write.lines)}"
        first, result = self.inner(name, type_, rank, label)
        then = f"{first} stablehlo.return {result} : {opened(rank)}"
        otherwise = f"stablehlo.return {other[0]} : {other[2]}"
        self.add(
            self.line(
                f'"stablehlo.if"({self.flag}) ({{ {then} }}, {{ {otherwise} }}) : (tensor<i1>) -> {opened(rank)}'
            ),
            rank,
        )

    def looped(self) -> None:
        name, rank, type_ = self.tensor()
        label, kind_ = f"w{len(self.write.lines)}", opened(rank)
        first, result = self.inner(f"%{label}x", kind_, rank, label)
        test = f"^bb0(%{label}t: {kind_}): stablehlo.return {self.flag} : tensor<i1>"
        body = f"^bb0(%{label}x: {kind_}): {first} stablehlo.return {result} : {kind_}"
        self.add(self.line(f'"stablehlo.while"({name}) ({{ {test} }}, {{ {body} }}) : ({type_}) -> {kind_}'), rank)

    def called(self) -> None:
        name, rank, type_ = self.tensor()
        number, result = len(self.functions), opened(rank)
        first, made = self.inner("%x", type_, rank, "y")
        self.functions.append(
            f"func.func private @g{number}(%x: {type_}) -> {result} {{ {first} return {made} : {result} }}"
        )
        self.add(self.line(f"func.call @g{number}({name}) : ({type_}) -> {result}"), rank)
        if self.draw.random() < 0.3:
            again = [t for t in self.tensors if t[2] == type_]
            self.add(self.line(f"func.call @g{number}({self.draw.choice(again)[0]}) : ({type_}) -> {result}"), rank)

    def module(self) -> Module:
        steps = ("arithmetic", "arithmetic", "change", "choice", "longer", "iota", "reshaped", "broadcast", "broadcast")
        steps += (
            "joined",
            "added",
            "added",
            "turned",
            "product",
            "part",
            "padded",
            "summed",
            "asserted",
            "stretched",
            "stretched",
        )
        steps += ("branched", "looped", "called", "called")
        for _ in range(self.draw.randint(2, 7)):
            getattr(self, self.draw.choice(steps))()
        taken = ", ".join(f"%arg{n}: {kind(*a)}" for n, a in enumerate(self.arguments))
        # The refinement drops what no result needs, and then refuses nothing for it.
        results = self.tensors[sum(bool(sizes) for sizes, _ in self.arguments) :] or self.tensors[:1]
        types, names = ", ".join(t for *_, t in results), ", ".join(name for name, *_ in results)
        body = "\n  ".join(self.write.lines)
        text = f"func.func @main({taken}) -> ({types}) {{\n  {body}\n  return {names} : {types}\n}}\n"
        return Module("program", text + "\n".join(self.functions), tuple(sizes for sizes, _ in self.arguments))


def program(seed: object, spelling: type[Tensors] = Tensors) -> Module:
    """Return a random program; the same for the same seed, in either spelling."""
    return Program(seed, spelling).module()
