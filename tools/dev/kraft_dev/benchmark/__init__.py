"""The measurements behind `python -m kraft_dev bench`: functions that return what they measured as values."""
