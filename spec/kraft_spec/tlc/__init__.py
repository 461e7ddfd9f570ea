"""TLC, the model checker of TLA+, used from Python.

`kraft_spec.tlc.specification` asks it questions in this process (for trace checking);
`kraft_spec.tlc.model_check` runs it in a process of its own (for state spaces).
"""
