"""Trace JAX functions with symbolic sizes, to find the sizes at which they work."""

from importlib.util import find_spec
from typing import TYPE_CHECKING

from symbcast.core.advice import missing_name_advice
from symbcast.errors import MissingExtraError

if find_spec("jax") is None:
    raise MissingExtraError("symbcast.jax", "jax")

from symbcast.jax.trace import JaxReport, trace

__all__ = ["JaxReport", "trace"]


def __dir__() -> list[str]:
    return sorted(__all__)


if not TYPE_CHECKING:  # a type checker is to see the names above, and to refuse others
    __getattr__ = missing_name_advice(
        __name__,
        __all__,
        "jit check make_jaxpr eval_shape shape_eval export analyze run explore -> trace(...)",
        "Report TraceReport -> JaxReport",
    )
