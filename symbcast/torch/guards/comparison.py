"""Guards compared with what runs.

Guards that are too wide or too narrow, and rules that require less than kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from math import prod
from typing import Any, Literal

from symbcast.answers.explanation.words import Namer
from symbcast.core.algebra import formulas
from symbcast.core.algebra.formulas import AllOf, AnyOf, Formula, at_most, negate
from symbcast.core.algebra.terms import Symbol
from symbcast.core.characters import shorten_end, sizes_text
from symbcast.core.programs.program import Program, assumptions_with
from symbcast.core.solver.decision import ContradictionError, Decision
from symbcast.core.structs import NamedTuple
from symbcast.graphs.walking.walk import Unanalysed
from symbcast.torch.graph import operator_name
from symbcast.torch.guards.guards import Guards
from symbcast.torch.inputs import InputAxis, ProgramInputs
from symbcast.torch.library import load_torch, quiet

# The largest total number of elements of all arguments for a run.
LARGEST = 1 << 26


class ArgumentMaker:
    """Makes arguments for one program; a tensor whose shape is unchanged is the example input."""

    def __init__(self, program: Any, inputs: ProgramInputs) -> None:
        self._program = program
        self._inputs = inputs

    def shapes(self, sizes: Mapping[str, int], others: Mapping[str, int] | None = None) -> list[tuple[int, ...] | None]:
        """Return the shapes at some sizes by name; ``others`` sets the sizes of fixed axes, by torch's names."""
        shapes: list[tuple[int, ...] | None] = []
        for i in self._inputs.inputs:
            dims = [_size(axis, sizes, others or {}) for axis in i.axes]
            shapes.append(tuple(dims) if hasattr(i.value, "shape") else None)
        return shapes

    def at(self, sizes: Mapping[str, int], others: Mapping[str, int] | None = None) -> tuple[Any, Any] | None:
        """Return positional and keyword arguments at some sizes; None if they are too large."""
        torch, pytree = load_torch(), load_torch("torch.utils._pytree")
        shapes = self.shapes(sizes, others)
        if sum(prod(s) for s in shapes if s is not None) > LARGEST:
            return None
        generator = torch.Generator().manual_seed(0)

        def tensor(shape: tuple[int, ...], like: Any, example: Any) -> Any:
            if isinstance(example, torch.Tensor) and tuple(example.shape) == shape:
                return example.clone()
            return _filled(torch, shape, like.dtype, generator)

        leaves = list(self._leaves(sizes, shapes, tensor))
        args, kwargs = pytree.tree_unflatten(leaves, self._program.call_spec.in_spec)
        return args, kwargs

    def without_elements(self, sizes: Mapping[str, int]) -> list[Any]:
        """Return all arguments in one list, with uninitialised tensors."""
        torch = load_torch()

        def tensor(shape: tuple[int, ...], like: Any, _: Any) -> Any:
            return torch.empty(shape, dtype=like.dtype, device=like.device)

        return list(self._leaves(sizes, self.shapes(sizes), tensor))

    def _leaves(
        self,
        sizes: Mapping[str, int],
        shapes: Iterable[tuple[int, ...] | None],
        make: Callable[[tuple[int, ...], Any, Any], Any],
    ) -> Iterator[Any]:
        """Yield the arguments; ``made`` makes a tensor from a shape, a recorded tensor and the example, if any."""
        leaves = load_torch("torch.utils._pytree").tree_leaves
        examples = leaves(self._program.example_inputs) if self._program.example_inputs else []
        for n, (i, shape) in enumerate(zip(self._inputs.inputs, shapes, strict=True)):
            example = examples[n] if n < len(examples) else None
            if shape is None:
                yield _size(i.axes[0], sizes, {}) if i.is_integer else example
            else:
                yield make(shape, i.value, example)


def _size(axis: InputAxis, sizes: Mapping[str, int], others: Mapping[str, int]) -> int:
    if axis.source in others:
        return others[axis.source]
    return sizes[axis.size.name] if isinstance(axis.size, Symbol) else int(axis.size)  # type: ignore[arg-type]


