// The feature x pair map. Only the part in sight is drawn: the canvas stays where it is while
// an empty room of the size of the whole map scrolls beneath it.

const frame = byId("map");
const room = byId("map-room");
const canvas = byId("map-canvas");
const pen = canvas.getContext("2d");
const FONT = "12px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";
const map = { rows: [], pairs: [], at: null, hover: null, chosenClass: null, isWaiting: false };

function mapPairs() {
  const pairs = [...Array(nPairs).keys()].filter((pair) => isOfClass(pair, map.chosenClass));
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
      // without gaps cells overlap slightly, so that no background shines through
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
