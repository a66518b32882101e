"""What columns tell of the classes: functions of a problem and some columns that return arrays."""
