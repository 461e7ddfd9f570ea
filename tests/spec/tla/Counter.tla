---- MODULE Counter ----
\* Toy of the bridge's tests: `Width` counters up to `Limit`, one of them raised at a time.
EXTENDS Naturals
CONSTANTS Width, Limit
VARIABLES counts, last
vars == <<counts, last>>

Index == 1..Width

Init == counts = [i \in Index |-> 0] /\ last = 0

Raise(i) ==
    /\ counts[i] < Limit
    /\ counts' = [counts EXCEPT ![i] = @ + 1]
    /\ last' = i

Reset ==
    /\ \A i \in Index: counts[i] = Limit
    /\ counts' = [i \in Index |-> 0]
    /\ last' = 0

Idle == FALSE /\ UNCHANGED vars

Next == (\E i \in Index: Raise(i)) \/ Reset \/ Idle

\* Without Reset the last state has no successor.
NextWithoutReset == \E i \in Index: Raise(i)

Spec == Init /\ [][Next]_vars
FairSpec == Spec /\ WF_vars(Next)

TypeOk == counts \in [Index -> 0..Limit] /\ last \in 0..Width
NeverFull == \E i \in Index: counts[i] < Limit
\* A step-wise property: a counter never goes down (Reset breaks it).
NeverLower == [][\A i \in Index: counts'[i] >= counts[i]]_vars
OneAtATime == [][\A i \in Index: counts'[i] # counts[i] => (last' = i \/ last' = 0)]_vars
EventuallyFull == <>(\A i \in Index: counts[i] = Limit)
\* TLC cannot evaluate this one.
Broken == counts[Width + 1] = 0
====
