"""What a run of the pipeline cannot do: each says what was expected and what to do about it."""


class PipelineError(Exception):
    """A run stops."""


class MasterUnreachableError(PipelineError):
    """No Spark master answers where it should."""


class SparkError(PipelineError):
    """Spark does not start, or a job fails for good."""


class OutputError(PipelineError):
    """The output folder is not as the command needs it."""


class InputError(PipelineError):
    """There is nothing to read, or it has changed since the run began."""


class QueryError(PipelineError):
    """A query is not one, or cannot be answered."""


class AccountingError(PipelineError):
    """Lines or traces are unaccounted for: a defect of the pipeline."""