def _filled(torch: Any, shape: tuple[int, ...], dtype: Any, generator: Any) -> Any:
    # Integers may be indices: 1 is within each axis that has two elements.
    if dtype.is_floating_point or dtype.is_complex:
        return torch.randn(shape, generator=generator).to(dtype)
    return torch.ones(shape, dtype=dtype)


def error_of(module: Any, arguments: tuple[Any, Any]) -> str:
    """Return the error of a module on some arguments; empty if it runs."""
    torch = load_torch()
    args, kwargs = arguments
    try:
        with torch.no_grad():
            module(*args, **kwargs)
    except Exception as error:
        return shorten_end(" ".join(f"{type(error).__name__}: {error}".split()), 300)
    return ""


# Sizes at which guards accept inputs on which the graph fails, or refuse inputs on which the module runs.
#
# The solver finds guards that are too wide: it returns the smallest sizes that satisfy the guards and violate the
# graph's condition. Guards that are too narrow are found by running the module at the smallest sizes that violate
# exactly one clause of the guards.


Kind = Literal["too wide", "too narrow"]


class Disagreement(NamedTuple):
    """The smallest sizes at which the guards and the program disagree about a clause.

    ``kind`` is ``"too wide"`` if the guards accept sizes at which the program fails, and ``"too narrow"`` if they
    refuse sizes at which the module runs. ``clause`` is the violated clause: of the graph's condition if the guards are
    too wide, of the guards if they are too narrow. ``error`` is the program's error; ``was_run`` is False if the sizes
    are too large to run.
    """

    kind: Kind
    clause: str
    sizes: dict[str, int]
    error: str = ""
    was_run: bool = True

    def __str__(self) -> str:
        at = sizes_text(self.sizes)
        if self.kind == "too wide":
            failure = f": {self.error}" if self.error else ""
            return f"guards too wide: they accept {at}, which fails, because it needs {self.clause}{failure}"
        return f"guards too narrow: they refuse {at}, which runs, because they require {self.clause}"


class Comparison(NamedTuple):
    """The result of comparing the guards with the program.

    ``tried`` is the number of sizes that were run; ``unclear`` lists sizes at which a run contradicted the graph's
    condition, and sizes too large to run.
    """

    disagreements: tuple[Disagreement, ...]
    tried: int
    unclear: tuple[str, ...]

    @property
    def agrees(self) -> bool:
        """Whether no disagreement was found."""
        return not self.disagreements

    def __str__(self) -> str:
        return "\n".join(map(str, self.disagreements)) or f"no disagreement at the {self.tried} sizes tried"


