"""The child process that reads files of models first, because OpenVINO's readers end the process on some.

It loads this module and OpenVINO only, so that it is ready when the parent process has loaded both and the rest.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from symbcast.core.isolation import DiedError, IsolatedFunction, TimedOutError
from symbcast.errors import ModelError

# Seconds; only a guard against a damaged file on which a reader hangs.
_WAIT = 3600


def load_openvino() -> None:
    """Load OpenVINO, as the child process does while its parent does so."""
    import openvino  # noqa: F401


def probe(source: str) -> str:
    """Read a file and forget it; return why that failed, or an empty text."""
    import openvino

    try:
        openvino.Core().read_model(source)
    except RuntimeError as error:
        return next((line.strip() for line in reversed(str(error).splitlines()) if line.strip()), str(error))
    return ""


_PROBED = IsolatedFunction(probe, _WAIT, load_openvino)


def start_reader(source: str) -> None:
    """Start the child process for a file, unless OpenVINO is loaded already or missing: then nothing is to wait for."""
    if "openvino" not in sys.modules and Path(source).is_file() and find_spec("openvino") is not None:
        _PROBED.child().launch()


def read_model(openvino: Any, source: str) -> Any:
    """Return the model in a file that a child process could read; raises `ModelError` if it could not."""
    again = "it may be truncated; convert the model again"
    try:
        problem = _PROBED(str(Path(source).absolute()))
    except DiedError:
        hint = "check it by symbcast.onnx" if source.endswith(".onnx") else again
        raise ModelError(source, "OpenVINO's reader crashes on it", hint) from None
    except TimedOutError as error:
        raise ModelError(source, f"OpenVINO's reader {error}", again) from None
    if problem:
        raise ModelError(source, f"OpenVINO cannot read it: {problem}", again)
    return openvino.Core().read_model(source)
