// Why a feature was chosen or not: a search over the names, and the sentences of one feature.

if (byId("explain")) {
  const MAX_FOUND = 8;
  const explained = data.explanations;
  const search = byId("explain-search");

  const show = (at) => {
    byId("explain-text").textContent = explained[at][1];
    for (const button of byId("explain-found").children) {
      button.setAttribute("aria-pressed", String(Number(button.dataset.at) === at));
    }
  };

  // A name that is typed in full comes first, then those that begin with it.
  const find = (wanted) => {
    const rank = (name) => (name === wanted ? 0 : name.startsWith(wanted) ? 1 : 2);
    return explained
      .map(([name], at) => [name.toLowerCase(), at])
      .filter(([name]) => name.includes(wanted))
      .sort(([a, i], [b, j]) => rank(a) - rank(b) || i - j)
      .map(([, at]) => at);
  };

  const update = () => {
    const wanted = search.value.trim().toLowerCase();
    const found = find(wanted);
    const buttons = found.slice(0, MAX_FOUND).map((at) => {
      const button = make("button", { type: "button", class: "name", "data-at": at }, explained[at][0]);
      button.addEventListener("click", () => show(at));
      return button;
    });
    byId("explain-found").replaceChildren(...buttons);
    byId("explain-count").textContent = found.length === 0 ? "no such feature"
      : found.length > MAX_FOUND ? `${MAX_FOUND} of ${counted(found.length, "feature")}` : "";
    byId("explain-text").textContent = "";
    if (found.length && wanted) show(found[0]);
  };

  search.addEventListener("input", update);
  update();
}
