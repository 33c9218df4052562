"""The answer about a model as plain data: its account, its certificate, its shapes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, NoReturn, TypeVar, overload

from symbcast.answers.contracts.question import ELEMENT_TYPES, Tensor
from symbcast.answers.explanation.words import Namer
from symbcast.answers.public.answer import Answer, ModuleAnswer
from symbcast.answers.public.conditions import Condition, GenericAnswer, generic_of
from symbcast.core.account import Account, OpenPart, Sizes, distinct_points
from symbcast.core.advice import guessed_meanings
from symbcast.core.algebra.formulas import FALSE, TRUE, Formula, all_of, any_of, clauses, equal, negate
from symbcast.core.algebra.symbols import mentions_rest, sequences_of
from symbcast.core.algebra.terms import Symbol, symbols_of
from symbcast.core.characters import prose_list
from symbcast.core.effort import answer_within_budget, one_call
from symbcast.core.programs import arguments, certificates
from symbcast.core.programs.certificates import Certificate, Claim, Proof, ProofQuestion
from symbcast.core.programs.conditions import ConditionLike
from symbcast.core.programs.program import Program
from symbcast.core.shapes import Shape, is_open
from symbcast.core.solver.evaluation import holds_at, replace_in_formula, symbols_in
from symbcast.core.text.notation import shape_text
from symbcast.core.verdicts import LazyAccount, Verdict
from symbcast.errors import SymbcastError
from symbcast.graphs.inputs import with_own_names
from symbcast.graphs.model import CheckedModel
from symbcast.graphs.report.blame import OptionalShape, SequenceShape, optional_shapes, sequence_shapes
from symbcast.graphs.walking.walk import Unanalysed, shapes_of
from symbcast.operators.operator import Dims
from symbcast.operators.values.value import Value, sizes_in

if TYPE_CHECKING:
    from symbcast.answers.public.size_bounds import SizeBounds
    from symbcast.graphs.report.findings import Finding
    from symbcast.graphs.report.model_bounds import ModelBounds


# The account of a model: proved requirements, nodes that may be open, and points that walks at single sizes decide.


# Sizes that are tried for all dimensions, next to the smallest that meet the requirements.
_ALIKE = (2, 4)


def model_account(checked: CheckedModel) -> Account:
    """Return what is known about a model."""
    account = checked.conditions.inputs.account
    left = _open_parts(checked)
    if not left or account.can_work is False:
        return account
    working: tuple[Sizes, ...] = ()
    failing = tuple(_of_inputs(checked, point) for point in account.failing)
    for sizes in _candidates(checked, account.working):
        verdict, is_hopeless = _walked(checked, sizes)
        working = distinct_points([*working, sizes]) if verdict is Verdict.ALWAYS else working
        failing = distinct_points([*failing, sizes]) if verdict is Verdict.NEVER else failing
        if working or is_hopeless:
            break
    can_fail = True if failing else None
    # Each requirement is proved: where it does not hold, the model fails whatever the open nodes need, since their
    # outputs have sizes of their own. If all nodes are analysed, the requirements also suffice (with suitable data).
    is_analysed = not checked.walk.stopped and not count_open_nodes(checked)
    works = checked.conditions.proved if is_analysed else FALSE
    return Account(works, account.needed, (*left, *account.open), working, failing, True if working else None, can_fail)


def partial_reason(checked: CheckedModel) -> str:
    """Return why the requirements may not suffice; empty if all nodes were analysed."""
    if checked.walk.stopped:
        return checked.walk.stopped
    count, undecided = count_open_nodes(checked), checked.conditions.undecided
    if count:
        return f"the conditions of {count} node{'s' * (count > 1)} were not checked completely"
    if not undecided:
        return ""
    asker, env = checked.asker, checked.env
    used = [s for s in symbols_in(undecided[0]) if s in asker.origins]
    inner = [s for s in used if s in asker.undecided] or used[:1]
    text = Namer.of(env.shown).formula(undecided[0])
    origins = prose_list([f"{env.shown.get(s, s.name)} is {asker.origins[s]}" for s in inner[:3]])
    return f"it may depend on sizes whether {text}, where {origins}"


def count_open_nodes(checked: CheckedModel) -> int:
    """Return the number of nodes whose size conditions were not checked completely."""
    return len({u.node for u in checked.walk.unanalysed if not u.is_about_data})


def input_assumptions(checked: CheckedModel) -> Formula:
    """Return the assumptions about the sizes of inputs."""
    own = checked.asker.origins
    return all_of(c for c in clauses(checked.conditions.inputs.assumed) if own.keys().isdisjoint(symbols_in(c)))


def input_size_names(checked: CheckedModel) -> Mapping[Symbol, str]:
    """Return the names of the sizes of inputs."""
    shown = checked.conditions.inputs.shown
    return {s: name for s, name in shown.items() if s not in checked.asker.origins}


def _open_parts(checked: CheckedModel) -> tuple[OpenPart, ...]:
    """Return what is open about a model: nodes whose conditions were not checked, or that a walk did not reach."""
    reason = partial_reason(checked)
    if not reason:
        return ()
    alike: dict[tuple[str, str], dict[str, None]] = {}
    for left in checked.walk.unanalysed:
        if not left.is_about_data:
            alike.setdefault((left.op_type, left.reason), {})[left.node] = None
    texts = [f"{next(iter(n))} ({kind}{_more(len(n) - 1)}): {why}" for (kind, why), n in alike.items()]
    stopped = checked.walk.stopped
    texts = [*([stopped] if stopped else []), *texts] or [reason]
    return tuple(OpenPart(text, TRUE) for text in texts)


def _more(count: int) -> str:
    return f", and {count} more node{'s' * (count > 1)}" if count else ""


def _of_inputs(checked: CheckedModel, point: Sizes) -> Sizes:
    names = set(input_size_names(checked).values())
    return {name: size for name, size in point.items() if name in names}


def _candidates(checked: CheckedModel, smallest: tuple[Sizes, ...]) -> Iterator[Sizes]:
    """Yield sizes that meet the requirements; none where a walk stopped at its budget, as each other one would."""
    if checked.walk.stopped:
        return
    for point in smallest:
        yield _of_inputs(checked, point)
    names, needed = input_size_names(checked), (*checked.conditions.inputs.clauses, input_assumptions(checked))
    if all(symbols_in(f).keys() <= names.keys() for f in needed):
        for size in _ALIKE:
            if all(holds_at(f, dict.fromkeys(names, size)) for f in needed):
                yield dict.fromkeys(names.values(), size)


def _walked(checked: CheckedModel, sizes: Sizes) -> tuple[Verdict, bool]:
    """Return the verdict of a walk at sizes, UNKNOWN if nodes are open even then, and whether no sizes help."""
    if not all(isinstance(size, int) for size in sizes.values()):
        return Verdict.UNKNOWN, False
    known_inputs = checked.known_inputs._replace(bind={**checked.known_inputs.bind, **sizes})
    try:
        walked = checked.again(known_inputs)
    except SymbcastError:
        return Verdict.UNKNOWN, False
    verdict = walked.conditions.inputs.decided_verdict
    if not partial_reason(walked) or verdict is Verdict.NEVER:
        return verdict, False
    # What does not depend on sizes stays open at any.
    return Verdict.UNKNOWN, len(walked.walk.unanalysed) >= len(checked.walk.unanalysed)


# Certificates of models: z3 proves the condition on the inputs from the requirements that the nodes' rules stated.


def certify_model(checked: CheckedModel, verdict: Verdict, left_open: str) -> Certificate:
    """Return z3's verdict on the answer about a model; ``left_open`` says what is not covered, empty if nothing."""
    env, inputs = checked.env, checked.conditions.inputs
    if sequences_of(env.shown):
        return Certificate((_undecided("the condition of the model", "an input has an unknown rank"),))
    raw, by_data = certificates.raw_constraints(env), checked.asker.origins.keys()
    names = {**{s: s.name for f in raw for s in symbols_in(f)}, **env.shown}
    question = ProofQuestion(names, arguments.assumed_formulas(names, env.assumptions, env.min_size), raw)
    condition = [c for c in clauses(checked.conditions.condition.formula) if by_data.isdisjoint(symbols_in(c))]
    points = inputs.witness(), inputs.counterexample()
    is_of_inputs = not any(by_data & symbols_in(f).keys() for f in raw)
    claims = certificates.answer_claims(question, condition, verdict, is_sufficient=is_of_inputs)
    if is_of_inputs and names.keys() == inputs.shown.keys():
        claims += certificates.evidence_claims(question, verdict, points)
    elif not is_of_inputs:
        claims.append(_undecided("wherever the condition holds, suitable data exist", "z3 is not asked about data"))
    if verdict is not Verdict.NEVER:
        claims += _of_shapes(checked)
    if left_open:
        claims.append(_undecided("the constraints are all that the model requires", left_open))
    return Certificate(tuple(claims))


