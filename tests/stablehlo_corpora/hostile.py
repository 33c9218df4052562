"""Modules that are broken, huge or made to hurt: the contents of a file each."""

from __future__ import annotations

import random
from collections.abc import Iterator

from jax._src.interpreters import mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

ADD = """func.func @main(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = stablehlo.add %x, %y : tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
"""
DIVIDES_BY_ZERO = """func.func @main(%data: tensor<?x16xf32>) -> tensor<16x?xf32> {
  %0 = "stablehlo.all_to_all"(%data) {split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 4 : i64,
    replica_groups = dense<0> : tensor<0x2xi64>} : (tensor<?x16xf32>) -> tensor<16x?xf32>
  return %0 : tensor<16x?xf32>
}
"""


def binaries() -> tuple[bytes, bytes]:
    """Return a module as bytecode and as a portable artifact."""
    with mlir.make_ir_context():
        module = ir.Module.parse(ADD)
        version = stablehlo.get_current_version()
        return mlir.module_to_bytecode(module), stablehlo.serialize_portable_artifact(module, version)


def nested(depth: int) -> str:
    inside = "stablehlo.return %x : tensor<?xf32>"
    opened = "".join(f'%v{n} = "stablehlo.if"(%c) ({{\n' for n in range(depth))
    closed = "".join(
        "}, { stablehlo.return %x : tensor<?xf32> }) : (tensor<i1>) -> tensor<?xf32>\n"
        f"stablehlo.return %v{n} : tensor<?xf32>\n"
        for n in reversed(range(1, depth))
    )
    last = "}, { stablehlo.return %x : tensor<?xf32> }) : (tensor<i1>) -> tensor<?xf32>\nreturn %v0 : tensor<?xf32>\n}"
    return f"func.func @main(%c: tensor<i1>, %x: tensor<?xf32>) -> tensor<?xf32> {{\n{opened}{inside}\n{closed}{last}"


def calls(depth: int, times: int) -> str:
    """Return functions that call the next one: with two calls each, a walk of all calls never ends."""
    kind = "tensor<?xf32>"
    made = [f"func.func private @f{depth}(%x: {kind}) -> {kind} {{ return %x : {kind} }}"]
    for n in range(depth):
        values = ["%x", *(f"%v{t}" for t in range(times))]
        lines = [f"{values[t + 1]} = call @f{n + 1}({values[t]}) : ({kind}) -> {kind}" for t in range(times)]
        name = "@main" if n == 0 else f"private @f{n}"
        made.append(
            f"func.func {name}(%x: {kind}) -> {kind} {{\n" + "\n".join(lines) + f"\nreturn {values[-1]} : {kind}\n}}"
        )
    return "\n".join(made)


def loops(depth: int) -> str:
    """Return loops in loops."""
    kind, lines, n = "tensor<?xf32>", [], 0

    def loop(level: int, value: str) -> str:
        nonlocal n
        if level == 0:
            return f"stablehlo.return {value} : {kind}"
        n += 1
        own = n
        test = f"^bb0(%t{own}: {kind}): %c{own} = stablehlo.constant dense<true> : tensor<i1> "
        test += f"stablehlo.return %c{own} : tensor<i1>"
        inner = loop(level - 1, f"%b{own}")
        body = f"^bb0(%b{own}: {kind}): {inner}"
        made = f'%w{own} = "stablehlo.while"({value}) ({{ {test} }}, {{ {body} }}) : ({kind}) -> {kind}'
        return f"{made}\nstablehlo.return %w{own} : {kind}"

    lines.append(loop(depth, "%x").rpartition("stablehlo.return")[0])
    return f"func.func @main(%x: {kind}) -> {kind} {{\n{lines[0]}\nreturn %w1 : {kind}\n}}"


def chain(count: int) -> str:
    """Return a long chain of additions, about 60 bytes each."""
    lines = "\n".join(f"  %v{n + 1} = stablehlo.add %v{n}, %y : tensor<?x4xf32>" for n in range(count))
    taken = "%v0: tensor<?x4xf32>, %y: tensor<?x4xf32>"
    return f"func.func @main({taken}) -> tensor<?x4xf32> {{\n{lines}\n  return %v{count} : tensor<?x4xf32>\n}}"


