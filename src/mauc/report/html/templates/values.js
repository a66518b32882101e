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
    const part = (100 * data.bins.top[feature] * share / 255).toPrecision(2);
    const name = data.bins.levels[feature]?.[bin];
    svg.append(make("rect", { x: bin * BAR + 0.5, y: TALL - height, width: BAR - 1, height },
      name === undefined ? null : make("title", {}, `${name}: ${Number(part)} % of ${data.classes[label]}`)));
  });
  return svg;
}

// Labels and where they stand, from 0 to 1: those of the levels, or three of a part of the range.
function axisTicks(feature, [from, to] = [0, 1]) {
  const { levels, low, high } = data.bins;
  const names = levels[feature];
  if (names !== null) return names.map((name, at) => [(at + 0.5) / names.length, name]);
  const span = (to - from) * (high[feature] - low[feature]);
  const digits = Math.min(Math.max(2 - Math.floor(Math.log10(span)), 0), 20); // three of them differ
  return [0, 0.5, 1].map((at) => {
    const share = from + at * (to - from);
    const value = (1 - share) * low[feature] + share * high[feature];
    return [at, String(Number(value.toFixed(digits)))];
  });
}

// Of many ticks the first, the last, and one between them.
function threeOf(ticks) {
  return ticks.length < 4 ? ticks : [0, (ticks.length - 1) >> 1, ticks.length - 1].map((at) => ticks[at]);
}

// What stands below the bars: every category, turned; a few short values; or three of many.
function makeAxis(feature) {
  const ticks = axisTicks(feature);
  const isShort = ticks.length * Math.max(...ticks.map(([, name]) => name.length)) <= 24;
  const isEach = data.bins.levels[feature] !== null && (isShort || data.bins.is_nominal[feature]);
  return make("div", { class: `axis ${isEach ? "each" : "ends"}${isShort ? "" : " turned"}` }, ...(isEach ? ticks : threeOf(ticks)).map(([at, name]) => {
    const label = makeLabel("span", { class: "name", title: name }, name);
    if (!isEach) label.style.left = `${100 * at}%`;
    return label;
  }));
}

// What is known of the feature, in words.
function describeFeature(feature, pair) {
  const asker = subproblemName(features.asked_by[feature]);
  const asked = isOneList ? "" : `, ${ASKED} ${asker} (rank ${grouped(features.rank[feature])})`;
  const score = isPredicted
    ? `predicted MAUC ${shown(features.predicted_mauc[feature], 4)}, `
    : isAuc ? "" : `${data.measure} ${shownScore(features.score[feature])}, `;
  const mean = `mean AUC ${shown(features.mean_auc[feature], 4)}`;
  const parts = [
    make("h3", { class: "name" }, features.name[feature]),
    make("p", { class: "muted" }, `Number ${grouped(feature + 1)}${asked}; ${score}${mean}.`),
  ];
  if (pair !== null && feature < data.n_mapped) {
    parts.push(make("p", {}, `AUC on ${pairName(pair)}: ${shown(auc(feature, pair), 4)}.`));
  }
  return parts;
}

function describeBins(feature) {
  const names = data.bins.levels[feature];
  const missing = data.bins.missing[feature];
  const top = Number((100 * data.bins.top[feature]).toPrecision(3));
  const where = data.bins.is_nominal[feature] ? "of a category" : names === null ? "in a bin" : "of a value";
  const notes = [`Share of the samples of each class ${where}, all on one scale: the tallest bar is ${top} %.`];
  if (data.bins.is_nominal[feature]) notes.push(`One bar per category, ${names.length} in all.`);
  else if (names !== null && names.length > 2) notes.push(`One bar for each of ${names.length} values.`);
  if (data.bins.is_cut[feature]) notes.push("The outermost bars also hold the values beyond.");
  if (missing) notes.push(`${counted(missing.reduce((a, b) => a + b, 0), "value")} missing.`);
  return make("p", { class: "note" }, notes.join(" "));
}

const MAX_LINES = 40; // classes of a card that shows all of them at once

function makeHistograms(feature, pair, isWhole) {
  const names = data.bins.levels[feature];
  const nBins = names === null ? data.bins.n_bins : Math.max(1, names.length);
  const coloured = colouredClasses(feature, pair);
  const missing = data.bins.missing[feature];
  const size = nClasses > 24 ? "tight" : nClasses > 12 ? "dense" : "";
  const list = make("ul", { class: `values-list ${size}` });
  let room = MAX_LINES - coloured.length;
  data.classes.forEach((name, label) => {
    const kind = ["first", "second"][coloured.indexOf(label)] ?? "other";
    if (!isWhole && kind === "other" && room-- <= 0) return;
    const lost = missing?.[label] ? ` (${counted(missing[label], "value")} missing)` : "";
    const hint = `${name}: ${counted(data.counts[label], "sample")}${lost}`;
    list.append(make("li", { class: kind },
      makeLabel("span", { class: "name label", title: hint }, name),
      histogram(feature, label, nBins, kind)));
  });
  return list;
}

// The rest of the classes, on demand.
function moreClasses(feature, pair) {
  const button = make("button", { type: "button" }, `Show all ${grouped(nClasses)} classes`);
  button.addEventListener("click", () => showValues(feature, pair, true));
  return make("p", { class: "note" }, `${MAX_LINES} of ${grouped(nClasses)} classes are shown. `, button);
}

function showValues(feature, pair, isWhole = nClasses <= MAX_LINES) {
  const parts = describeFeature(feature, pair);
  if (feature < data.n_binned) {
    parts.push(makeHistograms(feature, pair, isWhole), makeAxis(feature));
    if (!isWhole) parts.push(moreClasses(feature, pair));
    parts.push(describeBins(feature));
  } else {
    const most = grouped(data.n_binned);
    parts.push(make("p", { class: "note" }, `The page holds the values of the first ${most} features.`));
  }
  const pairs = served[feature];
  if (pairs.length > MAX_NAMED + 1) {
    parts.push(make("details", {},
      make("summary", {}, `Serves ${pairs.length} of ${counted(nPairs, "pair")} best`),
      make("p", { class: "name served" }, pairs.map(pairName).join(", "))));
  }
  panel.replaceChildren(...parts);
  fitPanel();
}

// A card that is taller than the window scrolls with the page: nothing of it stays hidden.
function fitPanel() {
  panel.classList.toggle("tall", panel.offsetHeight > window.innerHeight - 80);
}
window.addEventListener("resize", fitPanel);

listen("feature", (feature, pair, isAsked) => {
  showValues(feature, pair);
  byId("values-status").textContent = `Values of ${features.name[feature]} are shown.`;
  // On a narrow screen the panel lies below the table: bring it into sight.
  if (isAsked && panel.getBoundingClientRect().top > window.innerHeight - 120) {
    panel.scrollIntoView({ block: "nearest", behavior: "smooth" });
  }
});
