"""Divisions by sizes: implications that engineers decide in the head, and products of sizes."""

import itertools
import random
from collections.abc import Callable

import pytest

import symbcast as sb

IN_THE_HEAD = [
    ("d % h == 0 and d == e and h >= 1", "e % h == 0"),
    ("d % h == 0 and d == e*(h//g) and g >= 1 and h >= 1", "e*(h//g) % h == 0"),
    ("h*w == p*p*(h//p)*(w//p) and h >= 1 and w >= 1 and p >= 1", "h % p == 0"),
    ("c == g*(c//g) and g >= 1", "c % g == 0"),
    ("b*t == e*(b*t//e) and e >= 1", "b*t % e == 0"),
    ("c % g == 0 and g >= 1", "c*h % g == 0"),
    ("a % n == 0 and b % n == 0 and n >= 1", "(a + b) % n == 0"),
    ("a % n == b % n and n >= 1 and a >= b", "(a - b) % n == 0"),
    ("n >= 1", "(a*n + n - 1) // n == a"),
    ("n >= 1", "a//n*n <= a"),
    ("a <= b and n >= 1", "a//n <= b//n"),
    ("a*b == c*b and b >= 1", "a == c"),
    ("a*b == 0 and a >= 1", "b == 0"),
    ("a*a == b*b", "a == b"),
    ("a*b == 7", "a == 1 or a == 7"),
    ("a >= 2 and b >= 2", "a*b >= a + b"),
    ("t % p == 0 and p >= 1", "(t + p - 1)//p*p == t"),
    ("m == max(x*y, 2) and x*y >= 5", "m == x*y"),
    ("A >= 1 and 8 % A == 0", "A == 1 or A == 2 or A == 4 or A == 8"),
    ("x*y*w == z and x >= 1", "z % x == 0"),
    ("h//p == 3 and p >= 1", "h >= 3*p"),
    ("d == h*k and q == h*(d//h) and h >= 1", "q == d"),
    ("b*s*d == b*s*e and b*s >= 1", "d == e"),
    ("d % h == 0 and d == e*f and h >= 1", "e*f % h == 0"),
    ("d % h == 0 and d == e*(a//g) and g >= 1 and h >= 1", "e*(a//g) % h == 0"),
]

IMPLIED = [
    # heads, groups
    ("d % h == 0 and h % g == 0", "d % g == 0"),
    ("d % (h*k) == 0", "d % h == 0"),
    ("d % h == 0", "h*(d//h) == d"),
    ("d % h == 0 and d//h == k", "d == h*k"),
    ("h % g == 0 and h >= 1", "g <= h"),
    ("h % g == 0 and g % h == 0", "h == g"),
    ("h % g == 0 and h//g == 1", "h == g"),
    ("q % g == 0 and q == g*r and r >= 2", "q >= 2*g"),
    ("d % h == 0 and e % h == 0 and d > e", "d >= e + h"),
    ("d % h == 0 and s >= 1", "b*s*d % h == 0"),
    ("b*s*d % (b*s*h) == 0", "d % h == 0"),
    ("d % h == 0", "(d//h)*h*s == d*s"),
    # patches and windows
    ("H % p == 0 and W % p == 0", "H*W % (p*p) == 0"),
    ("H % p == 0 and W % p == 0", "(H//p)*(W//p)*p*p == H*W"),
    ("p >= 1", "(H//p)*(W//p)*p*p <= H*W"),
    ("H % p == 0", "(H + p) % p == 0"),
    ("H % p == 0", "(H + p)//p == H//p + 1"),
    ("H % p == 0 and H >= 1", "H//p >= 1"),
    ("H < p", "H//p == 0"),
    ("H % p == 0 and p % 2 == 0", "H % 2 == 0"),
    # padding to a multiple
    ("p >= 1", "(n + p - 1)//p*p >= n"),
    ("p >= 1", "(n + p - 1)//p*p < n + p"),
    ("n % p == 0", "(n + p - 1)//p == n//p"),
    ("p >= 1 and n >= 1", "(n + p - 1)//p == (n - 1)//p + 1"),
    ("p >= 1", "(n + (-n) % p) % p == 0"),
    ("(n + m) % p == 0 and n % p == 0", "m % p == 0"),
    # chunks, splits, caches
    ("n == k*c + r and r < c", "n//c == k"),
    ("n == k*c + r and r < c", "n % c == r"),
    ("c >= 1", "n - c*(n//c) < c"),
    ("n//c == 0", "n < c"),
    ("a//n == b//n and a % n == b % n", "a == b"),
    ("a % n == 1 and b % n == 1 and n >= 2", "a*b % n == 1"),
    ("a % n == r and b % n == r and a >= b", "(a - b) % n == 0"),
    ("b*t % e == 0 and t % e == 0 and e >= 1", "(b + 1)*t % e == 0"),
    ("b*t == e*c and e >= 1", "b*t//e == c"),
    ("n >= 1 and k >= 1", "(a//n)//k == a//(n*k)"),
    ("s % w == 0 and w >= 2", "(s + 1) % w == 1"),
    ("s >= w and w >= 1", "s//w >= 1"),
    ("m <= n and k >= 1", "m//k <= n//k"),
    ("k >= 1 and a >= 1 and k <= a", "n//a <= n//k"),
]

