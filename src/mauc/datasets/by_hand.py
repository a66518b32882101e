"""Data sets of the paper that no address offers ready to read: what a user gets, from where."""

from mauc.datasets.entry import Entry

WASHINGTON = Entry(
    "washington",
    "Washington DC Mall, hyperspectral image of the HYDICE sensor",
    ("https://engineering.purdue.edu/~biehl/MultiSpec/hyperspectral.html",),
    "see its page at Purdue University",
    11200,
    210,
    7,
    versus_paper="paper: 11200 labelled pixels, 210 bands, 7 classes (its Table 1). Purdue's image "
    "has 191 of the 210 bands, and which pixels the paper took is not written down; results "
    "are then comparable with Table 6 only roughly",
    label="Washington",
    obtain=(
        "The image is dc.tif on Purdue's page (MultiSpec). The paper cites it by R. Neher and "
        "A. Srivastava, A Bayesian MRF framework for labeling terrain using hyperspectral imaging, "
        "IEEE Transactions on Geoscience and Remote Sensing 43(6), 2005.",
        "TIFF and Erdas (.lan) images are not read. GDAL converts them: "
        "gdal_translate -of ENVI dc.tif washington",
        "The ground truth is no image there: the project file dctest.project lists fields, each "
        "with its class and its corners in lines and columns. Make it an image of the same lines "
        "and columns, with MultiSpec or a script: 0 where no field is, otherwise the number of the "
        "class.",
    ),
    files=(
        "the image as washington.hdr with its flat file (ENVI: washington, .img, .dat, .bsq, .bil, "
        ".bip, .raw or .bin), or as washington.mat with one variable of lines x columns x bands",
        "the ground truth beside it as washington_gt.hdr with its flat file (ENVI classification, "
        "one band; 'class names' are used), or as washington_gt.mat with one variable of lines x "
        "columns; 0 is no class, and such pixels are left out",
        "or washington.npz with arrays X, y and, if there are names, classes",
    ),
    run="mauc run washington --tables tables/washington",
)
THYROID = Entry(
    "thyroid",
    "Expression of genes in thyroid tumours and normal tissue",
    ("https://doi.org/10.1186/1471-2164-7-190",),
    "see the article; ask its authors",
    168,
    2000,
    4,
    versus_paper="paper: 168 samples, 2000 genes, 4 classes (its Table 1)",
    label="Thyroid",
    obtain=(
        "The data are of N. Yukinawa et al., A multi-class predictor based on a probabilistic "
        "model: application to gene expression profiling-based diagnosis of thyroid tumors, BMC "
        "Genomics 7:190, 2006: 119 + 49 samples of papillary carcinoma, follicular carcinoma, "
        "follicular adenoma and normal thyroid, measured by adaptor-tagged competitive PCR.",
        "Look for the matrix among the additional files of the article and at its authors' pages, "
        "or ask the authors; no address that offers it is known here. How the paper came to 2000 "
        "genes is not written down.",
    ),
    files=(
        "an expression matrix thyroid.tsv (or .csv, .txt; .gz too): names of samples in the first "
        "line, then one line per gene, its name first. The labels are a line called class, or "
        "thyroid_labels.tsv with one line per sample: its name, its class",
        "or samples in lines: thyroid.tsv (or .csv, .txt, .arff, ...) with a column called class, "
        "or with thyroid_labels.tsv beside it",
        "or thyroid.npz or thyroid.mat with arrays X (samples x genes), y and, if there are names, "
        "classes",
    ),
    run="mauc run thyroid --tables tables/thyroid",
)
