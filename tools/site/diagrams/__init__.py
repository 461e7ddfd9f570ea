"""The pictures of the site, each drawn from what it shows: the role table, recorded runs, proofs.

Every generator is a function from data to the text of an SVG element.
"""
