// The MAUC to expect of a search in greedy.js, as selectors/greedy_mauc/prediction.py has it: every
// sample is left out in turn, and what of the distances of class means is luck is taken off.

const BIN = 0.1, N_BINS = 100, COMPONENTS = [0, ...Array.from({ length: 13 }, (_, i) => 2 ** (i - 2))];
const NULL_SHARE = 0.3, N_ITERATIONS = 1000, MAX_GAP = 600, MIN_LEFT = 0.02, MAX_EVALUATED = 512, MAX_KNOWN = 1000;

// The normal distribution function and its inverse, to 1e-14 (series and continued fraction).
function normal(x) {
  const size = Math.abs(x), density = Math.exp(-x * x / 2) / Math.sqrt(2 * Math.PI);
  let tail;
  if (size < 3) {
    let term = size, sum = size;
    for (let i = 3; term > 1e-18 * sum; i += 2) sum += term *= size * size / i;
    tail = 0.5 - density * sum;
  } else {
    let fraction = size;
    for (let i = 60; i > 0; i--) fraction = size + i / fraction;
    tail = density / fraction;
  }
  return x < 0 ? tail : 1 - tail;
}

function normalInverse(p) {
  let low = -9, high = 9;
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (normal(middle) < p) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

const likelihood = (size, variance) => Math.exp(-0.5 * Math.min(size, N_BINS * BIN) ** 2 / (1 + variance)) / Math.sqrt(1 + variance);
const BIN_LIKELIHOODS = Array.from({ length: N_BINS + 1 }, (_, b) => COMPONENTS.map((variance) => likelihood((b + 0.5) * BIN, variance)));

// The part of a distance of class means, in standard errors, that will not recur.
function luckIn(size, mixture) {
  let all = 0, real = 0;
  for (let c = 0; c < COMPONENTS.length; c++) {
    const part = likelihood(size, COMPONENTS[c]) * mixture[c];
    all += part;
    real += part * (COMPONENTS[c] / (1 + COMPONENTS[c]));
  }
  return 1 - real / all;
}

// The shares of the components among the distances of class means, by EM.
function mixtureOf(sizes) {
  const total = sizes.reduce((sum, size) => sum + size, 0), n = COMPONENTS.length;
  const used = [...sizes.keys()].filter((b) => sizes[b] > 0);
  const likelihoods = Float64Array.from(used.flatMap((b) => BIN_LIKELIHOODS[b]));
  const weights = new Float64Array(n).fill(1 / n), sums = new Float64Array(n);
  for (let turn = 0; turn < N_ITERATIONS; turn++) {
    sums.fill(0);
    for (let b = 0; b < used.length; b++) {
      let all = 0;
      for (let c = 0; c < n; c++) all += weights[c] * likelihoods[b * n + c];
      const share = sizes[used[b]] / total / all;
      for (let c = 0; c < n; c++) sums[c] += likelihoods[b * n + c] * share;
    }
    for (let c = 0; c < n; c++) weights[c] *= (1 - NULL_SHARE) * sums[c];
    weights[0] += NULL_SHARE;
  }
  return weights;
}

class Predictor {
  constructor(model) {
    const { samples } = model, { counts } = samples;
    this.model = model;
    this.nFree = counts.reduce((sum, count) => sum + count, 0) - counts.length;
    this.nAll = this.nFree + counts.length;
    this.errors = counts.map((count) => Math.sqrt(1 / count - 1 / this.nAll));
    this.confirmed = new Map(samples.confirmed.map(([column, share]) => [column, Math.sqrt(share)]));
    this.correlations = new Map(); // of two columns, by their numbers
    this.mixtures = new Map(); // by the chosen columns of spread
    this.known = new Map();
    this.weights = samples.weights ?? new Float64Array(samples.n).fill(1);
  }

  // The AUC of every class pair, both directions averaged; it depends on the chosen columns alone.
  pairAucs(search) {
    const key = search.taken.join();
    if (this.known.size > MAX_KNOWN) this.known.clear();
    if (!this.known.has(key)) this.known.set(key, this.predict(search));
    return this.known.get(key);
  }

  predict(search) {
    const n = this.model.samples.counts.length, size = evaluatedSize(Math.min(search.taken.length, MAX_EVALUATED));
    if (size === 0 || this.nFree < 1) return Array(n * (n - 1) / 2).fill(0.5);
    const { points, bias, distances, lucky } = this.standardPoints(search, size);
    const groups = this.tiedSamples(search.taken.slice(0, size));
    const found = this.leftOutAucs(points, bias, groups);
    if (groups) { // samples that tie are not moved apart: luck is taken off their AUC instead
      const unmoved = this.leftOutAucs(points, bias.map((row) => row.map(() => 0)), groups);
      const between = (a, b, i, j) => a.reduce((sum, row, t) => sum + (row[i] - row[j]) * (b[t][i] - b[t][j]), 0);
      for (let i = 0; i < n; i++) {
        for (let j = 0; j < n; j++) {
          if (i === j) continue;
          const apparent = Math.max(between(distances, distances, i, j), 1e-300);
          const kept = Math.min(Math.max(1 - between(distances, lucky, i, j) / apparent, 0), 1);
          found[i * n + j] = Math.min(found[i * n + j], normal(kept * normalInverse(unmoved[i * n + j])));
        }
      }
    }
    const aucs = [];
    for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) aucs.push((found[i * n + j] + found[j * n + i]) / 2);
    return aucs;
  }

  // Samples, class means and their mean, in independent coordinates, and the luck in them.
  standardPoints(search, size) {
    const { samples, nCandidates } = this.model, { n, counts } = samples, nClasses = counts.length;
    const points = [], bias = [], distances = [], lucky = [], lower = [];
    const mixture = this.mixtureOf(search.taken.filter((column) => column >= nCandidates));
    const columns = search.taken.slice(0, size).flatMap((owner) => (
      [owner, ...(samples.further.get(owner) ?? [])].map((column) => [column, this.confirmed.get(owner) ?? 1])
    ));
    columns.forEach(([column, confirmed], step) => {
      const row = this.unscaled(column), factors = new Float64Array(step);
      let variance = 1;
      for (let t = 0; t < step; t++) {
        const other = points[t];
        let found = this.correlation(column, columns[t][0]);
        for (let u = 0; u < t; u++) found -= factors[u] * lower[t].factors[u];
        const factor = factors[t] = found / lower[t].root;
        variance -= factor * factor;
        for (let i = 0; i < row.length; i++) row[i] -= factor * other[i];
      }
      const root = Math.sqrt(Math.max(variance, MIN_VARIANCE));
      lower.push({ factors, root });
      for (let i = 0; i < row.length; i++) row[i] /= root;
      const apart = Array.from({ length: nClasses }, (_, g) => row[n + g] - row[n + nClasses]);
      const luck = apart.map((distance, g) => luckIn(confirmed * Math.abs(distance / this.errors[g]), mixture));
      points.push(row);
      distances.push(apart);
      // What leaving a sample out takes by itself is not taken twice.
      bias.push(apart.map((distance, g) => {
        const chance = Math.min(Math.max(Math.abs(distance) / this.errors[g], 1), 1e6) ** -2;
        return (1 - confirmed * (1 - Math.max(luck[g] - chance, 0))) * distance;
      }));
      lucky.push(apart.map((distance, g) => (1 - confirmed * (1 - luck[g])) * distance));
    });
    return { points, bias, distances, lucky };
  }

  // Of two columns, further axes of nominal ones among them.
  correlation(a, b) {
    const { samples } = this.model, key = Math.max(a, b) * samples.rows.length + Math.min(a, b);
    if (!this.correlations.has(key)) this.correlations.set(key, correlation(samples, a, b));
    return this.correlations.get(key);
  }

  unscaled(column) {
    const { n, rows, counts, sums, scales } = this.model.samples, nClasses = counts.length;
    const unit = (scales[column] > 0 ? scales[column] : 2) * Math.sqrt(this.nFree);
    const row = new Float64Array(n + nClasses + 1);
    for (let i = 0; i < n; i++) row[i] = rows[column][i] * unit;
    for (let g = 0; g < nClasses; g++) row[n + g] = sums[column][g] / counts[g] * unit;
    row[n + nClasses] = sums[column].reduce((a, b) => a + b, 0) / this.nAll * unit;
    return row;
  }

  mixtureOf(folded) {
    const key = folded.sort((a, b) => a - b).join();
    if (!this.mixtures.has(key)) {
      const { n, counts, sizes } = this.model.samples, all = [...sizes];
      for (const column of folded) {
        const row = this.unscaled(column);
        counts.forEach((_, g) => {
          all[Math.min(Math.abs((row[n + g] - row[n + counts.length]) / this.errors[g]) / BIN, N_BINS) | 0] += 1;
        });
      }
      this.mixtures.set(key, mixtureOf(all));
    }
    return this.mixtures.get(key);
  }

  // Numbers of groups of samples that agree in all columns; null if no two do.
  tiedSamples(columns) {
    const { n, rows } = this.model.samples, nMost = Math.max(n, this.weights.reduce((a, b) => a + b, 0));
    let groups = new Int32Array(n), nGroups = 1;
    for (const column of columns) {
      const numbers = new Map(), row = rows[column];
      groups = groups.map((group, i) => {
        const key = group * 256 + row[i] + 128;
        if (!numbers.has(key)) numbers.set(key, numbers.size);
        return numbers.get(key);
      });
      nGroups = numbers.size;
      if (nGroups >= nMost) return null;
    }
    return groups;
  }

  // The AUC of class i against j by the log odds of class i, at i * n_classes + j.
  leftOutAucs(points, bias, groups) {
    const { n, codes, counts, shrinkage } = this.model.samples, nClasses = counts.length, { weights, nFree } = this;
    const priors = counts.map((count) => Math.log(count / this.nAll));
    const odds = Array.from(counts, () => new Float64Array(n)), logs = new Float64Array(nClasses);
    const squares = new Float64Array(nClasses), products = new Float64Array(nClasses), terms = new Float64Array(nClasses);
    for (let i = 0; i < n; i++) {
      const k = codes[i], unit = Math.min(weights[i], 1), isOne = !(counts[k] > unit);
      let leverage = 0;
      squares.fill(0);
      products.fill(0);
      for (let step = 0; step < points.length; step++) {
        const row = points[step], own = bias[step][k];
        let r = row[i] - row[isOne ? n + nClasses : n + k]; // a class of one sample has no mean left
        if (!isOne) r = r * counts[k] / (counts[k] - unit);
        leverage += r * r;
        for (let g = 0; g < nClasses; g++) {
          const v = g === k ? r - own : row[i] - own - row[n + g];
          squares[g] += v * v;
          products[g] += v * r;
        }
      }
      let b = (1 - shrinkage) * (unit * (1 - unit / counts[k])) / nFree;
      b /= Math.max(1 - b * leverage, MIN_LEFT);
      let largest = -Infinity, second = -Infinity, top = 0, others = 0;
      for (let g = 0; g < nClasses; g++) {
        logs[g] = priors[g] - 0.5 * (squares[g] + b * products[g] * products[g]) * (nFree - unit) / nFree;
        if (logs[g] > largest) [largest, second, top] = [logs[g], largest, g];
        else if (logs[g] > second) second = logs[g];
      }
      for (let g = 0; g < nClasses; g++) {
        terms[g] = expMinus(largest - logs[g]);
        if (g !== top) others += terms[g];
      }
      for (let g = 0; g < nClasses; g++) {
        let rest = largest + Math.log(others + (1 - terms[g]));
        if (g === top) rest = largest - second < MAX_GAP ? largest + Math.log(others) : second;
        odds[g][i] = logs[g] - rest;
      }
    }
    if (groups) for (const row of odds) this.average(row, groups);
    return this.aucsOf(odds);
  }

  average(row, groups) {
    const sums = new Float64Array(row.length), sizes = new Float64Array(row.length);
    groups.forEach((group, i) => {
      sums[group] += row[i] * this.weights[i];
      sizes[group] += this.weights[i];
    });
    groups.forEach((group, i) => { row[i] = sums[group] / sizes[group]; });
  }

  aucsOf(odds) {
    const { n, codes, counts } = this.model.samples, nClasses = counts.length, { weights } = this;
    const found = new Float64Array(nClasses * nClasses), order = new Uint32Array(n);
    const below = new Float64Array(nClasses), tied = new Float64Array(nClasses);
    for (let i = 0; i < nClasses; i++) {
      const scores = odds[i];
      sortInto(order, scores);
      below.fill(0);
      for (let start = 0, stop = 0; start < n; start = stop) {
        for (tied.fill(0); stop < n && scores[order[stop]] === scores[order[start]]; stop++) tied[codes[order[stop]]] += weights[order[stop]];
        for (let j = 0; j < nClasses; j++) {
          found[i * nClasses + j] += tied[i] * (2 * below[j] + tied[j]);
          below[j] += tied[j];
        }
      }
      for (let j = 0; j < nClasses; j++) found[i * nClasses + j] = (found[i * nClasses + j] / 2 + 0.5) / (counts[i] * counts[j] + 1);
    }
    return found;
  }
}

