"""The answer about a model as plain data, without presentation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, NoReturn, TypeVar

from symbcast.answers.contracts.inputs import ELEMENT_TYPES, Tensor
from symbcast.answers.public.answer import Answer
from symbcast.answers.public.modules import ModuleAnswer
from symbcast.core.algebra.terms import symbols_of
from symbcast.core.guesses import meant
from symbcast.core.logic.formulas import FALSE
from symbcast.core.shapes import Shape
from symbcast.core.solver.budget import one_call
from symbcast.core.solver.groups.normal_form import put_in, symbols_in
from symbcast.core.verdicts import Verdict
from symbcast.graphs.findings.sequences import OptionalShape, SequenceShape, optionals_of, sequences_of
from symbcast.graphs.inputs.aliases import with_own_names
from symbcast.graphs.model import Checked
from symbcast.graphs.report.known import account_of, assumed_of, left_open, partial_reason, shown_of
from symbcast.graphs.values.value import sizes_in
from symbcast.graphs.walking.walk import Unanalysed, shapes_of

if TYPE_CHECKING:
    from symbcast.answers.public.conditions import Condition
    from symbcast.answers.public.generic import GenericAnswer
    from symbcast.core.account import Account
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.logic.formulas import Formula
    from symbcast.core.program.calls.certificate import Certificate
    from symbcast.core.program.statements.statement import ConditionLike
    from symbcast.core.program.whole.program import Program
    from symbcast.graphs.findings.findings import Finding
    from symbcast.graphs.values.value import Value


class GraphAnswer(ModuleAnswer):
    """The input sizes for which a model runs, all shapes in it, and the requirements of its nodes.

    Everything is computed on demand, and the model is never changed.
    """

    _meant = meant(
        "input_shapes -> inputs",
        "output_shapes result_shape shape output result -> outputs",
        "values value_shapes infer_shapes -> shapes",
        "nodes requirements failures -> findings",
        "symbols dims dynamic_axes dim_params -> inputs, which have the names of sizes",
        "run runs test -> guard()",
        "fixes suggestions -> findings, which have fixes",
        "sarif to_sarif save -> to_dict(), or the command: symbcast model --format sarif",
        "is_dynamic -> inputs",
        "draw picture graph diagram visualize visualise render show display to_html html netron -> plot()",
        base=Answer._meant,
    )

    def __init__(self, checked: Checked) -> None:
        self._checked = checked
        self._findings: tuple[Finding, ...] | None = None
        self._known: Account | None = None

    # The question.

    @property
    def source(self) -> str:
        """The file name, or the name of the graph."""
        return self._checked.source

    @property
    def runtime(self) -> str:
        """The rules to apply: the ONNX specification (``"spec"``), ``"onnxruntime"``, or the name of the front end."""
        return self._checked.asker.runtime

    @property
    def min_size(self) -> int:
        """The minimum size of the dynamic dimensions of the inputs."""
        return self._checked.min_size

    @property
    def assumptions(self) -> tuple[str, ...]:
        """The caller's assumptions, as written."""
        return self._checked.assumptions

    @property
    def aliases(self) -> dict[str, str]:
        """The model's own names of sizes by the short names that `explain` has for them.

        Both are understood in ``assume``, ``bind``, ``values`` and `implies`; data have the model's own names.
        """
        return dict(self._checked.aliases)

    def implies(self, relation: ConditionLike) -> bool:
        """Return whether a relation holds at all sizes at which the model runs, as `Answer.implies` does."""
        return super().implies(self._with_own_names(relation))

    def equivalent(self, other: Answer | ConditionLike) -> bool:
        """Return whether the model runs at the same sizes as another one, or wherever a condition holds."""
        return super().equivalent(other if isinstance(other, Answer) else self._with_own_names(other))

    def _with_own_names(self, relation: ConditionLike) -> ConditionLike:
        """Return a relation over the model's own names of sizes."""
        from symbcast.answers.public.conditions import Condition

        aliases = self._checked.aliases
        return Condition(with_own_names(Condition(relation).formula, aliases)) if aliases else relation

    # Shapes.

    @property
    def inputs(self) -> dict[str, Shape | None]:
        """The shapes of the inputs by name; None for an input that is not a tensor."""
        return shapes_of(self._checked.inputs.values)

    @property
    def outputs(self) -> dict[str, Shape | None]:
        """The shapes of the outputs by name; None if unknown."""
        found = {name: self._checked.walk.top.find(name) for name in self._checked.model.graph.outputs}
        return shapes_of({name: value for name, value in found.items() if value is not None})

    @property
    def shapes(self) -> Mapping[str, Shape | None]:
        """The shape of every value by name; None if it is unknown, or if the value is not a tensor."""
        return shapes_of(self._values)

    @property
    def sequences(self) -> dict[str, SequenceShape]:
        """Each sequence by name: its length, and the shapes of its elements."""
        return sequences_of(self._values)

    @property
    def optionals(self) -> dict[str, OptionalShape]:
        """Each optional value by name."""
        return optionals_of(self._values)

    @property
    def _values(self) -> dict[str, Value]:
        walk = self._checked.walk
        return {**walk.inner, **walk.top.values}

    @property
    def data_sizes(self) -> dict[str, str]:
        """The sizes that no input's shape determines, by name, each with a description."""
        env = self._checked.env
        met = {d for v in self._values.values() for d in sizes_in(v) if type(d) is not int}
        used = {*symbols_of(met), *(s for clause in env.clauses for s in symbols_in(clause))}
        return {env.shown.get(s, s.name): text for s, text in self._checked.asker.origins.items() if s in used}

    # The answer.

    @property
    def verdict(self) -> Verdict:
        """Whether the model runs for all sizes, for some or for none; if that is unknown, `reason` says why.

        The verdict is not ALWAYS if the size conditions of any node are not fully checked. Conditions on data are not
        part of the verdict: see `data_condition` and `unanalysed`.
        """
        return self._env.verdict if not self._partial_reason else self.account.verdict

    @property
    def account(self) -> Account:
        """What is known: the sizes proved to work and to fail, points of both kinds, and what is open, with reasons."""
        if not self._partial_reason:
            return account_of(self._checked)
        # Walks at single sizes are not repeated for each question.
        if self._known is None:
            self._known = account_of(self._checked)
        return self._known

    @property
    def reason(self) -> str:
        """Why something is unknown or unproven; empty if everything is decided."""
        return self._checked.walk.stopped or self._env.reason or self._partial_reason

    @property
    def _partial_reason(self) -> str:
        """Why the requirements may not suffice; empty if all nodes were analysed."""
        return partial_reason(self._checked)

    @property
    def generic(self) -> GenericAnswer | None:
        """The answer for large sizes and those for smaller ones; None if the one for all sizes is decided and short.

        It is None too if the conditions of some nodes are not known.
        """
        from symbcast.answers.public.generic import generic_of

        return None if self._partial_reason else generic_of(self._env)

    @property
    def condition(self) -> Condition:
        """The condition on the input sizes under which the model runs: necessary, and sufficient with suitable data."""
        return self._checked.conditions.condition

    @property
    def data_condition(self) -> Condition:
        """The additional condition on sizes that data decide: see `data_sizes`."""
        return self._checked.conditions.data_condition

    @property
    def findings(self) -> tuple[Finding, ...]:
        """One finding for each conjunct of the condition, in node order; if no sizes work, the nodes that conflict.

        Findings about sizes that data decide come last.
        """
        from symbcast.core.solver.budget import asked
        from symbcast.graphs.findings.findings import findings_of

        if self._findings is None:
            stopped: list[str] = []
            found = asked(self._env.budget, lambda: tuple(findings_of(self._checked)), stopped.append)
            if stopped:
                return found
            self._findings = found
        return self._findings

    @property
    def unanalysed(self) -> tuple[Unanalysed, ...]:
        """The nodes whose own conditions were not checked completely, and why."""
        return tuple(self._checked.walk.unanalysed)

    def witness(self) -> dict[str, int] | None:
        """Return the smallest input sizes at which the model is known to run; None if there are none."""
        if not self._partial_reason:
            return self._of_inputs(self._env.witness())
        return next((self._of_inputs(dict(point)) for point in self.account.working), None)

    def _candidate(self) -> dict[str, int] | None:
        """Return the smallest input sizes that meet the requirements, at which open nodes may fail."""
        return self._of_inputs(self._env.witness())

    def counterexample(self) -> dict[str, int] | None:
        """Return the smallest input sizes at which the model does not run; None if there are none."""
        return self._of_inputs(self._env.counterexample())

    @one_call
    def certify(self) -> Certificate:
        """Check the answer with z3: whether condition and verdict follow from what the rules of the nodes require.

        The requirements are those that the walk recorded, with what their terms need to have values. What was not
        analysed, and what data decide, is undecided.
        """
        from symbcast.graphs.report.certificate import certify_model

        return certify_model(self._checked, self.verdict, self._open)

    @property
    def _subject(self) -> Program:
        return self._env

    @property
    def _shown(self) -> Mapping[Symbol, str]:
        return shown_of(self._checked)

    @property
    def _assumed(self) -> Formula:
        return assumed_of(self._checked)

    @property
    def _account(self) -> Account:
        return self.account if self._partial_reason else super()._account

    @property
    def _tensors(self) -> tuple[Mapping[str, Tensor], Mapping[str, Tensor]]:
        types = self._checked.inputs.values
        declared = self._checked.model.axes_in_file
        found = {n: Tensor(s, ELEMENT_TYPES.get(types[n].dtype, ""), declared.get(n)) for n, s in self.inputs.items()}
        values = {name: self._checked.walk.top.find(name) for name in self._checked.model.graph.outputs}
        kinds = {n: "" if v is None else ELEMENT_TYPES.get(v.dtype, "") for n, v in values.items()}
        outputs = {name: Tensor(shape, kinds[name], declared.get(name)) for name, shape in self.outputs.items()}
        return found, outputs

    def _stop(self, sizes: Mapping[str, int]) -> tuple[str, str] | None:
        from symbcast.graphs.findings.stops import stop_at

        return stop_at(self._checked, sizes)

    @property
    def _other_names(self) -> Mapping[str, str]:
        return self._checked.aliases

    @property
    def _data(self) -> Sequence[Formula]:
        return (*self._checked.conditions.data, *self._enough())

    @property
    def _notes(self) -> tuple[str, ...]:
        left = [u for u in self.unanalysed if u.is_about_data and u.enough == FALSE]
        return tuple(dict.fromkeys(f"{u.reason} ({u.node})" for u in left))

    def _enough(self) -> Iterator[Formula]:
        """Yield the conditions on sizes at which indices that are data lie within their axes."""
        symbols = {name: s for s, name in self._shown.items()}
        own = {s: symbols[name] for s, name in self._checked.env.shown.items() if symbols.get(name, s) != s}
        for left in self.unanalysed:
            formula = put_in(left.enough, own) if own else left.enough
            if left.is_about_data and formula != FALSE and symbols_in(formula).keys() <= self._shown.keys():
                yield formula

    @property
    def _env(self) -> Program:
        """The sizes of the inputs, and the requirements on them."""
        return self._checked.conditions.inputs

    @property
    def _left_open(self) -> int:
        """The number of nodes whose size conditions were not checked completely."""
        return left_open(self._checked)

    @property
    def _is_told_open(self) -> bool:
        """Whether something is open that the verdict depends on, or that a size may fail by."""
        return self.verdict is not Verdict.NEVER and bool(self._partial_reason or self.verdict is Verdict.UNKNOWN)

    def _of_inputs(self, sizes: dict[str, int] | None) -> dict[str, int] | None:
        """Return sizes without those that data decide."""
        if sizes is None:
            return None
        names, own = self._checked.env.shown, set(self._checked.asker.inputs)
        left_out = {name for s, name in names.items() if s not in own}
        return {name: size for name, size in sizes.items() if name not in left_out}

    def __bool__(self) -> NoReturn:
        raise TypeError("a report has no truth value: compare its .verdict")


A = TypeVar("A", bound=GraphAnswer)


def under_name(answer: A, source: str) -> A:
    """Return the same answer under another name of the model."""
    if source == answer.source:
        return answer
    made = copy(answer)
    made._checked = answer._checked._replace(source=source)
    return made
