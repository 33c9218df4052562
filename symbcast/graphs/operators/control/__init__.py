"""Handle branches, loops and scans."""
