// The feature x pair map. Only the part in sight is drawn: the canvas stays where it is while
// an empty room of the size of the whole map scrolls beneath it.

const frame = byId("map");
const room = byId("map-room");
const canvas = byId("map-canvas");
const pen = canvas.getContext("2d");
const tip = byId("tip");
const readout = byId("readout");
const FONT = "12px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";
const map = { rows: [], pairs: [], at: null, hover: null, chosenClass: null, isWaiting: false };

function mapPairs() {
  const pairs = [];
  for (let pair = 0; pair < nPairs; pair++) {
    const isIn = map.chosenClass === null || pairFirst[pair] === map.chosenClass || pairSecond[pair] === map.chosenClass;
    if (isIn) pairs.push(pair);
  }
  if (byId("pair-order").value === "hard") {
    const place = new Map(data.hardest.pair.map((pair, at) => [pair, at]));
    pairs.sort((a, b) => (place.get(a) ?? nPairs) - (place.get(b) ?? nPairs));
  }
  return pairs;
}

function widest(names, most) {
  pen.font = FONT;
  let width = 0;
  for (const name of names) width = Math.max(width, pen.measureText(name.slice(0, 40)).width);
  return Math.min(Math.ceil(width) + 12, most);
}

// Sizes of cells and margins that fit the frame; a margin is 0 where names would not be readable.
function layOut() {
  map.width = frame.clientWidth;
  const isCompact = byId("compact").checked;
  map.cellHeight = isCompact ? 4 : 20;
  const sample = map.rows.slice(0, 300).map((feature) => features.name[feature]);
  map.left = isCompact ? 8 : widest(sample, Math.min(220, 0.36 * map.width));
  const space = (map.width - map.left - 2) / Math.max(1, map.pairs.length);
  map.cellWidth = Math.min(Math.max(space, 3), 76);
  map.hasNames = map.cellWidth >= 12;
  const shownNames = map.hasNames ? map.pairs.map(pairName) : [];
  map.top = map.hasNames ? widest(shownNames, 150) : 8;
  const height = map.top + map.rows.length * map.cellHeight + 2;
  frame.style.height = `${Math.max(Math.min(height, Math.max(320, 0.72 * window.innerHeight)), 60) + 14}px`;
  room.style.width = `${map.left + map.pairs.length * map.cellWidth}px`;
  room.style.height = `${height}px`;
  map.height = frame.clientHeight;
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(map.width * ratio);
  canvas.height = Math.round(map.height * ratio);
  canvas.style.width = `${map.width}px`;
  canvas.style.height = `${map.height}px`;
}

function fitText(text, width) {
  if (pen.measureText(text).width <= width) return text;
  let keep = Math.min(text.length, Math.ceil(width / 4));
  while (keep > 1 && pen.measureText(text.slice(0, keep) + "…").width > width) keep--;
  return text.slice(0, keep) + "…";
}

// A pair that is too long keeps the beginning of both its classes.
function fitPair(pair, width) {
  const name = pairName(pair);
  if (pen.measureText(name).width <= width) return name;
  const half = (width - pen.measureText(" vs ").width) / 2;
  const [first, second] = [pairFirst[pair], pairSecond[pair]].map((label) => data.classes[label]);
  const spare = Math.max(0, half - Math.min(pen.measureText(first).width, pen.measureText(second).width));
  return `${fitText(first, half + spare)} vs ${fitText(second, half + spare)}`;
}

function drawMap() {
  map.isWaiting = false;
  const { left, top, width, height, cellWidth, cellHeight, rows, pairs } = map;
  const ratio = window.devicePixelRatio || 1;
  const [ink, muted, blank] = map.isPrinted
    ? ["#000", "#444", "#ccc"] : ["--ink", "--muted", "--line"].map(colourOf);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.font = FONT;
  const x0 = left - frame.scrollLeft;
  const y0 = top - frame.scrollTop;
  const firstRow = Math.max(0, Math.floor((top - y0) / cellHeight));
  const lastRow = Math.min(rows.length, Math.ceil((height - y0) / cellHeight));
  const firstPair = Math.max(0, Math.floor((left - x0) / cellWidth));
  const lastPair = Math.min(pairs.length, Math.ceil((width - x0) / cellWidth));
  const gap = cellWidth >= 8 && cellHeight >= 8 ? 1 : 0;
  const isWritten = cellWidth >= 46 && cellHeight >= 16;
  pen.save();
  pen.beginPath();
  pen.rect(left, top, width, height);
  pen.clip();
  pen.textBaseline = "middle";
  pen.textAlign = "center";
  for (let r = firstRow; r < lastRow; r++) {
    const y = y0 + r * cellHeight;
    for (let c = firstPair; c < lastPair; c++) {
      const x = x0 + c * cellWidth;
      const code = aucCode(rows[r], pairs[c]);
      pen.fillStyle = code === NO_AUC ? blank : PALETTE[code * 255 / (NO_AUC - 1) | 0];
      // without gaps cells overlap by a hair, so that no background shines through
      pen.fillRect(x, y, cellWidth - gap + (gap ? 0 : 0.6), cellHeight - gap + (gap ? 0 : 0.6));
      if (isWritten && code !== NO_AUC) {
        pen.fillStyle = code > 0.55 * NO_AUC ? "#111" : "#fff";
        pen.fillText(auc(rows[r], pairs[c]).toFixed(3), x + cellWidth / 2, y + cellHeight / 2);
      }
    }
  }
  if (isPaired) drawDots(firstRow, lastRow, x0, y0, isWritten);
  const cell = map.hover ?? map.at;
  if (cell) outline(cell, x0, y0);
  pen.restore();
  drawNames(firstRow, lastRow, firstPair, lastPair, x0, y0, ink, muted);
}

