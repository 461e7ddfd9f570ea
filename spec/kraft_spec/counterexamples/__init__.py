"""TLC's counterexamples in words: each step with its action and changes."""

from kraft_spec.counterexamples.counterexample import Counterexample, Step, in_words, text_of

__all__ = ["Counterexample", "Step", "in_words", "text_of"]
