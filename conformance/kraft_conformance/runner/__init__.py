"""The runner: asks an adapter what its implementation does in each vector, and says where that differs.

`process` keeps the adapter's process, `session` speaks the protocol with it, `comparison` holds a step to what was
expected, `running` runs one vector, `campaign` many; `outcome` has the statuses.
"""
