"""Programs whose conditions are recorded: what networks of real models require, and what a solver may find hard."""

from __future__ import annotations

import random
from collections.abc import Callable

import symbcast as sb


def recorded_programs() -> dict[str, Callable[[sb.ShapeEnv], object]]:
    """Return the programs by name, each as what records it."""
    return {
        "reshape and split": _reshaped,
        "layers alike": _layers,
        "caches of 24 layers": _caches,
        "a chain of 60 definitions": _definitions,
        "20 doubled": lambda env: [env.require(f"s{n + 1} == 2*s{n}") for n in range(20)] and env.require("s20 != s0"),
        "a fixed chain": lambda env: (
            [env.require(f"s{n + 1} == s{n} + 2") for n in range(16)] and env.require("s16 == 37")
        ),
        "60 inequalities": lambda env: [env.require(f"s{n} + 1 <= s{n + 1}") for n in range(60)],
        "few imply many": _implied,
        "a product equation": lambda env: (env.reshape(env.broadcast("N*M, K"), ["K*N", -1]), env.require("M*N <= 9")),
        "a network": _network,
        "attention over batches": _attention,
        "tokens per image": _tokens,
        "at most two patches": lambda env: env.require("min(H*W, 1) == 0 or H*W == min(H*W, 1) + 1 or H*W == 1"),
        "windows of an image": _windows,
        "a cropped table": _cropped,
        "patches of two images": _patches,
        "names in a program": _names,
        "40 orders that clash": _orders_that_clash,
        "names that clash": lambda env: (env.broadcast("N, M", "M, N"), env.require("N == 3"), env.require("M == 4")),
        "a conflict of sums": lambda env: [
            env.require(t) for t in ("a + b == 5", "b + c == 6", "a + c == 8", "a <= b")
        ],
    }


def _windows(env: sb.ShapeEnv) -> None:
    """Record that an image has 14 windows along each side, and half as many where it is halved; never less than one."""
    env.assume("H >= 1", "W >= 1")
    env.require("(H % 8 == 0 or H % 8 == 7) and (W % 8 == 0 or W % 8 == 7)")
    env.require("max((H + 7)//16, 1)*max((W + 7)//16, 1) == 196")
    env.require("max(max((H + 7)//16, 1)//2, 1)*max(max((W + 7)//16, 1)//2, 1) == 49")


def _tokens(env: sb.ShapeEnv) -> None:
    """Record a reshape to an inferred size, and one to that size where it is not 0."""
    env.assume("eb >= 1", "seq >= 1", "batch >= 1")
    size = "(eb*seq//batch)"
    copied = f"({size} + 4 - 4*min({size}, 1))"
    env.require("eb*seq % batch == 0", f"4*batch*{size} % {copied} == 0")
    env.require(f"4*batch*{size} == (4*eb*seq//{copied})*{size}")


def _reshaped(env: sb.ShapeEnv) -> None:
    value = env.reshape(env.broadcast("B, 4*N, C"), ["B", "N", -1])
    half, other = env.split(value, 2, -1)
    env.broadcast(half, other, "B, N, K")


def _layers(env: sb.ShapeEnv) -> None:
    for n in range(30):
        env.require(f"c{n} == a{n} + b{n}")
        env.broadcast(f"a{n}//2 + 1", f"b{n}")


def _caches(env: sb.ShapeEnv) -> None:
    env.assume("batch >= 1", "seq >= 1", "total >= 1", "bm >= 1", "sc >= 1")
    env.require("batch*seq == broadcast(batch, bm)*broadcast(seq, sc)")
    for n in range(24):
        env.assume(f"k{n} >= 1", f"v{n} >= 1", f"p{n} >= 1", f"q{n} >= 1")
        env.require(f"k{n} == broadcast(batch, bm) and v{n} == k{n}")
        env.require(f"broadcast(total, p{n} + seq) == q{n} + seq and (total == p{n} + seq or total == 1)")


