"""What is said of a model that was checked: findings, words, pages, data, and the model with its shapes."""