class Comparer:
    """Compares the guards, the graph and, if there is one, the module of a program."""

    def __init__(self, program: Any, inputs: ProgramInputs, guards: Guards, graph: Program, module: Any) -> None:
        self._guards = guards
        self._graph = graph
        self._module = module
        self._program = program
        self._arguments = ArgumentMaker(program, inputs)
        self._inputs = inputs
        self._tried = 0
        self._unclear: list[str] = []

    def comparison(self) -> Comparison:
        """Return all disagreements, one per clause, at the smallest sizes."""
        disagreements = [*self._too_wide()]
        if self._module is not None:
            disagreements += [*self._too_narrow(), *self._fixed()]
        return Comparison(tuple(disagreements), self._tried, tuple(self._unclear))

    def _too_wide(self) -> Iterator[Disagreement]:
        """Yield sizes that the guards accept and the graph does not."""
        namer = Namer.of(self._graph.shown)
        for clause in self._graph.clauses:
            sizes = _smallest(self._guards.env, [*self._guards.env.clauses, negate(clause)])
            if sizes is None:
                continue
            error = self._run(self._runnable, sizes)
            if error == "":
                self._unclear.append(f"{sizes_text(sizes)} runs, although the graph requires {namer.formula(clause)}")
            else:
                yield Disagreement("too wide", namer.formula(clause), sizes, error or "", error is not None)

    @cached_property
    def _runnable(self) -> Any:
        """The exported program with its guards, as a module."""
        return self._program.module()

    def _too_narrow(self) -> Iterator[Disagreement]:
        """Yield sizes that the guards refuse and the module accepts."""
        namer = Namer.of(self._guards.env.shown)
        clauses = self._guards.env.clauses
        for n, clause in enumerate(clauses):
            others = [*clauses[:n], *clauses[n + 1 :]]
            for beside in ([*self._graph.clauses, *others], [*self._graph.clauses], others):
                sizes = _smallest(self._guards.env, [negate(clause), *beside])
                if sizes is not None and self._run(self._module, sizes) == "":
                    yield Disagreement("too narrow", namer.formula(clause), sizes)
                    break

    def _fixed(self) -> Iterator[Disagreement]:
        """Yield other sizes at which the module runs, for axes that torch fixed although they were left open."""
        sizes = _smallest(self._guards.env, self._guards.env.clauses)
        opened = [s for s in self._guards.specialised if s.was_open]
        for n, fixed in enumerate(opened if sizes is not None else ()):
            if any(s.size == fixed.size for s in opened[:n]):
                continue
            alike = [s for s in opened if s.size == fixed.size]
            # Axes fixed at one size may have to be equal: each is changed alone, and all of them together.
            tried = [(t, size) for t in ([fixed], alike) for size in (1, fixed.size + 1) if size != fixed.size]
            for together, size in tried:
                if self._runs_fixed(sizes or {}, {s.source: size for s in together}):
                    shown = {**(sizes or {}), **{s.axis: size for s in together}}
                    yield Disagreement("too narrow", f"{fixed.axis} == {fixed.size}", shown)
                    break

    def _runs_fixed(self, sizes: dict[str, int], others: dict[str, int]) -> bool:
        """Return whether the module runs with other sizes on fixed axes."""
        arguments = self._arguments.at(sizes, others)
        self._tried += arguments is not None
        return arguments is not None and not error_of(self._module, arguments)

    def _run(self, module: Any, sizes: dict[str, int]) -> str | None:
        """Return the error of a module at some sizes, empty if it runs; None if the sizes are too large."""
        arguments = self._arguments.at(sizes)
        if arguments is None:
            self._unclear.append(f"{sizes_text(sizes)} is too large to run")
            return None
        self._tried += 1
        return error_of(module, arguments)


def _smallest(program: Program, formulas: Iterable[Formula]) -> dict[str, int] | None:
    """Return the smallest sizes of a program at which formulas hold; None if there are none or none were found."""
    try:
        witness = Decision(assumptions_with(program), formulas).witness()
    except ContradictionError:
        return None
    if witness is None:
        return None
    least = {name: max(1, program.least(s)) for s, name in program.shown.items()}
    return {**least, **{program.shown.get(s, s.name): n for s, n in witness.items() if isinstance(s, Symbol)}}


# Find rules that require less of sizes than torch does, with the help of torch's recorded guards.
#
# A guard records either a requirement of a kernel or a choice between two branches that both work. So a guard that the
# graph's condition does not imply does not prove that a rule is weak, but it gives sizes to test. The graph is run
# there on fake tensors, which have no elements, so torch's kernels check sizes without computing anything.


# Errors of fake tensors that are not about sizes: an operator depends on data or has no kernel for fake tensors.
_ERRORS_OF_FAKE_TENSORS = ("DynamicOutputShapeException", "DataDependentOutputException", "GuardOnDataDependentSymNode",
           "UnsupportedOperatorException")  # fmt: skip


class KernelFailure(NamedTuple):
    """A node that torch's kernels refuse at some sizes, and their error."""

    node: str
    op_type: str
    error: str


