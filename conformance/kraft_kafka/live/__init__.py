"""Tests of running implementations from outside: cases, vectors, recordings, and their judging."""