// A white dot with a dark rim shows on both ends of the scale.
function drawDots(firstRow, lastRow, x0, y0, isWritten) {
  const { cellWidth, cellHeight } = map;
  const place = new Map(map.pairs.map((pair, at) => [pair, at]));
  const radius = Math.min(4, Math.max(1.6, Math.min(cellWidth, cellHeight) / 3.4));
  for (let r = firstRow; r < lastRow; r++) {
    const at = place.get(features.asked_by[map.rows[r]]);
    if (at === undefined) continue;
    pen.beginPath();
    const x = x0 + at * cellWidth + (isWritten ? 8 : cellWidth / 2);
    pen.arc(x, y0 + (r + 0.5) * cellHeight, radius, 0, 7);
    pen.fillStyle = "#fff";
    pen.fill();
    pen.lineWidth = 1;
    pen.strokeStyle = "#111";
    pen.stroke();
  }
}

function outline([r, c], x0, y0) {
  const { cellWidth, cellHeight } = map;
  const x = x0 + c * cellWidth;
  const y = y0 + r * cellHeight;
  for (const [colour, wide] of [["#fff", 4], ["#111", 2]]) {
    pen.strokeStyle = colour;
    pen.lineWidth = wide;
    pen.strokeRect(x, y, cellWidth, cellHeight);
  }
}

function drawNames(firstRow, lastRow, firstPair, lastPair, x0, y0, ink, muted) {
  const { left, top, cellWidth, cellHeight, rows, pairs } = map;
  const cell = map.hover ?? map.at;
  pen.textBaseline = "middle";
  if (cellHeight >= 12) {
    pen.save();
    pen.beginPath();
    pen.rect(0, top, left, map.height);
    pen.clip();
    pen.textAlign = "right";
    for (let r = firstRow; r < lastRow; r++) {
      pen.fillStyle = cell && cell[0] === r ? ink : muted;
      pen.fillText(fitText(features.name[rows[r]], left - 10), left - 6, y0 + (r + 0.5) * cellHeight);
    }
    pen.restore();
  }
  if (!map.hasNames) return;
  pen.save();
  pen.beginPath();
  pen.rect(left, 0, map.width, top);
  pen.clip();
  pen.textAlign = "left";
  for (let c = firstPair; c < lastPair; c++) {
    pen.save();
    pen.translate(x0 + (c + 0.5) * cellWidth, top - 6);
    pen.rotate(-Math.PI / 2);
    pen.fillStyle = cell && cell[1] === c ? ink : muted;
    pen.fillText(fitPair(pairs[c], top - 10), 0, 0);
    pen.restore();
  }
  pen.restore();
}

function redraw() {
  if (map.isWaiting) return;
  map.isWaiting = true;
  requestAnimationFrame(drawMap);
}

function relayOut() {
  map.at = map.hover = null;
  tip.hidden = true;
  map.pairs = mapPairs();
  layOut();
  redraw();
}

function cellAt(event) {
  const box = frame.getBoundingClientRect();
  const x = event.clientX - box.left - frame.clientLeft;
  const y = event.clientY - box.top - frame.clientTop;
  if (x < map.left || y < map.top || x > frame.clientWidth || y > frame.clientHeight) return null;
  const r = Math.floor((y - map.top + frame.scrollTop) / map.cellHeight);
  const c = Math.floor((x - map.left + frame.scrollLeft) / map.cellWidth);
  return r < map.rows.length && c < map.pairs.length ? [r, c] : null;
}

function describe([r, c]) {
  const feature = map.rows[r];
  const pair = map.pairs[c];
  const value = auc(feature, pair);
  const asked = isPaired && features.asked_by[feature] === pair ? ", asked for it" : "";
  return [features.name[feature], `${pairName(pair)}${asked}`,
    value === null ? "no AUC: its values have no order" : `AUC ${value.toFixed(4)}`];
}

