/* print_ast.c: the tree as s-expressions, for --emit=ast and golden tests.
 *
 * In: a tree. Out: one s-expression a statement, broken over lines where it is wider than a line. Spans,
 * brackets and layout are not shown: two texts mean the same to the later phases exactly when their trees
 * print the same. */
#include "syntax/ast.h"
#include "syntax/syntax_internal.h"

#include "data/name_text.h"

enum { WIDTH = 100 };

static void expr(FlText1 *out, const FlExpr *e);
static void type(FlText1 *out, const FlTypeExpr *t);
static void stmt(FlText1 *out, const FlStmt *s);

static const char *const expr_words[] = {
#define FL_EXPR_NODE(kind, member, word) [FL_EXPR_##kind] = word,
#include "syntax/nodes.def"
};
static const char *const stmt_words[] = {
#define FL_STMT_NODE(kind, member, word, role) [FL_STMT_##kind] = word,
#include "syntax/nodes.def"
};
static const char *const spellings[] = {
#define FL_BIN(name, spelling, precedence) [FL_BIN_##name] = spelling,
    FL_BINARY_OPS(FL_BIN)
#undef FL_BIN
};

static const FlPrecedence precedences[] = {
#define FL_BIN(name, spelling, precedence) [FL_BIN_##name] = FL_BINDS_##precedence,
    FL_BINARY_OPS(FL_BIN)
#undef FL_BIN
};

const char *fl_syntax_binary_spelling(FlBinaryOp op) { return spellings[op]; }
FlPrecedence fl_syntax_precedence(FlBinaryOp op) { return precedences[op]; }

void fl_syntax_add_escaped(FlText1 *out, const char *s, size_t len) {
  fl_text_addc(out, '"');
  for (size_t i = 0; i < len; i++) {
    unsigned char c = (unsigned char)s[i];
    if (c == '\n') fl_text_addz(out, "\\n");
    else if (c == '\t') fl_text_addz(out, "\\t");
    else if (c == '"' || c == '\\') fl_text_addf(out, "\\%c", c);
    else if (c < 0x20 || c == 0x7F) fl_text_addf(out, "\\u{%x}", c);
    else fl_text_addc(out, (char)c);
  }
  fl_text_addc(out, '"');
}

/* ---- flat printing ---- */

static void name(FlText1 *out, FlName n) {
  fl_text_addc(out, ' ');
  fl_syntax_add_name(out, n.text);
}

static void child(FlText1 *out, const FlExpr *e) {
  fl_text_addc(out, ' ');
  expr(out, e);
}

static void child_or_none(FlText1 *out, const FlExpr *e) {
  if (e) child(out, e);
  else fl_text_addz(out, " -");
}

static void child_type(FlText1 *out, const FlTypeExpr *t) {
  fl_text_addc(out, ' ');
  type(out, t);
}

static void pattern(FlText1 *out, const FlPat *p) {
  fl_text_addc(out, ' ');
  switch (p->kind) {
  case FL_PAT_ERROR: fl_text_addz(out, "(error)"); break;
  case FL_PAT_ANY: fl_text_addc(out, '_'); break;
  case FL_PAT_NAME: fl_syntax_add_name(out, p->name.text); break;
  case FL_PAT_TUPLE:
    fl_text_addz(out, "(pattern");
    for (int i = 0; i < p->tuple.n; i++) pattern(out, p->tuple.at[i]);
    fl_text_addc(out, ')');
    break;
  case FL_PAT_VALUE:
    fl_text_addz(out, "(value");
    child(out, p->value);
    fl_text_addc(out, ')');
    break;
  case FL_PAT_RANGE:
    fl_text_addz(out, "(between");
    child_or_none(out, p->range.lo);
    child_or_none(out, p->range.hi);
    fl_text_addc(out, ')');
    break;
  }
}

static void dim(FlText1 *out, const FlDim *d) {
  if (d->any) fl_text_addz(out, " _");
  else if (!d->name.text) fl_text_addf(out, " %lld", (long long)d->constant);
  else if (name(out, d->name), d->constant) fl_text_addf(out, "%+lld", (long long)d->constant);
}

