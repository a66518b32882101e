// The samples of a pair on its two best chosen features: where its classes lie, and where they mix.

const scatter = byId("scatter");
const [WIDE, HIGH, LEFT] = [430, 330, 70];

function pointsOf(feature, label) {
  const start = data.n_drawn.slice(0, label).reduce((a, b) => a + b, 0);
  return decodeCodes(data.bins.points[feature]).subarray(start, start + data.n_drawn[label]);
}

// The part of an axis that both classes take, and where a code stands on it, from 0 to 1. Levels
// are spread, so that samples of the same level do not hide each other.
function makeScale(feature, labels) {
  const names = data.bins.levels[feature];
  if (names !== null) return { part: [0, 1], at: (code, spread) => (code + 0.15 + 0.7 * (spread % 1)) / names.length };
  const known = labels.flatMap((label) => [...pointsOf(feature, label)]).filter((code) => code !== NO_AUC);
  const ends = [Math.min(...known), Math.max(...known)];
  const [low, high] = ends[0] < ends[1] ? ends : [0, NO_AUC - 1];
  return { part: [low, high].map((end) => end / (NO_AUC - 1)), at: (code) => (code - low) / (high - low) };
}

const makeMark = (side, x, y) => (side === 0
  ? make("circle", { cx: x, cy: y, r: 3.2 })
  : make("rect", { x: x - 2.8, y: y - 2.8, width: 5.6, height: 5.6 }));

function drawAxis(svg, feature, part, isUp, place) {
  const write = (words, x, y, anchor) => svg.append(make("text", { class: "tick", x, y, "text-anchor": anchor }, words));
  pen.font = FONT;
  for (const [at, name] of threeOf(axisTicks(feature, part))) {
    const [[x1, y1], [x2, y2]] = [0, 1].map((end) => (isUp ? place(end, at) : place(at, end)));
    svg.append(make("line", { class: "grid", x1, y1, x2, y2 }));
    write(fitText(name, isUp ? LEFT - 10 : 84), ...(isUp ? [LEFT - 6, y1 + 4, "end"] : [x1, y1 + 18, "middle"]));
  }
  write(fitText(features.name[feature], WIDE - LEFT), ...(isUp ? [0, 11, "start"] : [WIDE - 22, HIGH - 4, "end"]));
}

function drawScatter(pair) {
  const both = [data.best_feature[pair], data.second_feature[pair]].map((order) => order - 1);
  const labels = [pairFirst[pair], pairSecond[pair]];
  const title = make("figcaption", { class: "name" }, `${pairName(pair)}: its two best chosen features`);
  if (both.some((feature) => !data.bins.points[feature])) {
    return [title, make("p", { class: "note" }, "The page does not hold their values.")];
  }
  const svg = make("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": `The samples of ${pairName(pair)} on two features` });
  const place = (h, v) => [LEFT + 6 + h * (WIDE - LEFT - 28), HIGH - 40 - v * (HIGH - 70)];
  const scales = both.map((feature) => makeScale(feature, labels));
  both.forEach((feature, at) => drawAxis(svg, feature, scales[at].part, at === 1, place));
  const marks = []; // of both classes in turn, so that none hides the other
  let nMissing = 0;
  const legend = labels.map((label, side) => {
    const [across, up] = both.map((feature) => pointsOf(feature, label));
    across.forEach((code, at) => {
      if (code === NO_AUC || up[at] === NO_AUC) nMissing++;
      else marks.push([at / across.length, makeMark(side, ...place(scales[0].at(code, 0.618 * at), scales[1].at(up[at], 0.755 * at)))]);
    });
    const [n, all] = [across.length, data.counts[label]];
    const count = n < all ? `${grouped(n)} of ${counted(all, "sample")}, drawn at random` : counted(all, "sample");
    return make("li", {}, make("svg", { width: 8, height: 8, "aria-hidden": "true" }, makeMark(side, 4, 4)),
      make("span", {}, make("span", { class: "name" }, data.classes[label]), `: ${count}`));
  });
  svg.append(...marks.sort((a, b) => a[0] - b[0]).map(([, mark]) => mark));
  const [across, up] = both.map((feature) => (
    features.name[feature] + (feature < data.n_mapped ? ` (AUC ${shown(auc(feature, pair), 4)})` : "")));
  const notes = [`Across: ${across}; up: ${up}.`];
  if (both.some((feature) => data.bins.levels[feature] !== null)) notes.push("Equal values are spread a little.");
  if (both.some((feature) => data.bins.is_cut[feature])) notes.push("Values beyond an axis stand at its end.");
  if (nMissing) notes.push(`Not drawn: ${counted(nMissing, "sample")} with a missing value.`);
  return [title, svg, make("ul", { class: "legend" }, ...legend), make("p", { class: "note" }, notes.join(" "))];
}

listen("shown-pair", (pair) => {
  scatter.hidden = pair === null || nFeatures < 2;
  if (!scatter.hidden) scatter.replaceChildren(...drawScatter(pair));
});
