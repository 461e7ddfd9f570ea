"""Commands of `python -m kraft_dev`, one module each."""
