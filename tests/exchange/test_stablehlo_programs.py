"""Answers as StableHLO modules: verified by its parser, run by its interpreter, asserted as JAX's refinement does."""

from __future__ import annotations

import gzip
import itertools
import random
from pathlib import Path

import pytest
from kinds import ANSWERS

import symbcast as sb

pytest.importorskip("jaxlib.mlir.ir")
pytest.importorskip("jax._src.interpreters.mlir")

import stablehlo_modules

MODELS = Path(__file__).parents[1] / "data/onnx/models"
STOP = 5


def written_as(*steps, **given):
    """Return a program of some operations, each a name and its arguments; the origins are a0, a1, ..."""
    env = sb.ShapeEnv(on_conflict="record", **given)
    for n, (kind, *arguments) in enumerate(steps):
        options = arguments.pop() if arguments and isinstance(arguments[-1], dict) else {}
        getattr(env, kind)(*arguments, **options, origin=f"a{n}")
    return env


PROGRAMS = {
    "joins": lambda: written_as(("broadcast", "B, 1, T", "T, 1"), ("broadcast", "B, T, T", "B, S, S")),
    "layers": lambda: written_as(("matmul", "B, T, d", "k, 4"), ("concat", ["B, T", "B, k"], {"axis": 1})),
    "windows": lambda: written_as(("conv", "N, 3, H, W", "8, 3, 3, 3"), ("pool", "N, 8, H - 2, W - 2", [2, 2])),
    "reshapes": lambda: written_as(("reshape", "N, M, 6", "N*M//2, -1"), ("reshape", "N, K", "K, N")),
    "products of three": lambda: written_as(("reshape", "N, M, K", "6, -1"), ("equal", "N*M*K", "K*K*K")),
    "differences": lambda: written_as(("broadcast", "N - 2, 3", "M, 1"), ("slice", "N, M", [1, 0], [-1, 2])),
    "never": lambda: written_as(("broadcast", "N, 3", "N, 4"), ("broadcast", "N", "M")),
    "assumed": lambda: written_as(("broadcast", "N, T", "N, S"), assume=["T >= 2", "N % 2 == 0"]),
    "remainders": lambda: written_as(("require", "(N - 3)//2 % 3 <= M % (K - 2)"), ("broadcast", "(N + M)//2", "K")),
    "scalars": lambda: written_as(
        ("broadcast", "()", "()"), ("broadcast", "2, 3", "3"), ("reduce", "N, M", {"axes": 1})
    ),
}


def points(answer, stop=STOP):
    return list(itertools.product(range(stop), repeat=len(answer.guard().parameters)))


def symbol_of(name):
    """Return the symbol of a shape's function as a module writes it."""
    return f"shape_{name}" if name.replace(".", "_").isidentifier() else f'"shape_{name}"'


def sizes_at(shape, sizes):
    """Return a shape at some sizes, by sympy; None for a dimension that has no value there."""
    return [d if isinstance(d, int) else int(d.subs(sizes)) for d in shape]


def check_answer(answer, shapes, places, found, names):
    """Check the values of a module's functions at each point against the guard and the shapes."""
    guard, valid = answer.guard(with_assumptions=True), 0
    for sizes, values in zip(places, found, strict=True):
        assert values["condition"] == guard.function(*sizes), sizes
        if values["condition"]:
            valid += 1
            given = dict(zip(names, sizes, strict=True))
            for name, shape in shapes.items():
                assert values[symbol_of(name)] == sizes_at(shape, given), (name, sizes)
    return valid


