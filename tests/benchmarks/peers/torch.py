"""torch: the `SymInt` of its `ShapeEnv` in `torch.broadcast_shapes`, and `torch._check` for equalities.

Backed sizes are those that torch.compile traces with: each has the size of the example, and what is found out of it
becomes a guard. Unbacked ones have none, and what is found out becomes an assertion at run time.
"""

from __future__ import annotations

from benchmarks.peers.running import Answer, Run

BACKED, UNBACKED = "torch, backed", "torch, unbacked"


def version() -> str:
    import torch

    return torch.__version__


class _TorchRun(Run):
    @property
    def refusals(self):
        from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

        return (RuntimeError, ValueError, GuardOnDataDependentSymNode)

    def symbols(self, program):
        import torch
        from torch.fx.experimental.symbolic_shapes import ShapeEnv

        self._broadcast, self._check = torch.broadcast_shapes, torch._check
        self.env = ShapeEnv()
        return {name: self.size(name, hint) for name, hint in program.hints.items()}

    def size(self, name, hint):
        raise NotImplementedError

    def operand(self, sizes):
        return sizes

    def broadcast(self, left, right):
        return self._broadcast(left, right)

    def equal(self, left, right):
        self._check(left == right)

    def answer(self):
        """Return the guards and run-time assertions, and the ranges that torch has of the sizes."""
        env = self.env
        names = {n if isinstance(size, int) else str(size.node._expr): n for n, size in self.sizes.items()}
        outputs = [[str(size) for size in output] for output in self.broadcasts()]
        conditions = [f"{name} == {size}" for name, size in self.sizes.items() if isinstance(size, int)]
        conditions += [str(guard.expr) for guard in env.guards]
        conditions += [str(a.expr) for asserts in env.deferred_runtime_asserts.values() for a in asserts]
        for symbol, held in env.var_to_range.items():
            if str(symbol) in names and held.lower > 0:
                conditions.append(f"{symbol} >= {held.lower}")
        told = {f"0 <= {symbol}" for symbol in names}
        found = [c for c in dict.fromkeys(conditions) if c not in told]
        return Answer(outputs, found, names=names, refusal=self.refusal, hinted=self.hinted)


class BackedRun(_TorchRun):
    hinted = True

    def size(self, name, hint):
        from torch._dynamo.source import ConstantSource
        from torch.fx.experimental.symbolic_shapes import DimDynamic

        source = ConstantSource(name)
        symbol = self.env.create_symbol(hint, source=source, dynamic_dim=DimDynamic.DYNAMIC)
        return self.env.create_symintnode(symbol, hint=hint, source=source)


class UnbackedRun(_TorchRun):
    hinted = False

    def size(self, name, hint):
        size = self.env.create_unbacked_symint()
        self._check(size >= 0)
        return size


CONTESTANTS = {BACKED: BackedRun, UNBACKED: UnbackedRun}
