"""Measurements behind `python -m kraft_dev bench`, as functions that return figures."""
