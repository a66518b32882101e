"""How much of a class mean is luck: the means of all features in, the share of luck out.

The features that a search takes are those with the largest differences between the classes, thus
also those with the most luck. How much to expect follows from the distribution of all features: if
those that are far out are no more than chance alone would make, all of their distance is luck.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numba import uintp
from scipy.linalg import solve_triangular
from scipy.special import ndtr

from mauc.compile import njit
from mauc.data.columns import default_names
from mauc.data.validate import check_fitted
from mauc.engine.ordered import class_wins
from mauc.exceptions import MaucError
from mauc.extras import optional_import
from mauc.results import MAX_ROWS, Printed, short_name
from mauc.selectors.greedy_mauc.search import MIN_VARIANCE, cholesky_of, exp_minus, within_scales

MAX_FEATURES = 4096  # enough to tell the distribution
_STEP, _N_BINS = 0.1, 100  # of |z|; what is beyond counts as at the end
_VARIANCES = np.append(0.0, 2.0 ** np.arange(-2, 11))  # of the components
_N_ITERATIONS = 1000


def count_sizes(z):
    """Return how many of the z values, which are finite, lie in each bin of their size."""
    bins = np.minimum(np.abs(z) / _STEP, _N_BINS).astype(np.int64)
    return np.bincount(bins.ravel(), minlength=_N_BINS + 1)


def shares_of_luck(chosen, counts):
    r"""Return the part of the distance of class means from the common mean that will not recur.

    Parameters
    ----------
    chosen : ndarray, float64
        z values of the class means in question: the distance of the mean of a class from the mean
        of all samples, over its standard error.
    counts : ndarray of int64
        The sizes of the z values of all features, from `count_sizes`.

    Returns
    -------
    shares : ndarray of the shape of `chosen`
        In [0, 1], beyond what leaving samples out one at a time accounts for.

    Notes
    -----
    True z values are taken as drawn from a mixture of normal distributions of mean 0 and
    variances :math:`\tau^2 = 0, 1/4, 1/2, 1, \ldots, 1024`, whose weights are those of the largest
    likelihood (1000 iterations of the EM algorithm), the standard error adding 1 to each. The
    expected true value is :math:`\rho z`, with :math:`\rho` the mean of
    :math:`\tau^2 / (1 + \tau^2)` by the probabilities of the components given z: it is the same
    whether or not the feature was chosen because of z [1]_ [2]_. Leaving a sample out takes
    :math:`1/z^2` already, what chance adds to the squared distance of a feature that was not
    chosen. The share is :math:`\max(0, 1 - \rho - 1/z^2)`.

    References
    ----------
    .. [1] B. Efron, "Tweedie's formula and selection bias", J. American Statistical Association
       106, 2011.
    .. [2] M. Stephens, "False discovery rates: a new deal", Biostatistics 18, 2017.
    """
    weights = _fit_weights(counts)
    probabilities = _likelihoods(np.abs(chosen)) * weights
    probabilities /= probabilities.sum(axis=-1, keepdims=True)
    kept = (probabilities * (_VARIANCES / (1.0 + _VARIANCES))).sum(axis=-1)
    chance = np.clip(np.abs(chosen), 1.0, 1e6) ** -2.0
    return np.maximum(0.0, 1.0 - kept - chance)


def _fit_weights(counts):
    """Return the weights of the components, given how often each size occurs."""
    likelihoods = _likelihoods((np.arange(_N_BINS + 1) + 0.5) * _STEP)
    weights = np.full(len(_VARIANCES), 1.0 / len(_VARIANCES))
    maximise(likelihoods, counts / counts.sum(), weights, np.empty_like(weights))
    return weights


def _likelihoods(sizes):
    """Return the likelihood of every component, given |z|, up to a factor; on a new last axis."""
    variances = 1.0 + _VARIANCES
    # The widest component is never far from the likeliest: no sum of these underflows.
    sizes = np.minimum(sizes, _N_BINS * _STEP)[..., np.newaxis]
    return np.exp(-0.5 * sizes * sizes / variances) / np.sqrt(variances)


@njit(cache=True, nogil=True)
def maximise(likelihoods, shares, weights, sums):
    """Update the weights of a mixture by the EM algorithm.

    Parameters
    ----------
    likelihoods : ndarray of shape (n_bins, n_components), float64
    shares : ndarray of shape (n_bins,), float64
        Of all values, in each bin.
    weights : ndarray of shape (n_components,), float64
        Updated.
    sums : ndarray of shape (n_components,), float64
        Work space.
    """
    n_components = weights.shape[0]
    for _ in range(_N_ITERATIONS):
        for c in range(n_components):
            sums[c] = 0.0
        for b in range(shares.shape[0]):
            if shares[b] > 0.0:
                total = 0.0
                for c in range(n_components):
                    total += weights[c] * likelihoods[b, c]
                for c in range(n_components):
                    sums[c] += likelihoods[b, c] * (shares[b] / total)
        for c in range(n_components):
            weights[c] *= sums[c]


_MIN_SCATTER = 0.25  # of a feature that is constant in every class
_MAX_GAP = 600.0  # of two logarithms; beyond, the smaller term is lost in a sum of doubles
_MIN_LEFT = 0.02  # of a direction that is left without one sample


def evaluated_sizes(n_features):
    """Return the sizes for which MAUC is predicted: 1 to 8, then each a quarter above the last."""
    sizes = [1]
    while (larger := sizes[-1] + max(1, sizes[-1] // 4)) <= n_features:
        sizes.append(larger)
    return sizes


class Prediction(Mapping):
    r"""The MAUC to expect of the first features of a ranking, computed when it is asked for.

    As a mapping it has one key, "predicted_mauc", for the trace of a selection.

    Parameters
    ----------
    ranking : ndarray of shape (k,), int64
        Chosen features. Those beyond the rows of `lower` add nothing: they are constant, or
        beyond the number of features that is looked at.
    lower : ndarray of shape (<= k, <= k), float64
        Cholesky factor of the shrunk correlations of the first of them.
    scores : NormalScores
        Only what belongs to the chosen features is kept.
    shrinkage : float
        The shrinkage in `lower`.

    Notes
    -----
    With :math:`\Sigma` the shrunk covariance on :math:`\nu = n - c` degrees of freedom, x a sample
    of class k of :math:`n_k`, r its distance from the mean of the others of its class, and
    :math:`v_g` its distance from the mean of class g,

    .. math:: D_g^2 = \frac{\nu - 1}{\nu} \Big[ v_g^T \Sigma^{-1} v_g
        + \frac{b\, (v_g^T \Sigma^{-1} r)^2}{1 - b\, r^T \Sigma^{-1} r} \Big], \qquad
        b = \frac{(1 - \lambda)(n_k - 1)}{\nu n_k},

    is its squared distance from class g when x is left out (Sherman and Morrison; the diagonal
    that shrinkage adds is taken as fixed). In all :math:`v_g` the sample is first moved towards
    the mean of all samples by what its class mean owes to the choice of the features, see
    `shares_of_luck`. The numbers of the categories of a nominal feature were made of the classes of
    the samples: of the distances between its class means, what its leave-pair-out effects do not
    confirm is luck, too. Its score for class g is the logarithm of the odds of g, prior
    probabilities being the class frequencies; samples that agree in all features get the mean of
    their scores, for a tie must stay one. A pair of classes with :math:`n_i n_j` pairs of samples
    has :math:`A = (w + 1/2) / (n_i n_j + 1)`, w being the wins, so that no finite sample promises
    1; MAUC is the mean over both scores of all pairs (Hand and Till).
    """

    def __init__(self, ranking, lower, scores, shrinkage):
        self._n_ranked, self._lower, self._shrinkage = len(ranking), lower, shrinkage
        columns = ranking[: len(lower)]
        present = np.flatnonzero(scores.class_counts)
        self._counts = counts = scores.class_counts[present].astype(np.float64)
        n_samples = int(counts.sum())
        self._n_free = n_samples - len(counts)
        self._is_possible = self._n_free >= 1 and len(counts) >= 2 and len(columns) > 0
        if not self._is_possible:
            return
        scales = within_scales(scores)[1]
        scales = np.where(scales > 0.0, scales, 1.0 / math.sqrt(_MIN_SCATTER))
        scales *= math.sqrt(self._n_free)
        self._errors = np.sqrt(1.0 / counts - 1.0 / n_samples)[:, np.newaxis]

        def means(features):
            sums = scores.sums[np.ix_(present, features)]
            by_class = sums / counts[:, np.newaxis] * scales[features]
            return by_class, sums.sum(axis=0) / n_samples * scales[features]

        varying = np.flatnonzero(scores.varies)
        n_looked_at = min(len(varying), MAX_FEATURES)
        by_class, common = means(varying[np.arange(n_looked_at) * len(varying) // n_looked_at])
        self._sizes = count_sizes((by_class - common) / self._errors)
        self._by_class, self._common = means(columns)
        self._rows, self._scales = scores.scores[columns], scales[columns]
        self._confirmed = np.full(len(columns), np.inf)
        for place, column in enumerate(columns):
            if int(column) in scores.nominal_squares:
                self._confirmed[place] = scores.nominal_squares[int(column)]

    def __getitem__(self, name):
        if name != "predicted_mauc":
            raise KeyError(name)
        return self.mauc

    def __iter__(self):
        return iter(["predicted_mauc"])

    def __len__(self):
        return 1

    def first(self, k):
        """Return the prediction for the first k features alone."""
        part = copy(self)
        part.mauc = self.mauc[:k]
        return part

    @cached_property
    def mauc(self):
        """In [0.5, 1), shape (k,).

        Between two sizes of `evaluated_sizes` that of the last; 0.5 if nothing can be left out,
        because no class has two samples.
        """
        predicted = np.full(self._n_ranked, 0.5)
        if not self._is_possible:
            return predicted
        counts = self._counts
        n_classes, n_samples = len(counts), int(counts.sum())
        codes = np.repeat(np.arange(n_classes, dtype=np.int32), counts.astype(np.int64))
        points = self._standard_points()
        groups = _TiedSamples(n_samples)
        squares = np.zeros((n_samples, n_classes))
        products, leverages = np.zeros_like(squares), np.zeros(n_samples)
        log_odds = np.empty((n_classes, n_samples))
        priors = np.log(counts / n_samples)
        sizes = set(evaluated_sizes(len(points)))
        for step in range(len(points)):
            whiten(self._lower[step], step, points)
            add_distances(points[step], codes, counts, squares, products, leverages)
            groups.split(self._rows[step])
            if step + 1 in sizes:
                leave_out(
                    squares, products, leverages, codes, counts, priors, self._shrinkage,
                    self._n_free, np.empty(n_classes), np.empty(n_classes), log_odds,
                )  # fmt: skip
                groups.average(log_odds)
                predicted[step:] = _mauc(log_odds, codes, counts)
        return predicted

    def _standard_points(self):
        """Return samples, class means, their luck and the common mean, one row per feature.

        All are in units of the standard deviation within the classes.
        """
        distances = self._by_class - self._common
        shares = shares_of_luck(distances / self._errors, self._sizes)
        n_classes = len(distances)
        # The sum over the pairs of the squared distances between class means.
        apparent = n_classes * (distances**2).sum(axis=0) - distances.sum(axis=0) ** 2
        part = self._confirmed / np.maximum(apparent, 1e-300)
        luck = np.maximum(shares, 1.0 - np.sqrt(np.minimum(part, 1.0))) * distances
        n_samples = self._rows.shape[1]
        points = np.empty((len(self._rows), n_samples + 2 * len(luck) + 1))
        points[:, :n_samples] = self._rows
        points[:, :n_samples] *= self._scales[:, np.newaxis]
        points[:, n_samples:-1] = np.concatenate([self._by_class, luck]).T
        points[:, -1] = self._common
        return points


class _TiedSamples:
    """Samples that agree in all features so far."""

    def __init__(self, n_samples):
        self._groups = np.zeros(n_samples, np.int64)
        self._n_groups = 1

    def split(self, scores):
        """Tell the samples of each group apart by their scores, int8."""
        if self._n_groups < len(self._groups):
            words = self._groups * 256 + (scores.astype(np.int64) + 128)
            self._groups = np.unique(words, return_inverse=True)[1].ravel()
            self._n_groups = int(self._groups.max()) + 1

    def average(self, rows):
        """Replace the values of each group by their mean, in every row."""
        if self._n_groups < len(self._groups):
            sizes = np.bincount(self._groups)
            for row in rows:
                # Those of a class are equal and follow each other: no order of them matters.
                row[:] = (np.bincount(self._groups, row) / sizes)[self._groups]


def _mauc(log_odds, codes, counts):
    wins = np.empty((len(counts), len(counts)))
    class_wins(log_odds, np.argsort(log_odds, axis=1), codes, np.ones(len(codes)), wins)
    is_pair = ~np.eye(len(counts), dtype=bool)
    auc = (wins / 2.0 + 0.5) / (np.outer(counts, counts) + 1.0)
    return max(0.5, float(auc[is_pair].mean()))


@njit(cache=True, nogil=True)
def whiten(lower_row, step, points):
    """Make row `step` of the points independent of the rows before it."""
    row = points[step]
    for t in range(step):
        factor, other = lower_row[t], points[t]
        for i in range(uintp(row.shape[0])):
            row[i] -= factor * other[i]
    root = lower_row[step]
    for i in range(uintp(row.shape[0])):
        row[i] /= root


@njit(cache=True, nogil=True)
def add_distances(points, codes, counts, squares, products, leverages):
    """Add one coordinate to the distances of all samples.

    Parameters
    ----------
    points : ndarray of shape (n_samples + 2 n_classes + 1,), float64
        See `_standard_points`.
    codes : ndarray of shape (n_samples,), int32
    counts : ndarray of shape (n_classes,), float64
    squares, products : ndarray of shape (n_samples, n_classes), float64
        v_g' v_g and v_g' r of every sample; updated.
    leverages : ndarray of shape (n_samples,), float64
        r' r; updated.
    """
    n, n_classes = codes.shape[0], counts.shape[0]
    for i in range(n):
        k = codes[i]
        # A class of one sample is left with the mean of all samples.
        own = points[i] - (points[n + k] if counts[k] > 1.0 else points[n + 2 * n_classes])
        r = own * counts[k] / (counts[k] - 1.0) if counts[k] > 1.0 else own
        luck = points[n + n_classes + k]
        leverages[i] += r * r
        for g in range(n_classes):
            v = r - luck if g == k else points[i] - luck - points[n + g]
            squares[i, g] += v * v
            products[i, g] += v * r


@njit(cache=True, nogil=True)
def leave_out(
    squares, products, leverages, codes, counts, priors, shrinkage, n_free, logs, terms, log_odds
):
    """Fill in the logarithm of the odds of every class, each sample being left out in turn.

    Parameters
    ----------
    squares, products, leverages, codes, counts
        As above.
    priors : ndarray of shape (n_classes,), float64
        Logarithms.
    shrinkage : float
    n_free : int
    logs, terms : ndarray of shape (n_classes,), float64
        Work space.
    log_odds : ndarray of shape (n_classes, n_samples), float64
    """
    n_classes = counts.shape[0]
    for i in range(codes.shape[0]):
        b = (1.0 - shrinkage) * (1.0 - 1.0 / counts[codes[i]]) / n_free
        b /= max(1.0 - b * leverages[i], _MIN_LEFT)
        largest, second, top = -np.inf, -np.inf, 0
        for g in range(n_classes):
            distance = squares[i, g] + b * products[i, g] * products[i, g]
            logs[g] = priors[g] - 0.5 * distance * (n_free - 1.0) / n_free
            if logs[g] > largest:
                largest, second, top = logs[g], largest, g
            elif logs[g] > second:
                second = logs[g]
        # Odds of the top class are against the others alone: nothing cancels.
        others = 0.0
        for g in range(n_classes):
            terms[g] = exp_minus(largest - logs[g])
            others += terms[g] if g != top else 0.0
        for g in range(n_classes):
            rest = largest + math.log(others + (1.0 - terms[g]))
            if g == top:
                rest = largest + math.log(others) if largest - second < _MAX_GAP else second
            log_odds[g, i] = logs[g] - rest


MAX_LOSS = 0.001  # of predicted MAUC that an exchange may cost
MIN_SHARE = 0.5  # of what the chosen feature adds, that an alternative takes over
MAX_ALTERNATIVES = 5  # of a chosen feature
MIN_ADDED = 1e-9  # of predicted MAUC: a feature that adds less adds nothing
_MAX_COUNTED = 64  # candidates that are looked at, those most like the feature
_BLOCK = 64  # chosen features whose bounds are held at once
_MAX_SLOPE = 1e6  # of the tangent: it is vertical at a separation of 0
_DECIMALS = 9  # losses that agree in so many are equal


class Exchange(NamedTuple):
    """One feature that could take the place of a chosen one."""

    feature: int  #: the chosen column
    alternative: int  #: the column that could replace it
    loss: float  #: of predicted MAUC, by the exchange; below 0 if it gains
    loss_without: float  #: of predicted MAUC, if the feature were left out and not replaced
    share: float  #: of that loss which the feature no longer prevents once the other is chosen
    correlation: float  #: of the two within the classes, shrunk as in the search


class _Chosen(NamedTuple):
    """The chosen set; arrays of shape (k, ...)."""

    inverse: np.ndarray  # (k, k): of the Cholesky factor
    precisions: np.ndarray  # (k,): M_ff
    own: np.ndarray  # (k, n_pairs): w_p(f) / M_ff
    separations: np.ndarray  # (k, n_pairs): D_p^2 without f
    whole: np.ndarray  # (n_pairs,): D_p^2 of the whole set
    mauc: float  # of the whole set


def find_exchanges(state, ranking):
    """Return the features that could replace each chosen one.

    Parameters
    ----------
    state : SearchState
        Its effects are brought up to date, in place.
    ranking : ndarray of shape (k,), int64
        The chosen features. The constant ones, which come last, have no alternatives.

    Returns
    -------
    exchanges : list of list of Exchange
        For each chosen feature at most 5 that cost at most 0.001 of predicted MAUC and take over
        half or more of what it adds; those that take over most come first, equal ones by column.
    """
    chosen = ranking[state.varies[ranking]][: len(state.slopes)]
    found: list[list[Exchange]] = [[] for _ in ranking]
    is_free = state.varies.copy()
    is_free[chosen] = False
    others = np.flatnonzero(is_free)
    if len(chosen) == 0 or len(others) == 0:
        return found
    known = _describe(state, chosen)
    residuals, variances = _residuals(state, len(chosen), others)
    places = {int(f): place for place, f in enumerate(ranking)}
    for start in range(0, len(chosen), _BLOCK):
        block = slice(start, min(start + _BLOCK, len(chosen)))
        # Coefficients of all others on the chosen features of the block.
        coefficients = known.inverse[:, block].T @ state.factors[: len(chosen), others]
        bounds = _loss_bounds(known, block, residuals, variances, coefficients)
        for row, f in enumerate(chosen[block]):
            at = start + row
            best = _nearest(known, at, bounds[row], residuals, variances, coefficients[row])
            without = known.mauc - _pairwise_mauc(known.separations[at])
            found[places[int(f)]] = [
                Exchange(int(f), g, loss, without, share, _correlation(state, chosen, at, g))
                for loss, share, g in ((loss, share, int(others[i])) for loss, share, i in best)
            ]
    return found


def _describe(state, chosen):
    k = len(chosen)
    slopes = state.slopes[:k]
    inverse = solve_triangular(cholesky_of(state, chosen), np.eye(k), lower=True)
    precisions = (inverse**2).sum(axis=0)
    own = (inverse.T @ slopes) / precisions[:, np.newaxis]
    separations = (slopes**2).sum(axis=0) - own**2 * precisions[:, np.newaxis]
    whole = (slopes**2).sum(axis=0)
    return _Chosen(
        inverse, precisions, own, np.maximum(separations, 0.0), whole, _pairwise_mauc(whole)
    )


def _residuals(state, k, others):
    """Return the residual effects and variances of features, given the first k chosen ones."""
    factors, steps = state.factors, np.arange(len(state.factors))[:, np.newaxis]
    updated = state.n_updates[others]
    # Steps that are still missing are subtracted, those beyond the first k are added again.
    signs = (steps >= updated).astype(np.int8) * (steps < k) - (steps < updated) * (steps >= k)
    residuals = state.effects
    if len(others) < len(residuals):
        residuals = residuals[others]
    residuals = residuals - (signs * factors[:, others]).T @ state.slopes
    variances = np.maximum(1.0 - (factors[:k, others] ** 2).sum(axis=0), MIN_VARIANCE)
    return residuals, variances


def _pairwise_mauc(separations):
    return float(ndtr(np.sqrt(separations / 2.0)).mean())


def _loss_bounds(known, block, residuals, variances, coefficients):
    """Return what the exchange of each chosen feature of a block for each other costs at least."""
    before = known.separations[block]
    roots = np.sqrt(np.maximum(before, 1e-300))
    slopes = np.exp(-before / 4.0) / (math.sqrt(2.0 * math.pi) * 2.0 * math.sqrt(2.0) * roots)
    slopes = np.minimum(slopes, _MAX_SLOPE) / before.shape[1]
    own = known.own[block]
    # The sum over the pairs of slope (e + a h)^2
    squares = slopes @ (residuals**2).T
    squares += 2.0 * coefficients * ((slopes * own) @ residuals.T)
    squares += coefficients**2 * (slopes * own**2).sum(axis=1)[:, np.newaxis]
    gains = squares / _variances(known, block, variances, coefficients)
    maucs = np.array([_pairwise_mauc(row) for row in before])
    return known.mauc - maucs[:, np.newaxis] - gains


def _variances(known, block, variances, coefficients):
    """Return the variances of the others, given the chosen features but one."""
    precisions = np.atleast_1d(known.precisions[block])
    return variances + coefficients**2 / precisions[:, np.newaxis]


def _nearest(known, at, bounds, residuals, variances, coefficients):
    """Return the losses, shares and places of the best candidates, the nearest first."""
    near = np.flatnonzero(bounds <= MAX_LOSS)
    given = variances[near] + coefficients[near] ** 2 / known.precisions[at]
    # The squared correlation of both, given the rest of the chosen set.
    likeness = coefficients[near] ** 2 / given
    part = np.argsort(-likeness, kind="stable")[:_MAX_COUNTED]
    near, given = near[part], given[part, np.newaxis]
    effects = residuals[near] + coefficients[near, np.newaxis] * known.own[at]
    after = known.separations[at] + effects**2 / given
    replaced = ndtr(np.sqrt(after / 2.0)).mean(axis=1)
    after = known.whole + residuals[near] ** 2 / variances[near, np.newaxis]
    with_both = ndtr(np.sqrt(after / 2.0)).mean(axis=1)
    adds = max(known.mauc - _pairwise_mauc(known.separations[at]), MIN_ADDED)
    shares = 1.0 - (with_both - replaced) / adds
    losses = (known.mauc - replaced).round(_DECIMALS)
    kept = np.flatnonzero((losses <= MAX_LOSS) & (shares >= MIN_SHARE))
    kept = kept[np.lexsort((near[kept], -shares[kept].round(_DECIMALS)))][:MAX_ALTERNATIVES]
    return [(float(losses[i]), float(shares[i]), int(near[i])) for i in kept]


def _correlation(state, chosen, at, g):
    """Return the correlation of a chosen feature with another one, as it was in the search."""
    lower = state.factors[: at + 1, chosen[at]].copy()
    lower[at] = math.sqrt(max(1.0 - float((lower[:at] ** 2).sum()), MIN_VARIANCE))
    return float(lower @ state.factors[: at + 1, g])


_MAX_HELD = 2**26  # bytes that wait until somebody asks; what takes more is looked at in fit
_COLUMNS = ("feature", "alternative", *Exchange._fields[2:])


class Exchanges:
    """The exchanges of a selection, found when they are first asked for, and no later than stored.

    Parameters
    ----------
    state : SearchState or None
        None if it is not known in this process.
    ranking : ndarray of shape (k,), int64
    unknown : collection of int, default=()
        Features that get no alternatives: those that act together with others, which the model
        knows nothing of.
    """

    def __init__(self, state, ranking, unknown=()):
        self._state, self._ranking, self._unknown = state, ranking, set(unknown)
        if state is not None and state.n_bytes > _MAX_HELD:
            _ = self.found

    @cached_property
    def found(self):
        """One list of `Exchange` per chosen feature, or None if they are not known."""
        state, self._state = self._state, None
        if state is None:
            return None
        found = find_exchanges(state, self._ranking)
        return [
            [] if int(feature) in self._unknown else exchanges
            for feature, exchanges in zip(self._ranking, found, strict=True)
        ]

    def __getstate__(self):
        # A pickle holds what was found, a few numbers per chosen feature, not all effects.
        _ = self.found
        return self.__dict__


class Alternatives(Printed, Mapping):
    """For each chosen feature the features that could replace it.

    A mapping of column numbers to lists of `Exchange`, in the order of the selection, the nearest
    alternative first. It prints as one line per chosen feature.

    Parameters
    ----------
    ranking : ndarray of shape (k,), int64
    exchanges : list of list of Exchange
    names : sequence
        Of all features.
    """

    def __init__(self, ranking, exchanges: Sequence[list[Exchange]], names):
        self._found = {int(f): part for f, part in zip(ranking, exchanges, strict=True)}
        self._names = names

    def __getitem__(self, feature) -> list[Exchange]:
        return self._found[feature]

    def __iter__(self) -> Iterator[int]:
        return iter(self._found)

    def __len__(self):
        return len(self._found)

    def with_names(self, names) -> "Alternatives":
        """Return the same with other names of all features."""
        return Alternatives(list(self._found), list(self._found.values()), names)

    def lines(self) -> list[str]:
        """Return one line per chosen feature that could be replaced."""
        return [line for feature in self._found if (line := self.line(feature))]

    def names(self, feature) -> list[str]:
        """Return the names of the features that could replace a chosen one."""
        return [str(self._names[one.alternative]) for one in self._found[feature]]

    def line(self, feature) -> str:
        """Return what can be said of a chosen feature in one line; "" if nothing can replace it."""
        exchanges = self._found[feature]
        if not exchanges:
            return ""
        others = ", ".join(short_name(name) for name in self.names(feature))
        largest = max(one.loss for one in exchanges)
        cost = f"a loss of {largest:.4f}" if largest >= 0.00005 else "no loss"
        most = "at most " if len(exchanges) > 1 and largest >= 0.00005 else ""
        chosen = short_name(self._names[feature])
        return f"{chosen} could be replaced by {others} at {cost.replace('of ', f'of {most}')}"

    def to_frame(self):
        """Return a pandas DataFrame with one row per exchange: names, losses, correlation."""
        pandas = optional_import("pandas", "Alternatives.to_frame")
        rows = [
            (str(self._names[one.feature]), str(self._names[one.alternative]), *one[2:])
            for exchanges in self._found.values()
            for one in exchanges
        ]
        return pandas.DataFrame(rows, columns=list(_COLUMNS))

    def printed_parts(self):
        """Return the lines and tables to be printed, in order."""
        lines = self.lines()
        if not lines:
            return ["no chosen feature can be replaced at a loss of 0.001 or less"]
        more = len(lines) - MAX_ROWS
        return lines[:MAX_ROWS] + ([f"... and {more:,} more"] if more > 0 else [])


class AlternativesMixin:
    """Gives a selector whose `_rank` sets ``_exchanges`` the attribute ``alternatives_``."""

    @property
    def alternatives_(self):
        """For each chosen feature those that could replace it; found when first asked for."""
        check_fitted(self)
        if self._exchanges.found is None:
            raise MaucError(
                f"alternatives_ of {type(self).__name__} are not known after a fit on a cluster, "
                f"whose workers held the effects of the features; fit on the source in this "
                f"process, without client=."
            )
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            names = default_names(range(self.n_features_in_))
        return Alternatives(self.ranking_, self._exchanges.found, names)
