"""Stage `report`: figures of the tables, as JSON and as a self-contained HTML page."""
