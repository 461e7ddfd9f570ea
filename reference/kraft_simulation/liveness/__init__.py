"""The liveness properties of the rule catalogue with bounds, for a cluster after its faults stop.

TLC checks the unbounded properties in all behaviours of small models (`Liveness.tla`), not in simulated runs.
Each property has a premise and a bound in virtual time.  The checks follow the catalogue's definitions: they use roles,
epochs, logs, links and messages, independently of the reference's decisions.
NoPingPong has no check of its own: if two voters that are a majority refuse each other forever, there is no leader,
which violates EventualLeader.
"""