def _definitions(env: sb.ShapeEnv) -> None:
    for n in range(60):
        env.require(f"s{n + 1} == s{n} + {n % 3} + t{n}//2")


def _attention(env: sb.ShapeEnv) -> None:
    """Require what attention over frames does, with keys of another batch: products of joins."""
    env.assume("batch >= 1", "tb >= 1", "eb >= 1", "frames >= 1", "H >= 2")
    env.require("compatible(batch, tb)")
    env.require("compatible(batch*frames, frames*broadcast(batch, tb))")
    env.require("H*broadcast(batch, tb) % eb == 0")
    env.require("compatible(eb*frames, frames*broadcast(batch, tb))")
    env.require("compatible(H*broadcast(batch, tb)//eb, H)")
    scores = "broadcast(H, H*broadcast(batch, tb)//eb)*broadcast(eb*frames, frames*broadcast(batch, tb))"
    env.require(f"{scores} == H*frames*broadcast(batch, tb)")
    env.require("batch == broadcast(batch, tb)")


def _cropped(env: sb.ShapeEnv) -> None:
    """Require that patches and a table of positions, cropped around its centre with an error of rounding, are added."""
    env.assume("H >= 1", "W >= 1", "B >= 1", "T >= 1")
    patches = "(H//2)*(W//2)"
    start = "max(6 - ({0}//2 + 1)//2, 0) + 12*min({0}//28, 1)"
    rows, columns = (f"max(min({s}//2 + 6 - {s}//4, 12) - min({start.format(s)}, 12), 0)" for s in "HW")
    env.require(f"compatible({patches}, ({rows})*({columns}))")
    env.require("compatible(T, B)")
    env.require(f"broadcast({patches}, ({rows})*({columns}))*broadcast(T, B) == B*{patches}")


def _patches(env: sb.ShapeEnv) -> None:
    """Require what two images do that are divided into patches together: sizes rounded down and up are equal."""
    env.require("H % 8 == 0 and H >= 8 and W % 8 == 0 and W >= 8")
    env.require("M*(H//8)*(W//8) == ((M + N + 1)//2)*((H + 7)//8)*((W + 7)//8)")
    env.require("M + N == 2*((M + N + 1)//2)")


def _orders_that_clash(env: sb.ShapeEnv) -> None:
    """Require orders that hold at some hidden sizes, and one that does not; the fewest that clash are asked for."""
    rng = random.Random(10)
    names = [f"s{n}" for n in range(9)]
    sizes = {name: rng.randint(3, 30) for name in names}

    def order(beyond: int) -> str:
        a, b = rng.sample(names, 2)
        return f"{a} + {max(0, sizes[b] - sizes[a] + beyond)} <= {b} + {max(0, sizes[a] - sizes[b] - beyond)}"

    for _ in range(40):
        env.require(order(-rng.randint(0, 1)))
    env.require(order(1))


def _implied(env: sb.ShapeEnv) -> None:
    rng = random.Random(0)
    known = [("c", "(a + b)"), ("d", "(2*c + 1)"), ("e", "(d//2 + a)")]
    for left, right in known:
        env.require(f"{left} == {right}")
    for _ in range(80):
        (first, second), (third, fourth) = rng.sample(known, 2)
        k, m, n = (rng.randint(1, 5) for _ in range(3))
        env.require(f"{k}*{first} + {m}*{third} {rng.choice(('==', '<='))} {k}*{second} + {m}*{fourth}")
        env.require(f"{first} + {m}*{third} <= {second} + {m}*{fourth} + {n}")


def _network(env: sb.ShapeEnv) -> None:
    value = env.broadcast("B, C, H, W")
    for n in range(4):
        value = env.broadcast(value, f"B, C, (H + {n})//2*2, W{n}")
    env.require("H % 2 == 0 and W0 + W1 == W2 + 2")


def _names(env: sb.ShapeEnv) -> None:
    for n in range(30):
        env.broadcast(f"a{n}, b{n}", f"a{n + 1}, 1", f"1, b{n // 2}")
