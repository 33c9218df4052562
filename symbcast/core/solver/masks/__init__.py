"""Tier F1: names, integers, joins and equalities, on bit masks and by union-find."""
