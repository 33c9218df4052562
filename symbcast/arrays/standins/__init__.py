"""Stand-ins for modules and names while a function is traced."""
