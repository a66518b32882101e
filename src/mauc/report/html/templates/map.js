// What the map answers to: pointer, keys, buttons of the classes, changes of the table.

const tip = byId("tip");
const readout = byId("readout");

function relayOut(at = null) {
  Object.assign(map, { at, hover: null });
  tip.hidden = true;
  map.columns = map.view.columns();
  map.rows = map.view.rows();
  layOut();
  say(at);
  redraw();
}

function cellAt(event) {
  const box = frame.getBoundingClientRect();
  const x = event.clientX - box.left - frame.clientLeft;
  const y = event.clientY - box.top - frame.clientTop;
  if (x < map.left || y < map.top || x > frame.clientWidth || y > frame.clientHeight) return null;
  const r = Math.floor((y - map.top + frame.scrollTop) / map.cellHeight);
  const c = Math.floor((x - map.left + frame.scrollLeft) / map.cellWidth);
  return r < map.rows.length && c < map.columns.length ? [r, c] : null;
}

// The class whose name is at a place of the overview, or null.
function nameAt(event) {
  if (map.view !== classView) return null;
  const box = frame.getBoundingClientRect();
  const x = event.clientX - box.left - frame.clientLeft;
  const y = event.clientY - box.top - frame.clientTop;
  if ((x < map.left) === (y < map.top)) return null;
  const label = x < map.left
    ? Math.floor((y - map.top + frame.scrollTop) / map.cellHeight)
    : Math.floor((x - map.left + frame.scrollLeft) / map.cellWidth);
  return label < nClasses ? label : null;
}

function say(cell) {
  readout.textContent = cell ? map.view.describe(cell).join(" · ") : "";
}

function showTip(cell, x, y) {
  const [title, ...lines] = map.view.describe(cell);
  tip.replaceChildren(make("b", { class: "name" }, title),
    ...lines.map((line) => make("span", { class: "name" }, line)));
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
  const label = nameAt(event);
  if (label !== null) {
    openClass(label);
    return;
  }
  map.at = cellAt(event);
  if (map.at) map.view.choose(map.at);
  redraw();
});
frame.addEventListener("scroll", () => {
  map.hover = null;
  tip.hidden = true;
  redraw();
});
frame.addEventListener("focus", () => {
  if (!map.at && map.rows.length && map.columns.length) map.at = [0, 0];
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
    map.view.choose(map.at);
    if (map.at === null) { // another view was opened
      map.at = [0, 0];
      say(map.at);
    }
    redraw();
    return;
  }
  if (event.key === "Escape" && (map.chosenClass !== null || map.chosenPair !== null)) {
    event.preventDefault();
    openAll();
    map.at = [0, 0];
    say(map.at);
    return;
  }
  const step = steps[event.key];
  if (!step || event.altKey || event.metaKey) return;
  event.preventDefault();
  map.hover = null;
  tip.hidden = true;
  map.at = [
    Math.min(Math.max(map.at[0] + step[0], 0), map.rows.length - 1),
    Math.min(Math.max(map.at[1] + step[1], 0), map.columns.length - 1),
  ];
  reveal(map.at);
  say(map.at);
  redraw();
});

// Buttons of the classes, or a list where they are many; a second press shows all pairs again.
const MAX_CHIPS = 40;

function makeChips() {
  const chips = [make("button", { type: "button", class: "chip" }, "All classes")];
  for (const name of data.classes) {
    chips.push(makeLabel("button", { type: "button", class: "chip name", "aria-label": name, title: name }, name));
  }
  chips.forEach((chip, at) => chip.addEventListener("click", () => {
    if (at === 0 || (at - 1 === map.chosenClass && map.chosenPair === null)) openAll();
    else openClass(at - 1);
  }));
  listen("shown-class", (label) => chips.forEach((chip, at) => {
    chip.setAttribute("aria-pressed", String(at === (label ?? -1) + 1));
  }));
  byId("chips").append(...chips);
}

function makeClassList() {
  const list = make("select", { id: "class-list" }, make("option", { value: "" }, "all classes"));
  data.classes.forEach((name, label) => list.append(make("option", { value: label }, name)));
  list.addEventListener("change", () => {
    if (list.value === "") openAll();
    else openClass(Number(list.value));
  });
  listen("shown-class", (label) => { list.value = label ?? ""; });
  byId("chips").append(make("label", {}, "Pairs of ", list));
}

if (nClasses > MAX_CHIPS) makeClassList();
else if (nClasses > 2) makeChips();
byId("by-class").addEventListener("click", () => openView(classView));
byId("by-feature").addEventListener("click", () => openView(featureView));
byId("by-class").parentNode.hidden = nClasses < 3;
for (const id of ["compact", "pair-order", "map-value"]) byId(id).addEventListener("change", () => relayOut());
listen("view", (rows) => {
  shownFeatures.rows = rows.filter((feature) => feature < data.n_mapped);
  if (map.view !== featureView) return;
  frame.scrollTop = 0;
  relayOut();
  showTrail();
});
listen("pair", openPair);
listen("theme", redraw);
// Prints are white, whatever the mode of the screen.
for (const event of ["beforeprint", "afterprint"]) {
  window.addEventListener(event, () => {
    map.isPrinted = event === "beforeprint";
    drawMap();
  });
}
new ResizeObserver(() => {
  if (frame.clientWidth !== map.width) relayOut(map.at);
}).observe(frame);
shownFeatures.rows = chosenTable.rows.filter((feature) => feature < data.n_mapped);
openAll();
