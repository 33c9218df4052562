"""Decide for exactly which sizes a broadcast works, and compute its symbolic output shape.

>>> import symbcast as sb
>>> sb.broadcast("N, 3", "M, 1").condition
Condition('N == M or N == 1 or M == 1')

Importing this package loads little more than its errors: each other name is loaded when it is first used. Neither sympy
nor z3 is loaded until a question needs them.
"""

from __future__ import annotations

# Import this first, so that an interrupt during the imports below ends the command quietly.
from symbcast.core import interrupts as _interrupts  # isort: skip

import gc as _gc

# Imports make objects that stay. At Python's 700 new objects between searches for cycles, searches take a tenth of the
# time of a short command.
if _interrupts.is_command():
    _gc.set_threshold(50_000)

from importlib import import_module
from typing import TYPE_CHECKING, cast

from symbcast.answers.public import supply
from symbcast.core import __version__
from symbcast.core.advice import with_advice as _with_advice
from symbcast.core.hooks import example as _example
from symbcast.core.hooks import hooks
from symbcast.core.verdicts import Verdict
from symbcast.errors import (
    AssumptionError,
    AssumptionWarning,
    BindingError,
    CallError,
    ConcurrentUseError,
    DimensionError,
    ExchangeError,
    MissingExtraError,
    ModelError,
    OperatorError,
    RuleArgumentError,
    RuleDefinitionError,
    RulePluginError,
    RulePluginWarning,
    ShapeSyntaxError,
    ShapeTypeError,
    SymbcastError,
    TargetError,
    UndecidedError,
    UnknownRankError,
    UnknownRuleError,
)
from symbcast.graphs.registry import Registered, register

example = _with_advice(_example)  # advice is above hooks

if TYPE_CHECKING:
    from collections.abc import Callable

    from symbcast import adapters, notebook
    from symbcast import jax as jax  # as onnx
    from symbcast import litert as litert
    from symbcast import onnx as onnx  # not in __all__: a star import would load it, and with it the extra
    from symbcast import openvino as openvino
    from symbcast import stablehlo as stablehlo
    from symbcast import torch as torch
    from symbcast.adapters import hypothesis as hypothesis
    from symbcast.answers.cases.cases import Cases
    from symbcast.answers.cases.division import Case
    from symbcast.answers.comparison import Comparison, Order, Relation, compare, relation
    from symbcast.answers.contracts.contract import Contract
    from symbcast.answers.public.answer import Answer
    from symbcast.answers.public.conditions import Condition
    from symbcast.answers.public.consequences import Expansion
    from symbcast.answers.public.env import ShapeEnv
    from symbcast.answers.public.result import Result, broadcast
    from symbcast.answers.public.size_bounds import SizeBounds, bounds
    from symbcast.answers.public.solutions import Solution, broadcastable_to, solve
    from symbcast.arrays import IncompleteTraceWarning, array, check_promises, checked, size, trace
    from symbcast.core.algebra.sympy_functions import Unknown, symbol
    from symbcast.core.programs.certificates import equivalent
    from symbcast.core.programs.operations import (
        BroadcastError,
        ConditionalBroadcastError,
        IncompatibleProgramError,
        IncompatibleShapesError,
    )
    from symbcast.core.rules import Rule, rule, rules
    from symbcast.core.shapes import Reader, Shape, shape
    from symbcast.linting import lint
    from symbcast.paths import explore_paths

