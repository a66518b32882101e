"""A change in the what-if section of a page in Chromium: milliseconds by the clock and of CPU."""

import shutil
import statistics
import tempfile
from pathlib import Path

from sklearn.naive_bayes import GaussianNB

from _common import load
from mauc import GreedyMAUC
from mauc.report.html import selection_report

N_REPEATS, SIZE = 9, 50
# A box that is ticked, or a control and its value; others in each turn: predictions are kept.
ROW = "#what-if-features tr:nth-child({}) td:nth-child({}) input"
CHANGES = {
    "keep a feature": lambda turn: ROW.format(20 + turn, 3),
    "leave one out": lambda turn: ROW.format(1 + turn, 4),
    "100 features": lambda turn: ("#what-if-size", 100 - turn),
    "a price": lambda turn: (ROW.format(1 + turn, 5), 5),
    "a budget": lambda turn: ("#what-if-budget", 45 - turn),
    "weight a pair": lambda turn: ("#what-if-pairs tr:nth-child(1) input", 9 + 9 * turn),
}


def change(page, control):
    """Change a control and return the milliseconds until the section is up to date."""
    if isinstance(control, str):
        page.locator(control).check()
    else:
        page.fill(control[0], str(control[1]))
    return float(page.get_attribute("#what-if", "data-milliseconds"))


def cpu_seconds(client):
    """Return the processor time of scripts of the page so far."""
    found = client.send("Performance.getMetrics")["metrics"]
    return {one["name"]: one["value"] for one in found}["ScriptDuration"]


def main():
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        print("What-if section: not measured, playwright is not installed")
        return
    print(
        f"What-if section, {SIZE} features chosen: median and least of {N_REPEATS} changes and "
        "their CPU time, ms"
    )
    with sync_playwright() as play, tempfile.TemporaryDirectory() as folder:
        chromium = play.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for name in ("isolet", "mnist", "usps"):
            X, y, source = load(name)
            selector = GreedyMAUC(SIZE).fit(X, y)
            path = Path(folder) / f"{name}.html"
            report = selection_report(selector, X, y, classifier=GaussianNB(), cv=2)
            report.write(path)
            model = report.to_dict()["what_if"]
            page = chromium.new_page()
            client = page.context.new_cdp_session(page)
            client.send("Performance.enable", {"timeDomain": "threadTicks"})
            page.goto(path.as_uri())
            page.wait_for_selector("html[data-ready]")
            n_classes = len(set(y.tolist()))
            print(
                f"  {source} {name}: {len(model['columns'])} candidates x "
                f"{n_classes * (n_classes - 1) // 2} pairs"
            )
            for what, control_of in CHANGES.items():
                times, cpu = [], []
                for turn in range(N_REPEATS):
                    page.click("#what-if-reset")
                    before = cpu_seconds(client)
                    times.append(change(page, control_of(turn)))
                    cpu.append(1000 * (cpu_seconds(client) - before))
                print(
                    f"    {what:16} {statistics.median(times):6.1f} {min(times):6.1f}"
                    f"   CPU {statistics.median(cpu):6.1f}",
                    flush=True,
                )
        chromium.close()


if __name__ == "__main__":
    main()
