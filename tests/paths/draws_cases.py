"""Calls of NumPy's random generators, as text over ``x`` (N, 3), ``y`` (M,) and ``n``, a size: what is traced and run.

``g`` is a Generator, ``s`` a RandomState; each is made in the function, or there before it.
"""

BOTH = [
    "r.normal(size=x.shape)",
    "r.normal(0, 2, x.shape)",
    "r.normal(x, 2)",
    "r.normal(x, y)",
    "r.normal(x, 1, (len(y), 3))",
    "r.normal(x, 1, (2, n, 3))",
    "r.normal(x, 1, 3)",
    "r.normal(0, 1 / np.sqrt(n + 1), (n, 2))",
    "r.normal(0, n, 3)",
    "r.normal(size=())",
    "r.normal(size=n - 2)",
    "r.normal(0, -1, size=n)",
    "r.uniform(0, 1, x.shape)",
    "r.uniform(size=[n, 2]) + x[:, :2]",
    "r.uniform(y, y + 1, (4, n))",
    "r.random(x.shape) + x",
    "r.random(n) + y",
    "r.beta(1, n, 3)",
    "r.beta(1, 2, (n, len(y)))",
    "r.exponential(x)",
    "r.gamma(n, 2.0, size=3)",
    "r.gamma(x, y[:, None, None])",
    "r.standard_gamma(2.0, size=x.shape)",
    "r.standard_normal(x.shape) @ y[:3]",
    "r.standard_exponential(n)",
    "r.standard_cauchy((n, n))",
    "r.standard_t(n, 4)",
    "r.chisquare(n, len(y))",
    "r.f(n, 3, len(y))",
    "r.binomial(n, 0.5, size=4)",
    "r.binomial(5, 0.5, size=x.shape)",
    "r.poisson(n, 3)",
    "r.poisson(x)",
    "x[r.poisson(3.0, size=len(y))]",
    "r.poisson(x, size=(n, 3))",
    "r.geometric(0.5, size=n)",
    "r.hypergeometric(n, 2, 3, size=4)",
    "r.zipf(n, 3)",
    "r.zipf(2.0, n)",
    "r.triangular(0, 1, 2, x.shape)",
    "r.triangular(0, 1, n, 3)",
    "r.vonmises(0, 1, (n, 1)) + y",
    "r.laplace(size=n) * y",
    "r.logistic(0, 1, (n,))",
    "r.lognormal(size=x.shape[::-1])",
    "r.weibull(2, n)",
    "r.pareto(n, 5)",
    "r.power(2, size=(0, n))",
    "r.rayleigh(size=n)",
    "r.wald(1, 2, n)",
    "r.logseries(0.5, n)",
    "r.negative_binomial(n, 0.5, 3)",
    "r.noncentral_chisquare(2, 1, n)",
    "r.noncentral_f(2, 2, 1, n)",
    "r.gumbel(size=n)",
    "r.permutation(n)",
    "r.permutation(x)",
    "r.permutation(x.sum())",
    "x[r.permutation(n)]",
    "x[r.permutation(len(y))]",
    "x[r.permutation(n)[:2]]",
    "r.shuffle(x)",
    "r.shuffle(x[:, 0])",
    "x[r.choice(n, len(y))]",
    "r.choice(n, 3)",
    "r.choice(n, 3, replace=False)",
    "r.choice(n, (2, len(y)), replace=False)",
    "r.choice(y, 4)",
    "r.choice(y, n, replace=False)",
    "r.choice(x, 2)",
    "r.choice(y)",
    "r.choice([1.0, 2.0, 3.0], n)",
    "r.choice([1.0, 2.0, 3.0], n, replace=False)",
    "r.choice(n, 3, p=np.exp(y) / np.exp(y).sum())",
    "r.choice(3, n, p=[0.5, 0.25, 0.25])",
    "r.choice(4, n, p=[0.5, 0.25, 0.25])",
    "r.choice(3, n, p=[0.5, 0.25, 0.5])",
    "r.multinomial(5, np.abs(y) / np.abs(y).sum(), size=n)",
    "r.multinomial(n, [0.5, 0.5])",
    "r.multinomial(n, [0.5, 0.5], size=(len(y), 2))",
    "r.multivariate_normal(y, np.eye(n))",
    "r.multivariate_normal(np.zeros(n), np.eye(n), size=len(y))",
    "r.multivariate_normal(np.zeros(3), x[:3, :3] @ x[:3, :3].T + np.eye(3), size=(n, 2))",
    "r.dirichlet(np.abs(y) + 1, n)",
    "r.dirichlet([1, 2, 3], (n, 2)) @ x.T",
    "r.bytes(8) and x",
    "np.frombuffer(r.bytes(n), np.uint8)",
]
GENERATOR = [
    "r.integers(0, n, size=len(y))",
    "r.integers(n, size=3)",
    "r.integers(0, 10, size=x.shape)",
    "r.integers(2, n, size=len(y))",
    "r.integers(0, n, endpoint=True, size=4)",
    "x[r.integers(0, n, size=len(y))]",
    "x[r.integers(0, 5, size=len(y))]",
    "r.integers(0, y.astype(int) + 2)",
    "r.integers(0, y.astype(int) + 2, size=(2, n))",
    "r.integers([1, 2, 3], 5, size=(n, 3))",
    "r.random(n, dtype=np.float32)",
    "r.random(out=np.empty(n))",
    "r.random(n, out=np.empty(len(y)))",
    "r.standard_normal(out=np.empty((n, 2)))",
    "r.permutation(x, axis=1)",
    "r.permutation(x, axis=2)",
    "r.permuted(x)",
    "r.permuted(x, axis=1)",
    "r.permuted(x, axis=0, out=np.empty((len(y), 3)))",
    "r.shuffle(x, axis=1)",
    "r.choice(x, n, axis=1)",
    "r.choice(x, n, axis=1, replace=False)",
    "r.choice(x, (n, 2), axis=0, shuffle=False)",
    "r.multinomial(y.astype(int) + 2, [0.5, 0.5])",
    "r.multinomial(y.astype(int) + 2, [0.5, 0.5], size=(2, n))",
    "r.multinomial(5, np.full((n, 2), 0.5))",
    "r.multivariate_hypergeometric([4, 5, 6], 3, size=n)",
    "r.spawn(2)[1].normal(size=n)",
    "np.random.default_rng(r).normal(size=n)",
    "np.random.default_rng(n).normal(size=n)",
    "np.random.Generator(np.random.PCG64(1)).normal(size=n)",
]
STATE = [
    "r.rand(n, 2)",
    "r.rand(*x.shape) * x",
    "r.randn(n) + y",
    "r.rand() + x",
    "r.rand(n - 1)",
    "r.randint(0, n, size=len(y))",
    "r.randint(n, size=3)",
    "r.randint(3, n, 2)",
    "x[r.randint(0, n, n)]",
    "r.random_sample(x.shape)",
    "r.random_sample(n)",
    "r.tomaxint(n)",
    "r.seed(n) or r.rand(n)",
    "np.random.RandomState(n).rand(n)",
    "r.choice(x[:, 0], n, replace=False)",
]
LEGACY = [
    "np.random.sample((n, 2))",
    "np.random.ranf(n)",
    "np.random.seed(n) or np.random.rand(n)",
    "np.random.mtrand._rand.normal(size=n)",
    "np.random.mtrand.normal(size=n)",
]
ARGUMENTS = ("N, 3", "M")


def cases():
    """All calls: the text, and how its generator is made."""
    made = {"default_rng(0)": [*BOTH, *GENERATOR], "RandomState(0)": [*BOTH, *STATE]}
    for maker, texts in made.items():
        for text in texts:
            yield text, f"np.random.{maker}"
    for text in [*BOTH, *STATE]:
        if "RandomState" not in text and ".seed" not in text:
            yield text, "np.random"
    for text in LEGACY:
        yield text, "np.random"


def function_of(text, maker, before=False):
    """Return the function of a call; ``before`` makes its generator before it is called."""
    import numpy as np

    space = {"np": np}
    lines = ["def f(x, y):", "    n = x.shape[0]"]
    if before:
        space["r"] = eval(maker, space)
    else:
        lines.append(f"    r = {maker}")
    exec("\n".join([*lines, f"    return {text}"]), space)
    return space["f"]
