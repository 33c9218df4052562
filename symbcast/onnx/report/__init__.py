"""Reports on checked models: findings, words, pages, data, and the model annotated with shapes."""
