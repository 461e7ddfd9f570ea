"""Inference of the hidden events of opaque replicas from their captured messages, by searching the model.

An opaque replica is one of which only messages are captured.
The result is a kraft-trace/1, which the ordinary checker checks.  So a wrong guess can make a right run look wrong, but
never a wrong run right.
"""
