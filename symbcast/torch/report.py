"""The report on an exported program, as users see it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any, cast

from symbcast.answers.public.conditions import Condition
from symbcast.answers.show.document import Document, Field, Room, field, fields, whole, words
from symbcast.core.account import Account, OpenPart
from symbcast.core.algebra.formulas import (
    FALSE,
    TRUE,
    Clashing,
    Compatible,
    Formula,
    equal,
    expand,
    negate,
    with_leaves,
)
from symbcast.core.algebra.symbols import symbol
from symbcast.core.algebra.terms import Dim
from symbcast.core.characters import shorten_end
from symbcast.core.solver.evaluation import formula_source
from symbcast.graphs.inputs import NOTHING
from symbcast.graphs.model import CheckedModel
from symbcast.graphs.report.findings import model_findings
from symbcast.graphs.report.graph_report import GraphReport
from symbcast.graphs.report.presentation import model_document
from symbcast.graphs.walking.walk import Unanalysed
from symbcast.torch.cuda import KernelDifference, differences_of
from symbcast.torch.errors.refusal import Refusal
from symbcast.torch.guards.comparison import ArgumentMaker, Comparer, Comparison, WeakRules
from symbcast.torch.guards.guards import Guard, Guards, Specialised, guards_of
from symbcast.torch.guards.suggestions import Suggestion, ranges_of, suggestion_of
from symbcast.torch.library import load_torch
from symbcast.torch.reader import TorchModel


class TorchReport(GraphReport):
    """The sizes at which a program's graph runs, every shape in it, and the sizes that torch's guards accept.

    ``condition``, ``findings`` and the like describe the graph; ``guards`` describes the inputs that the program
    accepts. ``refusal`` is torch's error if it refused the given dynamic shapes but exported the module with
    ``Dim.AUTO``.
    """

    def __init__(
        self, answer: CheckedModel, module: Any = None, refusal: Refusal | None = None, device: str = "cpu"
    ) -> None:
        super().__init__(answer)
        self._module = module
        self.refusal = refusal
        self._device = device

    @property
    def _model(self) -> TorchModel:
        return cast("TorchModel", self._checked.model)

    @property
    def program(self) -> Any:
        """The exported program."""
        return self._model.raw

    @cached_property
    def guards(self) -> Guards:
        """The inputs that the program accepts: torch's guards as one minimal condition."""
        values = self._checked.walk.top.values
        nodes = [
            (node, {d for o in node.outputs if o in values for d in values[o].shape or ()})
            for node in self._model.graph.nodes
        ]
        guards = guards_of(self.program, self._model.declared, nodes, self.min_size)
        guards.specialised = tuple(s._replace(needed_by=self._needing(s)) for s in guards.specialised)
        return guards

    def _needing(self, fixed: Specialised) -> str:
        """Return the first node that needs a size that torch fixed, which a walk with that axis open shows."""
        if not fixed.was_open:
            return ""
        size, declared = symbol(f"<{fixed.axis}>"), self._model.declared
        inputs = tuple(
            i._replace(axes=tuple(a._replace(size=size) if a.source == fixed.source else a for a in i.axes))
            for i in declared.inputs
        )
        model = TorchModel(self.source, self._model.path, self.program, declared._replace(inputs=inputs))
        checked = replace(cast("Any", self._checked.again), model=model)(NOTHING, assume=())
        needed = equal(size, fixed.size)
        return next((f"{f.node}, {f.where}".rstrip(", ") for f in model_findings(checked) if f.formula == needed), "")

    @property
    def unanalysed(self) -> tuple[Unanalysed, ...]:
        """Nodes whose own conditions were not checked, or only partly, and the reasons.

        Includes nodes that torch's kernels refuse at sizes where the condition says that the graph runs.
        """
        return (*super().unanalysed, *self._weak)

    @property
    def _partial_reason(self) -> str:
        reason, count = super()._partial_reason, len(self._weak)
        if reason or not count:
            return reason
        return f"the conditions of {count} node{'s' * (count > 1)} were not checked completely"

    @property
    def _left_open(self) -> int:
        return super()._left_open + len(self._weak)

    @property
    def account(self) -> Account:
        """What is known; a rule that requires less than torch's guards show proves no sizes to work."""
        account = super().account
        if not self._weak or account.can_work is False:
            return account
        weak = (OpenPart(str(node), TRUE) for node in self._weak)
        return Account(FALSE, account.needed, (*weak, *account.open), (), account.failing, None, account.can_fail)

    @cached_property
    def _weak(self) -> tuple[Unanalysed, ...]:
        """Nodes whose rules require less than torch's guards show; given sizes and values are ignored."""
        # The guards are about the program alone.
        if self._checked.known_inputs != NOTHING:
            return TorchReport(self._checked.again(NOTHING, assume=()))._weak
        arguments = ArgumentMaker(self.program, self._model.declared)
        return tuple(WeakRules(self.program, arguments, self._env, self.guards).weak_nodes())

    @cached_property
    def cuda_differences(self) -> tuple[KernelDifference, ...]:
        """The nodes whose recorded kernels on CUDA do otherwise than the CPU's at sizes at which the graph runs."""
        return tuple(differences_of(self._checked.walk, self._model.graph.nodes, self._among))

    def _among(self, formula: Formula) -> Condition | None:
        """Return at which sizes the graph runs and a formula holds; None if there are none."""
        if self.implies(Condition(negate(formula))):
            return None
        guards = [Guard(str(c), c) for c in (*self._env.clauses, formula)]
        integers = [str(i.axes[0].size) for i in self._model.declared.inputs if i.is_integer]
        return Guards(guards, self._env.shown.values(), self.min_size, integers=integers).condition

    def suggest(self) -> Suggestion:
        """Return the ``dynamic_shapes`` that torch accepts for the exported program, as text to paste.

        If the module is known, it is exported with them as a test. Axes that torch refuses are then left to torch, and
        the rest is tested again; in the end, every axis is left to torch. Without the module, an axis has a `Dim` only
        if torch surely proves its guards.
        """
        return self._accepted(self.guards)

    @property
    def _example(self) -> dict[Dim, int]:
        """The open sizes of the example that the program was exported with; empty if it has none."""
        inputs, example = self._model.declared.inputs, self.program.example_inputs
        leaves = load_torch("torch.utils._pytree").tree_leaves(example) if example else []
        return {
            axis.size: int(leaf if axis.axis is None else leaf.shape[axis.axis])
            for i, leaf in zip(inputs, leaves, strict=False)
            for axis in i.axes
            if axis.is_dynamic
        }

    def _accepted(self, guards: Guards) -> Suggestion:
        """Return the dynamic shapes that torch accepts, for requirements that imply the program's guards."""
        from symbcast.torch.export import refusal_of

        declared, refused = self._model.declared, frozenset[str]()
        if self._module is None:
            return suggestion_of(declared, ranges_of(declared, guards, (), self._example))
        everything = frozenset(a.source for a in declared.axes)
        while refused != everything:
            suggestion = suggestion_of(declared, ranges_of(declared, guards, refused, self._example, is_tried=True))
            refusal = refusal_of(self._module, self.program.example_inputs, suggestion)
            if refusal is None:
                return suggestion
            named = {a.source for a in declared.axes if not refusal.names.isdisjoint((*a.names, str(a.size)))}
            refused = refused | named if named - refused else everything
        for has_ranges in (True, False):
            suggestion = suggestion_of(declared, ranges_of(declared, guards, everything, has_ranges=has_ranges))
            if not has_ranges or refusal_of(self._module, self.program.example_inputs, suggestion) is None:
                break
        return suggestion

    def _refusal(self, target: str, text: str) -> str:
        """Return why torch does not export the module with the dynamic shapes of a text; empty for other texts."""
        from symbcast.torch.export import refusal_of_text

        if self._module is None or target != "torch":
            return ""
        names = {a.source: str(a.size) for a in self._model.declared.axes if a.is_dynamic}
        return refusal_of_text(self._module, self.program, text, names)

    def compare(self, eager: Any = None) -> Comparison:
        """Return where the guards disagree with the graph, and with the module if it is given or known.

        The sizes at which guards accept a failing input are decided exactly. To find inputs that the guards refuse but
        the module accepts, the module is run on the CPU, without gradients, at the smallest sizes that violate a
        clause.
        """
        module = eager if eager is not None else self._module
        return Comparer(self.program, self._model.declared, self.guards, self._env, module).comparison()

    def assertions(self) -> str:
        """Return the graph's condition as lines of ``torch._check``, to paste at the start of ``forward``.

        If a condition has alternatives, torch takes the alternative that holds at the example's sizes, and adds a guard
        for it.
        """
        own = {s: text for s, text in self._model.declared.texts.items() if s in self._shown}
        lines = [f"torch._check({formula_source(with_pairwise_comparisons(c), own)})" for c in self._env.clauses]
        return "\n".join(lines)

    def _document(self, *room: Room) -> Document:
        refusal = None if self.refusal is None else self.refusal.text
        place = room[0] if room else Room.SCREEN
        more = _guard_fields(self.guards, refusal, SHOWN if place is Room.SCREEN else 1000, bool(self._shown))
        on_cuda = self.cuda_differences if self._device == "cuda" else ()
        notes = (field("on CUDA", words(str(d)), most=3) for d in on_cuda)
        return model_document(self, place, more=(fields((*more, *notes)),))


