// The search of GreedyMAUC on the numbers of a page: see docs/methods/greedy_mauc.md. Columns are
// the candidates, in the order of the table, and after them their distances from the median.

const MIN_VARIANCE = 1e-3; // a copy of a chosen feature has residual variance 0
const FREE = 1e-9; // of the largest price: what costs less counts as this
const MAX_FOLDED = 128;

// exp(-x) for x >= 0: a table of 2^(-i / 1024), and the rest by its series.
const POWERS = Float64Array.from({ length: 1024 }, (_, i) => 2 ** (-i / 1024));
const WHOLE_POWERS = Float64Array.from({ length: 1024 }, (_, i) => 2 ** -i);
const UNIT_OF_POWER = Math.LN2 / 1024;

function expMinus(x) {
  if (x > 700) x = 700;
  const steps = (x / UNIT_OF_POWER) | 0;
  const r = x - steps * UNIT_OF_POWER;
  const rest = 1 - r * (1 - r * (0.5 - r * (1 / 6 - r * (1 / 24 - r / 120))));
  return WHOLE_POWERS[steps >> 10] * POWERS[steps & 1023] * rest;
}

// What the page carries, decoded: effects by column, correlations as a full square.
function readModel(packed, decode) {
  const n = packed.columns.length + packed.folded.length;
  const numbers = (text, unit) => {
    const bytes = decode(text);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    return packed.is_exact
      ? Float64Array.from({ length: bytes.length / 8 }, (_, i) => view.getFloat64(8 * i, true))
      : Float64Array.from({ length: bytes.length / 4 }, (_, i) => view.getInt32(4 * i, true) * unit);
  };
  const effects = numbers(packed.effects, 2 ** -28);
  const lower = numbers(packed.correlations, 2 ** -31);
  const correlations = new Float64Array(n * n);
  for (let i = 0, at = 0; i < n; i++) {
    correlations[i * n + i] = 1;
    for (let j = 0; j < i; j++, at++) correlations[i * n + j] = correlations[j * n + i] = lower[at];
  }
  const repeats = new Map(); // of a chosen nominal feature: what is left of the effects of others
  for (const [f, s, kept] of packed.repeats) {
    repeats.set(s, [...(repeats.get(s) ?? []), [f, kept]]);
  }
  return {
    n, nCandidates: packed.columns.length, nPairs: effects.length / n, effects, correlations,
    repeats, folded: packed.folded, prior: packed.prior, varies: packed.varies, rate: packed.rate,
  };
}

// Which columns of spread count: those that tell more than the order of the values.
function usedFolded(model, shares) {
  const { effects, nPairs, nCandidates, folded } = model;
  const total = shares.reduce((sum, share) => sum + share, 0);
  const gains = folded.map((feature, at) => {
    let gain = 0, error = 0;
    for (let p = 0; p < nPairs; p++) {
      const left = Math.exp(-(effects[feature * nPairs + p] ** 2) / 8);
      gain += shares[p] * left * (1 - Math.exp(-(effects[(nCandidates + at) * nPairs + p] ** 2) / 8));
      error += shares[p] * left;
    }
    return gain > total - error ? gain : -1;
  });
  const order = [...folded.keys()].filter((at) => gains[at] >= 0).sort((a, b) => gains[b] - gains[a] || a - b);
  return new Set(order.slice(0, MAX_FOLDED));
}

// A search that goes on when more features are wanted. `wishes`: keep and exclude (candidates),
// prices (null, or one per candidate), budget, shares (of the pairs), byCost, only (a set, or null).
class GreedySearch {
  constructor(model, wishes) {
    const { n, nCandidates, nPairs } = model;
    Object.assign(this, { model, wishes, ranking: [], separations: [] });
    this.effects = model.effects.slice();
    this.nUpdates = new Int32Array(n);
    this.variances = new Float64Array(n).fill(1);
    this.factors = [];
    this.slopes = [];
    const largest = Math.max(...wishes.shares);
    this.stakes = Float64Array.from(wishes.shares, (share) => share / largest);
    const total = this.stakes.reduce((sum, stake) => sum + stake, 0);
    this.weights = this.stakes.map((stake) => stake / total);
    this.separation = new Float64Array(nPairs);
    const excluded = new Set(wishes.exclude);
    this.isOpen = Uint8Array.from({ length: nCandidates }, (_, f) => !excluded.has(f) && (!wishes.only || wishes.only.has(f)));
    this.waiting = [...wishes.keep];
    this.money = wishes.budget === null ? Infinity : wishes.budget * (1 + 1e-9);
    this.prior = this.weightGains();
    const used = usedFolded(model, wishes.shares);
    this.foldedOf = new Int32Array(nCandidates).fill(-1);
    model.folded.forEach((f, at) => { if (used.has(at)) this.foldedOf[f] = nCandidates + at; });
    this.close();
  }

  // The prior weights, per price.
  weightGains() {
    const { prices, byCost, exclude } = this.wishes;
    if (!prices || !byCost) return Float64Array.from(this.model.prior);
    const paid = prices.map((price, f) => (exclude.includes(f) ? 0 : price));
    const least = Math.max(FREE * Math.max(...paid), 1e-300);
    const rates = prices.map((price) => 1 / Math.max(price, least));
    const most = Math.max(...rates.filter((_, f) => !exclude.includes(f)));
    return Float64Array.from(this.model.prior, (weight, f) => weight * (rates[f] / most));
  }

