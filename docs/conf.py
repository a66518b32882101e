"""The site: `make docs` builds it, warnings are errors."""

import os
import sys
import tomllib
from pathlib import Path

from sklearn.base import BaseEstimator

from mauc.registry import SELECTOR_CLASSES

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext")]

_about = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
_urls = _about["urls"]

project = "mauc"
author = "the mauc developers"
copyright = author
version = release = _about["version"]
repository = _urls["Source"]

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_click",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "sphinx_llms_txt",
    "sphinx-mathjax-offline",
    "live_page",
    "repository_pages",
]
# The tutorial is one page: it needs no index.
exclude_patterns = [
    "_build",
    "examples/*.py",
    "**/GALLERY_HEADER.rst",
    "tutorial/index.rst",
    "reference/_selectors.rst",
]
templates_path = ["_templates"]
default_role = "py:obj"
suppress_warnings = ["config.cache"]  # the gallery's sort key is a class

# ---- pages
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
myst_links_external_new_tab = False

# ---- reference
# The selectors of the registry, GreedyMAUC first, for an ``include`` of api.md.
_selectors = HERE / "reference" / "_selectors.rst"
_head = ".. currentmodule:: mauc\n\n.. autosummary::\n   :toctree: generated\n   :nosignatures:\n\n"
_names = sorted(SELECTOR_CLASSES, key=lambda name: name != "GreedyMAUC")
_selectors.write_text(_head + "".join(f"   {name}\n" for name in _names), encoding="utf-8")
autosummary_generate = ["reference/api.md", "reference/_selectors.rst"]
# What scikit-learn's base class adds to every estimator refers to labels of its own site.
autosummary_context = {"inherited": {*dir(BaseEstimator), "score", "set_output"}}
autodoc_typehints = "none"  # types stand in the numpydoc sections
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
numpydoc_class_members_toctree = False

# ---- gallery
os.environ.setdefault("MPLBACKEND", "Agg")
sphinx_gallery_conf = {
    "examples_dirs": [str(HERE.parent / "examples"), str(HERE.parent / "tutorial")],
    "gallery_dirs": ["gallery", "tutorial"],
    "nested_sections": False,
    "backreferences_dir": "gallery/uses",
    "doc_module": ("mauc",),
    "filename_pattern": r"plot_",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "subsection_order": [
        "../examples/choose",
        "../examples/how_many",
        "../examples/judge",
        "../examples/data",
    ],
    "within_subsection_order": "FileNameSortKey",
    "image_srcset": ["2x"],
    "abort_on_example_error": True,
    "write_computation_times": False,
}

# ---- looks
html_theme = "pydata_sphinx_theme"
html_title = f"mauc {version}"
html_baseurl = _urls["Documentation"]
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["_extra"]
html_show_sourcelink = False
html_copy_source = True
html_theme_options = {
    "logo": {"text": "mauc"},
    "github_url": repository,
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "show_prev_next": False,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": [], "start": []},
    "navigation_with_keys": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
}
html_context = {"default_mode": "auto"}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = False
llms_txt_summary = _about["description"]
