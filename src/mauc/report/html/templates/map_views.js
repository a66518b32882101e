// What the map shows: classes x classes to begin with where there are many pairs, or features x
// pairs of all classes, of one class, or of a single pair. A view names rows and columns, gives
// the code of a cell, and knows what is behind it.

const MIN_NAMED = 12; // pixels of a column that has room for its name
const shownFeatures = { rows: [] }; // of the table, as far as the map holds them
const map = {
  view: null, rows: [], columns: [], at: null, hover: null, chosenClass: null, chosenPair: null,
  isWaiting: false,
};

const bestCodes = decodeCodes(data.best);
const setCodes = data.set === null ? null : decodeCodes(data.set);

function pairOf(one, other) {
  const [i, j] = one < other ? [one, other] : [other, one];
  return i * nClasses - i * (i + 1) / 2 + j - i - 1;
}

const isWeakPair = [];
for (let pair = 0; weakBits !== null && pair < nPairs; pair++) {
  isWeakPair[pair] = data.n_mapped === nFeatures;
  for (let f = 0; isWeakPair[pair] && f < nFeatures; f++) isWeakPair[pair] = isWeak(f, pair);
}

function bestOf(pair) {
  return features.name[data.best_feature[pair] - 1];
}

const classView = {
  label: "Best AUC on every pair of classes; arrow keys move from cell to cell, Enter opens a pair",
  maxWidth: () => (nClasses <= 12 ? 76 : 46),
  isWhole: () => nClasses <= 40, // never scrolls
  isWritten: (code, width) => width >= 40 && code < 0.9 * NO_AUC, // below 0.95: what matters
  cellHeight: (width) => Math.min(Math.max(width, 4), nClasses <= 12 ? 32 : 24),
  rows: () => [...Array(nClasses).keys()],
  columns: () => [...Array(nClasses).keys()],
  rowName: (label) => data.classes[label],
  columnName: (label) => data.classes[label],
  dotOf: () => undefined,
  code(one, other) {
    if (one === other) return NO_AUC;
    const isSet = setCodes !== null && byId("map-value").value === "set";
    return (isSet ? setCodes : bestCodes)[pairOf(one, other)];
  },
  describe([r, c]) {
    if (r === c) return [data.classes[r], counted(data.counts[r], "sample"), "Enter shows all its pairs"];
    const pair = pairOf(r, c);
    const words = [pairName(pair), `best chosen feature: ${bestOf(pair)}`,
      `AUC ${shown(aucOfCode(bestCodes[pair]), 4)}${isWeakPair[pair] ? ", not significant" : ""}`];
    if (setCodes) words.push(`${data.judge} ${shown(aucOfCode(setCodes[pair]), 4)}`);
    return words;
  },
  // Where no chosen feature has a significant AUC; there are no tests of classifiers.
  isWeak(one, other) {
    const pair = pairOf(one, other);
    return one !== other && byId("map-value").value === "best" && isWeakPair[pair] === true;
  },
  choose([r, c]) {
    if (r === c) openClass(r);
    else openPair(pairOf(r, c));
  },
};

const featureView = {
  label: "AUC of every feature on every pair of classes; arrow keys move from cell to cell",
  maxWidth: () => (map.columns.length === 1 ? 420 : 76),
  isWhole: () => false,
  isWritten: (_, width) => width >= 46,
  cellHeight: () => (byId("compact").checked ? 4 : 20),
  rows() {
    const rows = shownFeatures.rows;
    if (map.chosenPair === null) return rows;
    const place = new Map(rows.map((feature, at) => [feature, at]));
    return [...rows].sort((a, b) => {
      const [first, second] = [a, b].map((f) => auc(f, map.chosenPair) ?? 0);
      return second - first || place.get(a) - place.get(b);
    });
  },
  columns() {
    if (map.chosenPair !== null) return [map.chosenPair];
    const pairs = [...Array(nPairs).keys()].filter((pair) => isOfClass(pair, map.chosenClass));
    if (byId("pair-order").value === "hard") {
      const place = new Map(data.hardest.pair.map((pair, at) => [pair, at]));
      pairs.sort((a, b) => (place.get(a) ?? nPairs) - (place.get(b) ?? nPairs));
    }
    return pairs;
  },
  rowName: (feature) => features.name[feature],
  columnName: pairName,
  dotOf: (feature) => (isPaired ? features.asked_by[feature] : undefined),
  code: aucCode,
  describe([r, c]) {
    const feature = map.rows[r];
    const pair = map.columns[c];
    const asked = isPaired && features.asked_by[feature] === pair ? (data.is_drawn ? ", asked for it" : ", helped most") : "";
    return [features.name[feature], `${pairName(pair)}${asked}`, `AUC ${shown(auc(feature, pair), 4)}${isWeak(feature, pair) ? ", not significant" : ""}`];
  },
  isWeak,
  // Show the values of the feature, the classes of the pair in colour.
  choose([r, c]) {
    tell("feature", map.rows[r], map.columns[c], false);
    readout.textContent = `${this.describe([r, c]).join(" · ")} · its values are shown with the table above`;
  },
};