static void type(FlText1 *out, const FlTypeExpr *t) {
  switch (t->kind) {
  case FL_TE_ERROR: fl_text_addz(out, "(error)"); break;
  case FL_TE_NAME:
    if (t->name.module.text) fl_syntax_add_name(out, t->name.module.text), fl_text_addc(out, '.');
    fl_syntax_add_name(out, t->name.name.text);
    break;
  case FL_TE_ANY: fl_text_addc(out, '_'); break;
  case FL_TE_OPTION:
    fl_text_addz(out, "(option");
    child_type(out, t->inner);
    fl_text_addc(out, ')');
    break;
  case FL_TE_ARRAY:
    fl_text_addz(out, "(of");
    child_type(out, t->array.element);
    for (int i = 0; i < t->array.dims.n; i++) dim(out, &t->array.dims.at[i]);
    fl_text_addc(out, ')');
    break;
  case FL_TE_TUPLE:
    fl_text_addz(out, "(fields");
    for (int i = 0; i < t->tuple.fields.n; i++) {
      const FlTypeItem *f = &t->tuple.fields.at[i];
      if (f->name.text) name(out, f->name), fl_text_addc(out, ':');
      child_type(out, f->type);
    }
    fl_text_addz(out, t->tuple.open ? " ..)" : ")");
    break;
  case FL_TE_FUNCTION:
    fl_text_addz(out, "(function (");
    for (int i = 0; i < t->function.params.n; i++) {
      if (i) fl_text_addc(out, ' ');
      type(out, t->function.params.at[i]);
    }
    fl_text_addc(out, ')');
    child_type(out, t->function.result);
    fl_text_addc(out, ')');
    break;
  case FL_TE_TYPEOF:
    fl_text_addz(out, "(typeof");
    child(out, t->of);
    fl_text_addc(out, ')');
    break;
  }
}

/* ---- parts of nodes: what a visitor does ---- */

static void add_expr(void *out, const FlExpr *e) { child(out, e); }
static void add_pattern(void *out, const FlPat *p) { pattern(out, p); }
static void add_type(void *out, const FlTypeExpr *t) { child_type(out, t); }
static void add_stmt(void *out, const FlStmt *s) {
  fl_text_addc(out, ' ');
  stmt(out, s);
}

/* ` value` or ` name=value`. */
static void add_named(void *out, FlName n, const FlExpr *value) {
  fl_text_addc(out, ' ');
  if (n.text) fl_syntax_add_name(out, n.text), fl_text_addc(out, '=');
  expr(out, value);
}

static void add_clause(void *out, const FlClause *clause) {
  fl_text_addz(out, clause->pattern ? " (each" : " (where");
  if (clause->pattern) pattern(out, clause->pattern);
  child(out, clause->source);
  fl_text_addc(out, ')');
}

static void add_arm(void *out, const FlArm *arm) {
  fl_text_addz(out, " (case");
  pattern(out, arm->pattern);
  if (arm->guard) fl_text_addz(out, " if"), child(out, arm->guard);
  child(out, arm->body);
  fl_text_addc(out, ')');
}

static void add_subscript(void *out, const FlSubscript *s) {
  switch (s->kind) {
  case FL_SUB_VALUE: child(out, s->value); break;
  case FL_SUB_SLICE:
    fl_text_addz(out, " (slice");
    child_or_none(out, s->lo);
    child_or_none(out, s->hi);
    if (s->step) child(out, s->step);
    fl_text_addc(out, ')');
    break;
  case FL_SUB_NEW: fl_text_addz(out, " new"); break;
  }
}

static void add_text(void *out, const FlTextPart *part) {
  if (!part->value) {
    fl_text_addc(out, ' ');
    fl_syntax_add_escaped(out, part->bytes, part->len);
  } else if (part->format) {
    fl_text_addz(out, " (format ");
    fl_syntax_add_escaped(out, part->format, strlen(part->format));
    child(out, part->value);
    fl_text_addc(out, ')');
  } else {
    child(out, part->value);
  }
}

static FlChildVisitor adds(FlText1 *out) {
  return (FlChildVisitor){out,       add_expr,   add_stmt, add_pattern,   add_type,
                          add_named, add_clause, add_arm,  add_subscript, add_text};
}

static void parts_of_stmt(FlText1 *out, const FlStmt *s) {
  FlChildVisitor v = adds(out);
  fl_syntax_stmt_children(&v, s);
}

static void args(FlText1 *out, const FlArgList *list) {
  for (int i = 0; i < list->n; i++) add_named(out, list->at[i].name, list->at[i].value);
}

static void lambda_params(FlText1 *out, const FlPatList *params) {
  fl_text_addz(out, " (");
  for (int i = 0; i < params->n; i++) {
    FlText1 one = {0};
    pattern(&one, params->at[i]);
    fl_text_addz(out, one.s + (i == 0));
    fl_text_reset(&one);
  }
  fl_text_addc(out, ')');
}

/* Names and numbers, which stand without a list around them. */
static bool atom(FlText1 *out, const FlExpr *e) {
  if (e->kind == FL_EXPR_NAME) fl_syntax_add_name(out, e->name.text);
  else if (e->kind == FL_EXPR_INT) fl_text_addz(out, e->integer.spelling);
  else if (e->kind == FL_EXPR_FLOAT) fl_text_addz(out, e->real.spelling);
  else if (e->kind == FL_EXPR_BOOL) fl_text_addz(out, e->boolean ? "true" : "false");
  else if (e->kind == FL_EXPR_NULL) fl_text_addz(out, "null");
  else return false;
  return true;
}

