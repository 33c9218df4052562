"""symbcast itself: a `symbcast.ShapeEnv`; the time includes the minimal condition."""

from __future__ import annotations

import symbcast as sb
from benchmarks.peers.running import Answer, Run

NAME = "symbcast"


def version() -> str:
    return sb.__version__


class SymbcastRun(Run):
    refusals = (sb.SymbcastError,)

    def symbols(self, program):
        self.env = sb.ShapeEnv()
        return {name: self.env.symbol(name) for name in program.symbols}

    def operand(self, sizes):
        return sb.shape(sizes)

    def broadcast(self, left, right):
        return self.env.broadcast(left, right)

    def equal(self, left, right):
        self.env.equal(left, right)

    def finish(self):
        self.condition = self.env.condition

    def answer(self):
        if self.refusal:
            return Answer([], refusal=self.refusal)
        outputs = [[str(size) for size in output] for output in self.broadcasts()]
        return Answer(outputs, [] if self.condition == sb.Condition(True) else [str(self.condition.sympy)])


CONTESTANTS = {NAME: SymbcastRun}
