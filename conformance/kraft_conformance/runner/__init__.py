"""The runner: runs vectors on an adapter and reports the differences.

`process` has the adapter's process, `session` the protocol, `comparison` compares a step with the expected one,
`running` runs a vector, `campaign` many; `outcome` has the statuses.
"""