_LAZY = {
    "Answer": "symbcast.answers.public.answer",
    "BroadcastError": "symbcast.core.programs.operations",
    "ConditionalBroadcastError": "symbcast.core.programs.operations",
    "IncompatibleProgramError": "symbcast.core.programs.operations",
    "IncompatibleShapesError": "symbcast.core.programs.operations",
    "Case": "symbcast.answers.cases.cases",
    "Cases": "symbcast.answers.cases.cases",
    "Comparison": "symbcast.answers.comparison",
    "Condition": "symbcast.answers.public.conditions",
    "Contract": "symbcast.answers.contracts.contract",
    "Expansion": "symbcast.answers.public.consequences",
    "IncompleteTraceWarning": "symbcast.arrays",
    "Order": "symbcast.answers.comparison",
    "Relation": "symbcast.answers.comparison",
    "Result": "symbcast.answers.public.result",
    "Rule": "symbcast.core.rules",
    "Shape": "symbcast.core.shapes",
    "ShapeEnv": "symbcast.answers.public.env",
    "SizeBounds": "symbcast.answers.public.size_bounds",
    "Solution": "symbcast.answers.public.solutions",
    "bounds": "symbcast.answers.public.size_bounds",
    "broadcast": "symbcast.answers.public.result",
    "broadcastable_to": "symbcast.answers.public.solutions",
    "solve": "symbcast.answers.public.solutions",
    "Unknown": "symbcast.core.algebra.sympy_functions",
    "array": "symbcast.arrays",
    "check_promises": "symbcast.arrays",
    "checked": "symbcast.arrays",
    "explore_paths": "symbcast.paths",
    "size": "symbcast.arrays",
    "compare": "symbcast.answers.comparison",
    "lint": "symbcast.linting",
    "equivalent": "symbcast.core.programs.certificates",
    "relation": "symbcast.answers.comparison",
    "rule": "symbcast.core.rules",
    "rules": "symbcast.core.rules",
    "shape": "symbcast.core.shapes",
    "symbol": "symbcast.core.algebra.sympy_functions",
    "trace": "symbcast.arrays",
}

_MEANT = (
    "broadcast_shapes broadcast_arrays infer_shape result_shape -> broadcast(...).shape",
    'Dim dim Symbol symbols Var SymInt -> symbol("N"), or write sizes as text',
    'parse parse_shape TensorShape Dims -> shape("N, 3")',
    "Env Program Environment Context Graph Session -> ShapeEnv",
    "matmul concat concatenate reshape conv conv2d permute transpose einsum -> ShapeEnv(), whose methods are operators",
    "pool max_pool stack split gather pad reduce squeeze attention -> ShapeEnv(), whose methods are operators",
    "check check_model infer infer_shapes load analyze -> onnx.check, openvino.check, torch.check or trace",
    "simplify implies Constraint Formula Predicate -> Condition",
    "profiles profile ranges dynamic_shapes -> contract(...) of an answer or of a Condition",
    "bound upper_bound lower_bound max_size min_size maximize minimize value_range interval -> bounds(...)",
    "Guard guard -> guard() of an answer or of a Condition",
    "can_broadcast is_broadcastable broadcastable compatible is_compatible compatable -> broadcast(...).verdict",
    "ALWAYS SOMETIMES NEVER UNKNOWN -> Verdict",
    "broadcast_to expand -> broadcast(...), solve(..., out=...) or broadcastable_to(...)",
    "explain witness counterexample to_cpp to_mlir repairs cases -> broadcast(...), whose result has it",
    "assume assumptions -> assume=, a parameter of broadcast, ShapeEnv and trace",
    "prove entails -> implies(...) of an answer",
    "plot draw explore show -> notebook.plot, notebook.explore",
    "load_model check_onnx from_onnx import_onnx -> onnx.check",
    "pytorch from_torch export -> torch.check",
    "tensorflow tf keras tflite -> onnx.check, of the model converted to ONNX",
    "add mul where maximum relu softmax -> broadcast",
    "zeros ones empty full placeholder ShapeDtypeStruct -> array",
    "unify -> solve, or ShapeEnv().equal",
    "numpy array_api trace_function jit -> trace",
    "find_sizes solve_sizes -> solve",
    "list_rules available_rules RULES -> rules",
    'paddle pdpd unidirectional bidirectional none explicit -> broadcast(..., rule="pdpd"), and so on',
    "Error ShapeError Exception -> SymbcastError",
)
"""What names that people try mean."""


