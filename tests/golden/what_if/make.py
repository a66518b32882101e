"""Write what GreedyMAUC chooses under the wishes of the what-if tests: bundled.json, shared.json.

``python -m tests.golden.what_if.make [names]``; all but the bundled sets need MAUC_DATA. Features
and classes are numbers. A page carries at most 300 candidates: `ranking` is the choice among them,
`of_all` that among all features where it is another one.
"""

import json
import sys

import numpy as np

from tests.helpers.what_if import BUNDLED, GOLDEN, SHARED, SIZE, fit, load, make_page


def scenarios(found, candidates, n_classes):
    """Return wishes by name, made of the features that are chosen without any."""
    first, second, third, *_ = found
    size, most = min(SIZE, len(candidates)), len(candidates)
    others = [column for column in candidates if column not in found] or [found[-1]]
    wishes = {
        "fewer": {"size": 2},
        "more": {"size": min(25, most)},
        "keep": {"size": size, "keep": [others[-1], third]},
        "exclude": {"size": size, "exclude": [first, third]},
        "prices": {"size": size, "prices": [[first, 20], [second, 3]]},
        "budget": {"size": size, "prices": [[first, 2.5], [second, 1.7]], "budget": 4},
        "dear": {
            "size": size,
            "exclude": [second],
            "budget": 5,
            "prices": [[first, 3], [third, 2.2], [others[0], 0.25]],
        },
    }
    if n_classes > 2:
        wishes["pair"] = {"size": size, "pairs": [[n_classes - 2, n_classes - 1, 25]]}
        wishes["every"] = {
            "size": size,
            "keep": [second],
            "exclude": [others[0]],
            "prices": [[first, 2]],
            "budget": 5,
            "pairs": [[0, 1, 10], [0, 2, 0]],
        }
    for wish in wishes.values():
        wish["size"] = min(wish["size"], most - len(wish.get("exclude", [])))
    return wishes


def measure(name):
    """Return the size of the page, and for each wish ranking and predicted MAUC."""
    X, y = load(name)
    size = min(SIZE, X.shape[1])
    _, model = make_page(X, y, size)
    columns = model["columns"]
    found = fit(X, y, size).ranking_.tolist()
    rest = np.setdiff1d(np.arange(X.shape[1]), columns).tolist()
    rows = {}
    for key, wishes in scenarios(found, columns, len(np.unique(y))).items():
        offered = wishes | {"exclude": [*wishes.get("exclude", []), *rest]}
        selector, of_all = fit(X, y, **offered), fit(X, y, **wishes).ranking_.tolist()
        row = {"wishes": wishes, "ranking": selector.ranking_.tolist()}
        row["mauc"] = round(float(selector.predicted_mauc_[-1]), 9)
        rows[key] = row | ({"of_all": of_all} if of_all != row["ranking"] else {})
    return rows


def main(names):
    """Measure the data sets named, or all, and write the files."""
    for group, members in (("bundled", BUNDLED), ("shared", SHARED)):
        path = GOLDEN / f"{group}.json"
        known = json.loads(path.read_text()) if path.exists() else {}
        for name in members:
            if not names or name in names:
                known[name] = measure(name)
                print(name, flush=True)
        lines = [
            f'"{name}": {{\n'
            + ",\n".join(f'  "{key}": {json.dumps(row)}' for key, row in known[name].items())
            + "\n}"
            for name in sorted(known)
        ]
        path.write_text("{" + ",\n".join(lines) + "}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
