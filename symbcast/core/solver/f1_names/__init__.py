"""Tier F1: names, integers, joins and equalities.

Bit masks decide joins; union-find decides all relations of sizes.
"""
