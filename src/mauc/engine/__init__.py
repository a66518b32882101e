"""Numbers of plain arrays: sorts, sweeps, AUCs of class pairs, moments, exact means."""
