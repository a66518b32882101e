// The what-if section: wishes in, ranking, predictions and code out. Works on candidates.

function startWhatIf(packed) {
  const model = readModel(packed, decode), nCandidates = packed.names.length, { words } = packed;
  const MAX_SHOWN = 15;
  const first = () => ({
    size: packed.ranking.length, keep: [...packed.keep], exclude: [...packed.exclude],
    prices: packed.columns.map((column) => (packed.prices ? packed.prices[column] : 1)),
    budget: packed.budget,
    shares: Array.from({ length: nPairs }, (_, p) => (packed.shares ? packed.shares[p] * nPairs : 1)),
  });
  let state = first();

  const predictor = new Predictor(model);
  const pricesOf = (wanted) => (packed.prices !== null || wanted.budget !== null || wanted.prices.some((price) => price !== 1)
    ? wanted.prices : null);
  const sameShares = (wanted) => JSON.stringify(wanted.shares) === JSON.stringify(first().shares);

  function searched(wanted, isFirst = false) {
    const folded = sameShares(wanted) ? new Set(packed.used_folded) : usedFolded(model, wanted.shares);
    const wishes = { ...wanted, prices: pricesOf(wanted), folded };
    const search = (byCost, only = null) => {
      const found = new GreedySearch(model, { ...wishes, byCost, only });
      found.extend(wanted.size);
      return found;
    };
    if (wanted.budget === null) return search(true);
    if (isFirst) return search(true, new Set(packed.ranking));
    const relevance = new GreedySearch(model, { ...wishes, byCost: true, only: null }).relevance();
    return searchBudget(wishes, search, (found) => mean(predictor.pairAucs(found), wanted.shares), relevance, model.samples.max_choices);
  }

  const mean = (values, shares) => values.reduce((sum, value, p) => sum + shares[p] * value, 0) / shares.reduce((a, b) => a + b, 0);

  // Why the code may choose other features than the page, or none at all; else "".
  function doubt(isFirst) {
    const kept = state.keep.reduce((sum, f) => sum + state.prices[f], 0);
    const least = Math.min(...state.prices.filter((_, f) => !state.exclude.includes(f)));
    if (state.budget !== null && (kept || least) > state.budget * (1 + 1e-9)) {
      return `The budget does not pay for ${kept ? "the features that are kept, which cost" : "any feature, the cheapest of which costs"} ${+(kept || least).toPrecision(6)}: mauc refuses it.`;
    }
    const { size, ...wishes } = state, { size: _, ...before } = first();
    const isPlain = !packed.prices && packed.keep.length + packed.exclude.length + packed.excluded_others.length === 0 && size <= packed.n_sure;
    const isSure = isFirst || nCandidates === packed.n_features || (isPlain && JSON.stringify(wishes) === JSON.stringify(before));
    return isSure ? "" : `The page searches ${nCandidates} of ${packed.n_features.toLocaleString("en")} features; the code below searches all of them and may choose others.`;
  }

  const shellQuoted = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\"'\"'")}'`);
  // Names that would be read otherwise are quoted as in CSV: one with a comma, or all of a list
  // that together make another name.
  function namesWord(names) {
    const quoted = (name) => `"${name.replaceAll('"', '""')}"`;
    const plain = names.map((name) => (/[",\r\n]|^\s|\s$|^$/.test(name) ? quoted(name) : name)).join(",");
    const isName = names.length > 1 && (packed.all_names ?? packed.names).includes(plain);
    return shellQuoted(isName ? names.map(quoted).join(",") : plain);
  }
  const nameOf = (column) => (words.language === "shell" || words.is_named
    ? packed.all_names?.[column] ?? packed.names[packed.columns.indexOf(column)] : column);
  const pricesOfAll = () => {
    const all = packed.prices ? [...packed.prices] : Array(packed.n_features).fill(1);
    packed.columns.forEach((column, f) => { all[column] = state.prices[f]; });
    return all;
  };

  // The code that repeats the choice, and the files that it reads.
  function writeCode(hasPrices) {
    const isShell = words.language === "shell", files = {}, parts = [];
    const say = (key, text) => parts.push(words[key].replace("{}", () => text));
    const listed = (columns) => (isShell ? namesWord(columns.map(nameOf)) : columns.map((column) => JSON.stringify(nameOf(column))).join(", "));
    say("size", String(state.size));
    if (state.keep.length > 0) say("keep", listed(state.keep.map((f) => packed.columns[f])));
    const out = [...state.exclude.map((f) => packed.columns[f]), ...packed.excluded_others];
    if (out.length > 0) say("exclude", listed(out));
    const cell = (text) => (/[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    if (hasPrices) {
      const all = pricesOfAll();
      if (isShell) {
        files["prices.csv"] = `feature,cost\n${all.map((price, at) => `${cell(nameOf(at))},${price}\n`).join("")}`;
        say("feature_costs", "prices.csv");
      } else {
        const other = all.flatMap((price, at) => (price === 1 ? [] : [`${JSON.stringify(nameOf(at))}: ${price}`]));
        say("feature_costs", `{${other.join(", ")}}`);
      }
    }
    if (state.budget !== null) say("budget", String(state.budget));
    if (state.shares.some((share) => share !== state.shares[0])) {
      const rows = state.shares.map((share, p) => [data.classes[pairFirst[p]], data.classes[pairSecond[p]], share]);
      if (isShell) {
        files["costs.csv"] = `class,other,cost\n${rows.map(([a, b, share]) => `${cell(a)},${cell(b)},${share}\n`).join("")}`;
        say("pair_weight", "costs.csv");
      } else {
        say("pair_weight", `{${rows.filter((row) => row[2] !== 1).map(([a, b, share]) => `(${JSON.stringify(a)}, ${JSON.stringify(b)}): ${share}`).join(", ")}}`);
      }
    }
    byId("what-if-code").textContent = (words.start + parts.join(words.between) + words.end).replace(" | {}", "");
    byId("what-if-files").replaceChildren(...Object.entries(files).map(([name, text]) => {
      const button = make("button", { type: "button" }, `Download ${name}`);
      button.addEventListener("click", () => {
        const link = make("a", { href: URL.createObjectURL(new Blob([text], { type: "text/csv" })), download: name });
        link.click();
        URL.revokeObjectURL(link.href);
      });
      return button;
    }));
  }

  function numberInput(label, read, write) {
    const input = make("input", { type: "number", min: "0", step: "any", "aria-label": label });
    input.addEventListener("input", () => {
      const value = Number(input.value);
      if (input.value === "" || !(value >= 0 && value < Infinity)) return;
      write(value);
      change();
    });
    input.show = () => { if (input !== document.activeElement) input.value = String(+read().toPrecision(6)); };
    return input;
  }

  function toggled(list, f, isOn) {
    return isOn ? [...list, f] : list.filter((other) => other !== f);
  }

  const rows = packed.names.map((name, f) => {
    const box = (key, other) => {
      const input = make("input", { type: "checkbox", "aria-label": `${key === "keep" ? "keep" : "leave out"} ${name}` });
      input.addEventListener("change", () => {
        state[key] = toggled(state[key], f, input.checked);
        if (input.checked) state[other] = toggled(state[other], f, false);
        change();
      });
      return input;
    };
    const place = make("td", { class: "number" }), keep = box("keep", "exclude"), out = box("exclude", "keep");
    const price = packed.all_names ? numberInput(`price of ${name}`, () => state.prices[f], (value) => { state.prices[f] = value; }) : null;
    const row = make("tr", {}, place, make("td", {}, nameCell(name)), make("td", {}, keep), make("td", {}, out),
      price && make("td", {}, price));
    return { row, place, keep, out, price, name: name.toLowerCase() };
  });
  const pairRows = Array.from({ length: nPairs }, (_, p) => {
    const weight = nPairs > 1 ? numberInput(`what ${pairName(p)} counts`, () => state.shares[p], (value) => {
      const before = state.shares[p];
      state.shares[p] = value;
      if (state.shares.every((share) => share === 0)) state.shares[p] = before;
    }) : null;
    const auc = make("td", { class: "number" });
    return { row: make("tr", {}, make("td", {}, nameCell(pairName(p))), make("td", {}, weight ?? "1"), auc), weight, auc };
  });

  // Pairs that are too many for the table are chosen by their classes.
  let pinned = -1;
  const [firstClass, secondClass] = [byId("what-if-first"), byId("what-if-second")];
  for (const select of firstClass ? [firstClass, secondClass] : []) {
    select.append(make("option", { value: "" }, "–"), ...data.classes.map((name, k) => make("option", { value: k }, name)));
    select.addEventListener("change", () => {
      const [a, b] = [firstClass.value, secondClass.value].map((value) => (value === "" ? -1 : Number(value))).sort((x, y) => x - y);
      pinned = pairFirst.findIndex((one, p) => one === a && pairSecond[p] === b);
      change();
    });
  }

  const sizeInput = byId("what-if-size"), budgetInput = byId("what-if-budget"), find = byId("what-if-find");
  let initial = null;
  function change() {
    const active = document.activeElement, from = performance.now();
    const least = Math.max(state.keep.length, 1), most = Math.max(nCandidates - state.exclude.length, 1);
    state.size = Math.min(Math.max(state.size, least), most);
    const isFirst = JSON.stringify(state) === JSON.stringify(first());
    const found = searched(state, isFirst), values = predictor.pairAucs(found), mauc = Math.max(mean(values, state.shares), 0.5);
    initial ??= mauc;
    sizeInput.min = least;
    sizeInput.max = most;
    sizeInput.value = state.size;
    byId("what-if-count").textContent = found.ranking.length === state.size ? String(state.size)
      : `${found.ranking.length} of at most ${state.size}`;
    byId("what-if-mauc").textContent = shown(mauc, 4);
    const gain = mauc - initial;
    byId("what-if-change").textContent = Math.abs(gain) < 0.00005 ? "" : `, ${gain > 0 ? "+" : "−"}${Math.abs(gain).toFixed(4)} against the selection of this page`;
    byId("what-if-note").textContent = doubt(isFirst);
    byId("what-if-note").hidden = doubt(isFirst) === "";
    const wanted = find.value.trim().toLowerCase(), places = new Map(found.ranking.map((f, at) => [f, at + 1]));
    const others = [...rows.keys()].filter((f) => !places.has(f) && (wanted || state.exclude.includes(f) || rows.length <= 40));
    const order = [...found.ranking, ...others].filter((f) => rows[f].name.includes(wanted));
    for (const f of order) {
      rows[f].place.textContent = places.get(f) ?? "–";
      rows[f].keep.checked = state.keep.includes(f);
      rows[f].out.checked = state.exclude.includes(f);
      rows[f].price?.show();
    }
    byId("what-if-features").replaceChildren(...order.map((f) => rows[f].row));
    const hard = [...values.keys()].sort((a, b) => values[a] - values[b]);
    const weighted = hard.filter((p) => state.shares[p] !== 1), shownPairs = new Set([...hard.slice(0, MAX_SHOWN), ...weighted.slice(0, MAX_SHOWN), pinned]);
    const listed = hard.filter((p) => shownPairs.has(p) || pairRows[p].row.contains(active));
    if (pinned >= 0) listed.sort((a, b) => (b === pinned) - (a === pinned));
    for (const p of listed) {
      pairRows[p].weight?.show();
      pairRows[p].auc.textContent = shown(values[p], 4);
    }
    byId("what-if-pairs").replaceChildren(...listed.map((p) => pairRows[p].row));
    writeCode(pricesOf(state) !== null);
    byId("what-if-status").textContent = `${counted(found.ranking.length, "feature")}, predicted MAUC ${shown(mauc, 4)}`;
    if (active !== document.activeElement && active?.isConnected) active.focus({ preventScroll: true });
    byId("what-if").dataset.milliseconds = (performance.now() - from).toFixed(1);
  }

  sizeInput.addEventListener("input", () => { state.size = Number(sizeInput.value); change(); });
  budgetInput?.addEventListener("input", () => {
    const value = Number(budgetInput.value);
    state.budget = budgetInput.value === "" || !(value >= 0) ? null : value;
    change();
  });
  find.addEventListener("input", change);
  const reset = () => {
    state = first();
    pinned = -1;
    if (firstClass) firstClass.value = secondClass.value = "";
    if (budgetInput) budgetInput.value = state.budget ?? "";
    change();
  };
  byId("what-if-reset").addEventListener("click", reset);
  reset();
}

if (data.what_if) startWhatIf(data.what_if);
