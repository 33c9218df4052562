"""What people ask: drawn programs, models, exported programs, traces, and public suites, put to the solver.

``python tests/solver/corpus.py ask OUT [KIND...]`` asks all questions and writes the answers, units and CPU seconds;
``python tests/solver/corpus.py compare BEFORE AFTER`` prints what differs between two runs. The ledger
(`ledger.py`) takes the questions from here: a procedure stays if they are answered worse, or at three times the cost,
without it.
"""

from __future__ import annotations

import csv
import gzip
import json
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys", "paths", "solver"))

import asked_programs
import deep_programs
import sized_programs
from paths import numpy_survey, user_functions

import symbcast as sb
from symbcast.core.programs.conditions import plain_answer

DATA = Path(__file__).parents[1] / "data"
DEEP, SIZED, MIXED = 500, 300, 200
"""Numbers of drawn programs: of 5 to 80 operations at hidden sizes, of reshapes and windows, and of mixed terms."""
TRACED_EVERY = 8
"""One of so many functions in the style of users is traced."""
TVM_EVERY = 2
Answer = dict[str, str]


class Question(NamedTuple):
    """A question with its name, and what asks it."""

    name: str
    ask: Callable[[], Answer]


def questions() -> list[Question]:
    """Return all questions, each with a name of its own."""
    return [*programs(), *models(), *exported(), *traced(), *of_tvm(), *of_suites()]


# What is asked of each kind of answer.


def of_program(record: Callable[[], sb.ShapeEnv]) -> Callable[[], Answer]:
    """Record a program and ask for everything that the solver decides."""

    def ask() -> Answer:
        try:
            env = record()
        except (sb.IncompatibleProgramError, sb.OperatorError) as error:
            return {"refused": str(error)}
        program = plain_answer(env)
        return {
            "verdict": env.verdict.name,
            "condition": str(env.condition),
            "requirements": str([str(r) for r in program.requirements()]),
            "witness": str(env.witness()),
            "counterexample": str(env.counterexample()),
            "reason": f"{env.reason} {env.evidence_reason}",
        }

    return ask


def of_report(made: Callable[[], Any]) -> Callable[[], Answer]:
    """Ask a report for its verdict, condition and evidence."""

    def ask() -> Answer:
        report = made()
        return {
            "verdict": report.verdict.name,
            "condition": str(report.condition),
            "witness": str(report.witness()),
            "counterexample": str(report.counterexample()),
        }

    return ask


def of_condition(text: str) -> Callable[[], Answer]:
    """Ask a condition for its verdict, its simplified form, and sizes at which it holds."""

    def ask() -> Answer:
        condition = sb.Condition(text)
        return {
            "verdict": condition.verdict.name,
            "simplified": str(condition.simplified()),
            "witness": str(condition.witness()),
            "counterexample": str(condition.counterexample()),
        }

    return ask


def of_implication(assumed: str, concluded: str) -> Callable[[], Answer]:
    """Ask whether one condition implies another."""

    def ask() -> Answer:
        condition = sb.Condition(assumed)
        return {
            "implies": str(condition.implies(concluded)),
            "counterexample": str(condition.counterexample(concluded)),
        }

    return ask


# The questions.


def programs() -> Iterator[Question]:
    """Yield the drawn programs."""
    for number in range(DEEP):
        yield Question(f"deep {number}", of_program(lambda n=number: _deep(n)))
    for number in range(SIZED):
        yield Question(f"sized {number}", of_program(lambda n=number: _sized(n)))
    for number in range(MIXED):
        yield Question(f"mixed {number}", of_program(lambda n=number: _mixed(n)))


def _deep(number: int) -> sb.ShapeEnv:
    return deep_programs.Recorded(deep_programs.Program(number)).env


def _sized(number: int) -> sb.ShapeEnv:
    program, recorded = sized_programs.Program(number), sized_programs.Recorded()
    program.run(recorded, {name: recorded.env.symbol(name) for name in program.names})
    return recorded.env


def _mixed(number: int) -> sb.ShapeEnv:
    choose, env, outputs = random.Random(number), sb.ShapeEnv(), []
    for _ in range(asked_programs.length_of(number)):
        asked_programs.step(env, choose, outputs)
    return env


def models() -> Iterator[Question]:
    """Yield the ONNX models of the data."""
    for path in sorted((DATA / "onnx").glob("*/*.onnx.gz")):
        yield Question(f"model {path.name.partition('.')[0]}", of_report(lambda p=path: model_report(p)))


def model_report(path: Path) -> Any:
    """Return the report on a packed model."""
    import onnx

    return sb.onnx.check(onnx.load_model_from_string(gzip.decompress(path.read_bytes())), runtime="onnxruntime")


def exported() -> Iterator[Question]:
    """Yield the guards of exported programs, as torch wrote them, with a name for each size."""
    for name, program in json.loads((DATA / "torch" / "guards.json").read_text()).items():
        guards = " and ".join(f"({_named(guard, program['sizes'])})" for guard in program["guards"])
        if guards:
            yield Question(f"exported {name}", of_condition(guards))


def _named(guard: str, sizes: dict[str, str]) -> str:
    for source, name in sorted(sizes.items(), key=lambda item: -len(item[0])):
        guard = guard.replace(source, name)
    return guard


def traced() -> Iterator[Question]:
    """Yield traces of functions in the style of users."""
    for name, function in list(user_functions.functions().items())[::TRACED_EVERY]:
        yield Question(f"traced {name}", of_report(lambda f=function: _trace(f)))


def _trace(function: Callable[..., object]) -> Any:
    arguments = [numpy_survey.argument(text) for text in function.__annotations__.values()]
    return sb.trace(function, *arguments, max_paths=40)


def of_tvm() -> Iterator[Question]:
    """Yield questions of TVM's tests of arithmetic."""
    with (DATA / "tvm_arithmetic.tsv").open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    for n, row in enumerate(rows):
        if row["relation"] != "iff" and n % TVM_EVERY == 0:
            concluded = f"{row['left']} {row['relation']} {row['right']}"
            yield Question(f"TVM {n}: {concluded}", of_implication(row["given"] or "0 == 0", concluded))


def suites() -> list[dict[str, str]]:
    """Return the rows of tinygrad's, MLIR's and cvc5's tests."""
    with (DATA / "public_suites.tsv").open(newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def of_suites() -> Iterator[Question]:
    """Yield the questions of these tests."""
    for n, row in enumerate(suites()):
        name = f"{row['suite']} {row['source']} {n}"
        yield Question(name, suite_question(row["condition"], row["concluded"]))


def suite_question(condition: str, concluded: str) -> Callable[[], Answer]:
    """Ask whether a condition can hold and where, or whether it implies another."""
    return of_implication(condition, concluded) if concluded else of_satisfiability(condition)


def of_satisfiability(text: str) -> Callable[[], Answer]:
    """Ask for the verdict on a condition and its smallest sizes."""

    def ask() -> Answer:
        condition = sb.Condition(text)
        return {"verdict": condition.verdict.name, "witness": str(condition.witness())}

    return ask
