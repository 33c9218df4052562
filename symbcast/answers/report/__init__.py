"""What a program, or a front end's model, requires: findings of no framework, and the formats that tell them."""
