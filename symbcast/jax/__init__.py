"""Functions of JAX, run with dimensions that are sizes of ours: for which sizes they work."""

from importlib.util import find_spec

from symbcast.errors import MissingExtraError

if find_spec("jax") is None:
    raise MissingExtraError("symbcast.jax", "jax")

from symbcast.jax.report import JaxReport
from symbcast.jax.trace import trace

__all__ = ["JaxReport", "trace"]
