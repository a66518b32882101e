"""Expression matrices: genes in rows, samples in columns, labels in a row or in a second file."""

import gzip
from itertools import product

import numpy as np
import pytest

from mauc.datasets import load_dataset
from mauc.exceptions import MaucError

GENES = ["TG", "TPO", "TSHR"]
SAMPLES = ["s1", "s2", "s3", "s4"]
LABELS = ["adenoma", "normal", "adenoma", "normal"]
X = np.array([[0.5, 10, 7], [1.25, 20, 8], [0.1, 30, 9], [2e-3, 40, 0]])  # samples x genes


def matrix(corner="gene", mark="\t", labels=False, samples=SAMPLES):
    """Return the text of genes x samples."""
    lines = [[corner, *samples]] if corner is not None else [samples]
    lines += [["class", *LABELS]] if labels else []
    lines += [[gene, *map(repr, row)] for gene, row in zip(GENES, X.T.tolist(), strict=True)]
    return "".join(mark.join(line) + "\n" for line in lines)


def pairs(mark="\t", header=""):
    return header + "".join(
        f"{sample}{mark}{label}\n" for sample, label in zip(SAMPLES, LABELS, strict=True)
    )


def assert_is_the_matrix(dataset):
    np.testing.assert_array_equal(dataset.X, X)
    assert dataset.feature_names == GENES
    assert dataset.y.tolist() == LABELS


@pytest.fixture
def write(tmp_path):
    """Return a function that writes files and returns the path of the first."""

    def write_files(**files):
        for name, text in files.items():
            (tmp_path / name.replace("__", ".")).write_text(text)
        return tmp_path / next(iter(files)).replace("__", ".")

    return write_files


@pytest.mark.parametrize(("ending", "mark"), [("tsv", "\t"), ("csv", ","), ("txt", "\t")])
def test_labels_in_a_row_which_the_target_names(write, ending, mark):
    path = write(**{f"a__{ending}": matrix(mark=mark, labels=True)})
    dataset = load_dataset(path, "class")
    assert_is_the_matrix(dataset)
    assert "rows of the file are features, its 4 columns samples" in dataset.notes


@pytest.mark.parametrize("header", ["", "sample\tclass\n", "id\tkind\n"])
@pytest.mark.parametrize("corner", ["gene", "", None])  # R leaves the corner out
def test_labels_in_a_file_of_their_own(write, corner, header):
    assert_is_the_matrix(
        load_dataset(write(a__tsv=matrix(corner), a_labels__tsv=pairs(header=header)))
    )


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_labels_may_be_separated_otherwise_and_be_in_another_order(write, mark):
    text = "".join(reversed(pairs(mark).splitlines(keepends=True)))
    assert_is_the_matrix(load_dataset(write(a__tsv=matrix(), a_labels__csv=text)))


def test_labels_without_names_are_in_the_order_of_the_samples(write):
    for header in ("", "class\n"):
        text = header + "\n".join(LABELS) + "\n"
        assert_is_the_matrix(load_dataset(write(a__tsv=matrix(), a_labels__txt=text)))


def test_the_column_of_the_labels_among_others(write):
    lines = ["sample\tage\tdiagnosis", "s1\t40\tu", "s2\t50\tv", "s3\t60\tu", "s4\t70\tv"]
    dataset = load_dataset(write(a__tsv=matrix(), a_labels__tsv="\n".join(lines)))
    assert dataset.y.tolist() == ["u", "v", "u", "v"]


def test_compressed_files(tmp_path):
    (tmp_path / "a.tsv.gz").write_bytes(gzip.compress(matrix().encode()))
    (tmp_path / "a_labels.tsv.gz").write_bytes(gzip.compress(pairs().encode()))
    assert_is_the_matrix(load_dataset(tmp_path / "a.tsv.gz"))


