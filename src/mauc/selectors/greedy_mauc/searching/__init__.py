"""The greedy search: effects and scores in, features in the order of choice out."""
