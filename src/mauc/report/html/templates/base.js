// What all parts share: the data of the page, names, numbers, elements, colours.

const data = JSON.parse(document.getElementById("data").textContent);
const nClasses = data.classes.length;
const nPairs = nClasses * (nClasses - 1) / 2;
const nFeatures = data.features.name.length;
const isPaired = data.decomposition === "one-vs-one";
// A sub-problem asks for a feature where features are drawn from lists; else it gains most.
const ASKED = "chosen for";
const isPredicted = data.features.predicted_mauc[0] !== null;

// Classes of every pair, in the order (0, 1), (0, 2), ..., (c-2, c-1).
const pairFirst = new Uint16Array(nPairs);
const pairSecond = new Uint16Array(nPairs);
for (let i = 0, pair = 0; i < nClasses; i++) {
  for (let j = i + 1; j < nClasses; j++, pair++) {
    pairFirst[pair] = i;
    pairSecond[pair] = j;
  }
}

function pairName(pair) {
  return `${data.classes[pairFirst[pair]]} vs ${data.classes[pairSecond[pair]]}`;
}

// Whether a class takes part in a pair; no class (null) means any.
function isOfClass(pair, label) {
  return label === null || pairFirst[pair] === label || pairSecond[pair] === label;
}

function subproblemName(subproblem) {
  return data.subproblems ? data.subproblems[subproblem] : pairName(subproblem);
}

// Pairs that each feature serves best.
const served = Array.from({ length: nFeatures }, () => []);
data.best_feature.forEach((order, pair) => {
  served[order - 1].push(pair);
});

function decode(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

// AUCs as 16-bit numbers.
function decodeCodes(text) {
  const bytes = decode(text);
  if (new Uint8Array(new Uint16Array([1]).buffer)[0] === 0) { // a big-endian machine
    for (let i = 0; i < bytes.length; i += 2) [bytes[i], bytes[i + 1]] = [bytes[i + 1], bytes[i]];
  }
  return new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2);
}

const NO_AUC = 65535; // no two classes, or a class that cross-validation could not judge
let codes = null; // decoded when the map is first drawn

function aucCode(feature, pair) {
  if (codes === null) {
    codes = decodeCodes(data.map);
    data.map = null;
  }
  return codes[feature * nPairs + pair];
}

function aucOfCode(code) {
  return code === NO_AUC ? null : 0.5 + code / (2 * (NO_AUC - 1));
}

function auc(feature, pair) {
  return aucOfCode(aucCode(feature, pair));
}

const weakBits = data.weak === null ? null : decode(data.weak);

// Whether an AUC is not significant: a bit per cell.
function isWeak(feature, pair) {
  const at = feature * nPairs + pair;
  return weakBits !== null && (weakBits[at >> 3] >> (7 - at % 8) & 1) === 1;
}

// What is below 1 is not rounded up to it, and what is rounded to zero has no minus.
function shown(number, digits) {
  if (number === null || number === undefined) return "—";
  const text = (number < 1 ? Math.min(number, 1 - 10 ** -digits) : number).toFixed(digits);
  return Number(text) === 0 ? (0).toFixed(digits) : text;
}

// A relevance may have any scale: as many decimals as show four significant digits.
function shownScore(number) {
  if (number === null) return "—";
  if (data.measure === "AUC") return shown(number, 4);
  const size = Math.abs(number);
  if (size !== 0 && (size >= 1e6 || size < 1e-4)) return number.toExponential(3);
  return size >= 1000 ? number.toFixed(1) : number.toPrecision(4);
}

function grouped(count) {
  return count.toLocaleString("en"); // 12,000
}

function counted(count, noun) {
  return `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;
}

// Make an element. Text goes in as text, never as HTML: names come from the data.
function make(tag, attributes = {}, ...children) {
  const isDrawing = ["svg", "rect", "circle", "line", "text", "g", "title"].includes(tag);
  const element = isDrawing
    ? document.createElementNS("http://www.w3.org/2000/svg", tag)
    : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

// A label that is cut before its end, if it has to be: names often begin alike.
function makeLabel(tag, attributes, name) {
  const letters = [...name];
  if (letters.length <= 12) return make(tag, attributes, name);
  const parts = [letters.slice(0, -8), letters.slice(-8)].map((part) => make("span", {}, part.join("")));
  return make(tag, { ...attributes, class: `${attributes.class} cut`, dir: "auto" }, ...parts);
}

function byId(id) {
  return document.getElementById(id);
}

function colourOf(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// The cividis scale at 17 even steps, readable with every kind of colour vision.
const ANCHORS = [
  "00224e", "002e6a", "1a386f", "32436d", "434e6c", "535a6d", "61656f", "6f7073", "7d7c78",
  "8c8878", "9b9476", "aba072", "bcae6c", "cdbb63", "dec958", "f0d846", "fee838",
].map((hex) => [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16)));

const PALETTE = Array.from({ length: 256 }, (_, i) => {
  const place = i / 255 * (ANCHORS.length - 1);
  const low = Math.min(Math.floor(place), ANCHORS.length - 2);
  const mixed = ANCHORS[low].map(
    (part, at) => Math.round(part + (place - low) * (ANCHORS[low + 1][at] - part))
  );
  return `rgb(${mixed.join(",")})`;
});

// Parts of the page tell each other what changed: see README.md.
const listeners = {};

function listen(event, react) {
  (listeners[event] ??= []).push(react);
}

function tell(event, ...values) {
  (listeners[event] ?? []).forEach((react) => react(...values));
}
