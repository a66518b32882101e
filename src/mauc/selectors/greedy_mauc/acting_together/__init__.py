"""Pairs of features that tell classes apart only together."""
