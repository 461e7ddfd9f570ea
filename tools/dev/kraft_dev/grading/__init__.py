"""Grading the suite: broken references behind the adapter, and what notices them."""
