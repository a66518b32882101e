"""What a user has becomes a Problem: validated columns, class codes, sub-problems."""
