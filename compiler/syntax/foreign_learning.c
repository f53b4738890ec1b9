/* foreign_learning.c: models of scikit-learn and what chooses them, as flow's library has it: what is fitted
 * and asked, rows that are tested, scores of folds.
 *
 * In: a statement, with estimators and splits rewritten already. Out: one change, by the first rule that
 * finds its form. */
#include "syntax/foreign_args.h"
#include "syntax/foreign_words.h"

/* `let (a, b, c, d) = model_selection.train_test_split(..)`: tuples are taken apart by their own names. */
static bool parts_of_split(FlForeign *f) {
  static const char *const four[] = {"x_train", "x_test", "y_train", "y_test"}, *const two[] = {"train",
                                                                                                "test"};
  int close = IS(f, 0, "let") && IS(f, 1, "(") ? pair(f, 1) : -1, n = (close - 1) / 2;
  bool both = IS(f, close + 2, "split") && n == 2, all = IS(f, close + 4, "train_test_split") && n == 4;
  if (close < 0 || !IS(f, close + 1, "=") || (!both && !all)) return false;
  const char *name = fl_foreign_new_name(f, "parts", true), *const *fields = both ? two : four;
  bool own = true;
  for (int k = 0; k < n; k++) own = own && IS(f, 2 + 2 * k, fields[k]);
  if (own) return false;
  const char *out = SAY(f, "let %s = %s", name, TEXT(f, close + 2, f->tokens.n - 1));
  for (int k = 0; k < n; k++)
    out = SAY(f, "%s\nlet %s = %s.%s", out, TEXT(f, 2 + 2 * k, 2 + 2 * k), name, fields[k]);
  return PUT(f, 0, f->tokens.n - 1, out);
}

/* An estimator as it stands in a call, or as its name was bound: `Ridge(alpha=1.0)`; NULL: neither. */
static const char *estimator(FlForeign *f, const char *text) {
  FlForeign p = part(f, text);
  if (p.tokens.n > 1) return IS(&p, p.tokens.n - 1, ")") ? text : NULL;
  return fl_foreign_bound(f, text);
}

static const char *given(const FlForeignArgs *args, const char *name, int position) {
  for (int k = 0; k < args->n; k++)
    if (args->at[k].name ? strcmp(args->at[k].name, name) == 0 : k == position) return args->at[k].text;
  return NULL;
}

/* `cross_val_score(Ridge(), x, y, cv=3)`: how it is fitted and scored. */
static bool cross_validated(FlForeign *f) {
  for (int i = 0; i + 2 < f->tokens.n; i++) {
    int close = IS(f, i, "cross_val_score") && IS(f, i + 1, "(") ? pair(f, i + 1) : -1;
    if (close < 0) continue;
    FlForeignArgs args = {0};
    fl_foreign_split(f, i + 2, close - 1, &args);
    const char *x = given(&args, "X", 1), *y = given(&args, "y", 2), *folds = given(&args, "cv", 3);
    const char *scoring = given(&args, "scoring", -1), *model = args.n ? estimator(f, args.at[0].text) : NULL;
    if (x) x = fl_foreign_matrix(f, x);
    if (!x || !y || !model || fl_foreign_is_lambda(y) || strstr(y, "=>")) continue;
    const char *call = SAY(f, "%s.fit(x, y)", model);
    FlForeign p = part(f, call);
    const char *fit = fl_foreign_by_rules(&p);
    if (!fit || !word(&p, 0) || !IS(&p, 1, ".")) continue;
    const char *module = TEXT(&p, 0, 0);
    bool labels = ANY(&p, 2, "logistic softmax classifier forest_classifier boosting_classifier gaussian");
    if (scoring && strcmp(scoring, labels ? "\"accuracy\"" : "\"r2\"") != 0) continue;
    bool named = i > 1 && IS(f, i - 1, ".") && word(f, i - 2);
    int from = named ? i - 2 : i;
    const char *own = named ? TEXT(f, from, from) : "model_selection";
    const char *predict = labels && strcmp(module, "linear") != 0 ? "predict_label" : "predict";
    const char *score = SAY(f, "metrics.%s(y, %s.%s(m, x))", labels ? "accuracy" : "r2", module, predict);
    const char *by =
        SAY(f, "%s.cross_val_score(%s, %s, (x, y) => %s, (m, x, y) => %s, folds = %s.%s(%s, %s))", own, x, y,
            fit, score, own, labels ? "stratified_kfold" : "kfold", labels ? y : SAY(f, "len(%s)", y),
            folds ? folds : "5");
    return PUT(f, from, close, by);
  }
  return false;
}

/* The module of what a call becomes: `decomposition` of `PCA(x)`; NULL: none. */
static const char *module_of(FlForeign *f, const char *call) {
  FlForeign p = part(f, call);
  const char *made = fl_foreign_by_rules(&p);
  return made && word(&p, 0) && IS(&p, 1, ".") ? TEXT(&p, 0, 0) : NULL;
}

