"""What a run leaves behind: one module for each format.

`results` is all that they are made of, `lines` keeps it as JSON lines and reads it again, so that each of the others
can be made at once or later, with the same bytes; `files` knows which there are and writes them.
"""