def _of_shapes(checked: CheckedModel) -> list[Claim]:
    """Return the claims about outputs, and about other values whose sizes were simplified."""
    text = "the shapes are those of the nodes' rules"
    try:
        # This walk leaves sizes as the rules of the nodes write them. Where all its requirements hold, both must be
        # equal.
        plain = checked.again(is_plain=True)
    except SymbcastError as error:
        return [_undecided(text, str(error))]
    if not _has_same_cases(checked, plain):
        return [_undecided(text, "sizes that depend on cases have other names without simplification")]
    raw, questions, open_ = certificates.raw_constraints(plain.env), {}, []
    for name, dims, ruled in _shapes(checked, plain):
        claim = f"{name} is {shape_text(tuple(dims))}"
        if ruled is None or len(ruled) != len(dims):
            open_.append(_undecided(claim, "its rank is known only after simplification"))
        else:
            questions[claim] = [*raw, any_of(negate(equal(a, b)) for a, b in zip(dims, ruled, strict=True))]
    formulas = [*raw, *(f for fs in questions.values() for f in fs), *(a.formula for a in plain.env.assumptions)]
    names = {**{s: s.name for f in formulas for s in symbols_in(f)}, **plain.env.shown}
    known = arguments.assumed_formulas(names, plain.env.assumptions, plain.env.min_size)
    return [*certificates.further_claims(ProofQuestion(names, known, raw), questions), *open_]


