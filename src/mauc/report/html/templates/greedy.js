// The search of GreedyMAUC on the numbers of a page: see docs/methods/greedy_mauc.md. Columns are
// the candidates, in the order of the table, and after them their distances from the median.

const MIN_VARIANCE = 1e-3; // a copy of a chosen feature has residual variance 0
const FREE = 1e-9; // of the largest price: what costs less counts as this
const MAX_FOLDED = 128;
const RATE = 1 / 8; // of the error bound exp(-D^2 / 8) of a pair

// exp(-x) for x >= 0: a table of 2^(-i / 1024), and the rest by its series.
const POWERS = Float64Array.from({ length: 1024 }, (_, i) => 2 ** (-i / 1024));
const WHOLE_POWERS = Float64Array.from({ length: 1024 }, (_, i) => 2 ** -i);
const UNIT_OF_POWER = Math.LN2 / 1024, POWERS_PER_UNIT = 1024 / Math.LN2;

function expMinus(x) {
  if (x > 700) x = 700;
  const steps = (x * POWERS_PER_UNIT) | 0;
  const r = x - steps * UNIT_OF_POWER;
  const rest = 1 - r * (1 - r * (0.5 - r * (1 / 6 - r * (1 / 24))));
  return WHOLE_POWERS[steps >> 10] * POWERS[steps & 1023] * rest;
}

// What the page carries, decoded: effects by column, normal scores of the samples, and rows of
// correlations when they are asked for.
function readModel(packed, decode) {
  const nCandidates = packed.columns.length, n = nCandidates + packed.folded.length;
  const bytes = decode(packed.effects), view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const effects = packed.is_exact
    ? Float64Array.from({ length: bytes.length / 8 }, (_, i) => view.getFloat64(8 * i, true))
    : Float64Array.from({ length: bytes.length / 4 }, (_, i) => view.getInt32(4 * i, true) * 2 ** -28);
  const samples = readSamples(packed, decode), correlations = Array(n).fill(null);
  const repeats = new Map(); // of a chosen nominal feature: what is left of the effects of others
  for (const [f, s, kept] of packed.repeats) {
    repeats.set(s, [...(repeats.get(s) ?? []), [f, kept]]);
  }
  return {
    n, nCandidates, nPairs: effects.length / n, effects, samples, repeats, folded: packed.folded,
    correlations: (s) => { correlations[s] ??= correlationsOf(samples, s); return correlations[s]; },
    ofFolded: packed.folded.map((f, at) => correlation(samples, f, nCandidates + at, samples.doubt)),
    prior: packed.prior, varies: packed.varies, stakes: packed.stakes,
  };
}

function readSamples(packed, decode) {
  const { scores, fold, axes, class_counts: classCounts, weights, ...others } = packed.samples;
  const n = classCounts.reduce((sum, count) => sum + count, 0), bytes = decode(scores);
  const ordered = packed.columns.map((_, f) => new Int8Array(bytes.buffer, bytes.byteOffset + f * n, n));
  const rows = [...ordered, ...packed.folded.map((f) => ordered[f].map((score) => fold[score & 255]))], nColumns = rows.length;
  const further = new Map(); // of a nominal column: the rows of its further axes
  for (const [f, values, ...scoresOf] of axes) {
    further.set(f, scoresOf.map((_, at) => rows.length + at));
    for (const found of scoresOf) rows.push(ordered[f].map((score) => found[values.indexOf(score)]));
  }
  const codes = classCounts.flatMap((count, k) => Array(count).fill(k));
  const counts = new Float64Array(classCounts.length);
  codes.forEach((k, i) => { counts[k] += weights ? weights[i] : 1; });
  const sums = rows.map((row) => {
    const found = new Float64Array(counts.length);
    for (let i = 0; i < n; i++) found[codes[i]] += weights ? weights[i] * row[i] : row[i];
    return found;
  });
  const centers = sums.map((of) => of.map((sum, k) => sum / Math.sqrt(counts[k])));
  return { n, rows, codes: Int32Array.from(codes), counts, weights: weights && Float64Array.from(weights), sums, centers, nColumns, further, ...others };
}

