"""Errors that stop a run of the pipeline, with the expectation and the next step."""


class PipelineError(Exception):
    """A run cannot start or continue."""


class MasterUnreachableError(PipelineError):
    """The Spark master cannot be reached."""


class SparkError(PipelineError):
    """Spark does not start, or a job fails permanently."""


class OutputError(PipelineError):
    """The output folder does not fit the command."""


class InputError(PipelineError):
    """There is nothing to read, or it has changed since the run began."""


class QueryError(PipelineError):
    """A query is invalid, or cannot be computed."""


class AccountingError(PipelineError):
    """Lines or traces are missing in the tables, a defect of the pipeline."""
