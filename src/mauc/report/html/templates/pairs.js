// The pairs that remain hard. A row is a place in data.hardest.

const hardest = data.hardest;
const hasRest = nFeatures < data.n_features;

function aucCell(value) {
  if (value === null) return "—";
  const bar = make("svg", { viewBox: "0 0 100 8", preserveAspectRatio: "none", class: "bar small", "aria-hidden": "true" },
    make("rect", { width: Math.max(0, (value - 0.5) * 200), height: 8 }));
  return make("span", { class: "bar-cell" }, bar, shown(value, 4));
}

function gap(row) {
  const { auc, all_auc } = hardest;
  return auc[row] === null || all_auc[row] === null ? null : all_auc[row] - auc[row];
}

const pairColumns = [
  { head: "pair", value: (row) => pairName(hardest.pair[row]), cell: (row) => nameCell(pairName(hardest.pair[row])) },
  { head: "best AUC", hint: "Of a chosen feature", isNumber: true, value: (row) => hardest.auc[row], cell: (row) => aucCell(hardest.auc[row]) },
  { head: "by", hint: "The chosen feature with the best AUC", value: (row) => (hardest.feature[row] === null ? null : features.name[hardest.feature[row] - 1]),
    cell: (row) => {
      const order = hardest.feature[row];
      if (order === null) return "—";
      const button = featureButton(order - 1);
      button.addEventListener("click", () => {
        tell("feature", order - 1, hardest.pair[row], false);
        panel.scrollIntoView({ block: "center", behavior: "smooth" });
      });
      return button;
    } },
];
if (hasRest) {
  pairColumns.push(
    { head: "best of all", hint: "Best AUC of any feature", isNumber: true, value: (row) => hardest.all_auc[row], cell: (row) => shown(hardest.all_auc[row], 4) },
    { head: "by", hint: "The feature with the best AUC of all", value: (row) => hardest.all_feature[row], cell: (row) => nameCell(hardest.all_feature[row] ?? "—") },
    { head: "gap", isNumber: true, isFalling: true, value: gap, cell: (row) => shown(gap(row), 4) },
  );
}
if (hardest.bayes_auc) {
  pairColumns.push(
    { head: "Naive Bayes", hint: "Cross-validated AUC with all features", isNumber: true, value: (row) => hardest.bayes_auc[row], cell: (row) => shown(hardest.bayes_auc[row], 4) },
    { head: "neglect", hint: "0: the chosen are its best features; 1: its worst", isNumber: true, isFalling: true, value: (row) => hardest.neglect[row], cell: (row) => shown(hardest.neglect[row], 3) },
  );
}

const hardTable = new SortedTable(byId("hard-table"), pairColumns, [...hardest.pair.keys()], { label: "Pairs that remain hard", pageSize: 15, sortBy: 1 });
listen("class", (label) => {
  hardTable.filter((row) => label === null || pairFirst[hardest.pair[row]] === label || pairSecond[hardest.pair[row]] === label);
});