def test_samples_in_rows_with_labels_in_a_file(write):
    lines = [["sample", *GENES]]
    lines += [[name, *map(repr, row)] for name, row in zip(SAMPLES, X.tolist(), strict=True)]
    rows = "\n".join("\t".join(line) for line in lines)
    dataset = load_dataset(write(a__tsv=rows, a_labels__tsv=pairs()))
    np.testing.assert_array_equal(np.asarray(dataset.X, dtype=float), X)
    assert (dataset.feature_names, dataset.y.tolist()) == (GENES, LABELS)
    # Without names the first column may be a feature as well.
    rows = "\n".join("\t".join(line[1:]) for line in lines)
    path = write(a__tsv=rows, a_labels__tsv="\n".join(LABELS))
    np.testing.assert_array_equal(np.asarray(load_dataset(path).X, dtype=float), X)


def test_a_target_goes_before_a_file_of_labels(write):
    rows = "a,b,kind\n1,2,u\n3,4,v\n"
    path = write(a__csv=rows, a_labels__csv="what,ever\n")
    assert load_dataset(path, "kind").y.tolist() == ["u", "v"]


def test_whole_numbers_are_labels_and_gaps_are_missing(write):
    text = "gene\ts1\ts2\ts3\nclass\t1\t2\t1\nTG\t1\tNA\t3\nTPO\t\t5\t6\n"
    dataset = load_dataset(write(a__tsv=text), "class")
    assert dataset.y.tolist() == [1, 2, 1]
    np.testing.assert_array_equal(dataset.X, [[1, np.nan], [np.nan, 5], [3, 6]])
    path = write(b__tsv=text.replace("class\t1\t2\t1\n", ""), b_labels__tsv="1\n2\n1\n")
    np.testing.assert_array_equal(load_dataset(path).X, dataset.X)
    assert load_dataset(path).y.tolist() == [1, 2, 1]


def test_a_decimal_comma(write):
    text = "gene;s1;s2\nclass;u;v\nTG;1,5;2,5\n"
    dataset = load_dataset(write(a__csv=text), "class", decimal=",")
    assert dataset.X.tolist() == [[1.5], [2.5]]


def test_genes_with_several_probes_and_numbers_as_names(write):
    text = "gene\ts1\ts2\n07\t1\t2\nTG\t3\t4\n07\t5\t6\n07.2\t7\t8\n"
    dataset = load_dataset(write(a__tsv=text, a_labels__tsv="s1\tu\ns2\tv\n"))
    assert dataset.feature_names == ["07", "TG", "07.3", "07.2"]
    assert any("1 rows have the name of an earlier one" in note for note in dataset.notes)


def test_columns_that_describe_genes_are_left_out(write):
    text = "id\twhat\ts1\ts2\nTG\tglobulin\t1\t2\nTPO\tenzyme\t3\t4\n"
    dataset = load_dataset(write(a__tsv=text, a_labels__tsv="s1\tu\ns2\tv\ns9\tu\n"))
    assert dataset.X.tolist() == [[1, 3], [2, 4]]
    assert "columns of text that are no samples left out: what" in dataset.notes
    assert "a_labels.tsv: not in the matrix: s9" in dataset.notes


def test_samples_without_a_label(write):
    path = write(a__tsv=matrix(), a_labels__tsv="s1\tu\ns2\tv\ns4\tu\n")
    with pytest.raises(MaucError, match=r"no label in column 's3'; .*skip_unlabelled=True"):
        load_dataset(path)
    assert load_dataset(path, skip_unlabelled=True).X.tolist() == X[[0, 1, 3]].tolist()


def test_all_genes_are_kept_whatever_they_hold(write):
    n_samples = 12
    names = [f"s{j}" for j in range(n_samples)]
    rows = {"id": range(n_samples), "constant": [1] * n_samples, "class": ["u", "v"] * 6}
    lines = ["\t".join(["", *names])]
    lines += ["\t".join([gene, *map(str, row)]) for gene, row in rows.items()]
    assert load_dataset(write(a__tsv="\n".join(lines)), "class").X.shape == (12, 2)


