"""Files and modules that are not exported programs: each is refused with what it is, and none is unpickled."""

from __future__ import annotations

import pickle
from pathlib import Path
from zipfile import ZipFile

import pytest

import symbcast as sb
from symbcast.errors import ModelError

torch = pytest.importorskip("torch")
pytest.importorskip("torch.export")
pytestmark = pytest.mark.filterwarnings("ignore")
RAN: list[str] = []


class Harmful:
    """Runs code when it is unpickled."""

    def __reduce__(self):
        return RAN.append, ("ran",)


def linear():
    return torch.nn.Linear(3, 2)


def script(path):
    torch.jit.save(torch.jit.trace(linear(), torch.zeros(1, 3)), path)


def compiled(path):
    with ZipFile(path, "w") as archive:
        archive.writestr("model/data/aotinductor/model/cabc.wrapper.so", b"")
        archive.writestr("model/archive_format", b"pt2")


FILES = {
    "TorchScript": (script, "TorchScript file.*torch.export.save"),
    "weights": (lambda path: torch.save(linear().state_dict(), path), "torch.save.*weights_only=True"),
    "a module": (lambda path: torch.save(linear(), path), "torch.save.*not loaded"),
    "an old file": (lambda path: torch.save(linear(), path, _use_new_zipfile_serialization=False), "torch.save"),
    "code": (lambda path: torch.save(Harmful(), path), "torch.save.*any code"),
    "a pickle": (lambda path: Path(path).write_bytes(pickle.dumps(Harmful())), "torch.save.*any code"),
    "AOTInductor": (compiled, "AOTInductor package.*exported program"),
    "nothing": (lambda path: Path(path).write_bytes(b""), "torch cannot read it"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_says_what_it_is(name, tmp_path):
    write, message = FILES[name]
    path = str(tmp_path / "model.pt")
    write(path)
    with pytest.raises(ModelError, match=message):
        sb.torch.check(path)
    assert not RAN


def test_a_compiled_module_is_the_module_in_it():
    shapes = {"input": {0: torch.export.Dim("n"), 1: torch.export.Dim("m")}}
    wanted = sb.torch.check(linear(), (torch.zeros(2, 3),), dynamic_shapes=shapes)
    found = sb.torch.check(torch.compile(linear(), backend="eager"), (torch.zeros(2, 3),), dynamic_shapes=shapes)
    assert (found.condition, found.suggest().shapes) == (wanted.condition, wanted.suggest().shapes)


def test_a_traced_graph_is_exported():
    for traced in (torch.fx.symbolic_trace(linear()), torch.export.export(linear(), (torch.zeros(2, 3),)).module()):
        assert sb.torch.check(traced, (torch.zeros(2, 3),)).shapes


def test_a_script_module_says_what_to_do():
    for module in (torch.jit.trace(linear(), torch.zeros(1, 3)), torch.jit.script(linear())):
        with pytest.raises(ModelError, match=r"TorchScript.*the module that it was made from"):
            sb.torch.check(module, (torch.zeros(2, 3),), dynamic_shapes={"input": {0: torch.export.Dim("n")}})


def test_a_module_without_its_arguments_asks_for_them():
    for module in (linear(), torch.fx.symbolic_trace(linear()), torch.compile(linear(), backend="eager")):
        with pytest.raises(ModelError, match=r"needs the argument input.*args"):
            sb.torch.check(module)
