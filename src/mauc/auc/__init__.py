"""The engine: AUCs of all features on all class pairs, and of classifier scores."""
