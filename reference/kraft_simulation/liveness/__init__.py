"""The liveness properties of the rule catalogue in bounded form: what a cluster owes after its faults stop.

TLC checks the same of all behaviours of small models (`Liveness.tla`), and never of a simulated run.
Each property says when it is owed and how long keeping it may take, in virtual time.
They are written from the catalogue's words: they look at roles, epochs, logs, links and messages, and share no
judgement with the reference.
NoPingPong has no watcher: two voters that refuse each other for ever, and are a majority, have no leader, which
violates EventualLeader.
"""
