"""Random programs whose answers must not depend on what was asked before, on the process, or on how sizes are called.

``python tests/surveys/asked_programs.py 500 1`` asks programs of 5 to 60 operations at their end, after each few
operations in another order, and in a process with another ``PYTHONHASHSEED``, and prints those whose answers differ.
Then it asks each under other names, also in reversed alphabetical order, and prints those whose verdicts, conditions
or evidence differ. `solver/test_asked_programs.py` holds a sample.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys

import symbcast as sb
from symbcast.core.algebra.symbols import symbol
from symbcast.core.solver.evaluation import replace_in_formula

NAMES = "NMKLT"
TERMS = [
    *("{0}", "{0}", "{0} + 1", "2*{0}", "{0}//2", "{0}//{1}", "{0} % 3", "{0}*{1}", "{0} + {1}"),
    *("max({0}, 3)", "min({0}, {1})", "({0} + 3)//4", "{0}//2*2", "{0}*{1}//4", "2", "3", "1"),
]
ASKED = ["verdict", "condition", "unproven", "reason", "witness", "counterexample"]


RENAMED = ["ZYXWV", "VWXYZ", "QAZBP"]


def step(env, choose, outputs, names=NAMES):
    """Add a random operation; one that no sizes allow is left out."""

    def size(choose):
        return choose.choice(TERMS).format(*choose.sample(names, 2))

    data = choose.choice(outputs) if outputs and choose.random() < 0.6 else f"({size(choose)}, {size(choose)})"
    other = f"({size(choose)}, {size(choose)})"
    kind = choose.choice(["broadcast", "matmul", "reshape", "require", "tile", "split", "pool"])
    try:
        if kind == "broadcast":
            outputs.append(env.broadcast(data, other))
        elif kind == "matmul":
            outputs.append(env.matmul(data, other))
        elif kind == "reshape":
            outputs.append(env.reshape(data, [size(choose), size(choose)]))
        elif kind == "require":
            env.require(f"{size(choose)} {choose.choice(['<=', '==', '!='])} {size(choose)}")
        elif kind == "tile":
            outputs.append(env.tile(data, (1, choose.randint(1, 3))))
        elif kind == "split":
            outputs += env.split(data, 2, 0)
        else:
            outputs.append(env.pool(data, (2,), strides=2))
    except sb.SymbcastError:
        return


def ask(env, order):
    """Return the answers about a program, asked in an order."""
    found = {}
    for name in order:
        value = getattr(env, name)
        found[name] = str(value() if callable(value) else value)
    return [found.get(name) for name in ASKED]


def answers(seed, length, *, each_time):
    """Return the answers about a program: asked at its end, or also after each operation, in another order."""
    choose, env, outputs = random.Random(seed), sb.ShapeEnv(), []
    for number in range(length):
        step(env, choose, outputs)
        if each_time and number % 3 == 0:
            ask(env, random.Random(number).sample(ASKED, 2))
    return ask(env, ASKED[::-1] if each_time else ASKED)


def evidence(seed, length, names):
    """Return the verdict, the condition and the evidence of a program under other names, in terms of the first ones.

    Conflicts are recorded, so that the operations are the same even if a conflict is only recognised under some names.
    """
    choose, env, outputs = random.Random(seed), sb.ShapeEnv(on_conflict="record"), []
    for _ in range(length):
        step(env, choose, outputs, names)
    points = [env.witness(), env.counterexample()]
    old = dict(zip(names, NAMES, strict=True))
    first = {symbol(name): symbol(of) for name, of in old.items()}
    condition = [str(replace_in_formula(clause, first)) for clause in env.condition.clauses]
    evidence = [p and {old[n]: size for n, size in p.items() if n in old} for p in points]
    return [env.verdict.name, condition, *evidence]


def renamed(seeds):
    """Return the programs whose verdict, condition or evidence differs under other names, with all of these."""
    found = [(seed, [evidence(seed, length_of(seed), names) for names in (NAMES, *RENAMED)]) for seed in seeds]
    return [(seed, answers) for seed, answers in found if any(answer != answers[0] for answer in answers)]


def length_of(seed):
    return random.Random(f"length {seed}").choice([5, 8, 12, 20, 30, 60])


def differing(seeds):
    """Return the programs whose answers differ, each with both answers."""
    first = [answers(seed, length_of(seed), each_time=False) for seed in seeds]
    second = [answers(seed, length_of(seed), each_time=True) for seed in seeds]
    command = [sys.executable, __file__, "answers", *map(str, seeds)]
    here = {**os.environ, "PYTHONHASHSEED": "7"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=here)
    other = json.loads(done.stdout)
    return [
        (seed, a, b) for seed, a, *others in zip(seeds, first, second, other, strict=True) for b in others if a != b
    ]


if __name__ == "__main__":
    if sys.argv[1] == "answers":
        print(json.dumps([answers(int(seed), length_of(int(seed)), each_time=False) for seed in sys.argv[2:]]))
    else:
        start = 1000 * int(sys.argv[2])
        for seed, *both in differing(list(range(start, start + int(sys.argv[1])))):
            print("WRONG", seed, length_of(seed))
            for a, b in zip(*both, strict=True):
                if a != b:
                    print("   ", a[:150], "|", b[:150])
        for seed, found in renamed(range(start, start + int(sys.argv[1]))):
            print("WRONG", seed, length_of(seed), *found, sep="\n    ")
        print("programs:", sys.argv[1])
