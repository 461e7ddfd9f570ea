"""The processes of a run of the pipeline."""
