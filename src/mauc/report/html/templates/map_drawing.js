// The drawing of the map. Only the part in sight is drawn: the canvas stays where it is while
// an empty room of the size of the whole map scrolls beneath it.

const frame = byId("map");
const room = byId("map-room");
const canvas = byId("map-canvas");
const pen = canvas.getContext("2d");
const FONT = "12px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";
function widest(names, most) {
  pen.font = FONT;
  let width = 0;
  for (const name of names) width = Math.max(width, pen.measureText(name.slice(0, 40)).width);
  return Math.min(Math.ceil(width) + 12, most);
}

// Sizes of cells and margins that fit the frame; a margin is small where names would not be
// readable. The frame ends with a whole row.
function layOut() {
  const { view, rows, columns } = map;
  canvas.style.width = canvas.style.height = "0"; // a larger one would leave scroll bars in the frame
  map.width = frame.clientWidth;
  const sample = rows.slice(0, 300).map(view.rowName);
  const most = Math.min(220, 0.36 * map.width);
  const fit = (left) => Math.min(
    Math.max((map.width - left - 2) / Math.max(1, columns.length), 3), view.maxWidth());
  map.left = widest(sample, most);
  map.cellWidth = fit(map.left);
  map.cellHeight = view.cellHeight(map.cellWidth);
  if (map.cellHeight < MIN_NAMED) {
    map.left = 8;
    map.cellWidth = fit(8);
  }
  map.hasNames = map.cellWidth >= MIN_NAMED;
  const names = map.hasNames ? columns.map(view.columnName) : [];
  map.isFlat = widest(names, 1000) - 12 < map.cellWidth; // names need not be turned
  map.top = !map.hasNames ? 8 : map.isFlat ? 20 : widest(names, 150);
  const tallest = view.isWhole() ? Infinity : Math.max(320, 0.72 * window.innerHeight);
  const nRows = Math.min(rows.length, Math.max(1, Math.floor((tallest - map.top) / map.cellHeight)));
  const isWide = map.left + columns.length * map.cellWidth > map.width + 1;
  frame.style.height = `${map.top + Math.max(nRows, 1) * map.cellHeight + (isWide ? 14 : 0)}px`;
  room.style.width = `${map.left + columns.length * map.cellWidth}px`;
  room.style.height = `${map.top + rows.length * map.cellHeight}px`;
  map.height = frame.clientHeight;
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(map.width * ratio);
  canvas.height = Math.round(map.height * ratio);
  canvas.style.width = `${map.width}px`;
  canvas.style.height = `${map.height}px`;
}

// A name that is too long loses its middle: names often begin alike.
function fitText(text, width) {
  if (pen.measureText(text).width <= width) return text;
  const letters = [...text];
  const cut = (n) => [...letters.slice(0, n - (n >> 1)), "…", ...letters.slice(letters.length - (n >> 1))].join("");
  let keep = Math.min(letters.length - 1, Math.ceil(width / 4));
  while (keep > 1 && pen.measureText(cut(keep)).width > width) keep--;
  return cut(keep);
}

