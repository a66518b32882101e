"""What GreedyMAUC measures: a Problem in, effects on class pairs and scores of features out."""
