"""The paper reproduced with mauc, and gone past: scripts, plans, published values and pages."""