class WeakRules:
    """Finds sizes that the graph's condition allows but torch's kernels refuse.

    ``graph`` holds the graph's condition, ``guards`` the program's guards.
    """

    def __init__(self, program: Any, arguments: ArgumentMaker, graph: Program, guards: Guards) -> None:
        self._program = program
        self._arguments = arguments
        self._graph = graph
        self._guards = guards
        self._tried: dict[tuple[int, ...], KernelFailure | None] = {}

    def weak_nodes(self) -> Iterator[Unanalysed]:
        """Yield the nodes whose rules are too weak, each with the guard that revealed it."""
        seen: set[str] = set()
        for guard, formula in self._guards.needed:
            if not _is_one_sided(formula):
                continue
            for sizes in self._violating(formula):
                failure = self._failure(sizes)
                if failure is not None and failure.node not in seen:
                    seen.add(failure.node)
                    yield Unanalysed(failure.node, failure.op_type, _reason(failure, guard.text, sizes))

    def _violating(self, formula: Formula) -> Iterator[dict[str, int]]:
        """Yield the smallest sizes that the condition allows and a guard does not, then the smallest of 2 or more."""
        # A size of 1 often broadcasts where a larger size fails.
        beyond = [at_most(2, s) for s in self._graph.shown]
        for besides in ([], beyond):
            sizes = _smallest(self._graph, [*self._graph.clauses, negate(formula), *besides])
            if sizes is not None:
                yield sizes

    def _failure(self, sizes: dict[str, int]) -> KernelFailure | None:
        key = tuple(sizes.values())
        if key not in self._tried:
            self._tried[key] = kernel_failure_at(self._program, self._arguments, sizes)
        return self._tried[key]


def _is_one_sided(formula: Formula) -> bool:
    """Return whether a guard is more than ``!=``."""
    match formula:
        case formulas.Comparison(operator):
            # Torch uses != to rule out 0 and 1, and kernels never need it.
            return operator != "!="
        case AllOf(parts) | AnyOf(parts):
            return any(map(_is_one_sided, parts))
        case _:
            return True


def _reason(failure: KernelFailure, guard: str, sizes: Mapping[str, int]) -> str:
    said = f"torch guards {guard}, which the rule for {failure.op_type} does not require"
    return f"{said}; at {sizes_text(sizes)} torch says: {failure.error}"


def kernel_failure_at(program: Any, arguments: ArgumentMaker, sizes: Mapping[str, int]) -> KernelFailure | None:
    """Return the node that torch's kernels refuse at some sizes; None if they refuse none or cannot decide."""
    torch, fx, fake = load_torch(), load_torch("torch.fx"), load_torch("torch._subclasses.fake_tensor")
    symbolic = load_torch("torch.fx.experimental.symbolic_shapes")
    # Data-dependent sizes are torch symbols; the sizes of inputs are numbers.
    shapes = symbolic.ShapeEnv(allow_scalar_outputs=True, allow_dynamic_output_shape_ops=True)
    at: list[Any] = []

    class Run(fx.Interpreter):  # type: ignore[misc, name-defined]
        def run_node(self, node: Any) -> Any:
            at.append(node)
            return super().run_node(node)

    try:
        mode = fake.FakeTensorMode(allow_non_fake_inputs=True, shape_env=shapes, static_shapes=True)
        with quiet("torch._subclasses.fake_tensor"), mode, torch.no_grad(), _maps_left_as_they_were():
            Run(program.graph_module).run(*_flat(program, arguments.without_elements(sizes)))
    except Exception as error:
        if not at or type(error).__name__ in _ERRORS_OF_FAKE_TENSORS:  # not at: the inputs are too large for torch
            return None
        text = " ".join(str(error).partition("\n\nWhile executing")[0].split())
        return KernelFailure(at[-1].name, operator_name(at[-1].target), shorten_end(text, 200))
    return None


@contextmanager
def _maps_left_as_they_were() -> Iterator[None]:
    """Leave the maps that a graph entered: one that fails within a map of `torch.vmap` does not leave it itself."""
    functions = load_torch()._C._functorch
    before = functions.maybe_current_level() or 0
    try:
        yield
    finally:
        while (functions.maybe_current_level() or 0) > before:
            functions._vmap_decrement_nesting()


def _flat(program: Any, inputs: Iterable[Any]) -> list[Any]:
    """Return all arguments of the graph: stored tensors and user inputs."""
    own = iter(inputs)
    stored = {**program.state_dict, **program.constants}
    specs = program.graph_signature.input_specs
    return [next(own) if s.kind.name == "USER_INPUT" else stored[s.target] for s in specs]
