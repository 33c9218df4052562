"""Functions exported, and runs of their graphs without guards: whether one runs at some sizes, and all its shapes."""

from __future__ import annotations

import torch

import symbcast as sb


class Recording(torch.fx.Interpreter):
    """Runs a graph on the CPU and keeps the shapes of its values."""

    def __init__(self, module):
        super().__init__(module)
        self.shapes = {}
        self.at = ""

    def run_node(self, node):
        self.at = node.name
        found = super().run_node(node)
        if isinstance(found, torch.Tensor):
            self.shapes[node.name] = tuple(found.shape)
        elif isinstance(found, (tuple, list)):
            for n, part in enumerate(found):
                if isinstance(part, torch.Tensor):
                    self.shapes[f"{node.name}.{n}"] = tuple(part.shape)
        return found


def flat_arguments(program, args, kwargs):
    """Return all arguments of the graph: what the program holds, and what the user gives."""
    given = iter(torch.utils._pytree.tree_leaves((args, kwargs)))
    held = {**program.state_dict, **program.constants}
    return [next(given) if s.kind.name == "USER_INPUT" else held[s.target] for s in program.graph_signature.input_specs]


def run(program, arguments):
    """Return the shapes of all values of a graph, or None and the node that fails with its error."""
    recording = Recording(program.graph_module)
    try:
        with torch.no_grad():
            recording.run(*flat_arguments(program, *arguments))
    except Exception as error:
        return None, f"{recording.at}: {type(error).__name__}: {str(error).partition(chr(10))[0]}"[:300]
    return recording.shapes, ""


def checked(function, *args, shapes, **options):
    """Return the report about a function of tensors, some of whose axes are dynamic."""

    class Module(torch.nn.Module):
        def forward(self, *args):
            return function(*args)

    program = torch.export.export(Module(), args, dynamic_shapes=(shapes,))
    return sb.torch.check(program, **options)


def dynamic(*ranks):
    """Return dynamic shapes that leave all axes of tensors of some ranks to torch."""
    return tuple(dict.fromkeys(range(rank), torch.export.Dim.AUTO) for rank in ranks)
