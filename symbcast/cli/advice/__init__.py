"""What the user of a command may have meant: commands, options, values and files under other names or unquoted."""
