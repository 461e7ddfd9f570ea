"""Many traces turned into verdicts, coverage and a report, on PySpark.

Nothing here is imported by the rest of the package, and only the modules that need them import PySpark, PyArrow and
the libraries of the report: they come with the extra `pipeline`.

The stages, each of which makes tables that `schemas` describes: `ingest`, `coverage`, `report`; `sweep` does the
work of the first two for simulated runs that nobody wants to keep.
"""