@pytest.mark.parametrize(
    ("text", "labels", "message"),
    [
        (matrix(), "q1\tu\nq2\tv\n", r"samples such as q2, but a\.tsv has 4 columns \(s1, s2, s3"),
        (matrix(), "u\nv\n", r"has 2 labels, but a\.tsv has 4 columns .* neither are these"),
        (matrix(samples=["s1", "s2", "s1", "s4"]), pairs(), "both have the name 's1'"),
        (matrix(), pairs() + "s1\tv\n", "the sample 's1' occurs more than once"),
        (matrix(), "s1\tu\ns2\n", "row 2 has 1 values, but the first has 2"),
        (matrix(), "s1\tu\t3\ns2\tv\t4\n", "has 3 columns, none of which is called class or label"),
        (matrix(), "\n", "has no line with a label"),
        ("g\ts1\ts2\nTG\t1\t2\nTPO\t3\t4\n", "u\nv\n", "as many rows as columns; put the name"),
        (
            matrix().replace("10.0", "ten"), pairs(),
            r"a\.tsv, line 3: the row 'TPO' has 'ten' in column 's1', where an expression matrix",
        ),
    ],
)  # fmt: skip
def test_matrices_and_labels_that_do_not_fit(write, text, labels, message):
    with pytest.raises(MaucError, match=message):
        load_dataset(write(a__tsv=text, a_labels__tsv=labels))


def test_further_errors(write):
    path = write(a__tsv=matrix(labels=True) + "class\tu\tv\tu\tv\n")
    with pytest.raises(MaucError, match="2 rows are called 'class'"):
        load_dataset(path, "class")
    with pytest.raises(MaucError, match="has no column 'clas'"):
        load_dataset(path, "clas")
    path = write(b__tsv=matrix(), b_labels__tsv=pairs(), b_labels__csv=pairs(","))
    with pytest.raises(MaucError, match=r"more than one file of labels .*b_labels\.csv"):
        load_dataset(path)


def test_files_that_say_their_target_have_no_use_for_labels(write):
    arff = "@relation c\n@attribute a real\n@attribute k {u,v}\n@data\n1,u\n2,v\n"
    path = write(c__txt=arff, c_labels__txt="v\nu\n")
    assert load_dataset(path).y.tolist() == ["u", "v"]
    path = write(d__csv="1,u\n2,v\n", d_labels__csv="v\nu\n")
    assert load_dataset(path, header=False).y.tolist() == ["u", "v"]


def test_a_number_as_target_is_a_column(write):
    path = write(a__csv="id,u,v\na1,1,5\n2,2,6\na3,3,5\n")
    assert load_dataset(path, "2", drop="id").y.tolist() == [5, 6, 5]


def test_numbers_that_are_no_classes(write):
    text = "gene\ts1\ts2\nclass\t1.5\t2\nTG\t1\t2\n"
    with pytest.raises(MaucError, match=r"1\.5 in column 's1': labels are names or integers"):
        load_dataset(write(a__tsv=text), "class")


def test_values_are_exact_in_both_forms(write):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(20, 5)) * 10.0 ** rng.integers(-30, 30, (20, 5))
    names = [f"s{j}" for j in range(20)]
    labels = ["u", "v"] * 10
    lines = ["\t".join(["g", *names])]
    lines += [f"g{j}\t" + "\t".join(map(repr, values[:, j].tolist())) for j in range(5)]
    row = "\t".join(["class", *labels])
    file = "\n".join("\t".join(pair) for pair in zip(names, labels, strict=True))
    apart = load_dataset(write(a__tsv="\n".join(lines), a_labels__tsv=file))
    within = load_dataset(write(b__tsv="\n".join([lines[0], row, *lines[1:]])), "class")
    for dataset, (i, j) in product((apart, within), np.ndindex(values.shape)):
        assert dataset.X[i, j] == values[i, j]
    assert apart.fingerprint() == within.fingerprint()
