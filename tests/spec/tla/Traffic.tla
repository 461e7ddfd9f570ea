---- MODULE Traffic ----
\* Toy of the bridge's tests: a trace module over two lamps, with an event that the test binds.
EXTENDS Naturals, Sequences, FiniteSets
CONSTANTS Lamps
VARIABLES colour, switches, event
vars == <<colour, switches, event>>

Init ==
    /\ colour = [l \in Lamps |-> "red"]
    /\ switches = 0
    /\ event = [name |-> "init"]

OthersRed(l) == \A other \in Lamps \ {l}: colour[other] = "red"

\* rule: one lamp at a time
Green(l) ==
    /\ colour[l] = "red"
    /\ OthersRed(l)
    /\ LET limit == 10
           raised == switches + 1
       IN  /\ switches < limit
           /\ switches' = raised
    /\ colour' = [colour EXCEPT ![l] = "green"]

Red(l) ==
    /\ colour[l] = "green" \* only a green lamp turns red
    /\ IF switches > 5
       THEN switches' = switches
       ELSE switches' = switches + 1
    /\ colour' = [colour EXCEPT ![l] = "red"]

Observed ==
    /\ colour'[event.lamp] = event.colour
    /\ switches' = event.switches

TurnGreen == event.name = "TurnGreen" /\ Green(event.lamp) /\ Observed /\ UNCHANGED event
TurnRed == event.name = "TurnRed" /\ Red(event.lamp) /\ Observed /\ UNCHANGED event
TurnAny ==
    /\ \E l \in Lamps: Green(l) /\ Observed
    /\ UNCHANGED event
Either ==
    /\ CASE switches = 0 -> Red(event.lamp)
         [] OTHER -> Green(event.lamp) \/ Red(event.lamp)
    /\ UNCHANGED event
Misspelt == event.name = "Misspelt" /\ event.nothing = 1 /\ UNCHANGED vars

Next == TurnGreen \/ TurnRed \/ TurnAny \/ Either \/ Misspelt

OneGreen == Cardinality({l \in Lamps: colour[l] = "green"}) <= 1
NoGreen == /\ switches >= 0
           /\ \A l \in Lamps: colour[l] = "red"
SwitchesGrow == [][switches' >= switches]_vars
SwitchesFixed == [][switches' = switches]_vars
Summary == [colour |-> colour, green |-> {l \in Lamps: colour[l] = "green"}, upTo |-> 0..switches]
Raised == switches' - switches
====
