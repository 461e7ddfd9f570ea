"""TLC, the model checker of TLA+, used from Python.

`kraft_spec.tlc.specification` evaluates with it in this process (for trace checking);
`kraft_spec.tlc.model_check` runs it in a subprocess (for state spaces).
"""
