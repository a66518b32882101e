"""Files of a report: their names, their stamps, and what is never overwritten."""

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from mauc.exceptions import MaucError, MaucWarning
from mauc.files import write_atomic
from mauc.report import mauc_table, run_tables, write_figures, write_tables
from mauc.stats import Comparison
from tests.helpers.report_rows import LADDER, VERSIONS, make_rows, small_run

pytestmark = pytest.mark.long

plt.switch_backend("Agg")


def test_every_table_in_every_format(tmp_path):
    files = write_tables(small_run(), tmp_path / "new" / "folder")
    stems = [
        "table_wine",
        "table_a_b_c",
        "runtime",
        "ranks",
        "stability",
        "win_draw_loss",
        "summary",
    ]
    wanted = [f"{stem}.{extension}" for stem in stems for extension in ("txt", "md", "tex", "csv")]
    assert [path.name for path in files] == wanted
    assert sorted(path.name for path in files[0].parent.iterdir()) == sorted(wanted)
    for path in files:  # says where it comes from
        text = path.read_text(encoding="utf-8")
        assert "1 × 6-fold cross-validation; 2 data sets" in text
        assert "written 20" in text
        assert VERSIONS in text


def test_csv_reads_back(tmp_path):
    rows = small_run()
    write_tables(rows, tmp_path, formats="csv")
    read = pd.read_csv(tmp_path / "table_wine.csv", comment="#", keep_default_na=False)
    pd.testing.assert_frame_equal(read, mauc_table(rows, "wine").to_frame(), check_dtype=False)


def test_nothing_is_overwritten_without_force(tmp_path):
    write_tables(small_run(), tmp_path, formats=["txt"])
    (tmp_path / "ranks.txt").write_text("mine")
    (tmp_path / "table_wine.txt").unlink()
    with pytest.raises(MaucError, match=r"already has 6 of the files .* force=True"):
        write_tables(small_run(), tmp_path, formats=["txt"])
    assert (tmp_path / "ranks.txt").read_text() == "mine"
    assert not (tmp_path / "table_wine.txt").exists()
    write_tables(small_run(), tmp_path, formats=["txt"], force=True)
    assert (tmp_path / "ranks.txt").read_text(encoding="utf-8").startswith("Mean ranks")


def test_an_error_writes_nothing(tmp_path):
    with pytest.raises(MaucError, match="reference"):
        write_tables(small_run(), tmp_path / "out", Comparison("mdsf"))
    with pytest.raises(MaucError, match="format must be one of"):
        write_tables(small_run(), tmp_path / "out", formats=["xls"])
    assert not (tmp_path / "out").exists()
    (tmp_path / "file").write_text("")
    with pytest.raises(MaucError, match="must be a directory"):
        write_tables(small_run(), tmp_path / "file")


def test_without_a_reference_there_are_no_marks(tmp_path):
    files = write_tables(small_run(), tmp_path, Comparison(None), formats=["txt"])
    assert "win_draw_loss.txt" not in [path.name for path in files]
    assert "†" not in "".join(path.read_text(encoding="utf-8") for path in files)


def test_labels_that_make_one_file_name_keep_their_files(tmp_path):
    rows = make_rows({(name, "nb", "mdfs", 2): LADDER for name in ("a/b", "a b", "A_B", "..")})
    files = write_tables(rows, tmp_path, formats="txt")
    names = [path.name for path in files if path.name.startswith("table")]
    assert names == ["table_a_b.txt", "table_a_b_2.txt", "table_A_B_3.txt", "table__.txt"]


def test_an_interrupted_write_leaves_what_was_there(tmp_path, monkeypatch):
    def stop_at_third(path, content, *, force):
        if path.name == "ranks.txt":
            raise KeyboardInterrupt
        return write_atomic(path, content, force=force)

    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "table_wine.txt").write_text("before")
    monkeypatch.setattr("mauc.report.write.write_atomic", stop_at_third)
    for folder in (tmp_path / "old", tmp_path / "new"):
        with pytest.raises(KeyboardInterrupt):
            write_tables(small_run(), folder, formats="txt", force=True)
    assert [path.name for path in (tmp_path / "old").iterdir()] == ["table_wine.txt"]
    assert not (tmp_path / "new").exists()


def test_figures_say_where_they_come_from(tmp_path):
    open_before = plt.get_fignums()
    files = write_figures(small_run(), tmp_path, dpi=50)
    assert [path.name for path in files] == [
        "curves_wine.png",
        "curves_a_b_c.png",
        "stability.png",
        "win_draw_loss.png",
    ]
    image = files[0].read_bytes()
    assert image.startswith(b"\x89PNG")
    assert "1 × 6-fold".encode("latin-1") in image or b"6-fold" in image
    assert plt.get_fignums() == open_before


def test_mean_ranks_are_drawn_of_five_data_sets(tmp_path):
    keys = [(name, "nb", method, 2) for name in "abcde" for method in ("mdfs", "su")]
    files = write_figures(make_rows(dict.fromkeys(keys, LADDER)), tmp_path, dpi=50)
    assert files[-1].name == "critical_difference.png"


def test_figures_of_a_single_selector(tmp_path):
    rows = make_rows({("wine", "nb", "mdfs", 2): LADDER})
    names = [path.name for path in write_figures(rows, tmp_path, dpi=50)]
    assert names == ["curves_wine.png", "stability.png"]
    assert tmp_path / "ranks.txt" in write_tables(rows, tmp_path, formats="txt")


def test_the_files_are_the_tables_of_the_run(tmp_path):
    tables = run_tables(small_run(), Comparison("chi", "corrected_t", 0.1))
    assert list(tables) == [
        "mauc wine",
        "mauc a_b|c",
        "runtime",
        "ranks",
        "stability",
        "win/draw/loss",
        "summary",
    ]
    files = write_tables(
        small_run(), tmp_path, Comparison("chi", "corrected_t", 0.1), formats="txt"
    )
    for path, table in zip(files, tables.values(), strict=True):
        assert path.read_text(encoding="utf-8").startswith(table.to_text())
    for name in ("mauc wine", "win/draw/loss", "summary"):
        assert "corrected resampled t-test at 10 %" in " ".join(tables[name].to_text().split())


def test_other_tables_are_written_under_their_names(tmp_path):
    table = mauc_table(small_run(), "wine")
    files = write_tables(
        small_run(), tmp_path, tables={"mauc wine": table, "of/mine": table}, formats="txt"
    )
    assert [path.name for path in files] == ["table_wine.txt", "of_mine.txt"]
    assert all(path.read_text(encoding="utf-8").startswith(table.to_text()) for path in files)


def test_a_summary_that_the_run_has_too_little_for_is_left_out(tmp_path):
    rows = small_run().drop(columns="features")
    with pytest.warns(MaucWarning, match=r"no table of (stability|summary): .* features") as caught:
        files = write_tables(rows, tmp_path, formats="txt")
    assert len(caught) == 2  # the summary has a column of stability
    names = [path.stem for path in files]
    assert names == ["table_wine", "table_a_b_c", "runtime", "ranks", "win_draw_loss"]
