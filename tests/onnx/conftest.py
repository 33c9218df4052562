"""A folder of small models."""

from __future__ import annotations

from pathlib import Path

import pytest
from model_files import HEAD, MODELS
from onnx.parser import parse_model


@pytest.fixture
def models(tmp_path, monkeypatch):
    """Write the models to a folder, and work in it."""
    monkeypatch.chdir(tmp_path)
    for name, text in MODELS.items():
        Path(f"{name}.onnx").write_bytes(parse_model(HEAD + text).SerializeToString())
    Path("broken.onnx").write_text("hello")
    return tmp_path
