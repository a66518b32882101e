// The values of one feature, class by class: a small histogram each, the asking pair in colour.

const panel = byId("values");
const BAR = 10;
const TALL = 30;
let shares = null;

function classShares(feature, label) {
  shares ??= decode(data.bins.shares);
  const start = (feature * nClasses + label) * data.bins.n_bins;
  return shares.subarray(start, start + data.bins.n_bins);
}

// Classes to colour: those of a pair, or the one that asked for the feature.
function colouredClasses(feature, pair) {
  if (pair === null && isPaired) pair = features.asked_by[feature];
  if (pair !== null) return [pairFirst[pair], pairSecond[pair]];
  return data.decomposition === "one-vs-rest" ? [features.asked_by[feature]] : [];
}

function histogram(feature, label, nBins, kind) {
  const svg = make("svg", {
    viewBox: `0 0 ${nBins * BAR} ${TALL}`, preserveAspectRatio: "none",
    class: `histogram ${kind}`, "aria-hidden": "true",
  });
  classShares(feature, label).subarray(0, nBins).forEach((share, bin) => {
    if (share === 0) return;
    const height = Math.max(TALL * share / 255, 1);
    svg.append(make("rect", { x: bin * BAR + 0.5, y: TALL - height, width: BAR - 1, height }));
  });
  return svg;
}

function axis(feature) {
  const { levels, low, high } = data.bins;
  const names = levels[feature];
  if (names === null) {
    const range = high[feature] - low[feature];
    const brief = (value) => String(Number(value.toPrecision(4)));
    return [brief(low[feature]), brief(low[feature] + range / 2), brief(high[feature])];
  }
  return names.length > 1 ? [names[0], names[names.length - 1]] : names;
}

// What is known of the feature, in words.
function describeFeature(feature, pair) {
  const asker = subproblemName(features.asked_by[feature]);
  const asked = isOneList ? "" : `, asked for by ${asker} (rank ${grouped(features.rank[feature])})`;
  const score = `${data.measure} ${shownScore(features.score[feature])}`;
  const mean = `mean AUC ${shown(features.mean_auc[feature], 4)}`;
  const parts = [
    make("h3", { class: "name" }, features.name[feature]),
    make("p", { class: "muted" }, `Number ${grouped(feature + 1)}${asked}; ${score}, ${mean}.`),
  ];
  if (pair !== null && feature < data.n_mapped) {
    parts.push(make("p", {}, `AUC on ${pairName(pair)}: ${shown(auc(feature, pair), 4)}.`));
  }
  return parts;
}

function describeBins(feature) {
  const names = data.bins.levels[feature];
  const missing = data.bins.missing[feature];
  const notes = ["Share of the samples of each class in a bin, all on one scale."];
  if (names !== null && names.length > 2) notes.push(`One bar for each of ${names.length} values.`);
  if (data.bins.is_cut[feature]) notes.push("The outermost bars also hold the values beyond.");
  if (missing) notes.push(`${counted(missing.reduce((a, b) => a + b, 0), "value")} missing.`);
  return make("p", { class: "note" }, notes.join(" "));
}

function makeHistograms(feature, pair) {
  const names = data.bins.levels[feature];
  const nBins = names === null ? data.bins.n_bins : Math.max(1, names.length);
  const coloured = colouredClasses(feature, pair);
  const missing = data.bins.missing[feature];
  const list = make("ul", { class: "values-list" });
  data.classes.forEach((name, label) => {
    const kind = ["first", "second"][coloured.indexOf(label)] ?? "other";
    const lost = missing?.[label] ? ` (${counted(missing[label], "value")} missing)` : "";
    const hint = `${name}: ${counted(data.counts[label], "sample")}${lost}`;
    list.append(make("li", { class: kind },
      make("span", { class: "name label", title: hint }, name),
      histogram(feature, label, nBins, kind)));
  });
  return list;
}

function showValues(feature, pair) {
  const parts = describeFeature(feature, pair);
  if (feature < data.n_binned) {
    const ticks = axis(feature).map((tick) => make("span", { class: "name" }, tick));
    parts.push(makeHistograms(feature, pair), make("div", { class: "axis" }, ...ticks));
    parts.push(describeBins(feature));
  } else {
    const most = grouped(data.n_binned);
    parts.push(make("p", { class: "note" }, `The page holds the values of the first ${most} features.`));
  }
  const pairs = served[feature];
  if (pairs.length > MAX_NAMED) {
    parts.push(make("details", {}, make("summary", {}, `Serves ${pairs.length} pairs best`),
      make("p", { class: "name served" }, pairs.map(pairName).join(", "))));
  }
  panel.replaceChildren(...parts);
}

listen("feature", (feature, pair, isAsked) => {
  showValues(feature, pair);
  byId("values-status").textContent = `Values of ${features.name[feature]} are shown.`;
  // On a narrow screen the panel lies below the table: bring it into sight.
  if (isAsked && panel.getBoundingClientRect().top > window.innerHeight - 120) {
    panel.scrollIntoView({ block: "nearest", behavior: "smooth" });
  }
});