def _has_same_cases(checked: CheckedModel, plain: CheckedModel) -> bool:
    """Return whether no size with a name of its own means one thing in one walk and another in the other."""
    cases, ruled = checked.asker.cases, plain.asker.cases
    return all(ruled[size] == case for size, case in cases.items() if size in ruled) and all(
        checked.asker.origins[size] == text
        for size, text in plain.asker.origins.items()
        if size in checked.asker.origins
    )


def _shapes(checked: CheckedModel, plain: CheckedModel) -> Iterator[tuple[str, Dims, Dims | None]]:
    """Yield each output, and the first of the other values with a simplified shape: its name, and both shapes."""
    outputs = checked.model.graph.outputs
    ruled = {**plain.walk.inner, **plain.walk.top.values}
    seen = set()
    for name, value in {**checked.walk.inner, **checked.walk.top.values}.items():
        dims, other = value.shape, ruled[name].shape if name in ruled else None
        if dims is None or any(map(mentions_rest, dims)):
            continue
        is_output = name in outputs
        if is_output or (dims != other and (dims, other) not in seen):
            seen.add((dims, other))
            yield f"{'output' if is_output else 'value'} {name}", dims, other


def _undecided(text: str, reason: str) -> Claim:
    return Claim(text, Proof.UNDECIDED, reason)


# The answer about a model as plain data, without presentation.


