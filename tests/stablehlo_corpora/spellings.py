"""Integers of a program in two spellings: as scalar tensors of StableHLO, and as indices of MLIR."""

from __future__ import annotations

from typing import ClassVar

INT = "tensor<i32>"


class Tensors:
    """Integers as StableHLO's scalar tensors."""

    kind = INT
    element = "i32"

    def __init__(self) -> None:
        self.lines: list[str] = []

    def line(self, text: str) -> str:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name

    def argument(self, name: str) -> str:
        return name

    def constant(self, number: int) -> str:
        return self.line(f"stablehlo.constant dense<{number}> : {INT}")

    def size(self, name: str, type_: str, axis: int) -> str:
        return self.line(f'"stablehlo.get_dimension_size"({name}) {{dimension = {axis} : i64}} : ({type_}) -> {INT}')

    def binary(self, operator: str, x: str, y: str) -> str:
        return self.line(f"stablehlo.{operator} {x}, {y} : {INT}")

    def unary(self, operator: str, x: str) -> str:
        return self.line(f"stablehlo.{operator} {x} : {INT}")

    def wider(self, x: str, times: int) -> str:
        wide = self.line(f"stablehlo.convert {x} : ({INT}) -> tensor<i64>")
        factor = self.line(f"stablehlo.constant dense<{times}> : tensor<i64>")
        made = self.line(f"stablehlo.multiply {wide}, {factor} : tensor<i64>")
        return self.line(f"stablehlo.convert {made} : (tensor<i64>) -> {INT}")

    def compare(self, direction: str, x: str, y: str) -> str:
        return self.line(f"stablehlo.compare {direction}, {x}, {y} : ({INT}, {INT}) -> tensor<i1>")

    def choose(self, test: str, x: str, y: str) -> str:
        return self.line(f"stablehlo.select {test}, {x}, {y} : tensor<i1>, {INT}")

    def vector(self, parts: list[str]) -> str:
        made = [self.line(f"stablehlo.reshape {p} : ({INT}) -> tensor<1xi32>") for p in parts]
        kinds = ", ".join(["tensor<1xi32>"] * len(made))
        return self.line(f"stablehlo.concatenate {', '.join(made)}, dim = 0 : ({kinds}) -> tensor<{len(made)}xi32>")

    def require(self, test: str) -> None:
        options = 'error_message = "must hold", has_side_effect = true'
        self.lines.append(f"stablehlo.custom_call @shape_assertion({test}) {{{options}}} : (tensor<i1>) -> ()")

    def joined_shape(self, x: tuple[str, int, str], y: tuple[str, int, str]) -> str:
        """Return the broadcast shape of two tensors of one rank, and require that there is one."""
        parts = []
        for axis in range(x[1]):
            ours, theirs = (self.size(t[0], t[2], axis) for t in (x, y))
            one = self.constant(1)
            tests = [self.compare("EQ", *pair) for pair in ((ours, theirs), (ours, one), (theirs, one))]
            either = self.line(f"stablehlo.or {tests[0]}, {tests[1]} : tensor<i1>")
            self.require(self.line(f"stablehlo.or {either}, {tests[2]} : tensor<i1>"))
            parts.append(self.choose(tests[1], theirs, ours))
        return self.vector(parts)


class Indices(Tensors):
    """The same integers as values of type ``index``, by the dialects arith, tensor and shape."""

    kind = "index"
    element = "index"
    NAMES: ClassVar = {
        **{"add": "addi", "subtract": "subi", "multiply": "muli", "divide": "divsi", "remainder": "remsi"},
        **{"maximum": "maxsi", "minimum": "minsi"},
    }

    def argument(self, name: str) -> str:
        taken = self.line(f"tensor.extract {name}[] : {INT}")
        return self.line(f"arith.index_cast {taken} : i32 to index")

    def constant(self, number: int) -> str:
        return self.line(f"arith.constant {number} : index")

    def size(self, name: str, type_: str, axis: int) -> str:
        return self.line(f"tensor.dim {name}, {self.constant(axis)} : {type_}")

    def binary(self, operator: str, x: str, y: str) -> str:
        return self.line(f"arith.{self.NAMES[operator]} {x}, {y} : index")

    def unary(self, operator: str, x: str) -> str:
        negated = self.binary("subtract", self.constant(0), x)
        if operator == "negate":
            return negated
        if operator == "abs":
            return self.binary("maximum", x, negated)
        return self.binary("minimum", self.binary("maximum", x, self.constant(-1)), self.constant(1))

    def wider(self, x: str, times: int) -> str:
        return self.binary("multiply", x, self.constant(times))

    def compare(self, direction: str, x: str, y: str) -> str:
        names = {"EQ": "eq", "NE": "ne", "LT": "slt", "LE": "sle", "GT": "sgt", "GE": "sge"}
        return self.line(f"arith.cmpi {names[direction]}, {x}, {y} : index")

    def choose(self, test: str, x: str, y: str) -> str:
        return self.line(f"arith.select {test}, {x}, {y} : index")

    def vector(self, parts: list[str]) -> str:
        return self.line(f"tensor.from_elements {', '.join(parts)} : tensor<{len(parts)}xindex>")

    def require(self, test: str) -> None:
        super().require(self.line(f"tensor.from_elements {test} : tensor<i1>"))

    def joined_shape(self, x: tuple[str, int, str], y: tuple[str, int, str]) -> str:
        kind = f"tensor<{x[1]}xindex>"
        first, second = (self.line(f"shape.shape_of {t[0]} : {t[2]} -> {kind}") for t in (x, y))
        witness = self.line(f"shape.cstr_broadcastable {first}, {second} : {kind}, {kind}")
        inner = f"%j{len(self.lines)} = shape.broadcast {first}, {second} : {kind}, {kind} -> {kind} "
        inner += f"shape.assuming_yield %j{len(self.lines)} : {kind}"
        return self.line(f"shape.assuming {witness} -> ({kind}) {{ {inner} }}")