// Numbers of samples by score: sorting the scores alone and looking each up is faster.
function sortInto(order, scores) {
  const n = scores.length, sorted = scores.slice().sort(), filled = new Uint32Array(n);
  for (let i = 0; i < n; i++) {
    let low = 0, high = n;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted[middle] < scores[i]) low = middle + 1;
      else high = middle;
    }
    order[low + filled[low]++] = i;
  }
}

// The largest size up to n for which Python predicts: 1 to 20, then each a tenth above the last.
function evaluatedSize(n) {
  let size = Math.min(n, 1);
  while (size > 0 && size + Math.max(1, Math.floor(size / 10)) <= n) size += Math.max(1, Math.floor(size / 10));
  return size;
}

// The best choice under a budget: choices by gain per price and by gain alone, improved by leaving
// out, adding or exchanging up to two features, as selectors/greedy_mauc/units.py does.
// `search(byCost, only)` is the ranking of a search, `others` are further starts, and `predict(part)`
// is the MAUC to expect of a set.
function searchBudget(wishes, search, others, predict, relevance, maxChoices) {
  const { prices, keep, exclude, budget, size } = wishes, known = new Map(), MAX_RIVALS = 16;
  const costOf = (part) => part.reduce((sum, f) => sum + prices[f], 0);
  const keyOf = (part) => [...part].sort((a, b) => a - b).join();
  const predicted = (part) => {
    const key = keyOf(part);
    if (!known.has(key)) known.set(key, { part, mauc: predict(part) });
    return known.get(key).mauc;
  };
  const paid = (f) => (exclude.includes(f) ? 0 : prices[f]);
  const least = Math.max(FREE * Math.max(...prices.map((_, f) => paid(f))), 1e-300);
  const rivals = new Set([true, false].flatMap((byCost) => {
    const worth = prices.map((_, f) => (exclude.includes(f) ? 0 : relevance[f] * (byCost ? 1 / Math.max(prices[f], least) : 1)));
    return [...worth.keys()].sort((a, b) => worth[b] - worth[a] || a - b).slice(0, MAX_RIVALS);
  }).filter((f) => !exclude.includes(f)));
  const money = budget * (1 + 1e-9);
  const fits = (part) => part.length <= size && costOf(part) <= money;

  function improve(start) {
    let part = [...start].sort((a, b) => a - b), distance = 1;
    predicted(part);
    while (distance <= 2) {
      const old = part.filter((f) => !keep.includes(f));
      const fresh = [...rivals].filter((f) => !part.includes(f) && prices[f] <= money).sort((a, b) => a - b);
      const near = new Map(), seen = new Set(known.keys());
      for (const [nOld, nNew] of pairsUpTo(distance)) {
        for (const out of subsets(old, nOld)) {
          const rest = part.filter((f) => !out.includes(f));
          for (const added of subsets(fresh, nNew)) {
            const other = [...rest, ...added].sort((a, b) => a - b);
            if (other.length === 0 || !fits(other)) continue;
            near.set(other.join(), other);
            seen.add(other.join());
            if (seen.size > maxChoices) return;
          }
        }
      }
      let best = null;
      for (const other of near.values()) if (best === null || predicted(other) > predicted(best)) best = other;
      if (best !== null && predicted(best) > predicted(part)) [part, distance] = [best, 1];
      else distance += 1;
    }
  }

  for (const start of [search(true), search(false), ...others]) improve(start);
  let best = null;
  for (const one of known.values()) {
    if (best === null || one.mauc > best.mauc || (one.mauc === best.mauc && costOf(one.part) < costOf(best.part))) best = one;
  }
  return search(true, new Set(best.part));
}

const pairsUpTo = (n) => Array.from({ length: (n + 1) ** 2 }, (_, at) => [Math.floor(at / (n + 1)), at % (n + 1)]);

// Subsets of n members, at most 2, in order.
function subsets(members, n) {
  if (n < 2) return n === 0 ? [[]] : members.map((f) => [f]);
  return members.flatMap((f, at) => members.slice(at + 1).map((g) => [f, g]));
}
