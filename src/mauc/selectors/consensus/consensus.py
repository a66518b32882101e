"""ConsensusSelector: what a selector chooses from many halves of the samples, made one ranking."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from mauc.checks import check_choice, check_int
from mauc.data.validate import check_generator
from mauc.exceptions import MaucError
from mauc.memory import check_memory
from mauc.parallel import count_threads, run_blocks
from mauc.registry import make_selector
from mauc.selectors.base import RankingSelector, single_ranking
from mauc.selectors.consensus.error_bound import ErrorControl
from mauc.selectors.consensus.rules import (
    Counts,
    complementary_halves,
    rank_by_counts,
    rank_near_ties,
)
from mauc.selectors.greedy_mauc.estimator import GreedyMAUC
from mauc.selectors.greedy_mauc.prediction import AlternativesMixin, Exchanges, Prediction
from mauc.selectors.greedy_mauc.prior import find_prior, resolve_prior
from mauc.selectors.greedy_mauc.search import condition_on, measure_model, state_of
from mauc.stability import stability

#: the rules, and what each says of a feature when it is chosen
RULES = {"frequency": "frequency", "rank": "mean rank", "loss": "gain"}
_MAX_LOWER = 512  # features whose MAUC is predicted
_SMALL_BYTES = 2**28  # of memory, that need not be asked for


class _Options(NamedTuple):
    selector: Any  # unfitted
    n_pairs: int
    rule: str


class _Half(NamedTuple):
    ranking: np.ndarray
    together: set[int]  # features that act together


class ConsensusSelector(AlternativesMixin, RankingSelector):
    r"""Select features that a selector chooses again and again from halves of the samples.

    The samples are divided at random into two halves, each with half of every class, and both
    halves are ranked; this is repeated (complementary pairs subsampling [1]_). How often a feature
    is chosen tells how far its choice depends on the samples at hand. A rule makes one ranking of
    all.

    Parameters
    ----------
    selector : str or RankingSelector, default="greedy"
        Any selector of this package, or its short name (``mauc methods``). Its ``n_jobs`` and
        ``verbose`` are not used.
    n_features_to_select : int, float, "all", "auto", "predicted" or None, default=None
        How many features to select, as for `selector`; None takes that of `selector`.
    n_resamples : int, default=50
        Halves that are ranked; an even number.
    rule : {"auto", "frequency", "rank", "loss"}, default="auto"
        How the ranking is made; of k features by the first k of every half:

        - "frequency": by the share of the halves that chose the feature, then by its mean rank.
        - "rank": by the mean rank over the halves, k + 1 if it is not among their first k.
        - "loss": the search of `GreedyMAUC` on all samples, but of the features that gain nearly as
          much as the best one, the one that most halves chose; for `GreedyMAUC` without
          `interactions` alone.
        - "auto": "loss" where that is possible, otherwise "frequency".
    categorical_features : array-like of bool, int or str, optional
        Nominal columns, as a mask, numbers or names, where `selector` takes them.
    random_state : int, RandomState or None, default=None
        For the halves, and for `selector` if it draws and has no seed of its own.
    n_jobs : int, optional
        Threads, which rank halves side by side; None is 1 unless a joblib context says otherwise,
        -1 is all cores. The result does not depend on it.
    verbose : bool, default=False
        Whether to show on standard error how far a fit is that takes longer than two seconds.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_selected,)
        Selected columns, in the order of selection; the first 10 are the choice for 10.
    support_ : ndarray of shape (n_features,), bool
        Mask of the selected columns.
    frequencies_ : ndarray of shape (n_features,)
        Share of the halves that have a feature among their first n_selected.
    mean_ranks_ : ndarray of shape (n_features,)
        Mean rank over the halves, n_selected + 1 where a feature is not among the first.
    rankings_ : ndarray of shape (n_resamples, n_selected)
        Of the halves; rows 2i and 2i + 1 are of complementary halves.
    stability_ : mauc.stats.Stability
        How alike the choices of the halves are, with an interval (Nogueira, Sechidis and Brown);
        NaN if all features are selected.
    error_control_ : ErrorControl
        Upper bounds on the expected number of wrong features among those of high frequency (Shah
        and Samworth); it prints as a table, ``error_control_.at(0.8)`` has those of one threshold.
    alternatives_ : Alternatives
        For each selected feature those that could replace it, in the model of `GreedyMAUC`; none
        for a feature that acts together with another one in a half (`interactions`).
    predicted_mauc_ : ndarray of shape (n_selected,)
        MAUC to expect of the features so far, as in `GreedyMAUC`, on all samples; of the features
        without products.
    scores_ : ndarray of shape (n_features,)
        The frequency of a feature, averaged over choices of 1 to n_selected features.
    trace_ : SelectionTrace
        For each step the feature and what the rule says of it: its frequency among the first so
        many of the halves, its mean rank there, or its gain. Its frame has the frequency and the
        mean rank at the end, too.
    pair_auc_ : ndarray of shape (n_selected, n_pairs)
        Folded AUC of the selected features, in the order of `ranking_`, on every class pair, of all
        samples.
    decomposition_ : Decomposition
        The sub-problem: the whole problem.
    subproblem_names_ : list of str
        Its name.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names; only for data frames with string column names.

    Notes
    -----
    A class of an odd number of samples gives one more to the one half or the other in turn. The
    sample of a class of one is in both halves, and a warning says so.

    "loss" looks at each step at the features that take away at least 9/10 of what the best one
    takes away of the loss of `GreedyMAUC` on all samples, with the options and the `prior` of
    `selector`. Which of them is best is mostly a matter of chance; the one that most halves have
    among their first k is taken. Whether ``prior="auto"`` grows trees goes by the number of all
    samples, for the halves, too.

    A higher stability has its price. Of choices of 10, 20 and 50 features on 20 data sets "loss" is
    more stable than `GreedyMAUC` in 44 of 55 cases, by 0.037 in the mean, and keeps its MAUC within
    0.003 in 49 (mean -0.0004, at worst -0.015); "frequency" is more stable in 53, by 0.118, and
    keeps MAUC in 35 (mean -0.0027, at worst -0.023): features that are alike share the votes of the
    halves, and weaker ones come before them (docs/beyond/consensus.md).

    Halves are dealt by a hash of the ranks of the values in a row, so that the order of the rows
    changes nothing where it changes nothing for `selector`: to the bit for `GreedyMAUC` and for
    what ranks by counts; sums of values may differ in their last bits.

    Time is that of `n_resamples` fits on half of the samples, and of one search on all. Where
    samples are few, most of it goes to the trees of `GreedyMAUC`; ``GreedyMAUC(prior=None)`` grows
    none. Memory is that of a fit on a half per thread. Of a source, all columns are read once per
    half.

    References
    ----------
    .. [1] R. D. Shah, R. J. Samworth, "Variable selection with error control: another look at
       stability selection", J. Royal Statistical Society B 75, 2013.
    .. [2] S. Nogueira, K. Sechidis, G. Brown, "On the Stability of Feature Selection Algorithms",
       JMLR 18(174), 2018.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from mauc import ConsensusSelector, GreedyMAUC
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selector = ConsensusSelector(GreedyMAUC(3), random_state=0).fit(X, y)
    >>> list(X.columns[selector.ranking_])
    ['flavanoids', 'color_intensity', 'proline']
    >>> selector.frequencies_[selector.ranking_].round(2)
    array([0.94, 0.96, 0.72])
    """

    _no_cluster = "it fits its selector on halves of the samples"

    def __init__(
        self,
        selector="greedy",
        n_features_to_select=None,
        *,
        n_resamples=50,
        rule="auto",
        categorical_features=None,
        random_state=None,
        n_jobs=None,
        verbose=False,
    ):
        self.selector = selector
        self.n_features_to_select = n_features_to_select
        self.n_resamples = n_resamples
        self.rule = rule
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def accepts(self):
        """What input the selector takes: what `selector` does, but no weights."""
        try:
            return self._inner().accepts._replace(weights=False)
        except MaucError:  # it is refused in fit
            return super().accepts

    @property
    def score_label(self):
        """What tables call the scores of the trace."""
        return RULES[self._chosen_rule(self._inner())]

    @property
    def _size_words(self):
        return self._inner()._size_words

    def _wanted_size(self):
        if self.n_features_to_select is None:
            return self._inner().n_features_to_select
        return self.n_features_to_select

    def _inner(self):
        """Return the selector that is fitted on halves, unfitted."""
        chosen = self.selector
        if isinstance(chosen, str):
            chosen = make_selector(chosen)
        if not isinstance(chosen, RankingSelector) or isinstance(chosen, ConsensusSelector):
            raise MaucError(
                f"selector must be a selector of mauc other than ConsensusSelector, such as "
                f'GreedyMAUC(), or its short name, such as "greedy", got {chosen!r}.'
            )
        return chosen

    def _chosen_rule(self, selector):
        rule = check_choice("rule", self.rule, ("auto", *RULES))
        has_loss = isinstance(selector, GreedyMAUC) and not selector.interactions
        return rule if rule != "auto" else "loss" if has_loss else "frequency"

    def check_options(self):
        """Return the checked parameters for `_rank`; raise a `MaucError` for a wrong one."""
        selector = self._inner()
        selector.check_options()
        check_generator(self.random_state)
        n_resamples = check_int("n_resamples", self.n_resamples, 2)
        if n_resamples % 2:
            raise MaucError(
                f"n_resamples must be even, as halves come in pairs, got {n_resamples}."
            )
        rule = self._chosen_rule(selector)
        name = type(selector).__name__
        if rule == "loss" and not isinstance(selector, GreedyMAUC):
            raise MaucError(
                f'rule must be "auto", "frequency" or "rank" for {name}: "loss" searches by what '
                f"GreedyMAUC minimises."
            )
        if rule == "loss" and selector.interactions:
            raise MaucError(
                'rule must be "auto", "frequency" or "rank" for GreedyMAUC with interactions=True: '
                '"loss" searches features without their products.'
            )
        if getattr(selector, "categorical_features", None) is not None:
            raise MaucError(
                f"categorical_features must be given to ConsensusSelector, not to its {name}."
            )
        if self.categorical_features is not None and not selector.accepts.nominal:
            raise MaucError(
                f"categorical_features must be None for {name}, which takes numbers only; encode "
                f"those columns first."
            )
        return _Options(selector, n_resamples // 2, rule)

    def _n_wanted(self, problem, X, y, sample_weight):
        if isinstance(self._wanted_size(), str) and self._wanted_size() == "predicted":
            alone = clone(self._inner())
            alone.set_params(n_features_to_select="predicted", n_jobs=self.n_jobs)
            n_most = alone._n_wanted(problem, X, y, None)
            return len(alone._rank(problem, n_most, alone.check_options()).selection.features)
        return super()._n_wanted(problem, X, y, sample_weight)

    def _rank(self, problem, n_wanted, options):
        self._check_memory(problem, n_wanted, options)
        rng = check_generator(self.random_state)
        halves = complementary_halves(problem, options.n_pairs, rng)
        seeds = rng.randint(2**31 - 1, size=len(halves))
        found = self._rank_halves(problem, n_wanted, options, halves, seeds)
        rankings = np.array([half.ranking for half in found])
        counts = Counts(rankings, problem.n_features)
        counts.extend(n_wanted)
        is_greedy = isinstance(options.selector, GreedyMAUC)
        model = measure_model(options.selector if is_greedy else GreedyMAUC(), problem, self.n_jobs)
        if options.rule == "loss":
            prior = find_prior(options.selector.prior, problem, model.scores, self.n_jobs)
            searched = model._replace(effects=model.effects.copy(), prior=prior)
            n_threads = count_threads(self.n_jobs)
            ranking, said = rank_near_ties(searched, rankings, n_wanted, n_threads=n_threads)
        else:
            ranking, said = rank_by_counts(rankings, problem.n_features, options.rule)
        given = condition_on(model, ranking)
        together = set().union(*(half.together for half in found))
        self._exchanges = Exchanges(state_of(model, given), ranking, together)
        n_lower = min(given.step, _MAX_LOWER)
        lower = given.lower[:n_lower, :n_lower]
        self._prediction = Prediction(ranking, lower, model.scores, model.shrinkage)
        self.frequencies_, self.mean_ranks_ = counts.frequencies, counts.mean_ranks
        self.rankings_ = rankings
        self.stability_ = stability(rankings, problem.n_features)
        self.error_control_ = ErrorControl(self.frequencies_, n_wanted, options.n_pairs)
        details = {
            "frequency": self.frequencies_[ranking], "mean_rank": self.mean_ranks_[ranking]
        }  # fmt: skip
        scores = (n_wanted + 1 - self.mean_ranks_) / n_wanted
        return single_ranking(problem, ranking, said, scores, details=details)

    def _rank_halves(self, problem, n_wanted, options, halves, seeds):
        """Return what was found on every half."""
        # The columns of a source are read for one half at a time, within its memory.
        n_inner, n_outer = (self.n_jobs, 1) if problem.columns.is_streamed else (1, self.n_jobs)
        params = options.selector.get_params(deep=False)
        draws = "random_state" in params and params["random_state"] is None
        # As on all samples: a half of them would be "few" sooner.
        is_auto = isinstance(params.get("prior"), str)
        same = {"prior": resolve_prior(params["prior"], problem)} if is_auto else {}

        def rank_half(place):
            part = problem.take_rows(halves[place])
            one = clone(options.selector)
            one.set_params(n_features_to_select=n_wanted, n_jobs=n_inner, **same)
            if draws:
                one.set_params(random_state=int(seeds[place]))
            ranking = one._rank(part, n_wanted, one.check_options()).selection.features
            together = set()
            if getattr(one, "interactions_", None) is not None:
                together = one.interactions_.members
            return _Half(ranking, together)

        found = run_blocks(rank_half, range(len(halves)), n_outer, unit="halves")
        return [half for _, half in found]

    def _check_memory(self, problem, n_wanted, options):
        """Take the memory of the models into account before any column is read."""
        n_features, n_pairs = problem.n_features, len(problem.max_wins)
        n_effects = 3 if options.rule == "loss" else 2  # of a half, of all samples, while searching
        doubles = 8 * n_features * (n_effects * n_pairs + 2 * n_wanted)
        n_bytes = doubles + 2 * n_features * min(problem.n_samples, 2048)
        if n_bytes > _SMALL_BYTES:
            check_memory(
                n_bytes,
                f"the normal scores of {n_features:,} features, their effects on {n_pairs:,} class "
                f"pairs and the factors of {n_wanted:,} selected features, for a half and for all",
                "select fewer features, or leave out some before",
            )

    @property
    def predicted_mauc_(self):
        """MAUC to expect of the features so far; computed when it is first asked for."""
        return self._prediction.mauc
