"""Trace JAX functions with symbolic sizes, to find the sizes at which they work."""

from importlib.util import find_spec

from symbcast.errors import MissingExtraError

if find_spec("jax") is None:
    raise MissingExtraError("symbcast.jax", "jax")

from symbcast.jax.report import JaxReport
from symbcast.jax.trace import trace

__all__ = ["JaxReport", "trace"]
