"""Attributes that ONNX Runtime's kernels require on creation, although the schemas do not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NEEDED: Mapping[str, tuple[tuple[str, ...], ...]] = {
    ":RegexFullMatch": (("pattern",),),
    "ai.onnx.ml:FeatureVectorizer": (("inputdimensions",),),
    "ai.onnx.ml:Imputer": (("imputed_value_floats", "imputed_value_int64s"),),
    "ai.onnx.ml:LinearClassifier": (("coefficients",), ("intercepts",)),
    "ai.onnx.ml:LinearRegressor": (("coefficients",),),
    "ai.onnx.ml:Scaler": (("scale",), ("offset",)),
    "ai.onnx.ml:SVMClassifier": (("coefficients",),),
    "ai.onnx.ml:SVMRegressor": (("coefficients",), ("rho",)),
    "ai.onnx.ml:ZipMap": (("classlabels_int64s", "classlabels_strings"),),
}
"""By operator, groups of attributes: exactly one of each group must be there, and not empty."""

CHOICES: Mapping[str, tuple[str, tuple[bytes, ...]]] = {
    ":BitShift": ("direction", (b"LEFT", b"RIGHT")),
    ":TfIdfVectorizer": ("mode", (b"TF", b"IDF", b"TFIDF")),
}
"""By operator, an attribute and its allowed texts."""


PARAMETERS = frozenset(("ai.onnx.ml:SVMClassifier", "ai.onnx.ml:SVMRegressor"))
"""Operators whose kernels read the attribute ``kernel_params``."""

_CHECKED = frozenset({*NEEDED, *CHOICES, *PARAMETERS, ":LRN"})


def problem_of(node: Any, name: str) -> str | None:
    """Return a kernel's error about the attributes of a node; None if it accepts them.

    ``name`` is that of the operator, after its domain.
    """
    if name not in _CHECKED:
        return None
    held = {a.name: a for a in node.attribute}
    for group in NEEDED.get(name, ()):
        if sum(_is_full(held.get(n)) for n in group) != 1:
            return f"{node.op_type} needs {'one of ' if len(group) > 1 else ''}{', '.join(group)}"
    attribute, texts = CHOICES.get(name, ("", ()))
    if attribute in held and held[attribute].s not in texts:
        return f"{attribute} of {node.op_type} must be one of {', '.join(t.decode() for t in texts)}"
    if name in PARAMETERS:
        given = held.get("kernel_params")
        if given is None or len(given.floats) not in (0, 3):
            return f"{node.op_type} needs 3 kernel_params, or an empty list of them"
    if name == ":LRN" and not (held["size"].i > 0 and held["size"].i % 2):
        return "the size of LRN must be odd and positive"
    return None


def _is_full(attribute: Any | None) -> bool:
    return attribute is not None and bool(attribute.s or attribute.floats or attribute.ints or attribute.strings)
