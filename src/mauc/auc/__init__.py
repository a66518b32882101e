"""The engine: AUCs of all features on all class pairs, and of classifier scores."""

from mauc.auc.pair_auc import feature_pair_auc

__all__ = ["feature_pair_auc"]
