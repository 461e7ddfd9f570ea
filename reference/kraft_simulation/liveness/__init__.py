"""The liveness properties of the rule catalogue in bounded form: what a cluster owes after its faults stop.

Each property has a module that says when it is owed and how long its keeping may take, in virtual time.
They are written from the catalogue's words: they look at roles, epochs, logs, links and messages, and share no
judgement with the reference.
"""
