"""What a user has -> Problem: validated columns, class codes, sub-problems."""
