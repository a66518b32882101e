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
  const mean = (values, shares) => values.reduce((sum, value, p) => sum + shares[p] * value, 0) / shares.reduce((a, b) => a + b, 0);

  // What pairs count, the columns of spread that count with it, and AUCs of sets of candidates.
  const weightings = new Map(), MAX_WEIGHTINGS = 50;
  function weightingOf(shares) {
    const key = shares.join();
    if (weightings.size > MAX_WEIGHTINGS) weightings.clear();
    if (!weightings.has(key)) {
      const folded = key === first().shares.join() ? new Set(packed.used_folded) : usedFolded(model, shares);
      weightings.set(key, { shares, folded, sets: new Map() });
    }
    return weightings.get(key);
  }

  const last = { search: null, weighting: null, key: "" }; // the last search without wishes

  // The AUC of every pair depends on a set alone: its order is that of a search of it without wishes.
  const keyOf = (features) => [...features].sort((a, b) => a - b).join();
  function pairAucsOf(features, weighting) {
    const { shares, folded, sets } = weighting, key = keyOf(features);
    if (sets.size > MAX_KNOWN) sets.clear();
    if (!sets.has(key)) {
      let search = last.weighting === weighting && last.key === key ? last.search : null;
      if (search === null) {
        search = new GreedySearch(model, {
          keep: [], exclude: [], prices: null, budget: null, byCost: false, only: new Set(features), shares, folded,
        });
        search.extend(features.length);
      }
      sets.set(key, predictor.pairAucs(search));
    }
    return sets.get(key);
  }
  const maucOf = (features, weighting) => Math.max(mean(pairAucsOf(features, weighting), weighting.shares), 0.5);

  // The choice without weights of pairs, another start of a search with them; the last one is kept.
  const plain = { key: "", ranking: null };
  function unweighted(wanted) {
    const wishes = { ...wanted, shares: wanted.shares.map(() => 1) }, key = JSON.stringify(wishes);
    if (plain.key !== key) Object.assign(plain, { key, ranking: rankingOf(wishes) });
    return plain.ranking;
  }

  // The candidates that are chosen, in order.
  function rankingOf(wanted) {
    const weighting = weightingOf(wanted.shares), wishes = { ...wanted, prices: pricesOf(wanted), ...weighting };
    const search = (byCost, only = null) => {
      const found = new GreedySearch(model, { ...wishes, byCost, only });
      found.extend(wanted.size);
      if (wishes.keep.length === 0 && wishes.prices === null) {
        Object.assign(last, { search: found, weighting, key: keyOf(found.ranking) });
      }
      return found.ranking;
    };
    const hasRival = wanted.shares.some((share) => share !== wanted.shares[0]) && wanted.size < nCandidates - wanted.exclude.length;
    const rivals = hasRival ? [unweighted(wanted)] : [], predict = (part) => maucOf(part, weighting);
    if (wanted.budget !== null) {
      const relevance = new GreedySearch(model, { ...wishes, byCost: true, only: null }).relevance();
      return searchBudget(wishes, search, rivals, predict, relevance, model.samples.max_choices);
    }
    const found = search(true), isBetter = (rival) => rival.some((f) => !found.includes(f)) && predict(rival) > predict(found);
    return rivals.some(isBetter) ? search(true, new Set(rivals[0])) : found;
  }

  // Why mauc refuses these wishes; else "".
  function refusal() {
    const open = [...rows.keys()].filter((f) => !state.exclude.includes(f)), hasKept = state.keep.length > 0;
    if (state.exclude.length + packed.excluded_others.length === packed.n_features) {
      return "All features are left out, so there is nothing to choose from. Take one back, or press Reset.";
    }
    if (state.budget === null || open.length === 0) return "";
    const cost = hasKept ? state.keep.reduce((sum, f) => sum + state.prices[f], 0) : Math.min(...open.map((f) => state.prices[f]));
    return cost <= state.budget * (1 + 1e-9) ? ""
      : `The budget does not pay for ${hasKept ? "the features that are kept, which cost" : "any feature, the cheapest of which costs"} ${+cost.toPrecision(6)}: mauc refuses it.`;
  }

  // Why the code may choose other features than the page; else "".
  function doubt(isFirst) {
    const { size, ...wishes } = state, { size: _, ...before } = first();
    const isPlain = !packed.prices && packed.keep.length + packed.exclude.length + packed.excluded_others.length === 0 && size <= packed.n_sure;
    if (state.exclude.length === nCandidates) {
      return `All ${nCandidates} features of this page are left out; the code below chooses among the others.`;
    }
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

  // Fields whose text is no value: the value from before counts, also in code and files.
  const invalid = new Set();
  let nFields = 0;

  // Make a field of numbers. `read` has the value that counts, null for none, if `mayBeEmpty`;
  // `write` takes another one and returns "", or says what is wanted.
  function numberField(input, { read, write, mayBeEmpty = false }) {
    const want = make("span", { class: "want", id: `what-if-want-${nFields++}`, role: "alert", hidden: true });
    const text = (value) => (value === null ? "" : String(+value.toPrecision(6)));
    const mark = (message) => {
      const told = message && `${message}; still ${text(read()) || "none"}.`;
      if (told !== want.textContent) want.textContent = told;
      want.hidden = !message;
      if (message) {
        invalid.add(input);
        input.setAttribute("aria-invalid", "true");
        input.setAttribute("aria-describedby", want.id);
      } else if (invalid.delete(input)) {
        input.removeAttribute("aria-invalid");
        input.removeAttribute("aria-describedby");
      }
    };
    input.check = () => {
      const isEmpty = input.value === "" && !input.validity.badInput, value = input.value === "" ? NaN : Number(input.value);
      if (isEmpty && mayBeEmpty) mark(write(null));
      else if (value >= 0 && value < Infinity) mark(write(value));
      else mark(`Must be a number, 0 or more${mayBeEmpty ? ", or empty" : ""}`);
    };
    input.show = () => { if (input !== document.activeElement && !invalid.has(input)) input.value = text(read()); };
    input.restore = () => {
      mark("");
      input.value = text(read());
    };
    input.addEventListener("input", () => {
      input.check();
      change();
    });
    return want;
  }

  function numberCell(label, control) {
    const input = make("input", { type: "number", min: "0", step: "any", "aria-label": label });
    return { input, cell: make("td", {}, input, numberField(input, control)) };
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
    const price = packed.all_names ? numberCell(`price of ${name}`, {
      read: () => state.prices[f],
      write: (value) => {
        state.prices[f] = value;
        return "";
      },
    }) : null;
    const row = make("tr", {}, place, make("td", {}, nameCell(name)), make("td", {}, keep), make("td", {}, out), price?.cell ?? null);
    return { row, place, keep, out, price: price?.input, name: name.toLowerCase() };
  });
  const pairRows = Array.from({ length: nPairs }, (_, p) => {
    const weight = nPairs > 1 ? numberCell(`what ${pairName(p)} counts`, {
      read: () => state.shares[p],
      write: (value) => {
        if (value === 0 && state.shares.every((share, other) => share === 0 || other === p)) return "One pair must count more than 0";
        state.shares = state.shares.map((share, other) => (other === p ? value : share));
        return "";
      },
    }) : null;
    const auc = make("td", { class: "number" });
    return { row: make("tr", {}, make("td", {}, nameCell(pairName(p))), weight?.cell ?? make("td", {}, "1"), auc), weight: weight?.input, auc };
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
  function change() {
    const active = document.activeElement, from = performance.now();
    for (const input of [...invalid]) input.check(); // another change may have made a value possible
    const least = Math.max(state.keep.length, 1), most = Math.max(nCandidates - state.exclude.length, 1);
    state.size = Math.min(Math.max(state.size, least), most);
    const isFirst = JSON.stringify(state) === JSON.stringify(first()), weighting = weightingOf(state.shares);
    const refused = refusal(), note = refused || doubt(isFirst);
    const ranking = refused || state.exclude.length === nCandidates ? [] : isFirst ? packed.ranking : rankingOf(state);
    const hasChoice = ranking.length > 0, values = pairAucsOf(hasChoice ? ranking : packed.ranking, weighting);
    const mauc = maucOf(ranking, weighting), gain = mauc - maucOf(packed.ranking, weighting);
    sizeInput.min = least;
    sizeInput.max = most;
    sizeInput.value = state.size;
    byId("what-if-count").textContent = !hasChoice ? "none" : ranking.length === state.size ? String(state.size)
      : `${ranking.length} of at most ${state.size}`;
    byId("what-if-mauc").textContent = hasChoice ? shown(mauc, 4) : "–";
    byId("what-if-change").textContent = !hasChoice || Math.abs(gain) < 0.00005 ? ""
      : `, ${gain > 0 ? "+" : "−"}${Math.abs(gain).toFixed(4)} against the selection of this page`;
    byId("what-if-note").textContent = note;
    byId("what-if-note").hidden = note === "";
    const wanted = find.value.trim().toLowerCase(), places = new Map(ranking.map((f, at) => [f, at + 1]));
    const others = [...rows.keys()].filter((f) => !places.has(f) && (wanted || state.exclude.includes(f) || rows.length <= 40));
    const order = [...ranking, ...others].filter((f) => rows[f].name.includes(wanted));
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
      pairRows[p].auc.textContent = hasChoice ? shown(values[p], 4) : "–";
    }
    byId("what-if-pairs").replaceChildren(...listed.map((p) => pairRows[p].row));
    writeCode(pricesOf(state) !== null);
    byId("what-if-result").hidden = refused !== "";
    byId("what-if-status").textContent = hasChoice ? `${counted(ranking.length, "feature")}, predicted MAUC ${shown(mauc, 4)}` : note;
    if (active !== document.activeElement && active?.isConnected) active.focus({ preventScroll: true });
    byId("what-if").dataset.milliseconds = (performance.now() - from).toFixed(1);
  }

  sizeInput.addEventListener("input", () => { state.size = Number(sizeInput.value); change(); });
  budgetInput?.parentElement.after(numberField(budgetInput, {
    mayBeEmpty: true,
    read: () => state.budget,
    write: (value) => {
      state.budget = value;
      return "";
    },
  }));
  find.addEventListener("input", change);
  const reset = () => {
    state = first();
    pinned = -1;
    if (firstClass) firstClass.value = secondClass.value = "";
    for (const input of [...invalid, ...(budgetInput ? [budgetInput] : [])]) input.restore();
    change();
  };
  byId("what-if-reset").addEventListener("click", reset);
  reset();
}

if (data.what_if) startWhatIf(data.what_if);
