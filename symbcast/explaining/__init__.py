"""What makes an explanation: words, the table, evidence, and fixes that were asked again."""
