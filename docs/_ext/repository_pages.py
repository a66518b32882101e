"""Bring pages that stand elsewhere in the repository to the site, with links that work there.

`reproduction/` has its own pages and pictures, which its scripts write; the schemas of the JSON
outputs are files of the package. Both are written into folders of docs/ that git ignores.
"""

import json
import os
import re
import shutil
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1]
ROOT = DOCS.parent
LINK = re.compile(r"(\]\()(?!https?:|#|mailto:)([^)#\s]+)")


def setup(app):
    """Write the pages before Sphinx looks for its sources."""
    app.connect("config-inited", lambda app, config: write_pages())
    app.connect("source-read", relink)
    app.add_config_value("repository", "", "env")
    return {"parallel_read_safe": True}


def write_pages() -> None:
    """Copy the pages of reproduction/, and list the schemas."""
    target = DOCS / "reproduction"
    shutil.rmtree(target, ignore_errors=True)
    for path in sorted((ROOT / "reproduction").rglob("*")):
        if is_copied(path):
            copy = target / path.relative_to(ROOT / "reproduction")
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
    (DOCS / "reference" / "schemas.md").write_text(list_schemas(), encoding="utf-8")


def is_copied(path: Path) -> bool:
    """Whether a file of reproduction/ is on the site: pictures, and pages with a title."""
    if path.suffix == ".md":
        return path.read_text(encoding="utf-8").startswith("# ")
    return path.suffix == ".png"


def relink(app, name: str, text: list[str]) -> None:
    """Make links of a page lead to the site or, where it lacks the file, to the repository."""
    page = DOCS / name
    original = ROOT / name if name.startswith("reproduction/") else page

    def replace(found: re.Match) -> str:
        path = Path(os.path.normpath(original.parent / found[2]))
        if not path.exists() or not path.is_relative_to(ROOT):
            return found[0]
        inside = path.relative_to(ROOT)
        if inside.parts[0] == "reproduction" and is_copied(path):
            path = DOCS / inside
        if path.is_relative_to(DOCS) and path.is_file():
            return found[1] + Path(os.path.relpath(path, page.parent)).as_posix()
        kind = "tree" if path.is_dir() else "blob"
        return f"{found[1]}{app.config.repository}/{kind}/main/{inside.as_posix()}"

    if Path(app.env.doc2path(name)).suffix == ".md":
        text[0] = LINK.sub(replace, text[0])


def list_schemas() -> str:
    """Return a page with every schema of the package."""
    parts = [
        "# JSON schemas\n\n[What a program reads](../answers/json.md) tells how they are versioned."
    ]
    for path in sorted((ROOT / "src" / "mauc" / "schemas").glob("*.json")):
        schema = json.loads(path.read_text(encoding="utf-8"))
        parts.append(
            f"## {path.stem}\n\n{schema.get('description') or schema.get('title', '')}\n\n"
            f":::{{dropdown}} The schema\n```json\n{json.dumps(schema, indent=2)}\n```\n:::"
        )
    return "\n\n".join(parts) + "\n"
