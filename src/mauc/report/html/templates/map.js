// What the map answers to: pointer, keys, buttons of the classes, changes of the table.

const tip = byId("tip");
const readout = byId("readout");

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
  tip.replaceChildren(make("b", { class: "name" }, feature),
    make("span", { class: "name" }, pair), make("span", {}, value));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const right = document.documentElement.clientWidth - box.width - 8;
  tip.style.left = `${Math.max(8, Math.min(x + 14, right))}px`;
  tip.style.top = `${y + 18 + box.height > window.innerHeight ? y - box.height - 10 : y + 18}px`;
}

// Show the values of the feature, the classes of the pair in colour.
function chooseCell() {
  tell("feature", map.rows[map.at[0]], map.pairs[map.at[1]], false);
  readout.textContent = `${describe(map.at).join(" · ")} · its values are shown with the table above`;
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
  if (map.at) chooseCell();
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
    chooseCell();
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
  const chips = [make("button", { type: "button", class: "chip" }, "All classes")];
  for (const name of data.classes) {
    chips.push(make("button", { type: "button", class: "chip name" }, name));
  }
  const press = () => chips.forEach((chip, at) => {
    chip.setAttribute("aria-pressed", String(at === (map.chosenClass ?? -1) + 1));
  });
  chips.forEach((chip, at) => chip.addEventListener("click", () => {
    map.chosenClass = at === 0 || at - 1 === map.chosenClass ? null : at - 1;
    press();
    relayOut();
    tell("class", map.chosenClass);
  }));
  press();
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
// Prints are white, whatever the mode of the screen.
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