def _broken_binaries() -> Iterator[tuple[str, bytes]]:
    drawing = random.Random(0)
    for kind, whole in zip(("bytecode", "artifact"), binaries(), strict=True):
        for part in range(8):
            yield f"{kind}, the first {part} of 8 parts", whole[: len(whole) * part // 8]
        for n in range(8):
            place = drawing.randrange(4, len(whole))
            yield f"{kind}, a wrong byte {n}", whole[:place] + bytes([drawing.randrange(256)]) + whole[place + 1 :]
        yield f"{kind}, garbage after the magic number", whole[:4] + drawing.randbytes(1000)
        yield f"{kind}, twice", whole + whole


def _texts() -> Iterator[tuple[str, str]]:
    body = "func.func @main(%x: tensor<?xf32>) -> tensor<?xf32>"
    yield "empty", ""
    yield "spaces", "  \n\n"
    yield "a comment", "// nothing here\n"
    yield "an empty module", "module {}\n"
    yield "half a module", ADD[: len(ADD) // 2]
    yield "no body", "func.func private @main(tensor<?xf32>) -> tensor<?xf32>\n"
    yield (
        "an unknown dialect",
        f'{body} {{\n %0 = "alien.op"(%x) : (tensor<?xf32>) -> tensor<?xf32>\n return %0 : tensor<?xf32>\n}}',
    )
    yield (
        "an unknown operator",
        f'{body} {{\n %0 = "stablehlo.alien"(%x) : (tensor<?xf32>) -> tensor<?xf32>\n return %0 : tensor<?xf32>\n}}',
    )
    yield "an unknown type", "func.func @main(%x: !alien.type) -> !alien.type {\n return %x : !alien.type\n}"
    yield "unranked", "func.func @main(%x: tensor<*xf32>) -> tensor<*xf32> {\n return %x : tensor<*xf32>\n}"
    yield "quantized", "func.func @main(%x: tensor<?x!quant.uniform<i8:f32, 1.0>>) {\n return\n}"
    yield (
        "itself",
        f"{body} {{\n %0 = call @main(%x) : (tensor<?xf32>) -> tensor<?xf32>\n return %0 : tensor<?xf32>\n}}",
    )
    yield (
        "each other",
        ADD.replace(
            "stablehlo.add %x, %y : tensor<?x4xf32>",
            "call @g(%x, %y) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>",
        )
        + (
            ADD.replace("@main", "private @g").replace(
                "stablehlo.add %x, %y : tensor<?x4xf32>",
                "call @main(%x, %y) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>",
            )
        ),
    )
    yield (
        "a call of nothing",
        f"{body} {{\n %0 = call @none(%x) : (tensor<?xf32>) -> tensor<?xf32>\n return %0 : tensor<?xf32>\n}}",
    )
    yield "a name twice", ADD + ADD
    yield "a division by zero in the verifier", DIVIDES_BY_ZERO
    yield "a huge size", ADD.replace("x4x", "x9223372036854775807x")
    yield "a size that is too large", ADD.replace("x4x", "x92233720368547758070x")
    yield "a negative size", ADD.replace("x4x", "x-4x")
    rank = "x".join("?" * 3000)
    yield (
        "3,000 axes",
        f"func.func @main(%x: tensor<{rank}xf32>) -> tensor<{rank}xf32> {{\n return %x : tensor<{rank}xf32>\n}}",
    )
    many = ", ".join(f"%a{n}: tensor<?xf32>" for n in range(5000))
    yield "5,000 arguments", f"func.func @main({many}) -> tensor<?xf32> {{\n return %a0 : tensor<?xf32>\n}}"
    yield (
        "names that clash",
        ADD.replace("%y: tensor<?x4xf32>", '%y: tensor<?x4xf32> loc("x")').replace(
            "%x: tensor<?x4xf32>", '%x: tensor<?x4xf32> loc("x")'
        ),
    )
    yield (
        "names that are no names",
        ADD.replace("%y: tensor<?x4xf32>", '%y: tensor<?x4xf32> loc("rank(x) or \\22 + 1")'),
    )
    yield (
        "several blocks",
        f"{body} {{\n cf.br ^next(%x : tensor<?xf32>)\n^next(%y: tensor<?xf32>):\n return %y : tensor<?xf32>\n}}",
    )
    yield "100 nested branches", nested(100)
    yield "1,000 nested branches", nested(1000)
    yield "5,000 nested branches", nested(5000)
    yield "300 functions that call the next", calls(300, 1)
    yield "5,000 functions that call the next", calls(5000, 1)
    yield "40 functions that call the next twice", calls(40, 2)
    yield "30 loops in loops", loops(30)
    yield "200 loops in loops", loops(200)
    yield "100,000 brackets", "module {" * 100_000
    yield "10 MB of operations", chain(170_000)
    kind = "tensor<1250000xi64>"
    constant = f'stablehlo.constant dense<"0x{"01" * 10_000_000}"> : {kind}'
    yield "10 MB of a constant", f"func.func @main() -> {kind} {{\n %0 = {constant}\n return %0 : {kind}\n}}"
    yield "10 MB of text", "stablehlo " * 1_000_000


def files() -> Iterator[tuple[str, bytes]]:
    """Yield the contents of files, each with a name."""
    yield "zeros", bytes(1000)
    yield "noise", random.Random(1).randbytes(10_000)
    yield "10 MB of noise", random.Random(2).randbytes(10_000_000)
    yield "UTF-16", ADD.encode("utf-16")
    yield "Latin-1", ADD.replace("@main", '@"ä"').encode("latin-1")
    yield from _broken_binaries()
    for name, text in _texts():
        yield name, text.encode()
