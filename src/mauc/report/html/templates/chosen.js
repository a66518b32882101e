// The table of chosen features, its filter and its CSV file. A row is the place of a feature.

const features = data.features;
const MAX_NAMED = 2;

// The pairs that a feature serves best: the first of them, and a button that adds the others.
function servedCell(feature) {
  const pairs = served[feature];
  if (pairs.length === 0) return "–";
  const cell = make("span", { class: "name served-cell" });
  const few = pairs.length <= MAX_NAMED + 1; // a button for a single pair would take as much room
  const write = (count) => {
    const named = pairs.slice(0, count).map((pair) => whole(pairName(pair))).join(", ");
    cell.replaceChildren(few ? named : `${pairs.length} of ${grouped(nPairs)} pairs: ${named}`);
  };
  write(few ? pairs.length : MAX_NAMED);
  if (few) return cell;
  const more = make("button", { type: "button", class: "link more", "aria-expanded": "false" });
  const name = () => {
    const isOpen = more.getAttribute("aria-expanded") === "true";
    more.textContent = isOpen ? "show fewer" : `and ${grouped(pairs.length - MAX_NAMED)} more`;
  };
  more.addEventListener("click", (event) => {
    event.stopPropagation();
    const isOpen = more.getAttribute("aria-expanded") !== "true";
    more.setAttribute("aria-expanded", String(isOpen));
    write(isOpen ? pairs.length : MAX_NAMED);
    name();
    cell.append(" ", more);
    more.focus();
  });
  name();
  cell.append(" ", more);
  return cell;
}

// A short name does not break.
function whole(name) {
  return name.length <= 14 ? name.replaceAll(" ", "\u00a0") : name;
}

function featureButton(feature) {
  const name = features.name[feature];
  return make("button", { type: "button", class: `link name${name.length <= 20 ? " short" : ""}` }, name);
}

// Short names stay on one line, others may break.
function nameCell(text) {
  return make("span", { class: text.length <= 14 ? "name short" : "name" }, text);
}

const isOneList = data.decomposition === "whole" || nClasses === 2;
const isAuc = nClasses === 2 && data.measure === "AUC"; // the score: shown once
const columns = [
  { head: "#", hint: "Order of choice", isNumber: true,
    value: (f) => f, cell: (f) => String(f + 1) },
  { head: "feature", value: (f) => features.name[f], cell: featureButton },
];
if (!isOneList) {
  columns.push(
    { head: ASKED, value: (f) => subproblemName(features.asked_by[f]),
      cell: (f) => nameCell(subproblemName(features.asked_by[f])) },
    { head: "rank", hint: "Rank among the features of that sub-problem", isNumber: true,
      value: (f) => features.rank[f], cell: (f) => grouped(features.rank[f]) },
  );
}
columns.push(
  ...(isPredicted ? [
    { head: "predicted MAUC", hint: "Of the features so far, on new samples", isNumber: true,
      isFalling: true, value: (f) => features.predicted_mauc[f],
      cell: (f) => shown(features.predicted_mauc[f], 4) },
    { head: "added", hint: "To the predicted MAUC", isNumber: true, isFalling: true,
      value: (f) => features.added[f], cell: (f) => shown(features.added[f], 4) },
  ] : isAuc ? [] : [
    { head: isOneList || !data.is_drawn ? data.measure : `${data.measure} there`, isNumber: true,
      isFalling: true, value: (f) => features.score[f], cell: (f) => shownScore(features.score[f]) },
  ]),
  { head: "mean AUC", hint: "Over all pairs of classes", isNumber: true, isFalling: true,
    value: (f) => features.mean_auc[f], cell: (f) => shown(features.mean_auc[f], 4) },
  ...(data.n_folds ? [{ head: "chosen again", isNumber: true, isFalling: true,
    hint: `In how many of ${data.n_folds} fits, each without a part of the samples`,
    value: (f) => features.n_fits[f], cell: (f) => `${features.n_fits[f]} of ${data.n_folds}` }] : []),
  ...(nPairs > 1 ? [{ head: "serves best", isCount: true, isFalling: true,
    hint: "Pairs on which no other chosen one is better; sorted by number",
    value: (f) => served[f].length, cell: servedCell }] : []),
);

const chosenTable = new SortedTable(byId("chosen-table"), columns, [...Array(nFeatures).keys()], {
  label: "Chosen features",
  onRow: (feature) => tell("feature", feature, null, true),
  onView: (rows) => {
    byId("filter-count").textContent = rows.length === nFeatures
      ? "" : `${grouped(rows.length)} of ${counted(nFeatures, "feature")}`;
    tell("view", rows);
  },
});
listen("feature", (feature) => chosenTable.mark(feature));

byId("filter").addEventListener("input", (event) => {
  const wanted = event.target.value.trim().toLowerCase();
  chosenTable.filter((feature) => features.name[feature].toLowerCase().includes(wanted)
    || (!isOneList && subproblemName(features.asked_by[feature]).toLowerCase().includes(wanted)));
});

// A spreadsheet takes a text that begins with one of these for a formula and runs it.
function csvCell(value) {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  const safe = /^([=@\t\r]|[+-](?![\d.]+$))/.test(value) ? `'${value}` : value;
  return /[",;\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function csvText(rows) {
  const head = [
    "step", "column", "feature", "chosen_for", "rank", "score", "predicted_mauc", "added",
    "mean_auc", "chosen_again", "n_served", "serves_best",
  ];
  const lines = rows.map((f) => [
    f + 1, features.column[f], features.name[f], subproblemName(features.asked_by[f]),
    features.rank[f], features.score[f], features.predicted_mauc[f], features.added[f],
    features.mean_auc[f], features.n_fits[f],
    served[f].length, served[f].map(pairName).join("; "),
  ]);
  return [head, ...lines].map((line) => line.map(csvCell).join(",") + "\r\n").join("");
}

byId("csv").addEventListener("click", () => {
  const file = new Blob([csvText(chosenTable.rows)], { type: "text/csv;charset=utf-8" });
  const address = URL.createObjectURL(file);
  const link = make("a", { href: address, download: "chosen-features.csv" });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
});