// Whether all pairs, side by side, would be too narrow for their names.
function isCrowded() {
  return nClasses > 2 && 0.8 * frame.clientWidth / nPairs < MIN_NAMED;
}

function openView(view, chosenClass = null, chosenPair = null) {
  const wasClass = map.chosenClass;
  Object.assign(map, { view, chosenClass, chosenPair });
  frame.scrollTop = frame.scrollLeft = 0;
  relayOut();
  showTrail();
  if (wasClass !== chosenClass) tell("class", chosenClass);
}

function openClass(label) {
  openView(featureView, label);
}

function openPair(pair) {
  openView(featureView, null, nPairs > 1 ? pair : null);
}

function openAll() {
  openView(isCrowded() ? classView : featureView);
}

// The best of all features on a pair, if it was not chosen.
function bestOfAll(pair) {
  const row = data.hardest.pair.indexOf(pair);
  if (row < 0 || features.column.includes(data.hardest.all_column[row])) return "";
  const value = shown(data.hardest.all_auc[row], 4);
  return `; best of all ${counted(data.n_features, "feature")}, not chosen: ${data.hardest.all_feature[row]}, AUC ${value}`;
}

// Where the map is, and the ways from there.
function showTrail() {
  const { view, chosenClass, chosenPair } = map;
  byId("by-class").setAttribute("aria-pressed", String(view === classView));
  byId("by-feature").setAttribute("aria-pressed", String(view === featureView));
  byId("pair-order-label").hidden = view === classView || chosenPair !== null || nPairs === 1;
  byId("map-value-label").hidden = view === featureView || setCodes === null;
  byId("compact-label").hidden = view === classView || Math.min(nFeatures, data.n_mapped) <= 40;
  frame.setAttribute("aria-label", view.label);
  tell("shown-class", chosenClass);
  tell("shown-pair", view === featureView && nPairs === 1 ? 0 : chosenPair);
  const link = (words, open) => {
    const button = make("button", { type: "button", class: "link name" }, words);
    button.addEventListener("click", open);
    return button;
  };
  const words = [];
  if (view === classView) {
    words.push(`${grouped(nClasses)} × ${grouped(nClasses)} classes. Choose a cell to see which features separate its two classes, or a name to see all pairs of that class.`);
  } else if (chosenPair !== null) {
    const [first, second] = [pairFirst[chosenPair], pairSecond[chosenPair]];
    words.push(link("All classes", openAll), " › ", make("b", { class: "name" }, pairName(chosenPair)),
      `, 1 of ${counted(nPairs, "pair")}; best feature first${bestOfAll(chosenPair)}. All pairs of `,
      link(data.classes[first], () => openClass(first)), " or ",
      link(data.classes[second], () => openClass(second)), ".");
  } else {
    const label = chosenClass === null ? null : make("b", { class: "name" }, data.classes[chosenClass]);
    if (label) words.push(link("All classes", openAll), " › ", label, ", ");
    if (nPairs > 1) words.push(`${grouped(map.columns.length)} of ${counted(nPairs, "pair")}, `);
    words.push(`${grouped(map.rows.length)} of ${counted(nFeatures, "feature")}.`);
  }
  byId("trail").replaceChildren(...words);
}
