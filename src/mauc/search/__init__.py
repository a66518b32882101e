"""What draws features from measures: lists with schedules, and greedy searches."""