function say(cell) {
  readout.textContent = cell ? describe(cell).join(" · ") : "";
}

function showTip(cell, x, y) {
  const [feature, pair, value] = describe(cell);
  tip.replaceChildren(make("b", { class: "name" }, feature), make("span", { class: "name" }, pair), make("span", {}, value));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const right = document.documentElement.clientWidth - box.width - 8;
  tip.style.left = `${Math.max(8, Math.min(x + 14, right))}px`;
  tip.style.top = `${y + 18 + box.height > window.innerHeight ? y - box.height - 10 : y + 18}px`;
}

frame.addEventListener("pointermove", (event) => {
  map.hover = cellAt(event);
  if (map.hover) showTip(map.hover, event.clientX, event.clientY);
  else tip.hidden = true;
  say(map.hover ?? map.at);
  redraw();
});
frame.addEventListener("pointerleave", () => {
  map.hover = null;
  tip.hidden = true;
  say(map.at);
  redraw();
});
frame.addEventListener("click", (event) => {
  map.at = cellAt(event);
  if (map.at) tell("feature", map.rows[map.at[0]], map.pairs[map.at[1]], false);
  redraw();
});
frame.addEventListener("scroll", () => {
  map.hover = null;
  tip.hidden = true;
  redraw();
});
frame.addEventListener("focus", () => {
  if (!map.at && map.rows.length && map.pairs.length) map.at = [0, 0];
  say(map.at);
  redraw();
});

// Scroll so that the cell of the keyboard is in sight.
function reveal([r, c]) {
  const x = c * map.cellWidth;
  const y = r * map.cellHeight;
  const wide = frame.clientWidth - map.left - map.cellWidth;
  const tall = frame.clientHeight - map.top - map.cellHeight;
  frame.scrollLeft = Math.min(Math.max(frame.scrollLeft, x - wide), x);
  frame.scrollTop = Math.min(Math.max(frame.scrollTop, y - tall), y);
}

frame.addEventListener("keydown", (event) => {
  if (!map.at || !map.rows.length) return;
  const pageRows = Math.max(1, Math.floor((frame.clientHeight - map.top) / map.cellHeight) - 1);
  const steps = {
    ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1],
    PageUp: [-pageRows, 0], PageDown: [pageRows, 0], Home: [0, -Infinity], End: [0, Infinity],
  };
  if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    tell("feature", map.rows[map.at[0]], map.pairs[map.at[1]], false);
    readout.textContent += " · its values are shown above, beside the table";
    return;
  }
  const step = steps[event.key];
  if (!step || event.altKey || event.metaKey) return;
  event.preventDefault();
  map.hover = null;
  tip.hidden = true;
  map.at = [
    Math.min(Math.max(map.at[0] + step[0], 0), map.rows.length - 1),
    Math.min(Math.max(map.at[1] + step[1], 0), map.pairs.length - 1),
  ];
  reveal(map.at);
  say(map.at);
  redraw();
});

// Buttons of the classes; a second press shows all pairs again.
function makeChips() {
  const chips = [make("button", { type: "button", class: "chip", "aria-pressed": "true" }, "All classes")];
  data.classes.forEach((name) => chips.push(make("button", { type: "button", class: "chip name", "aria-pressed": "false" }, name)));
  const choose = (label) => {
    map.chosenClass = label === map.chosenClass ? null : label;
    chips.forEach((chip, at) => chip.setAttribute("aria-pressed", String(at === (map.chosenClass === null ? 0 : map.chosenClass + 1))));
    relayOut();
    tell("class", map.chosenClass);
  };
  chips.forEach((chip, at) => chip.addEventListener("click", () => choose(at === 0 ? null : at - 1)));
  byId("chips").append(...chips);
}

makeChips();
byId("compact-label").hidden = Math.min(nFeatures, data.n_mapped) <= 40;
byId("compact").addEventListener("change", relayOut);
byId("pair-order").addEventListener("change", relayOut);
listen("view", (rows) => {
  map.rows = rows.filter((feature) => feature < data.n_mapped);
  frame.scrollTop = 0;
  relayOut();
});
listen("theme", redraw);
// Paper is white, whatever the screen is.
for (const event of ["beforeprint", "afterprint"]) {
  window.addEventListener(event, () => {
    map.isPrinted = event === "beforeprint";
    drawMap();
  });
}
new ResizeObserver(() => {
  if (frame.clientWidth !== map.width) relayOut();
}).observe(frame);
map.rows = chosenTable.rows.filter((feature) => feature < data.n_mapped);
relayOut();
