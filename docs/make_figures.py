"""Draw the figure of README.md from the tables of reproduction/beyond/rivals.md: `make figures`."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot as plt

HERE = Path(__file__).parent
RIVALS = HERE.parent / "reproduction" / "beyond" / "rivals.md"

# How each selector is shown, and where its name stands: offset in points and alignment.
SHOWN = {
    "greedy": ("GreedyMAUC", 9, 0, "left"),
    "mdfs": ("MDFS, the paper's", -7, -3, "right"),
    "fcbf": ("FCBF", 7, 2, "left"),
    "arco": ("ARCO", -7, 0, "right"),
    "mrmr": ("mRMR", 3, 10, "right"),
    "jmi": ("JMI", 7, -2, "left"),
    "relieff": ("ReliefF", 7, -3, "left"),
    "su": ("symmetrical uncertainty", -7, 0, "right"),
    "f_classif": ("SelectKBest(f_classif)", 7, 0, "left"),
    "lightgbm_gain": ("LightGBM gain", 7, 0, "left"),
    "xgboost_gain": ("XGBoost gain", 7, 0, "left"),
    "l1_path": ("L1", 7, 0, "left"),
    "mrmr_selection": ("mrmr-selection", 7, 0, "left"),
    "forest": ("forest importance", 7, 2, "left"),
    "extra_trees": ("extra trees", 7, -2, "left"),
}
OURS = {"greedy", "mdfs", "fcbf", "arco", "mrmr", "jmi", "relieff", "su"}


def read_column(section, name):
    """Return the column `name` of the first table of a section, by selector."""
    text = RIVALS.read_text(encoding="utf-8").split(f"\n## {section}\n", 1)[1]
    head, _, *rows = (line for line in text.split("\n\n## ")[0].splitlines() if line[:1] == "|")
    at = [cell.strip() for cell in head.split("|")].index(name)
    found = [[cell.strip() for cell in row.split("|")] for row in rows]
    return {row[1]: float(row[at]) for row in found if row[at] != "-"}


def draw_mauc_against_seconds(path):
    """Draw the mean MAUC on 74 tables against the median seconds, one point per selector."""
    mauc = read_column("All selectors", "mean MAUC")
    seconds = read_column("All selectors", "CPU seconds")
    figure, ax = plt.subplots(figsize=(8.4, 4.6), layout="constrained")
    for key, (name, dx, dy, side) in SHOWN.items():
        is_first = key == "greedy"
        color = "#c1272d" if is_first else "#1f5fa8" if key in OURS else "#6b6b6b"
        marker = "o" if key in OURS else "D"
        ax.scatter(seconds[key], mauc[key], s=70 if is_first else 34, c=color, marker=marker)
        ax.annotate(
            name,
            (seconds[key], mauc[key]),
            (dx, dy),
            textcoords="offset points",
            ha=side,
            va="center",
            fontsize=11 if is_first else 8.5,
            color=color,
            weight="bold" if is_first else "normal",
        )
    ax.set_xscale("log")
    ax.set_xlim(2e-4, 3)
    ax.xaxis.set_major_formatter("{x:g}")
    ax.set_xlabel("CPU seconds to choose up to 50 features, median of 74 tables")
    ax.set_ylabel("mean MAUC of six classifiers")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(alpha=0.25)
    ax.scatter([], [], c="#1f5fa8", marker="o", s=34, label="in mauc")
    ax.scatter([], [], c="#6b6b6b", marker="D", s=34, label="other packages")
    ax.legend(loc="upper left", frameon=False, fontsize=9)
    figure.savefig(path, dpi=130)


if __name__ == "__main__":
    draw_mauc_against_seconds(HERE / "images" / "mauc_against_seconds.png")
