"""Consensus of a selector over halves of the samples: features that are chosen again and again."""
