"""Spark pipeline that turns many traces into verdicts, coverage and a report.

No other package imports it.  PySpark, PyArrow and the libraries of the report come with the extra `pipeline`.

The stages `ingest`, `coverage` and `report` make the tables of `schemas`.  `sweep` replaces the first two for simulated
runs whose traces are not kept.
"""