def test_programs_give_their_conditions_and_shapes_at_all_sizes():
    programs = {name: make() for name, make in PROGRAMS.items()}
    sources = [env.to_stablehlo(with_assumptions=True) for env in programs.values()]
    places = [points(env) for env in programs.values()]
    found = stablehlo_modules.evaluated(sources, places)
    valid = {}
    for (name, env), source, sizes, values in zip(programs.items(), sources, places, found, strict=True):
        assert stablehlo_modules.verified(source)
        shapes = {n: s for n, s in env.shapes.items() if s is not None}
        assert {symbol_of(n) for n in shapes} < stablehlo_modules.functions(source).keys()
        valid[name] = check_answer(env, shapes, sizes, values, list(env.names))
    assert valid.pop("never") == 0
    assert min(valid.values()) > 0


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_checks_of_a_program_hold_where_its_guard_does(name):
    env = PROGRAMS[name]()
    source, guard = env.to_stablehlo(), env.guard()
    messages = set()
    for sizes in points(env)[:: max(1, len(points(env)) // 60)]:
        message = stablehlo_modules.refusal(source, sizes)
        assert (message is None) == guard.function(*sizes), (sizes, message)
        messages.add(message)
    assert None in messages or env.verdict is sb.Verdict.NEVER


@pytest.mark.parametrize("name", PROGRAMS)
def test_xla_computes_what_the_interpreter_does(name):
    env = PROGRAMS[name]()
    source = env.to_stablehlo()
    places = points(env)[:: max(1, len(points(env)) // 30)]
    (found,) = stablehlo_modules.evaluated([source], [places])
    assert stablehlo_modules.compiled(source, places) == found


def test_an_assertion_has_the_reason_the_operation_and_the_sizes():
    env = sb.ShapeEnv()
    env.matmul("batch, T, d", "k, 64", origin='proj é"')
    source = env.to_stablehlo()
    message = stablehlo_modules.refusal(source, (1, 2, 3, 4))
    assert message.startswith('proj é" (matmul) requires d == k: ')
    assert message.endswith("; found d = 3, k = 4")
    assert 'loc("proj \\C3\\A9\\22")' in source
    assert stablehlo_modules.refusal(source, (-1, 2, 3, 3)) == "a size is not negative; found batch = -1"


@pytest.mark.parametrize("model", ["vit_hw", "ppocr_v4_det", "llama_past", "detect", "silero_vad"])
def test_models_give_their_conditions_and_output_shapes(model):
    onnx = pytest.importorskip("onnx")
    report = sb.onnx.check(onnx.load_from_string(gzip.decompress((MODELS / f"{model}.onnx.gz").read_bytes())))
    source, guard = report.to_stablehlo(), report.guard()
    assert stablehlo_modules.verified(source)
    choice = random.Random(model)
    sizes = [1, 2, 3, 5, 16, 32, 64, 96, 100, 224, 448]
    places = [tuple(choice.choice(sizes) for _ in guard.parameters) for _ in range(60)]
    (found,) = stablehlo_modules.evaluated([source], [places])
    shapes = {n: s for n, s in report.outputs.items() if symbol_of(n) in stablehlo_modules.functions(source)}
    assert shapes
    names = [sb.symbol(name) for name in guard.names.values()]
    assert check_answer(report, shapes, places, found, names) > 3
    for place in places[:20]:
        assert (stablehlo_modules.refusal(source, place) is None) == guard.function(*place)
    left_out = report.outputs.keys() - shapes.keys()
    assert all(f"// {name} has no function: " in source for name in left_out)
    assert left_out == ({"out1"} if model == "detect" else set())
    assert all(f"// Not analysed: {node}" in source for node in report.unanalysed)


@pytest.mark.parametrize("kind", [kind for kind in ANSWERS if kind != "broadcast"])
def test_every_answer_writes_a_module(kind):
    answer = ANSWERS[kind]()
    source, places = answer.to_stablehlo(), points(answer)
    assert stablehlo_modules.verified(source)
    (found,) = stablehlo_modules.evaluated([source], [places])
    assert [v["condition"] for v in found] == [answer.guard().function(*p) for p in places]
    assert any(v["condition"] for v in found)
    assert all(len(v) > 1 for v in found) or kind in {"paths", "solution"}


def test_a_function_has_the_shapes_of_all_arrays_that_it_returns():
    report = sb.trace(lambda x, y: {"sum": x + y, "parts": (x[:, 1:], x.T), "n": x.shape[0]}, "N, 3", "M, 1")
    source, places = report.to_stablehlo(), points(report)
    shapes = {
        "output_sum": report.shapes["sum"],
        "output_parts_0": report.shapes["parts"][0],
        "output_parts_1": report.shapes["parts"][1],
    }
    assert stablehlo_modules.functions(source).keys() == {"condition", "check", *map(symbol_of, shapes)}
    (found,) = stablehlo_modules.evaluated([source], [places])
    assert check_answer(report, shapes, places, found, [sb.symbol(n) for n in report.guard().names.values()]) > 0


def test_a_function_whose_paths_differ_says_so():
    report = sb.trace(lambda x: x[::2] if x.shape[0] > 4 else x, "N, 3")
    source = report.to_stablehlo()
    assert "// output has no function: its shape is not known" in source
    assert stablehlo_modules.verified(source)


def random_dim(choice, depth):
    if depth == 0 or choice.random() < 0.2:
        return choice.choice(["N", "M", "K", "2", "3", "7"])
    left, right = (random_dim(choice, depth - 1) for _ in range(2))
    operator = choice.choice(["+", "-", "*", "//", "%", "min", "max", "broadcast"])
    return f"({left} {operator} {right})" if len(operator) < 3 else f"{operator}({left}, {right})"


def random_condition(choice):
    parts = []
    for _ in range(choice.randint(1, 3)):
        left, right = (random_dim(choice, choice.randint(0, 3)) for _ in range(2))
        word = choice.choice(["==", "!=", "<=", "<", "compatible", "not compatible"])
        parts.append(f"({left} {word} {right})" if len(word) < 3 else f"{word}({left}, {right})")
    return choice.choice([" and ", " or "]).join(parts)


def test_random_conditions_agree_with_their_guards():
    choice, conditions = random.Random(7), []
    while len(conditions) < 120:
        try:
            conditions.append(sb.Condition(random_condition(choice)))
        except sb.SymbcastError:
            continue  # a division by the number 0, for example
    sources = [c.to_stablehlo() for c in conditions]
    places = [points(c) for c in conditions]
    seen = set()
    for condition, sizes, values in zip(conditions, places, stablehlo_modules.evaluated(sources, places), strict=True):
        wanted = [condition.guard().function(*p) for p in sizes]
        assert [v["condition"] for v in values] == wanted, condition
        seen.add((any(wanted), all(wanted)))
    assert seen == {(True, False), (True, True), (False, False)}


LARGEST = 2**31 - 1


def test_what_64_bits_cannot_hold_is_refused_in_words():
    """No answer is wrong for a value that does not fit: it is refused where a part of the condition needs it."""
    three = sb.Condition("N*M*K != 24").to_stablehlo()
    edge = sb.Condition(f"{2**31}*N*M <= N + {2**62}").to_stablehlo()
    either = sb.Condition("N*M*K == 24 or N == M").to_stablehlo()
    for source, sizes, is_open, wanted in [
        (three, (2**20, 2**20, 2**20), False, True),
        (three, (LARGEST, LARGEST, LARGEST), True, False),
        (three, (2, 3, 4), False, False),
        (edge, (2**15, 2**15), False, True),
        (edge, (LARGEST, LARGEST), True, False),
        (either, (LARGEST, LARGEST, LARGEST), False, True),
        (either, (LARGEST, 3, LARGEST), True, False),
    ]:
        message = stablehlo_modules.refusal(source, sizes)
        assert (message is None) == wanted, (sizes, message)
        assert (message or "").startswith("64 bits are not enough") == is_open, message
        ((values,),) = stablehlo_modules.evaluated([source], [[sizes]])
        assert values["condition"] == wanted


def test_a_dimension_that_is_too_large_or_no_size_is_less_than_0():
    env = sb.ShapeEnv()
    env.reshape("N, M, K", "-1", origin="flat")
    env.broadcast("N - 2", "1", origin="less")
    places = [(2, 3, 4), (LARGEST, LARGEST, 4), (LARGEST, LARGEST, LARGEST), (1, 3, 4)]
    (found,) = stablehlo_modules.evaluated([env.to_stablehlo()], [places])
    assert [v["shape_flat"] for v in found] == [[24], [-1], [-1], [12]]
    assert [v["shape_less"] for v in found] == [[0], [LARGEST - 2], [LARGEST - 2], [-1]]


def test_numbers_beyond_64_bits_are_decided():
    condition = sb.Condition(f"N <= {10**30} and N*M*M > {-(10**40)}")
    (found,) = stablehlo_modules.evaluated([condition.to_stablehlo()], [[(LARGEST, LARGEST)]])
    assert found == [{"condition": True}]


def test_hostile_names():
    env = sb.ShapeEnv()
    env.broadcast("'a{0}\nb', 3", "'}%x', 1", origin='o"{1}\n{{')
    source = env.to_stablehlo()
    assert stablehlo_modules.verified(source)
    message = stablehlo_modules.refusal(source, (2, 3))
    assert message is not None
    assert all(text in message for text in ("a{0}", "{1}", "{{", " = 2, ", " = 3"))
    assert stablehlo_modules.refusal(source, (3, 3)) is None


def test_sizes_of_a_sequence_have_no_parameter():
    env = sb.ShapeEnv()
    env.broadcast("*batch, N", "M")
    with pytest.raises(sb.UnknownRankError, match="StableHLO"):
        env.to_stablehlo()
