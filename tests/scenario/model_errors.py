"""What models of the library cannot learn from is an error that says so, not a number."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from scenario_kit import Place, check, finish

HEAD = """import cluster, decomposition, linear, metrics, naive_bayes, neighbors, preprocess, signal, sparse, stats, tree
import distributions as D
import text_features as words
let x = [for i in 0..12, j in 0..3: random(1, i, j)]
let y = [for i in 0..12: random(2, i)]
let yes = y > 0.5
let class = [for i in 0..12: i % 3]
let hole = [for i in 0..12, j in 0..3: if i == 4 and j == 1 { nan } else { x[i, j] }]
let same = [for i in 0..12, j in 0..3: if j == 2 { x[i, 0] + 2 * x[i, 1] } else { x[i, j] }]
let flat = [for i in 0..12, j in 0..3: if j == 1 { 0.1 } else { x[i, j] }]
let none = x[0..0]
let many = [for i in 0..4000, j in 0..5: random(7, i, j)]
let gap = [for i in 0..12: if i == 3 { nan } else { y[i] }]
let holed = sparse.from_dense(hole)
let thin = sparse.from_dense(x)
let texts = ["to be", "or not to be"]
let t = table(a = x[:, 0], b = x[:, 1], c = x[:, 2], y = y)
let m = matrix(t, a, b, c)
let gone = matrix(table(a = x[:, 0], wind = hole[:, 1], c = if_else(yes, inf, 0.5)), a, wind, c)
"""
# What is asked, and what its error says.
CASES = [
    ("signal.welch(y, nperseg = 4, window = \"tukey\")", "there is no window `tukey`; there are hann, hamming, blackman and boxcar"),
    ("linear.ols(none, y[0..0])", "do not decide 4 coefficients"),
    ("linear.ols(x[0..3], y[0..3])", "3 rows do not decide 4 coefficients, one of them the intercept; take ridge"),
    ("linear.ols(hole, y)", "column 1 is nan in row 4"),
    ("linear.ols(x, gap)", "the value to learn in row 3 is nan"),
    ("linear.ols(same, y)", "column 2 is a combination of the columns before it; leave one out, or take ridge"),
    ("linear.ols(matrix(table(a = y, b = 2 * y), a, b), y)", "column `b` is a combination of the columns before it"),
    ("linear.ols(flat, y)", "column 1 is constant, as the intercept is; leave it out"),
    ("linear.ols([for i in 0..12, j in 0..3: if class[i] == j { 1.0 } else { 0.0 }], y)", "the intercept is a combination"),
    ("linear.ols(x, y, weights = [1.0, 2.0])", "there are 12 rows, but 2 weights"),
    ("linear.ridge(x, y, weights = y - 0.5)", "a weight of a row is negative"),
    ("linear.ridge(x, y, weights = 0 * y)", "all rows weigh nothing"),
    ("linear.ridge(x, y, lambda = -1.0)", "lambda is a number from 0 on, not -1.0"),
    ("linear.lasso(x, y, lambda = nan)", "lambda is a number from 0 on, not nan"),
    ("linear.ridge(none, y[0..0])", "there are no rows to learn from"),
    ("linear.elastic_net(x, y, l1_ratio = 1.5)", "l1_ratio is from 0 to 1, not 1.5"),
    ("linear.logistic(x, y > 2)", "all outcomes are no; there is nothing to tell apart"),
    ("linear.logistic(x, x[:, 0] > 0.5, lambda = 0.0)", "a plane separates the outcomes"),
    ("linear.logistic(many, many[:, 0] > 0.5, lambda = 0.0)", "a plane separates the outcomes"),
    ("linear.logistic(hole, yes)", "column 1 is nan in row 4"),
    ("linear.softmax(x, 0 * class)", "all labels are 0; there is nothing to tell apart"),
    ("linear.softmax(x, class, lambda = 0.0)", "softmax needs lambda > 0"),
    ("linear.predict(linear.ols(x, y), x[:, 0..2])", "has 2 columns, but the right side has 3 elements"),
    ("decomposition.pca(x[0..1])", "1 rows do not vary; there must be 2"),
    ("decomposition.pca(x, n_components = 4)", "there are from 1 to 3 components, not 4"),
    ("decomposition.pca(hole)", "column 1 is nan in row 4"),
    ("decomposition.truncated_svd(x, n_components = 0)", "there are from 1 to 3 components, not 0"),
    ("decomposition.nmf(x - 2, 2)", "column 0 is -1."),
    ("decomposition.nmf(0 * x, 2)", "all values are zero"),
    ("cluster.kmeans(x, 13)", "12 points make from 1 to 12 clusters, not 13"),
    ("cluster.kmeans(hole, 2)", "column 1 is nan in row 4"),
    ("cluster.kmeans(x, 2, init = x[0..3])", "2 clusters start from 2 centers, not 3"),
    ("cluster.kmeans(x, 2, n_init = 0)", "n_init is at least 1"),
    ("cluster.dbscan(x, eps = 0.0)", "eps is a distance larger than 0"),
    ("cluster.dbscan(none)", "there are no rows to learn from"),
    ("cluster.agglomerative(x, linkage = \"middle\")", "not \"middle\""),
    ("preprocess.standardise(none)", "there are no rows to learn from"),
    ("preprocess.standardise(hole)", "column 1 is nan in row 4"),
    ("preprocess.minmax(x, low = 1.0)", "the range is from 1.0 to 1.0"),
    ("preprocess.robust(x, lower = 0.9)", "quantiles go from 0 to 1, not from 0.9 to 0.75"),
    ("preprocess.normalise(x, norm = \"l3\")", "not \"l3\""),
    ("preprocess.apply(preprocess.ordinal([\"a\", \"b\"]), [\"a\", \"c\"])", "`c` is none of the 2 levels"),
    ("preprocess.apply(preprocess.one_hot_encoder([\"a\", \"b\"]), [\"q\"])", "`q` is none of the 2 levels"),
    ("preprocess.invert(preprocess.ordinal([\"a\"]), [1])", "a position is none of the 1 levels"),
    ("preprocess.impute(nan * x)", "a column is nan in all rows"),
    ("preprocess.impute(x, strategy = \"guess\")", "not \"guess\""),
    ("preprocess.polynomial(x, degree = 0)", "the degree is from 1 to 10, not 0"),
    ("preprocess.bins(x, bins = 1)", "there are at least 2 bins, not 1"),
    ("preprocess.apply(preprocess.bins(x), hole)", "a value is nan, which is in no bin"),
    ("metrics.rmse(y[0..0], y[0..0])", "there is nothing to compare"),
    ("metrics.f1(class, class)", "there are 3 classes; say average"),
    ("metrics.f1(class, class, average = \"mean\")", "not \"mean\""),
    ("metrics.roc_auc(y > 2, y)", "all outcomes are no: there is no curve"),
    ("metrics.roc_auc(yes, if_else(yes, 0.5, nan))", "the score of row 0 is nan"),
    ("metrics.log_loss(yes, 1.5 * y)", "a probability is from 0 to 1, and that of row"),
    ("metrics.brier(yes, y - 1)", "a probability is from 0 to 1, and that of row 0 is -"),
    ("metrics.log_loss(yes, nan * y)", "and that of row 0 is nan"),
    ("metrics.cross_entropy(class, 2 * x)", "probabilities are from 0 to 1 and not all 0; those of row"),
    ("metrics.precision([\"no\"], [\"no\"])", "all labels are `no`, which does not say whether that is yes"),
    ("metrics.accuracy(class, class[0..3])", "12"),
    ("metrics.confusion_matrix(class, class[0..3])", "12 labels were observed, and 3 are predicted"),
    # Other columns than those of the fit, wherever they were chosen
    ("linear.predict(linear.ols(m[:, 0..2], y), matrix(t, b, a))", "the column `b` stands where the column `a` did"),
    ("linear.predict(linear.ols(matrix(t, a, b), y), m[:, [1, 0]])", "the column `b` stands where the column `a` did"),
    ("linear.predict(linear.ols(matrix(t, a, b), y), m[:, 1..][0..3])", "the column `c` is new"),
    ("linear.predict(linear.ols(matrix(t, a, b), y), if y[0] < 2 { m[:, 1..3] } else { m[:, 0..2] })", "the column `c` is new"),
    ("linear.predict(linear.ols(concat(m, m), concat(y, y)), matrix(t, a, c, b))", "the column `c` stands where the column `b` did"),
    ("preprocess.apply(preprocess.standardise(m[yes, 0..2]), matrix(t, b, a))", "the column `b` stands where"),
    ("concat(m, matrix(t, a, c, b))", "these rows have other columns than those above them: the column `c` stands where"),
    ("metrics.average_precision(y > 2, y)", "no outcome is yes: there is no recall"),
    ("metrics.cross_entropy(0 * class, x)", "there are 3 columns of probabilities, and 1 classes"),
    ("metrics.silhouette(x, 0 * class)", "silhouettes need from 2 clusters"),
    # A fit and a prediction refuse nan and infinity where they are
    *((f"{fit}", "column 1 is nan in row 4") for fit in (
        "linear.ridge(hole, y)", "linear.lasso(hole, y)", "linear.elastic_net(hole, y)", "linear.products(hole, y)", "linear.ols(hole, y, weights = 1 + y)",
        "linear.softmax(hole, class)", "decomposition.truncated_svd(hole)", "decomposition.nmf(hole, 2)", "cluster.kmeans(hole, 2, tolerance = 0.0)",
        "cluster.kmeans(x, 12, init = hole)", "cluster.dbscan(hole)", "cluster.agglomerative(hole)", "preprocess.minmax(hole)", "preprocess.maxabs(hole)",
        "preprocess.robust(hole)", "preprocess.bins(hole)", "neighbors.classifier(hole, class)", "neighbors.regressor(hole, y)",
        "naive_bayes.gaussian(hole, class)", "naive_bayes.multinomial(hole, class)", "naive_bayes.bernoulli(hole, class)", "tree.classifier(hole, class)",
        "tree.regressor(hole, y)", "tree.forest_classifier(hole, class, trees = 3)", "tree.forest_regressor(hole, y, trees = 3)",
        "tree.boosting_classifier(hole, class, rounds = 2)", "tree.boosting_regressor(hole, y, rounds = 2)", "metrics.silhouette(hole, class)",
        "metrics.calinski_harabasz(hole, class)", "stats.correlations(hole)", "sparse.softmax(holed, class)",
        "linear.predict(linear.logistic(x, yes), hole)", "linear.predict(linear.softmax(x, class), hole)", "cluster.predict(cluster.kmeans(x, 2), hole)",
        "neighbors.predict(neighbors.regressor(x, y), hole)", "neighbors.predict_prob(neighbors.classifier(x, class), hole)",
        "naive_bayes.predict(naive_bayes.gaussian(x, class), hole)", "naive_bayes.predict_prob(naive_bayes.bernoulli(x, class), hole)",
        "tree.predict(tree.regressor(x, y), hole)", "tree.predict_label(tree.classifier(x, class), hole)",
        "tree.predict(tree.forest_regressor(x, y, trees = 3), hole)", "tree.predict_prob(tree.forest_classifier(x, class, trees = 3), hole)",
        "tree.predict(tree.boosting_regressor(x, y, rounds = 2), hole)", "tree.predict_prob(tree.boosting_classifier(x, class, rounds = 2), hole)",
        "sparse.predict(sparse.logistic(thin, yes), holed)", "sparse.predict(sparse.softmax(thin, class), holed)")),
    ("tree.regressor(gone, y)", "column `wind` is nan in row 4; 6 values"),
    ("linear.ridge(gone[:, 0..2], y)", "column `wind` is nan in row 4"),
    ("linear.ridge(1e308 + x * 1e300, y)", "the values are so large that sums of them are infinite"),
    *((f"{fit}", "the value to learn in row 3 is nan") for fit in (
        "linear.ridge(x, gap)", "linear.lasso(x, gap)", "neighbors.regressor(x, gap)", "tree.regressor(x, gap)", "tree.forest_regressor(x, gap, trees = 3)",
        "tree.boosting_regressor(x, gap, rounds = 2)")),
    # One class alone is nothing to tell apart, whoever is asked
    *((f"{fit}", "all labels are 0; there is nothing to tell apart") for fit in (
        "neighbors.classifier(x, 0 * class)", "naive_bayes.gaussian(x, 0 * class)", "naive_bayes.multinomial(x, 0 * class)",
        "naive_bayes.bernoulli(x, 0 * class)", "tree.classifier(x, 0 * class)", "tree.forest_classifier(x, 0 * class)",
        "tree.boosting_classifier(x, 0 * class)")),
    ("naive_bayes.multinomial(-x, class)", "multinomial takes counts: column 0 is -0."),
    ("naive_bayes.bernoulli(x, class, alpha = 0.0)", "alpha is a number larger than 0, not 0.0"),
    ("naive_bayes.gaussian(x, class, var_smoothing = -1.0)", "var_smoothing is a number from 0 on, not -1.0"),
    ("neighbors.classifier(x, class, k = 13)", "there are 12 points, and k is 13"),
    ("preprocess.impute([[inf], [1.0]])", "what stands for nan in column 0 is inf"),
    # Distributions and tests of samples
    *((f"{ask}", "degrees of freedom are a number larger than 0, not") for ask in (
        "D.t_cdf(1.0, 0.0)", "D.t_sf(1.0, -2.0)", "D.t_pdf(1.0, -1.0)", "D.t_ppf(0.3, 0.0)", "D.t_two_sided(1.0, -0.5)", "D.chi2_cdf(1.0, 0.0)",
        "D.chi2_sf(1.0, -1.0)", "D.chi2_pdf(1.0, inf)", "D.chi2_ppf(0.5, 0.0)", "D.f_cdf(1.0, 0.0, 2.0)", "D.f_sf(1.0, 2.0, -1.0)", "D.f_pdf(1.0, 2.0, 0.0)",
        "D.f_ppf(0.5, -1.0, 2.0)")),
    *((f"{ask}", "a standard deviation is larger than 0, not") for ask in (
        "D.normal_cdf(1.0, std = -1.0)", "D.normal_sf(1.0, std = 0.0)", "D.normal_pdf(1.0, std = -2.0)", "D.normal_ppf(0.5, std = -1.0)")),
    *((f"{ask}", "a probability is from 0 to 1, not") for ask in (
        "D.normal_ppf(1.5)", "D.t_ppf(-0.1, 3.0)", "D.chi2_ppf(2.0, 3.0)", "D.f_ppf(1.0001, 2.0, 3.0)")),
    ("D.beta_inc(1.5, 2.0, 3.0)", "of x from 0 to 1, not 1.5"),
    ("D.beta_inc(0.5, 0.0, 3.0)", "of a and b larger than 0, not 0.0 and 3.0"),
    ("D.gamma_inc(0.0, 3.0)", "of a larger than 0, not 0.0"),
    ("D.gamma_inc_upper(1.0, -3.0)", "of x from 0 on, not -3.0"),
    ("D.ks_sf(0.5, 0)", "at least 1 value, not of 0"),
    ("stats.t_test([0.1])", "at least 2 values, and there is 1"),
    ("stats.t_test(gap)", "the value in row 3 is nan"),
    ("stats.t_test2(y, gap)", "the value in row 3 is nan"),
    ("stats.t_test_paired(y, gap)", "the value in row 3 is nan"),
    ("stats.summary(gap)", "the value in row 3 is nan"),
    ("stats.standard_error(gap)", "the value in row 3 is nan"),
    ("stats.chi2_fit([1.0, 0.0], [1.0, 0.0])", "of the count 1 0.0 are expected"),
    ("stats.chi2_fit([1.0, -1.0], [0.5, 0.5])", "the count 1 is -1.0"),
    ("stats.chi2_fit([1.0, 1.0], [1.0, 1.0], fitted = 1)", "leave no degree of freedom"),
    ("stats.chi2_fit([1.0, 2.0], [1.0, 1.0])", "3.0 counts, but 2.0 expected"),
    ("stats.chi2_test([[0.0, 0.0], [6.0, 9.0]])", "row 0 has no counts"),
    ("stats.chi2_test([[1.0, nan], [6.0, 9.0]])", "the count in row 0 and column 1 is nan"),
    ("stats.chi2_test([[1.0, 2.0]])", "at least 2 rows and 2 columns of counts, not 1 and 2"),
    ("stats.anova(y, 0 * class)", "at least 2 groups, and there is 1"),
    ("stats.anova([1.0, 2.0], [0, 1])", "2 values of 2 groups leave no degree of freedom"),
    ("stats.anova(gap, class)", "the value in row 3 is nan"),
    ("stats.ks_test(gap, v => v)", "the value in row 3 is nan"),
    ("stats.ks_test(2 * y + 1, v => v)", "a cdf is from 0 to 1, and at"),
    ("stats.ks_test2(y, gap)", "the value of y in row 3 is nan"),
    ("stats.ks_test2(gap, y)", "the value of x in row 3 is nan"),
    ("stats.ks_test2(y, y[0..0])", "there are no values to test: 12 and 0"),
    ("stats.bootstrap(y, v => mean(v), level = 1.0)", "a level of confidence is between 0 and 1, not 1.0"),
    ("stats.bootstrap(gap, v => mean(v))", "the value in row 3 is nan"),
    ("stats.bootstrap(y, v => max(v), resamples = 0)", "at least 1 resample, not 0"),
    ("signal.sosfilt([[1.0, 0.0, 0.0, 2.0, 0.0, 0.0]], y)", "divide it by its fourth number, which is not 1"),
    ("signal.sosfiltfilt([[1.0, 0.0, 0.0, 2.0, 0.0, 0.0]], y)", "divide it by its fourth number, which is not 1"),
    ("signal.istft([[1.0]], [[0.0]], 5, nperseg = 4, noverlap = 4)", "signal: pieces of 4 samples that overlap by 4"),
    ("signal.lfilter([1.0], [0.0, 1.0], y)", "signal: a[0], by which all is divided, is 0"),
    ("sparse.from_triplets([0, 1, 4], [2, 0, 1], y[0..3], 4, 3)", "entry 2 is in row 4 and column 1, outside 4 rows and 3 columns"),
    ("sparse.from_csr([0, 2, 1], [0, 1], y[0..2], 3)", "the starts of the rows do not ascend from 0 to 2"),
    ("sparse.take(thin, [0, 12])", "there is no row 12 among 12"),
    ("sparse.slice(thin, 3, 13 + floor(y[0]))", "rows 3 to 13 of 12"),
    ("sparse.take_columns(thin, [0, 3])", "there is no column 3 among 3"),
    ("sparse.take_columns(thin, [1, 1])", "column 1 is taken twice"),
    ("sparse.vstack(thin, sparse.transpose(thin))", "a matrix of 12 columns below one of 3"),
    ("sparse.hstack(thin, sparse.transpose(thin))", "field `starts` has size 4, but `n + 1` is 13"),
    ("sparse.matvec(thin, y)", "the matrix has 3 columns, and the vector 12 elements"),
    ("sparse.matvec_t(thin, y[0..3])", "the size `n` is 3 here but 12 in the argument `m`"),
    ("sparse.matmul(thin, x)", "the matrix at the left has 3 columns, the one at the right 12 rows"),
    ("sparse.product(thin, thin)", "the matrix at the left has 3 columns, the one at the right 12 rows"),
    ("sparse.scale_rows(thin, y[0..3])", "the size `n` is 3 here but 12 in the argument `m`"),
    ("sparse.scale_columns(thin, y)", "there are 3 columns, but 12 factors"),
    ("sparse.normalise(thin, norm = \"l3\")", "not \"l3\""),
    ("sparse.logistic(thin, yes, lambda = 0.0)", "lambda is a number above 0, not 0.0"),
    ("sparse.logistic(thin, yes[0..3])", "the size `n` is 3 here but 12 in the argument `x`"),
    ("sparse.logistic(holed, yes)", "column 1 is nan in row 4"),
    ("sparse.logistic(thin, y > 2)", "all outcomes are no; there is nothing to tell apart"),
    ("sparse.softmax(thin, 0 * class)", "all labels are 0; there is nothing to tell apart"),
    ("words.count_vectorizer([\"a\", \"\"]).terms", "the 2 texts hold no terms"),
    ("words.count_vectorizer(texts, stop_words = [\"to\", \"be\", \"or\", \"not\"]).terms", "the 2 texts hold no terms but stop words"),
    ("words.count_vectorizer(texts, min_df = 3).terms", "none of 4 terms is in 3.0 to 2.0 of 2 texts"),
    ("words.count_vectorizer(texts, max_features = -1).terms", "min_df, max_df and max_features are not negative"),
    ("words.count_vectorizer(texts, analyzer = \"line\").terms", "not \"line\""),
    ("words.count_vectorizer(texts, ngram_range = (2, 1)).terms", "ngram_range is from 2 to 1"),
    ("words.count_vectorizer(texts, token_pattern = \"(\").terms", "parenthesis"),
    ("words.tfidf_vectorizer(texts, norm = \"max\").tfidf", "not \"max\""),
    ("words.tfidf(sparse.slice(thin, 0, 0)).idf", "there are no texts to learn from"),
    ("words.apply(words.tfidf(thin), sparse.transpose(thin)).width", "there are 12 columns, but 3 factors"),
    ("words.hashing(n_features = 0)", "n_features is from 1 to 2147483647, not 0"),
]

place = Place()
for i, (ask, says) in enumerate(CASES):
    place.write("case.flow", HEAD + f"show({ask})\n")
    done = place.run("run", "--interp", "--no-cache", "case.flow")
    check(done.returncode in (1, 3) and says in done.stderr, ask, f"status {done.returncode}\n{done.stdout}{done.stderr}")
finish()
