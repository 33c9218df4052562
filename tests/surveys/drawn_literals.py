"""Random questions in which a name is replaced by a literal, held against the same with the name assumed to be that.

``python tests/surveys/drawn_literals.py 2000 1`` draws that many broadcasts, programs and conditions with a seed, and
prints those whose verdicts, conditions or outputs differ at some sizes, from each other or from integers.
`test_literals.py` holds a sample.
"""

from __future__ import annotations

import itertools
import random
import re
import sys
from pathlib import Path

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))

from drawn_questions import NAMES, at, dim, names_in, value
from small_questions import rule

import symbcast as sb
from symbcast.core.algebra.symbols import symbol

SIZES = range(6)
LITERALS = (0, 1, 1, 1, 2, 3)
OPERATORS = ["==", "!=", "<=", "<", ">=", ">"]


def with_literal(text, literal):
    return re.sub(r"\bN\b", str(literal), text)


def both_ways(question, texts, literal, **more):
    """Return the answer with the name N under an assumption, and the one with a literal; None if one is refused."""
    found = []
    for changed, assume in ((texts, [f"N == {literal}"]), ([with_literal(t, literal) for t in texts], ())):
        try:
            found.append(question(changed, assume, **more))
        except (sb.RuleArgumentError, sb.AssumptionError, sb.ShapeSyntaxError):
            return None
        except (sb.DimensionError, sb.IncompatibleProgramError):
            found.append(None)  # no sizes work
    return found


def broadcasts(choose):
    shapes = [[dim(choose, choose.choice([0, 1, 1, 2])) for _ in range(choose.choice([1, 1, 2]))] for _ in "abc"]
    shapes = shapes[: choose.choice([1, 2, 2, 3])]
    by = rule(choose, *map(len, shapes)) if len(shapes) == 2 and choose.random() < 0.6 else None
    texts = [f"[{', '.join(shape)}]" for shape in shapes]

    def question(texts, assume):
        if by is None:
            return sb.broadcast(*texts, assume=assume)
        return sb.broadcast(*texts, rule=by.name, assume=assume, **by.attributes)

    def oracle(sizes):
        sized = [tuple(value(d, sizes) for d in shape) for shape in shapes]
        if by is not None:
            return by.output(sized)
        import reference

        return None if any(n < 0 for s in sized for n in s) else reference.numpy(*sized)

    return question, texts, oracle


def programs(choose):
    """A program of a broadcast, whose output meets a further shape; all texts may mention N."""
    shapes = [[dim(choose, choose.choice([0, 1, 1]))] for _ in "abc"]
    kind = choose.choice(["broadcast", "concat", "require", "equal", "matmul"])
    texts = [f"[{', '.join(shape)}]" for shape in shapes]

    def question(texts, assume):
        env = sb.ShapeEnv(assume=assume)
        joined = env.broadcast(*texts[:2])
        if kind == "broadcast":
            env.broadcast(joined, texts[2])
        elif kind == "concat":
            env.concat([joined, texts[2]], 0)
        elif kind == "require":
            env.require(f"{texts[2][1:-1]} <= 3")
        elif kind == "equal":
            env.equal(joined, texts[2])
        else:
            env.matmul(joined, texts[2])
        return env

    def oracle(sizes):
        one, two, last = (value(s[0], sizes) for s in shapes)
        if min(one, two) < 0 or not (one == two or 1 in (one, two)):
            return None
        output = two if one == 1 else one
        if kind == "require":
            return () if last_holds(shapes[2][0], sizes) else None
        if last < 0:
            return None
        if kind == "broadcast":
            return () if last == output or 1 in (last, output) else None
        return () if kind == "concat" or last == output else None

    return question, texts, oracle


def last_holds(text, sizes):
    found = value(text, sizes, undefined=None)
    return found is not None and found <= 3


def conditions(choose):
    leaves = []
    for _ in range(choose.choice([1, 1, 2])):
        left, right = dim(choose, choose.choice([1, 2])), dim(choose, choose.choice([0, 1]))
        leaves.append(f"{left} {choose.choice(OPERATORS)} {right}")
    word = choose.choice([" and ", " or "])
    negated = [f"not ({leaf})" if choose.random() < 0.3 else leaf for leaf in leaves]

    def question(texts, assume):
        known = sb.Condition(texts[0])
        return sb.Condition(known.subs({"N": int(assume[0].split()[-1])})) if assume else known

    def oracle(sizes):
        found = []
        for leaf, text in zip(leaves, negated, strict=True):
            left, operator, right = re.split(r" (==|!=|<=|>=|<|>) ", leaf)
            sides = value(left, sizes, undefined=None), value(right, sizes, undefined=None)
            holds = None not in sides and eval(f"{sides[0]} {operator} {sides[1]}")
            found.append(holds != text.startswith("not"))
        return () if (all if word == " and " else any)(found) else None

    return question, [word.join(negated)], oracle


KINDS = {"broadcasts": broadcasts, "programs": programs, "conditions": conditions}


def condition_of(answer):
    return answer if isinstance(answer, sb.Condition) else answer.condition


def sizes_of(answer, point):
    return at(answer.shape, {symbol(name): size for name, size in point.items()})


def wrong(kind, choose):
    """Yield how the two ways differ, from each other or from integers."""
    question, texts, oracle = KINDS[kind](choose)
    literal = choose.choice(LITERALS)
    if "N" not in names_in(" ".join(texts)):
        return
    found = both_ways(question, texts, literal)
    if found is None:
        return
    works = fails = False
    guards = [None if answer is None else condition_of(answer).guard() for answer in found]
    for sizes in itertools.product(SIZES, repeat=2):
        point = {"N": literal, **dict(zip(NAMES[1:], sizes, strict=True))}
        expected = oracle(point)
        works, fails = works or expected is not None, fails or expected is None
        for answer, guard in zip(found, guards, strict=True):
            if (guard is not None and guard({n: point[n] for n in guard.parameters})) != (expected is not None):
                yield texts, literal, point, expected, "" if answer is None else str(condition_of(answer))
                return
            if isinstance(answer, sb.Result) and expected is not None and sizes_of(answer, point) != expected:
                yield texts, literal, point, expected, str(answer.shape)
    verdicts = [sb.Verdict.NEVER if answer is None else answer.verdict for answer in found]
    if sb.Verdict.UNKNOWN in verdicts:
        return
    if verdicts[0] is not verdicts[1]:
        yield texts, literal, verdicts
    if (verdicts[0] is sb.Verdict.ALWAYS and fails) or (verdicts[0] is sb.Verdict.NEVER and works):
        yield texts, literal, verdicts


def examined(kind, count, seed):
    """Return what is wrong in a number of questions of a kind."""
    found = []
    for number in range(count):
        found += [(kind, number, *what) for what in wrong(kind, random.Random(f"{kind} {seed} {number}"))][:1]
    return found


if __name__ == "__main__":
    for kind in KINDS:
        different = examined(kind, int(sys.argv[1]), int(sys.argv[2]))
        for what in different:
            print("WRONG", *what)
        print(f"{kind}: {len(different)} wrong of {sys.argv[1]}")
