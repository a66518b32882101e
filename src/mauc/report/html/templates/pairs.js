// The pairs that remain hard. A row is a place in data.hardest.

const hardest = data.hardest;

// A bar from AUC 1/2 to 1, and the number.
function aucCell(value) {
  const bar = make("svg",
    { viewBox: "0 0 100 8", preserveAspectRatio: "none", class: "bar small", "aria-hidden": "true" },
    make("rect", { width: Math.max(0, (value - 0.5) * 200), height: 8 }));
  return make("span", { class: "bar-cell" }, bar, shown(value, 4));
}

function gap(row) {
  return hardest.all_auc[row] - hardest.auc[row];
}

function chosenName(row) {
  return features.name[hardest.feature[row] - 1];
}

function chosenButton(row) {
  const feature = hardest.feature[row] - 1;
  const button = featureButton(feature);
  button.addEventListener("click", () => {
    tell("feature", feature, hardest.pair[row], false);
    panel.scrollIntoView({ block: "center" });
  });
  return button;
}

function pairButton(pair) {
  const button = make("button", { type: "button", class: "link name" }, pairName(pair));
  button.addEventListener("click", () => {
    tell("pair", pair);
    byId("map-section").scrollIntoView();
    frame.focus({ preventScroll: true });
  });
  return button;
}

document.querySelectorAll("[data-pair]").forEach((place) => place.replaceChildren(pairButton(Number(place.dataset.pair))));

// A column of numbers as they are in data.hardest.
function numberColumn(head, hint, key, digits, more = {}) {
  return { head, hint, isNumber: true, value: (row) => hardest[key][row],
    cell: (row) => shown(hardest[key][row], digits), ...more };
}

const pairColumns = [
  { head: "pair", hint: "Choose one to see its features in the map",
    value: (row) => pairName(hardest.pair[row]), cell: (row) => pairButton(hardest.pair[row]) },
  numberColumn("best AUC", "Of a chosen feature", "auc", 4,
    { cell: (row) => aucCell(hardest.auc[row]) }),
  { head: "by", hint: "The chosen feature with the best AUC", value: chosenName, cell: chosenButton },
];
if (setCodes) {
  pairColumns.push({ head: "chosen together", isNumber: true,
    hint: `Cross-validated AUC of ${data.judge} with the chosen features`,
    value: (row) => aucOfCode(setCodes[hardest.pair[row]]),
    cell: (row) => shown(aucOfCode(setCodes[hardest.pair[row]]), 4) });
}
if (nFeatures < data.n_features) {
  pairColumns.push(
    numberColumn("best of all", "Best AUC of any feature", "all_auc", 4),
    { head: "by", hint: "The feature with the best AUC of all",
      value: (row) => hardest.all_feature[row],
      cell: (row) => nameCell(hardest.all_feature[row]) },
    { head: "gap", hint: "What the selection leaves out", isNumber: true, isFalling: true,
      value: gap, cell: (row) => shown(gap(row), 4) },
  );
}

if (nPairs > 1) {
  const hardTable = new SortedTable(byId("hard-table"), pairColumns, [...hardest.pair.keys()], {
    label: "Pairs that remain hard", pageSize: 15, sortBy: setCodes ? 3 : 1,
  });
  listen("class", (label) => hardTable.filter((row) => isOfClass(hardest.pair[row], label)));
}
