"""Many files, checked by processes and machines: submission, time limits, results as they come, a journal."""
