// A table that sorts by its heads and shows one page of rows at a time.
//
// columns: {head, hint, value: row -> sort key, cell: row -> Node or text, isNumber, isCount, isFalling};
// numbers are aligned right, counts are sorted like numbers but shown like text
// options: {label, pageSize, sortBy, onRow: row -> void, onView: rows -> void}

const PAGE_SIZE = 25;
const MAX_PRINTED = 500;

class SortedTable {
  constructor(place, columns, rows, options) {
    Object.assign(this, { columns, options, all: rows, rows, current: null });
    this.page = 0;
    this.pageSize = options.pageSize ?? PAGE_SIZE;
    this.sortBy = options.sortBy ?? 0;
    this.isFalling = false;
    this.keep = () => true;
    this.heads = columns.map((column, at) => {
      const button = make("button", { type: "button", title: column.hint }, column.head);
      button.addEventListener("click", () => this.sort(at));
      return make("th", { scope: "col", role: "columnheader", class: column.isNumber ? "number" : null }, button);
    });
    // On a phone rows are blocks, not rows of a grid: the roles keep them a table.
    this.body = make("tbody", { role: "rowgroup" });
    this.body.addEventListener("keydown", (event) => this.moveRow(event));
    const table = make("table", { class: "sorted", role: "table" },
      make("caption", { class: "unseen" }, options.label),
      make("thead", { role: "rowgroup" }, make("tr", { role: "row" }, ...this.heads)), this.body);
    this.count = make("span", { class: "muted" });
    this.pager = make("div", { class: "pager" });
    const turns = [["First", -Infinity], ["Previous", -1], ["Next", 1], ["Last", Infinity]];
    this.turns = turns.map(([name, by]) => {
      const button = make("button", { type: "button" }, name);
      button.addEventListener("click", () => this.turn(by));
      return button;
    });
    this.pager.append(...this.turns.slice(0, 2), this.count, ...this.turns.slice(2));
    place.append(make("div", { class: "scroll" }, table), this.pager);
    const size = this.pageSize;
    window.addEventListener("beforeprint", () => this.resize(MAX_PRINTED));
    window.addEventListener("afterprint", () => this.resize(size));
    this.refresh();
  }

  get nPages() {
    return Math.max(1, Math.ceil(this.rows.length / this.pageSize));
  }

  sort(at) {
    this.isFalling = at === this.sortBy ? !this.isFalling : Boolean(this.columns[at].isFalling);
    this.sortBy = at;
    this.page = 0;
    this.refresh();
  }

  filter(keep) {
    this.keep = keep;
    this.page = 0;
    this.refresh();
  }

  turn(by) {
    this.page = Math.min(Math.max(this.page + by, 0), this.nPages - 1);
    this.show();
  }

  resize(pageSize) {
    this.page = Math.floor(this.page * this.pageSize / pageSize);
    this.pageSize = pageSize;
    this.show();
  }

  // Filter and sort. What has no value comes last either way; equals stay in their first order.
  refresh() {
    const { value, isNumber, isCount } = this.columns[this.sortBy];
    const keyed = this.all.filter(this.keep).map((row, place) => ({ row, place, key: value(row) }));
    const sign = this.isFalling ? -1 : 1;
    keyed.sort((a, b) => {
      const isBlankA = a.key === null || a.key === undefined;
      const isBlankB = b.key === null || b.key === undefined;
      if (isBlankA || isBlankB) return isBlankA - isBlankB || a.place - b.place;
      const order = isNumber || isCount ? a.key - b.key : COLLATOR.compare(a.key, b.key);
      return sign * order || a.place - b.place;
    });
    this.rows = keyed.map((one) => one.row);
    const order = this.isFalling ? "descending" : "ascending";
    this.heads.forEach((head, at) => {
      head.setAttribute("aria-sort", at === this.sortBy ? order : "none");
    });
    this.show();
    this.options.onView?.(this.rows);
  }

  show() {
    const start = this.page * this.pageSize;
    const rows = this.rows.slice(start, start + this.pageSize);
    this.body.replaceChildren(...rows.map((row) => this.makeRow(row)));
    if (rows.length === 0) {
      const blank = make("td", { colspan: this.columns.length, class: "muted" }, "Nothing matches.");
      this.body.append(make("tr", {}, blank));
    }
    this.turns.forEach((button) => { button.hidden = this.nPages === 1; });
    const [from, to, all] = [start + 1, start + rows.length, this.rows.length].map(grouped);
    this.count.textContent = this.rows.length ? `${from}–${to} of ${all}` : "";
    this.turns.forEach((button, at) => {
      button.disabled = at < 2 ? this.page === 0 : this.page === this.nPages - 1;
    });
  }

  makeRow(row) {
    const line = make("tr", { "data-row": row, role: "row", class: this.options.onRow ? "live" : null });
    for (const column of this.columns) {
      const kind = column.isNumber ? "number" : null;
      line.append(make("td", { class: kind, role: "cell", "data-head": column.head }, column.cell(row)));
    }
    if (this.options.onRow) line.addEventListener("click", () => this.options.onRow(row));
    if (row === this.current) line.setAttribute("aria-current", "true");
    return line;
  }

  mark(row) {
    this.current = row;
    for (const line of this.body.rows) {
      if (line.dataset.row === String(row)) line.setAttribute("aria-current", "true");
      else line.removeAttribute("aria-current");
    }
  }

  // Arrow keys go from the button of a row to that of the next.
  moveRow(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !event.target.matches("button")) return;
    const buttons = [...this.body.querySelectorAll("button:not(.more)")];
    const next = buttons[buttons.indexOf(event.target) + step];
    if (next) {
      event.preventDefault();
      next.focus();
    }
  }
}

// "x2" before "x10".
const COLLATOR = new Intl.Collator("en", { numeric: true });
