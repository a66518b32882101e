"""Naive Bayes with normal densities."""

from mauc.classifiers.naive_bayes.naive_bayes import NormalNaiveBayes

__all__ = ["NormalNaiveBayes"]