class GraphAnswer(LazyAccount, ModuleAnswer):
    """The input sizes for which a model runs, all shapes in it, and the requirements of its nodes.

    Everything is computed on demand, and the model is never changed. The verdict is not ALWAYS if the size conditions
    of any node are not fully checked. Conditions on data are not part of it: see `data_condition` and `unanalysed`.
    """

    _meanings = guessed_meanings(
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
        base=Answer._meanings,
    )

    def __init__(self, checked: CheckedModel) -> None:
        self._checked = checked
        self._findings: tuple[Finding, ...] | None = None
        self._partial_account: Account | None = None

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
        aliases = self._checked.aliases
        return Condition(with_own_names(Condition(relation).formula, aliases)) if aliases else relation

    @overload
    def bounds(self) -> ModelBounds: ...
    @overload
    def bounds(self, size: object) -> SizeBounds: ...
    def bounds(self, size: object = None) -> ModelBounds | SizeBounds:
        """Return the least and greatest sizes and bytes of every value of the model, at all sizes at which it runs.

        With an expression ``size`` over its input sizes, return the bounds of that, as `Answer.bounds` does. While
        conditions of nodes are open, the model may run at fewer sizes, and values are only known not to be passed.

        >>> import symbcast as sb
        >>> model = "tests/data/onnx/models/ppocr_v4_det.onnx.gz"
        >>> report = sb.onnx.check(model, assume=["N <= 2", "H <= 640", "W <= 640"])
        >>> found = report.bounds()
        >>> found.largest.name, found.largest.bytes.greatest, found.largest.bytes.greatest_at
        ('conv2d_451.tmp_0', 26214400, {'N': 2, 'H': 639, 'W': 639})
        >>> found.alive.value, found.alive_at, found.values["x"].axes[2].greatest, report.bounds("H*W").greatest
        (78643200, 'p2o.Clip.2', 640, 409600)
        """
        from symbcast.answers.public.size_bounds import bounds_where_valid
        from symbcast.graphs.report.model_bounds import model_bounds

        if size is None:
            return model_bounds(self._checked, self._partial_reason)
        return bounds_where_valid(self._subject, self._account, size, self._checked.aliases)

    # Shapes.

    @property
    def inputs(self) -> dict[str, Shape | None]:
        """The shapes of the inputs by name; None for an input that is not a tensor."""
        return shapes_of(self._checked.inputs.values, "input")

    @property
    def outputs(self) -> dict[str, Shape | None]:
        """The shapes of the outputs by name; None if unknown."""
        values = {name: self._checked.walk.top.find(name) for name in self._checked.model.graph.outputs}
        return shapes_of({name: value for name, value in values.items() if value is not None}, "output")

    @property
    def shapes(self) -> Mapping[str, Shape | None]:
        """The shape of every value by name; None if it is unknown, or if the value is not a tensor."""
        return shapes_of(self._values)

    @property
    def sequences(self) -> dict[str, SequenceShape]:
        """Each sequence by name: its length, and the shapes of its elements."""
        return sequence_shapes(self._values)

    @property
    def optionals(self) -> dict[str, OptionalShape]:
        """Each optional value by name."""
        return optional_shapes(self._values)

    @property
    def _values(self) -> dict[str, Value]:
        walk = self._checked.walk
        return {**walk.inner, **walk.top.values}

    @property
    def data_sizes(self) -> dict[str, str]:
        """The sizes that no input's shape determines, by name, each with a description."""
        env = self._checked.env
        dims = {d for v in self._values.values() for d in sizes_in(v) if type(d) is not int}
        used = {*symbols_of(dims), *(s for clause in env.clauses for s in symbols_in(clause))}
        return {env.shown.get(s, s.name): text for s, text in self._checked.asker.origins.items() if s in used}

    # The answer.

    @property
    def _decided_verdict(self) -> Verdict:
        return Verdict.UNKNOWN if self._partial_reason else self._env.verdict

    @property
    def account(self) -> Account:
        """What is known: the sizes proved to work and to fail, points of both kinds, and what is open, with reasons."""
        if not self._partial_reason:
            return model_account(self._checked)
        # Walks at single sizes are not repeated for each question.
        if self._partial_account is None:
            self._partial_account = model_account(self._checked)
        return self._partial_account

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
        from symbcast.graphs.report.findings import model_findings

        if self._findings is None:
            stopped: list[str] = []
            findings = answer_within_budget(
                self._env.budget, lambda: tuple(model_findings(self._checked)), stopped.append
            )
            if stopped:
                return findings
            self._findings = findings
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
        return certify_model(self._checked, self.verdict, self._open)

    @property
    def _subject(self) -> Program:
        return self._env

    @property
    def _shown(self) -> Mapping[Symbol, str]:
        return input_size_names(self._checked)

    @property
    def _assumed(self) -> Formula:
        return input_assumptions(self._checked)

    @property
    def _account(self) -> Account:
        return self.account if self._partial_reason else super()._account

    @property
    def _tensors(self) -> tuple[Mapping[str, Tensor], Mapping[str, Tensor]]:
        types = self._checked.inputs.values
        declared = self._checked.model.axes_in_file
        tensors = {n: Tensor(s, ELEMENT_TYPES.get(types[n].dtype, ""), declared.get(n)) for n, s in self.inputs.items()}
        values = {name: self._checked.walk.top.find(name) for name in self._checked.model.graph.outputs}
        kinds = {n: "" if v is None else ELEMENT_TYPES.get(v.dtype, "") for n, v in values.items()}
        outputs = {name: Tensor(shape, kinds[name], declared.get(name)) for name, shape in self.outputs.items()}
        return tensors, outputs

    @property
    def _named_inputs(self) -> Mapping[str, Shape]:
        known = {name: shape for name, shape in self.inputs.items() if shape is not None and not is_open(shape)}
        if len(known) == 1:
            known[""] = next(iter(known.values()))  # a list of sizes alone is the shape of the only input
        return known

    @property
    def _called(self) -> str:
        return self.source

    def _stop(self, sizes: Mapping[str, int]) -> tuple[str, str] | None:
        from symbcast.graphs.report.findings import stop_at

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
            formula = replace_in_formula(left.enough, own) if own else left.enough
            if left.is_about_data and formula != FALSE and symbols_in(formula).keys() <= self._shown.keys():
                yield formula

    @property
    def _env(self) -> Program:
        """The sizes of the inputs, and the requirements on them."""
        return self._checked.conditions.inputs

    @property
    def _left_open(self) -> int:
        """The number of nodes whose size conditions were not checked completely."""
        return count_open_nodes(self._checked)

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
    renamed = copy(answer)
    renamed._checked = answer._checked._replace(source=source)
    return renamed
