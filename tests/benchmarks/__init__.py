"""How long questions take, and how others answer them. (A package, for others install one of this name.)"""