// A pair that is too long keeps both ends of both its classes.
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
  const { view, left, top, width, height, cellWidth, cellHeight, rows, columns } = map;
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
  const lastPair = Math.min(columns.length, Math.ceil((width - x0) / cellWidth));
  const gap = cellWidth >= 8 && cellHeight >= 8 ? 1 : 0;
  const hasRoom = cellHeight >= 16;
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
      const code = view.code(rows[r], columns[c]);
      pen.fillStyle = code === NO_AUC ? blank : PALETTE[code * 255 / (NO_AUC - 1) | 0];
      if (columns.length === 1 && view === featureView) {
        drawBar(code, x, y, blank, ink, view.isWeak(rows[r], columns[c]));
        continue;
      }
      // without gaps cells overlap slightly, so that no background shines through
      pen.fillRect(x, y, cellWidth - gap + (gap ? 0 : 0.6), cellHeight - gap + (gap ? 0 : 0.6));
      if (code !== NO_AUC && view.isWeak(rows[r], columns[c])) {
        pen.beginPath();
        pen.moveTo(x, y + cellHeight - gap);
        pen.lineTo(x + cellWidth - gap, y);
        pen.lineWidth = 1;
        pen.strokeStyle = code > 0.55 * NO_AUC ? "#1119" : "#fff9";
        pen.stroke();
      }
      if (hasRoom && code !== NO_AUC && view.isWritten(code, cellWidth)) {
        pen.fillStyle = code > 0.55 * NO_AUC ? "#111" : "#fff";
        pen.fillText(shown(aucOfCode(code), 3), x + cellWidth / 2, y + cellHeight / 2);
      }
    }
  }
  drawDots(firstRow, lastRow, x0, y0, hasRoom && view.isWritten(0, cellWidth));
  const cell = map.hover ?? map.at;
  if (cell) outline(cell, x0, y0);
  pen.restore();
  drawNames(firstRow, lastRow, firstPair, lastPair, x0, y0, ink, muted);
}

// On a single pair the AUC is the length of a bar as well, from 1/2 to 1.
function drawBar(code, x, y, blank, ink, isWeak) {
  const { cellWidth, cellHeight } = map;
  const room = cellWidth - (weakBits === null ? 60 : 90);
  const long = Math.max(2, room * code / (NO_AUC - 1));
  pen.fillRect(x, y + 2, long, cellHeight - 4);
  pen.fillStyle = blank;
  pen.fillRect(x + room, y + 2, 1, cellHeight - 4);
  if (cellHeight < MIN_NAMED) return;
  pen.fillStyle = ink;
  pen.textAlign = "left";
  pen.fillText(shown(aucOfCode(code), 4) + (isWeak ? " n.s." : ""), x + room + 8, y + cellHeight / 2);
}

// A white dot with a dark rim shows on both ends of the scale.
function drawDots(firstRow, lastRow, x0, y0, isWritten) {
  const { cellWidth, cellHeight } = map;
  if (map.columns.length === 1 && map.view === featureView) return;
  const place = new Map(map.columns.map((column, at) => [column, at]));
  const radius = Math.min(4, Math.max(1.6, Math.min(cellWidth, cellHeight) / 3.4));
  for (let r = firstRow; r < lastRow; r++) {
    const at = place.get(map.view.dotOf(map.rows[r]));
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
  const { view, left, top, cellWidth, cellHeight, rows, columns } = map;
  const cell = map.hover ?? map.at;
  pen.textBaseline = "middle";
  if (cellHeight >= MIN_NAMED) {
    pen.save();
    pen.beginPath();
    pen.rect(0, top, left, map.height);
    pen.clip();
    pen.textAlign = "right";
    for (let r = firstRow; r < lastRow; r++) {
      pen.fillStyle = cell && cell[0] === r ? ink : muted;
      pen.fillText(fitText(view.rowName(rows[r]), left - 10), left - 6, y0 + (r + 0.5) * cellHeight);
    }
    pen.restore();
  }
  if (!map.hasNames) return;
  pen.save();
  pen.beginPath();
  pen.rect(left, 0, map.width, top);
  pen.clip();
  pen.textAlign = map.isFlat ? "center" : "left";
  for (let c = firstPair; c < lastPair; c++) {
    pen.save();
    pen.translate(x0 + (c + 0.5) * cellWidth, map.isFlat ? top / 2 : top - 6);
    if (!map.isFlat) pen.rotate(-Math.PI / 2);
    pen.fillStyle = cell && cell[1] === c ? ink : muted;
    const long = map.isFlat ? cellWidth : top - 10;
    pen.fillText(view === featureView ? fitPair(columns[c], long) : fitText(view.columnName(columns[c]), long), 0, 0);
    pen.restore();
  }
  pen.restore();
}

function redraw() {
  if (map.isWaiting) return;
  map.isWaiting = true;
  requestAnimationFrame(drawMap);
}
