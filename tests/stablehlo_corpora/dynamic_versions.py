"""Versions of a module with dynamic sizes, for modules that the verifier may refuse as they are.

MLIR verifies what it parses, so a module with wrong static sizes cannot be opened and edited. Its operators are
renamed first: unregistered operators have types and attributes and no verifier. Modules that are written in the short
forms of operators cannot be renamed; in these all sizes of the text become dynamic.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from jaxlib.mlir import ir
from stablehlo_corpora.refinement import CONTEXT, block_of, sizes_of, tensor, update_type

UNKNOWN = 2
"""The size that stands for one that the original leaves open."""
_TENSOR = re.compile(r"tensor<((?:(?:\d+|\?)x)+)([a-z][^<>]*(?:<[^<>]*>)?)>")


class Version(NamedTuple):
    """A module with dynamic arguments.

    ``kind`` is "results" if the static sizes of results are kept, and "open" if they are dynamic too. ``sizes`` are
    those of the arguments in the original, with `UNKNOWN` for sizes that it leaves open; None for an argument that has
    no sizes, or another encoding.
    """

    kind: str
    text: str
    sizes: tuple[tuple[int, ...] | None, ...]


def versions(text: str) -> list[Version]:
    """Return the dynamic versions of a module with one function that can be parsed."""
    made = _renamed_versions(text) or _text_versions(text)
    return [v for v in made if any(v.sizes) and _parses(v.text)]


def _parses(text: str) -> bool:
    with CONTEXT:
        try:
            ir.Module.parse(text)
        except ir.MLIRError:
            return False
    return True


def _renamed_versions(text: str) -> list[Version]:
    """Return the versions of a module in generic form; none if it does not parse without its verifiers."""
    renamed = re.sub(r'"(stablehlo|chlo)\.', r'"unverified_\1.', text)
    found = []
    for kind in ("results", "open"):
        with CONTEXT, ir.Location.unknown():
            try:
                module = ir.Module.parse(renamed)
            except ir.MLIRError:
                return []
            functions = [o for o in module.body.operations if o.operation.name == "func.func"]
            if len(functions) != 1 or not functions[0].regions[0].blocks:
                return []
            sizes = _open_sizes(functions[0], kind == "open")
            printed = module.operation.get_asm(print_generic_op_form=True)
            found.append(Version(kind, printed.replace('"unverified_', '"'), sizes))
    return found


def _open_sizes(function, results: bool) -> tuple[tuple[int, ...] | None, ...]:
    """Make all sizes of a function's arguments dynamic, and those of results if wanted; return what they were."""
    function.attributes["sym_name"] = ir.StringAttr.get("main")
    block = block_of(function)
    _return_what_is_made(block)
    before = []
    for argument in block.arguments:
        sizes = sizes_of(argument.type)
        plain = bool(sizes) and ir.RankedTensorType(argument.type).encoding is None
        before.append(tuple(UNKNOWN if s is None else s for s in sizes) if plain else None)
        if plain:
            argument.set_type(_opened(argument.type))
    if results:
        for operation in block.operations:
            for made in operation.results:
                if sizes_of(made.type) and ir.RankedTensorType(made.type).encoding is None:
                    made.set_type(_opened(made.type))
    update_type(function)
    return tuple(before)


def _opened(kind: ir.Type) -> ir.Type:
    kind = ir.RankedTensorType(kind)
    return tensor([None] * kind.rank, kind.element_type)


def _return_what_is_made(block) -> None:
    """Drop the operators of the test dialect, and return the values that nothing uses."""
    operations = list(block.operations)
    for operation in reversed(operations):
        if operation.operation.name == "func.return" or operation.operation.name.startswith("hlo_test"):
            operation.operation.erase()
    left = [value for o in block.operations for value in o.results if not list(value.uses)]
    with ir.InsertionPoint(block):
        ir.Operation.create("func.return", operands=left)


def _text_versions(text: str) -> list[Version]:
    """Return the versions in which sizes of the text are dynamic, except those of attributes."""
    signature = re.search(r"func\.func (?:public |private )?@[\w$.-]+\((.*?)\)\s*(?:->|\{|attributes)", text, re.S)
    if signature is None or text.count("func.func") != 1:
        return []
    kinds = re.findall(r"%[\w.]+\s*:\s*(tensor<[^%]*>)", signature[1])
    before = tuple(
        tuple(UNKNOWN if n == "?" else int(n) for n in m[1].split("x")[:-1]) if (m := _TENSOR.match(k)) else None
        for k in kinds
    )
    named = re.sub(r"(func\.func (?:public |private )?)@[\w$.-]+", r"\1@main", re.sub(r"//.*", "", text), count=1)
    kept = re.sub(_RESULTS, lambda m: _TENSOR.sub(_closed, m[0]), named)
    opened = (re.sub(r"(?<!> : )" + _TENSOR.pattern, _opened_text, found) for found in (kept, named))
    return [Version(kind, _reopened(t), before) for kind, t in zip(("results", "open"), opened, strict=True)]


_RESULTS = r"(?:(?<!stablehlo\.)return [^:]*:|->)\s*(?:\([^()]*\)|tensor<[^<>]*(?:<[^<>]*>)?[^<>]*>[^\n]*)"
"""The types of results in a text."""


def _opened_text(kind: re.Match[str]) -> str:
    return f"tensor<{'?x' * kind[1].count('x')}{kind[2]}>"


def _closed(kind: re.Match[str]) -> str:
    """Return a type that `_opened_text` leaves alone."""
    return f"kept<{kind[1]}{kind[2]}>"


def _reopened(text: str) -> str:
    return text.replace("kept<", "tensor<")