  // Candidates that the money left does not pay for are no candidates.
  close() {
    if (this.wishes.prices) {
      this.wishes.prices.forEach((price, f) => { if (price > this.money) this.isOpen[f] = 0; });
    }
  }

  // Rank up to k features; fewer where no more are left.
  extend(k) {
    while (this.ranking.length < k) {
      const f = this.waiting.length > 0 ? this.waiting.shift() : this.findBest();
      if (f < 0) return;
      this.choose(f);
    }
  }

  update(column) {
    const { nPairs } = this.model, start = column * nPairs, { effects } = this;
    for (let t = this.nUpdates[column]; t < this.slopes.length; t++) {
      const slope = this.slopes[t], factor = this.factors[t][column];
      for (let p = 0; p < nPairs; p++) effects[start + p] -= slope[p] * factor;
    }
    this.nUpdates[column] = this.slopes.length;
  }

  // The part of the error that remains with a candidate, by its order alone.
  lossOf(f) {
    const { nPairs, rate } = this.model, { effects, weights } = this;
    this.update(f);
    const inverse = rate / this.variances[f];
    let loss = 0;
    for (let p = 0, at = f * nPairs; p < nPairs; p++, at++) {
      loss += weights[p] * expMinus(effects[at] * effects[at] * inverse);
    }
    return loss;
  }

  // The same with its spread.
  jointLossOf(f, g) {
    const { nPairs, rate, correlations, n } = this.model, { effects, weights } = this;
    this.update(f);
    this.update(g);
    const root = (variance) => Math.sqrt(Math.max(variance, MIN_VARIANCE));
    let covariance = correlations[f * n + g];
    for (const row of this.factors) covariance -= row[f] * row[g];
    const first = root(this.variances[f]), shared = covariance / first;
    const second = root(this.variances[g] - shared * shared);
    let loss = 0;
    for (let p = 0; p < nPairs; p++) {
      const x = effects[f * nPairs + p] / first;
      const y = (effects[g * nPairs + p] - shared * x) / second;
      loss += weights[p] * expMinus(rate * (x * x + y * y));
    }
    return loss;
  }

  findBest() {
    const { nCandidates, varies } = this.model, { prior, isOpen } = this;
    let best = -1, bestGain = -1, bestLoss = 0, constant = -1;
    let move = -1, moveGain = 0;
    for (let f = 0; f < nCandidates; f++) {
      if (!isOpen[f]) continue;
      if (!varies[f]) {
        if (constant < 0) constant = f;
        continue;
      }
      const loss = this.lossOf(f), gain = prior[f] * Math.max(1 - loss, 0);
      const isFirst = best < 0 || gain > bestGain
        || (gain === bestGain && (prior[f] > prior[best] || (prior[f] === prior[best] && loss < bestLoss)));
      if (isFirst) [best, bestGain, bestLoss] = [f, gain, loss];
      if (this.foldedOf[f] >= 0) {
        const joint = prior[f] * Math.max(1 - this.jointLossOf(f, this.foldedOf[f]), 0);
        if (joint > moveGain) [move, moveGain] = [f, joint];
      }
    }
    if (move >= 0 && moveGain > Math.max(bestGain, 0)) return move;
    return best >= 0 ? best : constant;
  }

  choose(f) {
    this.isOpen[f] = 0;
    this.ranking.push(f);
    if (this.wishes.prices) this.money -= this.wishes.prices[f];
    this.close();
    if (this.model.varies[f]) {
      this.take(f);
      if (this.foldedOf[f] >= 0) this.take(this.foldedOf[f]);
      for (const [other, kept] of this.model.repeats.get(f) ?? []) this.shrink(other, kept);
    }
    this.separations.push(this.separation.slice());
  }

  // What only the categories of a chosen nominal feature tell is no longer new.
  shrink(column, kept) {
    const { nPairs } = this.model;
    this.update(column);
    for (let p = 0; p < nPairs; p++) this.effects[column * nPairs + p] *= kept;
  }

  take(s) {
    const { n, nPairs, rate, correlations } = this.model;
    this.update(s);
    const root = Math.sqrt(this.variances[s]), slope = new Float64Array(nPairs);
    let smallest = Infinity, total = 0;
    for (let p = 0; p < nPairs; p++) {
      slope[p] = this.effects[s * nPairs + p] / root;
      this.separation[p] += slope[p] * slope[p];
      if (this.stakes[p] > 0) smallest = Math.min(smallest, this.separation[p]);
    }
    for (let p = 0; p < nPairs; p++) {
      this.weights[p] = this.stakes[p] * expMinus(rate * Math.max(this.separation[p] - smallest, 0));
      total += this.weights[p];
    }
    for (let p = 0; p < nPairs; p++) this.weights[p] /= total;
    const row = correlations.slice(s * n, (s + 1) * n);
    for (const before of this.factors) {
      const own = before[s];
      for (let f = 0; f < n; f++) row[f] -= own * before[f];
    }
    for (let f = 0; f < n; f++) {
      row[f] /= root;
      this.variances[f] = Math.max(this.variances[f] - row[f] * row[f], MIN_VARIANCE);
    }
    this.factors.push(row);
    this.slopes.push(slope);
  }
}
