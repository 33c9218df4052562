"""Programs.

One broadcast, or many operations over the same sizes; the public classes are `symbcast.answers.public`.
"""
