"""Tier F4: products of names and symbolic divisors."""
