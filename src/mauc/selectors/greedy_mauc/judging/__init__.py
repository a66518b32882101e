"""What a choice is worth: predicted MAUC, and features that could replace chosen ones."""
