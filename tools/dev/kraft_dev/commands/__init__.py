"""The commands of `python -m kraft_dev`, a module each."""