static void expr(FlText1 *out, const FlExpr *e) {
  if (atom(out, e)) return;
  fl_text_addc(out, '(');
  if (e->kind == FL_EXPR_BINARY) fl_text_addz(out, spellings[e->binary.op]);
  else if (e->kind == FL_EXPR_UNARY) fl_text_addz(out, e->unary.op == FL_UN_NEG ? "negate" : "not");
  else fl_text_addz(out, expr_words[e->kind]);
  if (e->kind == FL_EXPR_LAMBDA) {
    lambda_params(out, &e->lambda.params);
    child(out, e->lambda.body);
  } else {
    FlChildVisitor v = adds(out);
    fl_syntax_expr_children(&v, e);
  }
  if (e->kind == FL_EXPR_COL || e->kind == FL_EXPR_OUTER) name(out, e->name);
  if (e->kind == FL_EXPR_FIELD) name(out, e->field.name);
  if (e->kind == FL_EXPR_TEXT && e->text.parts.n == 0) fl_text_addz(out, " \"\"");
  fl_text_addc(out, ')');
}

static void fn(FlText1 *out, const FlStmt *s) {
  name(out, s->fn.name);
  for (int i = 0; i < s->fn.attributes.n; i++) {
    fl_text_addz(out, " (attribute");
    name(out, s->fn.attributes.at[i].name);
    args(out, &s->fn.attributes.at[i].args);
    fl_text_addc(out, ')');
  }
  fl_text_addz(out, " (params");
  for (int i = 0; i < s->fn.params.n; i++) {
    const FlFnParam *f = &s->fn.params.at[i];
    fl_text_addz(out, " (");
    fl_syntax_add_name(out, f->name.text);
    if (f->type) fl_text_addz(out, ": "), type(out, f->type);
    if (f->fallback) fl_text_addz(out, " ="), child(out, f->fallback);
    fl_text_addc(out, ')');
  }
  fl_text_addc(out, ')');
  if (s->fn.result) fl_text_addz(out, " (result"), child_type(out, s->fn.result), fl_text_addc(out, ')');
  if (s->fn.body) child(out, s->fn.body);
  if (s->fn.library) fl_text_addc(out, ' '), fl_syntax_add_escaped(out, s->fn.library, strlen(s->fn.library));
}

static void import(FlText1 *out, const FlImportList *list) {
  for (int i = 0; i < list->n; i++) {
    const FlImport *item = &list->at[i];
    fl_text_addz(out, item->alias.text ? " (as" : "");
    if (item->module.text) name(out, item->module);
    else fl_text_addc(out, ' '), fl_syntax_add_escaped(out, item->path, strlen(item->path));
    if (item->alias.text) name(out, item->alias), fl_text_addc(out, ')');
  }
}

static void stmt(FlText1 *out, const FlStmt *s) {
  if (s->kind == FL_STMT_EXPR) {
    expr(out, s->expr);
    return;
  }
  fl_text_addf(out, "(%s", stmt_words[s->kind]);
  if (s->doc) {
    fl_text_addz(out, " (doc ");
    fl_syntax_add_escaped(out, s->doc, strlen(s->doc));
    fl_text_addc(out, ')');
  }
  switch (s->kind) {
  case FL_STMT_ERROR:
  case FL_STMT_BREAK:
  case FL_STMT_CONTINUE:
  case FL_STMT_EXPR: break;
  case FL_STMT_LET:
  case FL_STMT_VAR:
    pattern(out, s->let.pattern);
    if (s->let.type) fl_text_addz(out, ":"), child_type(out, s->let.type);
    child(out, s->let.value);
    break;
  case FL_STMT_ASSIGN:
    if (s->assign.add) fl_text_addz(out, " +=");
    parts_of_stmt(out, s);
    break;
  case FL_STMT_FOR:
  case FL_STMT_WHILE:
  case FL_STMT_ASSERT: parts_of_stmt(out, s); break;
  case FL_STMT_FN:
  case FL_STMT_STAGE:
  case FL_STMT_EXTERN: fn(out, s); break;
  case FL_STMT_TYPE:
    name(out, s->type.name);
    for (int i = 0; i < s->type.sizes.n; i++) {
      fl_text_addz(out, i ? "" : " (sizes");
      name(out, s->type.sizes.at[i]);
      fl_text_addz(out, i + 1 == s->type.sizes.n ? ")" : "");
    }
    parts_of_stmt(out, s);
    break;
  case FL_STMT_PARAM:
    name(out, s->param.name);
    fl_text_addc(out, ':');
    parts_of_stmt(out, s);
    break;
  case FL_STMT_IMPORT: import(out, &s->import); break;
  case FL_STMT_REQUIRES:
    for (int i = 0; i < s->requires.n; i++)
      fl_text_addf(out, " (%s %s)", s->requires.at[i].comparison, s->requires.at[i].version);
    break;
  case FL_STMT_TEST:
    fl_text_addc(out, ' ');
    fl_syntax_add_escaped(out, s->test.name, strlen(s->test.name));
    parts_of_stmt(out, s);
    break;
  }
  fl_text_addc(out, ')');
}

