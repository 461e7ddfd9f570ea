"""The stage `report`: the tables in figures, as JSON and as one page that needs nothing else to be looked at."""
