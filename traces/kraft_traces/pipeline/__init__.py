"""Many traces turned into verdicts, coverage and a report, on PySpark.

Nothing here is imported by the rest of the package, and only the modules that need them import PySpark, PyArrow and
the libraries of the report: they come with the extra `pipeline`.

The stages, each a transformation of tables that `schemas` describes: `ingest` or `generate`, `validate`, `coverage`,
`report`; `sweep` is `generate` and `validate` in one, for runs that nobody wants to keep.
"""