def _meanings() -> dict[str, str]:
    """Return what guessed names mean: those of this module first, then attributes of answers and of programs."""
    from symbcast.answers.public.env import ShapeEnv
    from symbcast.answers.public.result import Result
    from symbcast.core.advice import guessed_meanings

    answers = {name: f"broadcast(...), whose result has {use}" for name, use in Result._meanings.items()}
    programs = {name: f"ShapeEnv(), which has {use}" for name, use in ShapeEnv._meanings.items() if name not in answers}
    return {**programs, **answers, **guessed_meanings(*_MEANT)}


__all__ = [
    "Answer",
    "AssumptionError",
    "AssumptionWarning",
    "BindingError",
    "BroadcastError",
    "CallError",
    "Case",
    "Cases",
    "Comparison",
    "ConcurrentUseError",
    "Condition",
    "ConditionalBroadcastError",
    "Contract",
    "DimensionError",
    "ExchangeError",
    "Expansion",
    "IncompatibleProgramError",
    "IncompatibleShapesError",
    "IncompleteTraceWarning",
    "MissingExtraError",
    "ModelError",
    "OperatorError",
    "Order",
    "Relation",
    "Result",
    "Rule",
    "RuleArgumentError",
    "RuleDefinitionError",
    "RulePluginError",
    "RulePluginWarning",
    "Shape",
    "ShapeEnv",
    "ShapeSyntaxError",
    "ShapeTypeError",
    "SizeBounds",
    "Solution",
    "SymbcastError",
    "TargetError",
    "UndecidedError",
    "Unknown",
    "UnknownRankError",
    "UnknownRuleError",
    "Verdict",
    "__version__",
    "adapters",
    "array",
    "bounds",
    "broadcast",
    "broadcastable_to",
    "check_promises",
    "checked",
    "compare",
    "equivalent",
    "example",
    "explore_paths",
    "lint",
    "notebook",
    "relation",
    "rule",
    "rules",
    "shape",
    "size",
    "solve",
    "symbol",
    "trace",
]


def _reader(framework: str) -> Callable[[], Reader]:
    return lambda: cast("Reader", import_module(f"symbcast.adapters.{framework}"))


register(Registered("onnx", (".onnx", ".onnx.gz", ".onnxtxt"), "symbcast.onnx.front_end:FRONT_END", ("onnx",)))
register(Registered("litert", (".tflite", ".tflite.gz"), "symbcast.litert.front_end:FRONT_END"))
register(Registered("openvino", (".xml",), "symbcast.openvino.front_end:FRONT_END", ("openvino",)))
register(
    Registered("stablehlo", (".mlir", ".mlirbc", ".bc", ".vhlo"), "symbcast.stablehlo.front_end:FRONT_END", ("jaxlib",))
)
register(Registered("torch", (".pt2",), "symbcast.torch.front_end:FRONT_END", ("torch",)))

supply()
hooks.readers.update({name: _reader(name) for name in ("dask", "jax", "onnx_ir", "openvino", "torch")})


if not TYPE_CHECKING:  # so that a type checker sees the names above and rejects others

    def __getattr__(name: str) -> object:
        if name in ("adapters", "broadcasting", "jax", "litert", "notebook", "onnx", "openvino", "stablehlo", "torch"):
            return import_module(f"symbcast.{name}")
        if name == "strategies":
            return import_module("symbcast.adapters.hypothesis")
        module = _LAZY.get(name)
        if module is None:
            if name.startswith("_"):
                raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
            from symbcast.core.advice import MissingAttributeError

            raise MissingAttributeError(f"module {__name__!r}", name, _meanings(), __dir__)
        value = globals()[name] = getattr(import_module(module), name)
        return value


def __dir__() -> list[str]:
    return sorted({*__all__, "jax", "litert", "onnx", "openvino", "stablehlo", "strategies", "torch"})
