"""Tier F4: products of sizes and symbolic divisors."""