def with_pairwise_comparisons(formula: Formula) -> Formula:
    """Return a formula with broadcast conditions written as pairwise comparisons."""
    return with_leaves(formula, lambda leaf: expand(leaf) if isinstance(leaf, Compatible | Clashing) else leaf)


# How many guard clauses are shown on a screen.
SHOWN = 6


def _guard_fields(guards: Guards, refusal: str | None, shown: int, has_sizes: bool) -> Iterator[Field]:
    """Yield fields for torch's guards, the sizes that it fixed, and why it refused the given dynamic shapes."""
    clauses = guards.clauses
    head = f"{len(guards)} guard{'s' * (len(guards) != 1)} of torch"
    if clauses:
        for n, clause in enumerate(clauses[:shown]):
            where = words(f"from {clause.where}" if clause.where else "")
            yield field("and" if n else "torch wants", whole(clause.text), where)
        more = len(clauses) - shown
        text = f"{head}, which come{'s' * (len(guards) == 1)} to {len(clauses)} clause{'s' * (len(clauses) != 1)}"
        yield field("that is", words(f"{text}; .guards.clauses has {more} more" if more > 0 else text), most=2)
    elif guards.open:
        yield field("torch wants", words("what cannot be read of its guards"), most=1)
    elif not has_sizes:
        text = "no axis is dynamic; check(..., dynamic_shapes=...) makes axes dynamic, as in torch.export"
        yield field("all fixed", words(text), most=2)
    else:
        yield field("torch wants", words("nothing about sizes that are not fixed"), most=1)
    for name, guard in list(guards.open.items())[:shown]:
        yield field("open", words(f"{name}: the guard {guard.text} cannot be read"), most=2)
    fixed = [str(s) for s in guards.specialised if s.was_open]
    yield field("torch fixed", words("; ".join(fixed)), most=4)
    if refusal is not None:
        said = "torch did not export it as requested; .suggest() has what it accepts"
        # The guards of the program that it did export already show the broken constraints above.
        head = "" if "Constraints violated" in refusal else shorten_end(refusal.partition("\n")[0], 200)
        yield field("refused", words(f"{said}. It said: {head}" if head else said), most=4)
