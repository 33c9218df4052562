"""Functions of JAX, run with dimensions that are sizes of ours: for which sizes they work."""

from symbcast.jax.report import JaxReport
from symbcast.jax.trace import trace

__all__ = ["JaxReport", "trace"]
