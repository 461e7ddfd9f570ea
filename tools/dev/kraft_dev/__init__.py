"""Development tools of kraft-spec: mutants, replay of the model's edges, runs of Apache Kafka, benchmarks.

`vectors`, `wire`, `schemas` and `samples` make the data that the packages carry.

`python -m kraft_dev` lists the commands. No package that is installed imports this one.
"""
