"""Sources of columns: files and arrays that are read a few columns at a time."""
