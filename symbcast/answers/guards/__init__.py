"""Conditions as guards in other languages: each a pure function of a condition and the names of its sizes."""

from symbcast.answers.guards.cpp import cpp_source
from symbcast.answers.guards.mlir import mlir_source
from symbcast.answers.guards.python import Guard, Undecided, python_guard, python_source
from symbcast.answers.guards.smtlib import smtlib_source
from symbcast.answers.guards.stablehlo import Requirement, requirements_of, stablehlo_source

__all__ = [
    "Guard",
    "Requirement",
    "Undecided",
    "cpp_source",
    "mlir_source",
    "python_guard",
    "python_source",
    "requirements_of",
    "smtlib_source",
    "stablehlo_source",
]
