"""How much CPU time single questions take, each in its own process: nothing was asked before.

python -m pytest tests/benchmarks/test_cold.py --benchmark-enable

prints them at the end of the run. Nothing here fails on time.
"""

from __future__ import annotations

import itertools
import json
from statistics import median

import pytest

import symbcast as sb
from benchmarks.processes import python

ROUNDS = 3
PRIMES = (2, 3, 5, 7, 11, 13, 17, 19)
SOMETIMES, ALWAYS = "Verdict.SOMETIMES", "Verdict.ALWAYS"
EVERYTHING = "(result.verdict, result.clauses, result.witness(), result.counterexample(), result.reason)"


def different(count: int, below: int) -> str:
    """Return the assumptions that sizes are all different and below a number, as Python."""
    names = [f"s{n}" for n in range(count)]
    pairs = [f"{a} != {b}" for a, b in itertools.combinations(names, 2)]
    return f"sb.broadcast({', '.join(names)!r}, assume={[*pairs, *(f'{n} < {below}' for n in names)]!r})"


def remainders(primes: tuple[int, ...]) -> str:
    return f"sb.broadcast(*{[f'N % {p}' for p in primes]!r})"


QUESTIONS = {
    "eight congruences": (f"sb.broadcast('N', 'M', assume={[f'N % {p} == 1' for p in PRIMES]!r})", SOMETIMES),
    "remainders by five primes": (remainders(PRIMES[:5]), SOMETIMES),
    "N % 1009 == 1 and N % 1013 == 1": ("sb.broadcast('N', 'M', assume='N % 1009 == 1 and N % 1013 == 1')", SOMETIMES),
    "remainders by seven primes, explained": (remainders(PRIMES[:7]), SOMETIMES),
    "a max of 100 sizes": ("sb.broadcast('max(' + ', '.join(f's{n}' for n in range(100)) + ')', 'N')", SOMETIMES),
    "a sum of 1,000 sizes": ("sb.broadcast(' + '.join(f's{n}' for n in range(1000)), 'N')", SOMETIMES),
    "300 alternatives": ("sb.broadcast('N', 'M', assume=' or '.join(f'N == {7 * n}' for n in range(300)))", SOMETIMES),
    "seven sizes all different": (different(7, 8), ALWAYS),
    "a linear equation": ("sb.broadcast('12343*a + 98765*b + 55557*c + 77773*d', '100000007')", SOMETIMES),
    "a linear equation without solution": (
        "sb.broadcast('123456791*a + 987654321*b + 555555557*c', '10000000000037')",
        "Verdict.NEVER",
    ),
}
CASES = " or ".join(
    "(" + " and ".join(f"{name} == {(n * k + 3) % 5}" for k, name in enumerate("abcdef", 1)) + ")" for n in range(100)
)
PROGRAMS = {
    name: f"result = {question}; told = {EVERYTHING}; said = str(result.verdict)"
    + ("; result.explain()" if name.endswith("explained") else "")
    for name, (question, _) in QUESTIONS.items()
}
PROGRAMS["100 cases of six literals simplified"] = f"said = str(sb.Condition({CASES!r}).simplified())"
EXPECTED = {name: verdict for name, (_, verdict) in QUESTIONS.items()}


def cold(name: str) -> dict[str, object]:
    """Answer a question in its own process; return the answer and its CPU seconds without the import."""
    program = f"""
import json, time
import symbcast as sb
start = time.process_time()
{PROGRAMS[name]}
print(json.dumps({{"seconds": time.process_time() - start, "said": said}}))
"""
    return json.loads(python("-c", program))


@pytest.mark.parametrize("name", PROGRAMS)
def test_cold(benchmark, seconds, name):
    benchmark.group = "one question in its own process"
    found = benchmark.pedantic(cold, args=(name,), rounds=ROUNDS, warmup_rounds=1)
    if name in EXPECTED:
        assert found["said"] == EXPECTED[name]
    else:
        assert sb.Condition(str(found["said"])).equivalent(CASES)
    if benchmark.enabled:
        rounds = [float(str(found["seconds"])), *(float(str(cold(name)["seconds"])) for _ in range(ROUNDS - 1))]
        benchmark.extra_info["cpu seconds"] = median(rounds)
        seconds.append((name, median(rounds)))