/* ---- lines ---- */

/* The end of the item that begins at s: behind its closing bracket, or of the word. */
static const char *item_end(const char *s) {
  int depth = 0;
  do {
    if (*s == '"' || *s == '`') {
      char quote = *s++;
      while (*s && *s != quote) s += *s == '\\' && s[1] ? 2 : 1;
      if (*s) s++;
    } else {
      depth += *s == '(' ? 1 : *s == ')' ? -1 : 0;
      s++;
    }
  } while (*s && (depth > 0 || (*s != ' ' && *s != ')')));
  return s;
}

/* One item, on one line if it fits, else its parts on lines of their own. */
static void lay_out(FlText1 *out, const char *s, const char *end, int indent) {
  const char *list = s; /* behind `name=` */
  while (list < end && *list != '(' && *list != '"' && *list != '`') list++;
  if (end - s + indent <= WIDTH || list == end || *list != '(') {
    fl_text_add(out, s, (size_t)(end - s));
    return;
  }
  fl_text_add(out, s, (size_t)(list - s));
  s = list;
  const char *at = item_end(s + 1); /* the head stays on the line of the bracket */
  if (s[1] == '(') at = s + 1;
  fl_text_add(out, s, (size_t)(at - s));
  while (*at == ' ' || *at == '(') {
    while (*at == ' ') at++;
    const char *stop = item_end(at);
    fl_text_addf(out, "\n%*s", indent + 2, "");
    lay_out(out, at, stop, indent + 2);
    at = stop;
  }
  fl_text_addc(out, ')');
}

void fl_syntax_print_ast(FlText1 *out, const FlAst *ast) {
  for (int i = 0; i < ast->stmts.n; i++) {
    FlText1 flat = {0};
    stmt(&flat, ast->stmts.at[i]);
    lay_out(out, flat.s, flat.s + flat.len, 0);
    fl_text_addc(out, '\n');
    fl_text_reset(&flat);
  }
}

/* Takes ` (doc "...")` out of flat text. In a text literal the quote would be escaped. */
static void without_docs(FlText1 *out, const char *s) {
  static const char mark[] = " (doc \"";
  for (const char *doc; (doc = strstr(s, mark)) != NULL;) {
    fl_text_add(out, s, (size_t)(doc - s));
    s = doc + sizeof mark - 1;
    while (*s && *s != '"') s += *s == '\\' && s[1] ? 2 : 1;
    if (*s) s += s[1] ? 2 : 1; /* the quote and the bracket */
  }
  fl_text_addz(out, s);
}

bool fl_syntax_same(const FlAst *a, const FlAst *b) {
  if (a->stmts.n != b->stmts.n) return false;
  bool same = true;
  for (int i = 0; i < a->stmts.n && same; i++) {
    FlText1 flat_a = {0}, flat_b = {0}, bare_a = {0}, bare_b = {0};
    stmt(&flat_a, a->stmts.at[i]);
    stmt(&flat_b, b->stmts.at[i]);
    without_docs(&bare_a, flat_a.s);
    without_docs(&bare_b, flat_b.s);
    same = !strcmp(bare_a.s, bare_b.s);
    fl_text_reset(&flat_a);
    fl_text_reset(&flat_b);
    fl_text_reset(&bare_a);
    fl_text_reset(&bare_b);
  }
  return same;
}

void fl_syntax_add_name(FlText1 *out, const char *s) {
  FlWordGroup group;
  bool word = fl_syntax_word(s, strlen(s), &group) && (group == FL_WORD_RESERVED || group == FL_WORD_SPECIAL);
  bool number = !strcmp(s, "inf") || !strcmp(s, "nan") || !strcmp(s, "pi");
  if (fl_syntax_is_plain_name(s) && !word && !number && strcmp(s, "_")) fl_text_addz(out, s);
  else {
    char bytes[FL_NAME_ESCAPE];
    fl_text_addc(out, '`');
    for (; *s; s++) fl_text_add(out, bytes, (size_t)fl_name_escape(*s, bytes));
    fl_text_addc(out, '`');
  }
}
