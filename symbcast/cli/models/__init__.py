"""How `symbcast model` checks one file or many."""