NOT_IMPLIED = [
    ("d % g == 0 and h % g == 0", "d % h == 0"),
    ("d % h == 0 and d % g == 0", "d % (h*g) == 0"),
    ("h >= 1", "h*(d//h) == d"),
    ("d//h == k", "d == h*k"),
    ("h % g == 0", "g <= h"),
    ("h % g == 0 and g >= 1", "g % h == 0"),
    ("h//g == 1", "h == g"),
    ("q % g == 0 and q >= 1", "q >= 2*g"),
    ("d % h == 0 and e % h == 0 and d >= e", "d >= e + h"),
    ("d*s % h == 0 and h >= 1", "d % h == 0"),
    ("b*s*d % (b*s*h) == 0", "s % h == 0"),
    ("d % h == 0 and h >= 2", "d*d % (h*h*h) == 0"),
    ("H*W % (p*p) == 0 and p >= 1", "H % p == 0"),
    ("p >= 1", "(H//p)*(W//p)*p*p == H*W"),
    ("p >= 1 and H >= p and W >= p", "H*W < (H//p)*(W//p)*p*p + p"),
    ("H % p == 1", "(H + p) % p == 0"),
    ("H % p == 0", "(H + 1)//p == H//p + 1"),
    ("H % p == 0", "H//p >= 1"),
    ("H//p == 0", "H == 0"),
    ("H % p == 0 and H % 2 == 0", "p % 2 == 0"),
    ("p >= 1", "(n + p)//p*p == n"),
    ("p >= 1", "(n + p - 1)//p*p < n + p - 1"),
    ("p >= 1", "(n + p - 1)//p == n//p"),
    ("p >= 1", "(n + p - 1)//p == n//p + 1"),
    ("p >= 1", "(n + n % p) % p == 0"),
    ("(n + m) % p == 0", "m % p == 0"),
    ("n == k*c + r and c >= 1", "n//c == k"),
    ("n == k*c + r and r <= c and c >= 1", "n % c == r"),
    ("c >= 1", "n - c*(n//c) < c - 1"),
    ("n//c <= 1", "n < c"),
    ("a//n == b//n", "a == b"),
    ("a % n == 1 and b % n == 1", "(a + b) % n == 0"),
    ("a % n == b % n", "a == b"),
    ("b*t % e == 0 and e >= 1", "t % e == 0"),
    ("b*t == e*c", "b*t//e == c"),
    ("n >= 1", "(a//n)//k == a//(n*k)"),
    ("s % w == 0", "(s + 1) % w == 1"),
    ("s >= w", "s//w >= 1"),
    ("m <= n", "m//k <= n//k"),
    ("k <= a", "n//a <= n//k"),
]


@pytest.mark.parametrize(("condition", "implied"), [*IN_THE_HEAD, *IMPLIED])
def test_implications_that_engineers_decide_in_the_head_are_proved(condition: str, implied: str) -> None:
    assert sb.Condition(condition).implies(implied)


@pytest.mark.parametrize(("condition", "other"), NOT_IMPLIED)
def test_near_misses_have_a_counterexample(condition: str, other: str) -> None:
    sizes = sb.Condition(condition).counterexample(other)
    assert sizes is not None
    assert _holds(_function(condition), sizes)
    assert not _holds(_function(other), sizes)


@pytest.mark.parametrize(
    ("condition", "short"),
    [
        ("d % h == 0 and e == g*(d//h) and h % g == 0 and d % g == 0", "d % h == 0 and e == g*(d//h) and h % g == 0"),
        ("d % h == 0 and h % k == 0 and d % k == 0", "d % h == 0 and h % k == 0"),
        ("h*w == p*p*(h//p)*(w//p)", "h % p == 0 and w % p == 0"),
        ("b*s*d == b*s*h*(d//h)", "d % h == 0"),
    ],
)
def test_clauses_that_divisions_imply_are_left_out(condition: str, short: str) -> None:
    assert str(sb.Condition(condition).simplified(min_size=1)) == short


def _function(text: str) -> Callable[..., bool]:
    names = "abcdefghijklmnopqrstuvwxyzABCDHMNPSTW"
    return eval(f"lambda {', '.join(f'{n}=2' for n in names)}: {text}")


def _holds(condition: Callable[..., bool], sizes: dict[str, int]) -> bool:
    try:
        return condition(**sizes)
    except ZeroDivisionError:
        return False


def _term(rng: random.Random, depth: int = 1) -> str:
    product = "*".join(rng.choices("abcd", k=rng.randint(1, 2)))
    divisor = rng.choice(["a", "b", "c", "(a*b)", "(c + 1)", "(b - 1)", "2", "-2"])
    inner = _term(rng, depth - 1) if depth else product
    return rng.choice(
        [
            product,
            f"({product} {rng.choice('+-')} {rng.choice(['1', '2', 'a', 'd'])})",
            f"({inner}) {rng.choice(['//', '%'])} {divisor}",
            f"d*({product}//{divisor})",
            f"{rng.choice(['min', 'max'])}({inner}, 3)",
        ]
    )


def _comparison(rng: random.Random) -> str:
    if rng.random() < 0.4:
        return f"({_term(rng)}) % {rng.choice('abcd')} == 0"
    return f"{_term(rng)} {rng.choice(['==', '!=', '<=', '<'])} {_term(rng)}"


@pytest.mark.parametrize("seed", range(12))
def test_implications_between_random_divisions_agree_with_brute_force(seed: int) -> None:
    rng = random.Random(seed)
    condition = " and ".join(_comparison(rng) for _ in range(rng.randint(1, 3)))
    other = _comparison(rng)
    sizes = sb.Condition(condition).counterexample(other)
    holds, follows = _function(condition), _function(other)
    if sizes is not None:
        assert _holds(holds, sizes)
        assert not _holds(follows, sizes)
    else:
        for values in itertools.product((0, 1, 2, 3, 5), repeat=4):
            point = dict(zip("abcd", values, strict=True))
            assert not _holds(holds, point) or _holds(follows, point)
