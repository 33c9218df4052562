"""The requirements of a program or a front end's model: framework-independent findings, and report formats."""
