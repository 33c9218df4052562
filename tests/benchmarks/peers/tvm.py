"""tvm: shape inference of relax (which asks the arithmetic analyzer) and of topi, and the analyzer itself.

The analyzer has no broadcast of its own: NumPy's rule is written over it here, each axis by what it can prove. It is
told of equalities by a scope of constraints; relax and topi have none that their shape inference would see.
"""

from __future__ import annotations

from functools import partial
from itertools import zip_longest

from benchmarks.peers.running import Answer, NotAskedError, Run

RELAX, TOPI, ANALYZER = "tvm, relax", "tvm, topi", "tvm, analyzer"


def version() -> str:
    import tvm

    return tvm.__version__


class _TvmRun(Run):
    @property
    def refusals(self):
        import tvm

        return (tvm.error.InternalError, ValueError)

    def symbols(self, program):
        from tvm import tirx

        return {name: tirx.Var(name, "int64") for name in program.symbols}

    def answered(self, outputs, conditions=()):
        # TVMScript calls a variable T_1 that was made as T, for T is its own word.
        names = {str(size): name for name, size in self.sizes.items()}
        return Answer(outputs, conditions, names=names, refusal=self.refusal)

    def equal(self, left, right):
        raise NotAskedError("no equality of sizes")


class RelaxRun(_TvmRun):
    def symbols(self, program):
        from tvm import relax

        self.builder = relax.BlockBuilder()
        self._add, self._var, self._type, self._made = relax.op.add, relax.Var, relax.TensorType, 0
        return super().symbols(program)

    def operand(self, sizes):
        self._made += 1
        return self._var(f"x{self._made}", self._type(list(sizes), "float32"))

    def broadcast(self, left, right):
        return self._var("y", self.builder.normalize(self._add(left, right)).ty)

    def answer(self):
        outputs = [
            [None] * o.ty.ndim if o.ty.shape is None else [str(size) for size in o.ty.shape] for o in self.broadcasts()
        ]
        return self.answered(outputs)


class TopiRun(_TvmRun):
    def symbols(self, program):
        from tvm import te, topi

        self._placeholder, self._add = te.placeholder, topi.add
        return super().symbols(program)

    def operand(self, sizes):
        return self._placeholder(sizes)

    def broadcast(self, left, right):
        return self._add(left, right)

    def answer(self):
        members: dict[int, tuple[str, ...]] = {}
        return self.answered([[self._text(size, members) for size in o.shape] for o in self.broadcasts()])

    def _text(self, size, members):
        """Return a size as text, a maximum of maxima as one: topi nests them a thousand deep in a chain."""
        found = self._members(size, members)
        return found[0] if len(found) == 1 else f"T.max({', '.join(found)})"

    def _members(self, size, members):
        key = hash(size)
        if key not in members:
            is_max = type(size).__name__ == "Max"
            parts = [self._members(part, members) for part in (size.a, size.b)] if is_max else [(str(size),)]
            members[key] = tuple(dict.fromkeys(m for part in parts for m in part))
        return members[key]


class AnalyzerRun(_TvmRun):
    def symbols(self, program):
        from contextlib import ExitStack

        from tvm import sym, tirx

        found = super().symbols(program)
        self._equal, self._number = tirx.EQ, partial(tirx.const, dtype="int64")
        self.analyzer, self.told, self.conditions = sym.Analyzer(), ExitStack(), []
        for size in found.values():
            self.told.enter_context(self.analyzer.constraint_scope(size >= 0))
        return found

    def operand(self, sizes):
        return sizes

    def broadcast(self, left, right):
        return tuple(map(self._joined, *zip(*self._aligned(left, right), strict=True)))

    def equal(self, left, right):
        self.told.enter_context(self.analyzer.constraint_scope(self._equation(left, right)))
        self.conditions.append(f"{left} == {right}")

    def answer(self):
        outputs = [[str(size) for size in output] for output in self.broadcasts()]
        return self.answered(outputs, self.conditions)

    def close(self):
        self.told.close()

    def _aligned(self, left, right):
        backwards = list(zip_longest(reversed(left), reversed(right), fillvalue=1))
        return backwards[::-1]

    def _joined(self, left, right):
        if isinstance(left, int) and left == 1:
            return right
        if isinstance(right, int) and right == 1:
            return left
        if self._proves(left, right) or self._proves(right, 1):
            return left
        if self._proves(left, 1):
            return right
        raise ValueError(f"cannot prove that {left} and {right} broadcast")

    def _proves(self, left, right):
        return self.analyzer.can_prove(self._equation(left, right))

    def _equation(self, left, right):
        return self._equal(*(self._number(size) if isinstance(size, int) else size for size in (left, right)))


CONTESTANTS = {RELAX: RelaxRun, TOPI: TopiRun, ANALYZER: AnalyzerRun}
