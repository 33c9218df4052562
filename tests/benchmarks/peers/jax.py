"""jax: the symbolic dimensions of `jax.export` in `jax.numpy.broadcast_shapes`.

Equalities are constraints of the scope, which jax takes before the first step. It takes every size to be at least 1.
"""

from __future__ import annotations

from benchmarks.peers.programs import Equal
from benchmarks.peers.running import Answer, Run

NAME = "jax.export"


def version() -> str:
    import jax

    return jax.__version__


class JaxRun(Run):
    refusals = (ValueError, TypeError)

    def symbols(self, program):
        import jax.numpy
        from jax import export

        self._broadcast = jax.numpy.broadcast_shapes
        self.constraints = [f"{s.left} == {s.right}" for s in program.steps if isinstance(s, Equal)]
        self.unreadable = ""
        try:
            found = export.symbolic_shape(", ".join(program.symbols), constraints=self.constraints)
        except ValueError as error:
            self.unreadable = str(error)
            found = export.symbolic_shape(", ".join(program.symbols))
        return dict(zip(program.symbols, found, strict=True))

    def operand(self, sizes):
        return sizes

    def broadcast(self, left, right):
        if self.unreadable:
            raise ValueError(self.unreadable)
        return self._broadcast(left, right)

    def equal(self, left, right):
        """Nothing: the scope has it."""

    def answer(self):
        outputs = [[str(size) for size in output] for output in self.broadcasts()]
        assumed = [f"{name} >= 1" for name in self.program.symbols]
        return Answer(outputs, self.constraints, assumed, refusal=self.refusal)


CONTESTANTS = {NAME: JaxRun}
