---- MODULE Chatty ----
\* Toy of the bridge's tests: prints while it is parsed and evaluated.
EXTENDS Naturals, TLC
VARIABLE x
ASSUME PrintT("an assumption prints")
Init == PrintT("the initial predicate prints") /\ x = 0
Next == PrintT("an action prints") /\ x' = x + 1
====
