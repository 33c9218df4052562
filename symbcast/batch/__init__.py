"""Checking many files on several processes or machines: submission, time limits, streamed results, a journal."""
