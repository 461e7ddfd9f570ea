"""Probes: is everything that can happen reached, by simulation and by the model?"""