/* `Estimator(..).fit(x, y)`, `.fit_transform(x)` */
bool fl_foreign_fitted(FlForeign *f) {
  for (int i = 2; i + 2 < f->tokens.n; i++) {
    bool asked = ANY(f, i, "fit fit_transform fit_predict") && IS(f, i - 1, ".") && IS(f, i - 2, ")");
    int close = asked && IS(f, i + 1, "(") ? pair(f, i + 1) : -1;
    int open = close > 0 ? pair(f, i - 2) : -1, from = open > 0 ? fl_foreign_operand(f, i - 2) : -1;
    if (from < 0 || !strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZ", TEXT(f, open - 1, open - 1)[0])) continue;
    const char *more = open + 1 < i - 2 ? SAY(f, ", %s", TEXT(f, open + 1, i - 3)) : "";
    int x = fl_foreign_end(f, i + 2);
    const char *given = SAY(f, "%s%s", fl_foreign_matrix(f, TEXT(f, i + 2, x)), TEXT(f, x + 1, close - 1));
    const char *call = SAY(f, "%s(%s%s)", TEXT(f, from, open - 1), given, more);
    if (IS(f, i, "fit")) return PUT(f, from, close, call);
    const char *module = module_of(f, call), *label = IS(f, i, "fit_predict") ? ".label" : NULL;
    if (!module || (label && strcmp(module, "cluster") != 0)) continue;
    if (label) return PUT(f, from, close, SAY(f, "%s%s", call, label));
    return PUT(f, from, close,
               SAY(f, "%s.apply(%s, %s)", module, call, fl_foreign_matrix(f, TEXT(f, i + 2, x))));
  }
  return false;
}

/* `f.predict(x)`, `f.score(x, y)` of such a model */
bool fl_foreign_of_model(FlForeign *f) {
  FlForeign file = file_of(f);
  for (int i = 2; i + 1 < f->tokens.n; i++) {
    bool asked = ANY(f, i, "predict predict_proba transform score") && IS(f, i - 1, ".") && word(f, i - 2);
    int close = asked && IS(f, i + 1, "(") ? pair(f, i + 1) : -1;
    if (close < 0 || fl_foreign_is_module(f, TEXT(f, i - 2, i - 2))) continue;
    const char *model = TEXT(f, i - 2, i - 2);
    int fit = fl_foreign_binding(&file, model, file.tokens.n) + 2, end = fl_foreign_end(f, i + 2);
    if (!word(&file, fit) || !IS(&file, fit - 1, "=") || !IS(&file, fit + 1, ".")) continue;
    const char *module = TEXT(&file, fit, fit), *x = fl_foreign_matrix(f, TEXT(f, i + 2, end));
    if (IS(f, i, "score")) { /* of models whose score is known here */
      bool numbers = ANY(&file, fit + 2, "ols ridge lasso elastic_net regressor forest_regressor");
      bool tree = ANY(&file, fit + 2, "classifier forest_classifier boosting_classifier");
      bool classes = tree || ANY(&file, fit + 2, "logistic softmax");
      if (end + 2 >= close || !(numbers || classes)) continue;
      return PUT(f, i - 2, close,
                 SAY(f, "metrics.%s(%s, %s.%s(%s, %s))", numbers ? "r2" : "accuracy",
                     TEXT(f, end + 2, close - 1), module, tree ? "predict_label" : "predict", model, x));
    }
    bool labels = IS(f, i, "predict") && (f->ways & FL_FOREIGN_SECOND);
    const char *name = labels                  ? "predict_label"
                       : IS(f, i, "predict")   ? "predict"
                       : IS(f, i, "transform") ? "apply"
                                               : "predict_prob";
    return PUT(f, i - 2, close,
               SAY(f, "%s.%s(%s, %s%s)", module, name, model, x, TEXT(f, end + 1, close - 1)));
  }
  return false;
}

/* `lm(y ~ a + b, data = t)`, of R, whose columns are named; its coefficients begin with the intercept. */
static bool linear_formula(FlForeign *f) {
  for (int i = 0; i + 5 < f->tokens.n; i++) {
    int close = IS(f, i, "lm") && IS(f, i + 1, "(") && IS(f, i + 3, "~") ? pair(f, i + 1) : -1, at = i + 4;
    const char *columns = "";
    if (close < 0) continue;
    for (; word(f, at); at += 2) {
      columns = SAY(f, "%s, %s", columns, TEXT(f, at, at));
      if (!IS(f, at + 1, "+")) break;
    }
    int table = IS(f, at + 2, "data") ? at + 4 : at + 2;
    if (!*columns || !IS(f, at + 1, ",") || table + 1 != close || !word(f, table)) continue;
    const char *t = TEXT(f, table, table);
    return PUT(f, i, close,
               SAY(f, "linear.ols(matrix(%s%s), f64(%s.%s))", t, columns, t, TEXT(f, i + 2, i + 2)));
  }
  return false;
}

/* A module of the library that the file does not import is imported before the statement. */
static bool needed(FlForeign *f) {
  for (int i = 0; i + 2 < f->tokens.n; i++) {
    if (!word(f, i) || !IS(f, i + 1, ".") || (i && IS(f, i - 1, "."))) continue;
    const char *name = TEXT(f, i, i), *module = fl_foreign_module(name);
    if (!module || strcmp(module, name) != 0) continue;
    bool there = fl_foreign_is_module(f, name) || fl_foreign_declared(f, name, "let var param fn for");
    for (int at = 0; at < i; at++) there = there || (IS(f, at, "import") && IS(f, at + 1, name));
    if (!there) return PUT(f, 0, -1, SAY(f, "import %s\n", name));
  }
  return false;
}

bool fl_foreign_scored(FlForeign *f) { return cross_validated(f); }

bool fl_foreign_learning(FlForeign *f) { return parts_of_split(f) || linear_formula(f) || needed(f); }
