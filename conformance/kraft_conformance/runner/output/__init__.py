"""Reports of a run, one module for each format.

`results` has the values of every report; `lines` writes them as JSON lines and reads them again, so that the other
reports can be made at once or later, with the same bytes; `files` lists the formats and writes the files.
"""
