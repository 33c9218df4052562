"""The functions of a StableHLO module at many sizes: run by its interpreter, and asserted as JAX does."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np

_INTERPRETER = Path(__file__).with_name("stablehlo_interpreter.py")


def functions(source):
    """Return the result type of each function of a module by its symbol, as written; empty for none."""
    found = re.findall(r'^  func\.func @("(?:[^"\\]|\\.)*"|[\w$.]+)\((.*)\)(?: -> (.*))? \{$', source, re.MULTILINE)
    return {name: kind for name, _, kind in found}


def verified(source):
    """Return whether StableHLO's verifier takes a module."""
    mlir, ir = import_module("jax._src.interpreters.mlir"), import_module("jaxlib.mlir.ir")
    with mlir.make_ir_context():
        return ir.Module.parse(source).operation.verify()


def evaluated(sources, points):
    """Return what the functions of each module return at each of its points: a dictionary by symbol.

    The interpreter runs one function ``main``, which calls the others at all points. It does not know assertions, so
    that ``check`` is cut out. Its own process, for it may abort.
    """
    asked = [json.dumps({"module": _calling(s, p), "arguments": []}) for s, p in zip(sources, points, strict=True)]
    command = [sys.executable, str(_INTERPRETER)]
    done = subprocess.run(command, input="\n".join(asked), capture_output=True, text=True, check=False, timeout=280)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == len(sources), (done.stderr[-2000:], asked[len(found) :][:1])
    for source, places, values in zip(sources, points, found, strict=True):
        names = [name for name in functions(source) if name != "check"]
        left = iter(values)
        yield [{name: next(left) for name in names} for _ in places]


def compiled(source, places):
    """Return what `evaluated` returns for one module, which XLA compiles for the CPU."""
    mlir, ir = import_module("jax._src.interpreters.mlir"), import_module("jaxlib.mlir.ir")
    backend = import_module("jax._src.xla_bridge").get_backend("cpu")
    options = import_module("jax._src.compiler").get_compile_options(1, 1)
    devices = import_module("jax._src.lib").xla_client.DeviceList(tuple(backend.local_devices()[:1]))
    with mlir.make_ir_context():
        module = mlir.module_to_bytecode(ir.Module.parse(_calling(source, places)))
    outputs = backend.compile_and_load(module, devices, options).execute_sharded([])
    left = (np.asarray(copies[0]).tolist() for copies in outputs.disassemble_into_single_device_arrays())
    names = [name for name in functions(source) if name != "check"]
    return [{name: next(left) for name in names} for _ in places]


def refusal(source, sizes):
    """Return the message of the assertion that fails at some sizes as JAX checks it; None if all hold."""
    mlir, ir = import_module("jax._src.interpreters.mlir"), import_module("jaxlib.mlir.ir")
    refine = import_module("jax._src.lib")._jax.mlir.refine_polymorphic_shapes
    lines, arguments = _constants(sizes)
    types = ", ".join(["tensor<i32>"] * len(sizes))
    call = f"func.call @check({', '.join(arguments)}) : ({types}) -> ()"
    main = ["func.func public @main() {", *lines, call, "return", "}"]
    whole = source.replace("func.func @", "func.func private @").rstrip().removesuffix("}")
    with mlir.make_ir_context():
        module = ir.Module.parse("\n".join([whole, *main, "}"]))
        try:
            refine(mlir.module_to_bytecode(module), enable_shape_assertions=True, validate_static_shapes=True)
        except Exception as error:
            return re.search(r"error: (.*)", str(error))[1]
    return None


def _constants(sizes, prefix="%p"):
    names = [f"{prefix}_{n}" for n in range(len(sizes))]
    return [f"{n} = stablehlo.constant dense<{s}> : tensor<i32>" for n, s in zip(names, sizes, strict=True)], names


def _calling(source, points):
    lines, results, kinds = [], [], []
    for n, sizes in enumerate(points):
        constants, names = _constants(sizes, f"%p{n}")
        lines += constants
        for k, (symbol, kind) in enumerate(functions(source).items()):
            if symbol != "check":
                types = ", ".join(["tensor<i32>"] * len(sizes))
                lines.append(f"%r{n}_{k} = func.call @{symbol}({', '.join(names)}) : ({types}) -> {kind}")
                results.append(f"%r{n}_{k}")
                kinds.append(kind)
    main = [
        f"func.func @main() -> ({', '.join(kinds)}) {{",
        *lines,
        f"return {', '.join(results)} : {', '.join(kinds)}",
    ]
    without = re.sub(r"  func\.func @check\(.*?\n  \}\n", "", source, flags=re.DOTALL)
    return "\n".join([without.rstrip().removesuffix("}"), *main, "}", "}"])
