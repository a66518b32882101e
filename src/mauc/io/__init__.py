"""Data in and out: files, arrays and collections as columns, data sets by name, reduced data."""