// The shrunk correlation of two columns within the classes; a search doubts medium ones.
function correlation(samples, s, f, doubt = 0) {
  const { rows, weights, centers, scales, shrinkage } = samples, a = rows[s], b = rows[f];
  let found = 0;
  if (weights) for (let i = 0; i < a.length; i++) found += weights[i] * a[i] * b[i];
  else found = dot(a, b);
  for (let k = 0; k < centers[s].length; k++) found -= centers[s][k] * centers[f][k];
  const r = found * (scales[s] * scales[f]);
  return (1 - shrinkage) * (r - doubt * (r - r * r * r));
}

function dot(a, b) {
  let total = 0; // whole numbers: exact
  for (let i = 0; i < a.length; i++) total += a[i] * b[i];
  return total;
}

function correlationsOf(samples, s) {
  return Float64Array.from({ length: samples.nColumns }, (_, f) => (f === s ? 1 : correlation(samples, s, f, samples.doubt)));
}

// Which columns of spread count, by number: those that tell more than the order of the values.
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
// prices (null, or one per candidate), budget, shares (of the pairs), folded (see `usedFolded`),
// byCost, only (a set, or null).
class GreedySearch {
  constructor(model, wishes) {
    const { n, nCandidates, nPairs } = model;
    Object.assign(this, { model, wishes, ranking: [], taken: [], roots: [] });
    this.effects = model.effects.slice();
    this.nUpdates = new Int32Array(n);
    this.variances = new Float64Array(n).fill(1);
    this.factors = [];
    this.slopes = [];
    // The gain of a candidate is at most its squared reach over its variance: see GainBounds.
    this.reaches = new Float64Array(nCandidates).fill(Infinity);
    const stakes = wishes.shares.map((share, p) => model.stakes[p] * share), largest = Math.max(...stakes);
    this.stakes = Float64Array.from(stakes, (stake) => stake / largest);
    const total = this.stakes.reduce((sum, stake) => sum + stake, 0);
    this.weights = this.stakes.map((stake) => stake / total);
    this.separation = new Float64Array(nPairs);
    const excluded = new Set(wishes.exclude);
    this.isOpen = Uint8Array.from({ length: nCandidates }, (_, f) => !excluded.has(f) && (!wishes.only || wishes.only.has(f)));
    this.waiting = [...wishes.keep];
    this.money = wishes.budget === null ? Infinity : wishes.budget * (1 + 1e-9);
    this.prior = this.weightGains();
    this.foldedOf = new Int32Array(nCandidates).fill(-1);
    model.folded.forEach((f, at) => { if (wishes.folded.has(at)) this.foldedOf[f] = nCandidates + at; });
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
      for (let p = 0, at = start; p < nPairs; p++, at++) effects[at] -= slope[p] * factor;
    }
    this.nUpdates[column] = this.slopes.length;
  }

  // The part of the error that remains with a candidate, by its order alone.
  lossOf(f) {
    const { nPairs } = this.model, { effects, weights } = this;
    this.update(f);
    const inverse = RATE / this.variances[f];
    let loss = 0;
    for (let p = 0, at = f * nPairs; p < nPairs; p++, at++) {
      loss += weights[p] * expMinus(effects[at] * effects[at] * inverse);
    }
    return loss;
  }

  // The same with its spread.
  jointLossOf(f, g) {
    const { nPairs, ofFolded, nCandidates } = this.model, { effects, weights } = this;
    this.update(f);
    this.update(g);
    const root = (variance) => Math.sqrt(Math.max(variance, MIN_VARIANCE));
    let covariance = ofFolded[g - nCandidates];
    for (const row of this.factors) covariance -= row[f] * row[g];
    const first = root(this.variances[f]), shared = covariance / first;
    const second = root(this.variances[g] - shared * shared);
    let loss = 0;
    for (let p = 0; p < nPairs; p++) {
      const x = effects[f * nPairs + p] / first;
      const y = (effects[g * nPairs + p] - shared * x) / second;
      loss += weights[p] * expMinus(RATE * (x * x + y * y));
    }
    return loss;
  }

  // Only candidates are looked at whose bounds do not exclude them, the most promising one first.
  findBest() {
    const { nCandidates, varies } = this.model, { prior, isOpen, reaches, variances } = this;
    let best = -1, bestGain = -1, bestLoss = 0, constant = -1, favourite = -1, most = -1;
    const limit = (f) => prior[f] * (reaches[f] * reaches[f] * (1 + 1e-9) / variances[f] + 1e-12);
    const look = (f) => {
      const loss = this.lossOf(f), rise = Math.max(1 - loss, 0), gain = prior[f] * rise;
      reaches[f] = Math.sqrt(variances[f] * (rise + 1e-12));
      const isFirst = best < 0 || gain > bestGain || (gain === bestGain && (prior[f] > prior[best]
        || (prior[f] === prior[best] && (loss < bestLoss || (loss === bestLoss && f < best)))));
      if (isFirst) [best, bestGain, bestLoss] = [f, gain, loss];
    };
    for (let f = 0; f < nCandidates; f++) {
      if (isOpen[f] && varies[f] && limit(f) > most) [favourite, most] = [f, limit(f)];
    }
    if (favourite >= 0) look(favourite);
    for (let f = 0; f < nCandidates; f++) {
      if (!isOpen[f]) continue;
      if (!varies[f] && constant < 0) constant = f;
      if (varies[f] && f !== favourite && limit(f) >= bestGain) look(f);
    }
    let move = -1, moveGain = Math.max(bestGain, 0);
    for (let f = 0; f < nCandidates; f++) {
      if (!isOpen[f] || this.foldedOf[f] < 0) continue;
      const gain = prior[f] * Math.max(1 - this.jointLossOf(f, this.foldedOf[f]), 0);
      if (gain > moveGain) [move, moveGain] = [f, gain];
    }
    if (move >= 0) return move;
    return best >= 0 ? best : constant;
  }

  // Before the first step: what every candidate gains alone.
  relevance() {
    const { varies, nCandidates } = this.model;
    return Array.from({ length: nCandidates }, (_, f) => {
      if (!varies[f]) return 0;
      return Math.max(1 - (this.foldedOf[f] < 0 ? this.lossOf(f) : this.jointLossOf(f, this.foldedOf[f])), 0);
    });
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
  }

  // What only the categories of a chosen nominal feature tell is no longer new.
  shrink(column, kept) {
    const { nPairs } = this.model;
    this.update(column);
    for (let p = 0; p < nPairs; p++) this.effects[column * nPairs + p] *= kept;
  }

  take(s) {
    const { n, nCandidates, nPairs } = this.model, { stakes, weights, separation } = this;
    this.update(s);
    const root = Math.sqrt(this.variances[s]), slope = new Float64Array(nPairs);
    let smallest = Infinity, total = 0, growth = 0, size = 0;
    for (let p = 0; p < nPairs; p++) {
      slope[p] = this.effects[s * nPairs + p] / root;
      separation[p] += slope[p] * slope[p];
      if (stakes[p] > 0) smallest = Math.min(smallest, separation[p]);
    }
    const before = weights.slice();
    for (let p = 0; p < nPairs; p++) {
      weights[p] = stakes[p] * expMinus(RATE * Math.max(separation[p] - smallest, 0));
      total += weights[p];
    }
    for (let p = 0; p < nPairs; p++) {
      weights[p] /= total;
      if (weights[p] > 0) growth = Math.max(growth, weights[p] / before[p]);
      size += weights[p] * slope[p] * slope[p];
    }
    growth = Math.sqrt(growth);
    size = Math.sqrt(RATE * size);
    const row = this.model.correlations(s).slice();
    for (const earlier of this.factors) {
      const own = earlier[s];
      for (let f = 0; f < n; f++) row[f] -= own * earlier[f];
    }
    for (let f = 0; f < n; f++) {
      row[f] /= root;
      this.variances[f] = Math.max(this.variances[f] - row[f] * row[f], MIN_VARIANCE);
      if (f >= nCandidates) continue;
      // At the floor, a variance no longer bounds anything.
      this.reaches[f] = this.variances[f] > MIN_VARIANCE ? this.reaches[f] * growth + size * Math.abs(row[f]) : Infinity;
    }
    this.factors.push(row);
    this.slopes.push(slope);
    this.taken.push(s);
    this.roots.push(root);
  }
}
