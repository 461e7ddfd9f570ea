"""Running implementations: seen from outside, recorded, judged."""
