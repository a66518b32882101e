"""The normal distribution function, in probabilities and in logarithms, for one number."""

import math

from mauc.compile import njit

# The rational approximations of erf and erfc are those of the Cephes library (S. L. Moshier,
# "Methods and Programs for Mathematical Functions", 1989), which WEKA uses as well: the last bit
# matters, because a probability of the upper tail is a difference of two numbers next to 1.
_SQRT_HALF = 0.70710678118654752440
_LOG_SQRT_2PI = 0.91893853320467274178
_MAX_Z = 1e150  # its square is finite
_NARROW = 1e-4  # below, the density hardly changes within the cell


@njit
def normal_cdf(z):
    """Return Phi(z), to the bit as Cephes' ndtr with WEKA's branches."""
    x = z * _SQRT_HALF
    distance = abs(x)
    if distance < _SQRT_HALF:
        return 0.5 + 0.5 * _erf(x)
    tail = 0.5 * _erfc(distance)
    return 1.0 - tail if x > 0.0 else tail


@njit
def _erf(x):
    # |x| < 1
    s = x * x
    top = 9.60497373987051638749e0
    top = top * s + 9.00260197203842689217e1
    top = top * s + 2.23200534594684319226e3
    top = top * s + 7.00332514112805075473e3
    top = top * s + 5.55923013010394962768e4
    bottom = s + 3.35617141647503099647e1
    bottom = bottom * s + 5.21357949780152679795e2
    bottom = bottom * s + 4.59432382970980127987e3
    bottom = bottom * s + 2.26290000613890934246e4
    bottom = bottom * s + 4.92673942608635921086e4
    return x * top / bottom


@njit
def _erfc(x):
    # x >= 0
    if x < 1.0:
        return 1.0 - _erf(x)
    if x > 26.64:  # exp(-x * x) would be below 1e-308
        return 0.0
    if x < 8.0:
        top = 2.46196981473530512524e-10
        top = top * x + 5.64189564831068821977e-1
        top = top * x + 7.46321056442269912687e0
        top = top * x + 4.86371970985681366614e1
        top = top * x + 1.96520832956077098242e2
        top = top * x + 5.26445194995477358631e2
        top = top * x + 9.34528527171957607540e2
        top = top * x + 1.02755188689515710272e3
        top = top * x + 5.57535335369399327526e2
        bottom = x + 1.32281951154744992508e1
        bottom = bottom * x + 8.67072140885989742329e1
        bottom = bottom * x + 3.54937778887819891062e2
        bottom = bottom * x + 9.75708501743205489753e2
        bottom = bottom * x + 1.82390916687909736289e3
        bottom = bottom * x + 2.24633760818710981792e3
        bottom = bottom * x + 1.65666309194161350182e3
        bottom = bottom * x + 5.57535340817727675546e2
    else:
        top = 5.64189583547755073984e-1
        top = top * x + 1.27536670759978104416e0
        top = top * x + 5.01905042251180477414e0
        top = top * x + 6.16021097993053585195e0
        top = top * x + 7.40974269950448939160e0
        top = top * x + 2.97886665372100240670e0
        bottom = x + 2.26052863220117276590e0
        bottom = bottom * x + 9.39603524938001434673e0
        bottom = bottom * x + 1.20489539808096656605e1
        bottom = bottom * x + 1.70814450747565897222e1
        bottom = bottom * x + 9.60896809063285878198e0
        bottom = bottom * x + 3.36907645100081516050e0
    return math.exp(-x * x) * top / bottom


@njit
def log_normal_cell(z, width):
    """Return log(Phi(z + width / 2) - Phi(z - width / 2)), finite for any z.

    The cell is mirrored into the lower tail, where the two values of Phi are small and their
    difference keeps its digits. A narrow cell is its width times the density in its middle (with
    the next term of the series), and far out Phi is its asymptotic series.
    """
    z = -min(abs(z), _MAX_Z)
    width = max(width, 1e-300)
    slope = width * (1.0 - z)
    if slope < _NARROW:
        bend = width * z
        return math.log(width) - 0.5 * z * z - _LOG_SQRT_2PI + (bend * bend - width * width) / 24.0
    upper, lower = z + 0.5 * width, z - 0.5 * width
    if upper > -30.0:
        return math.log(normal_cdf(upper) - normal_cdf(lower))
    # log Phi(lower) - log Phi(upper), its large terms subtracted before they are rounded
    drop = width * z + math.log(upper / lower) + _log_tail(lower) - _log_tail(upper)
    log_upper = -0.5 * upper * upper - math.log(-upper) - _LOG_SQRT_2PI + _log_tail(upper)
    return log_upper + math.log1p(-math.exp(drop))


@njit
def _log_tail(z):
    # log of 1 - 1/z^2 + 3/z^4 - 15/z^6 + ..., good to 1e-13 for z < -30
    s = 1.0 / z / z
    return math.log1p(-s * (1.0 - s * (3.0 - s * (15.0 - s * (105.0 - s * 945.0)))))
