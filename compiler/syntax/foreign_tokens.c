/* foreign_tokens.c: tokens of other languages: what has a sign or quotes elsewhere is one here too.
 *
 * In: a text. Out: its tokens, with their brackets; which operand or argument a token is part of; a text with
 * other ones in their place. */
#include "syntax/foreign_words.h"

static const char *const signs[] = {
    "%in%", "%*%", "%/%", "%>%", "...", "..=", "===", "!==", "**=", "<=>", "%%", "**",
    "<-",   "->",  "=>",  "==",  "!=",  "<>",  "<=",  ">=",  "&&",  "||",  "|>", "..",
    "::",   "+=",  "-=",  "*=",  "/=",  "++",  "--",  "//",  ":=",  "??",  "~="};

static size_t sign_at(const char *s, bool apart) {
  static const char broadcast[] = "*/+-^";
  if (apart && *s == '.' && s[1] && strchr(broadcast, s[1]) && s[2] == ' ') return 2;
  for (size_t k = 0; k < sizeof signs / sizeof *signs; k++)
    if (strncmp(s, signs[k], strlen(signs[k])) == 0) return strlen(signs[k]);
  return 1;
}

static size_t text_end(const char *s, size_t at, size_t len) {
  char quote = s[at];
  size_t to = at + 1;
  bool lines = quote == '"' && at + 2 < len && s[at + 1] == '"' && s[at + 2] == '"';
  if (lines) {
    const char *end = strstr(s + at + 3, "\"\"\"");
    return end && (size_t)(end - s) + 3 <= len ? (size_t)(end - s) + 3 : len;
  }
  while (to < len && s[to] != quote && s[to] != '\n') to += s[to] == '\\' && to + 1 < len ? 2 : 1;
  return to < len && s[to] == quote ? to + 1 : to;
}

/* A `'` behind an operand is a transpose. */
static bool begins_text(const FlForeignTokens *v, const char *s, size_t at, bool glued) {
  if (s[at] == '"' || s[at] == '`') return true;
  if (s[at] != '\'') return false;
  const FlForeignToken *last = v->n ? &v->at[v->n - 1] : NULL;
  size_t n = strcspn(s + at + 1, "'\n"), brace = strcspn(s + at + 1, "{");
  bool prefix = last && last->len == 1 && s[last->start] == 'f';
  if (prefix && glued && s[at + 1 + n] == '\'' && brace < n) return true; /* `f'{x}'`, of Python */
  bool operand = last && (last->kind != FL_FOREIGN_SIGN || strchr(")]'", s[last->start])) &&
                 last->kind != FL_FOREIGN_LINE;
  return !(operand && glued);
}

/* Does a pipe go on over the end of the line at a byte? */
static bool within_pipe(const FlForeignTokens *v, const char *s, size_t at, size_t len) {
  const FlForeignToken *last = v->n ? &v->at[v->n - 1] : NULL;
  if (last && (strncmp(s + last->start, "|>", last->len) == 0 || strncmp(s + last->start, "%>%", 3) == 0))
    return last->len > 1;
  while (at < len && strchr(" \t\r\n", s[at])) at++;
  return at + 2 < len && (strncmp(s + at, "|>", 2) == 0 || strncmp(s + at, "%>%", 3) == 0);
}

void fl_foreign_tokens(FlArena *a, const char *s, size_t len, FlForeignTokens *out) {
  FlVec(int) open = {0};
  for (size_t at = 0; at < len;) {
    size_t from = at;
    while (at < len && (s[at] == ' ' || s[at] == '\t' || s[at] == '\r')) at++;
    if (at < len && s[at] == '#')
      while (at < len && s[at] != '\n') at++;
    if (at >= len) return;
    FlForeignToken t = {.start = (uint32_t)at, .glued = at == from, .match = -1};
    size_t to = at + 1;
    if (s[at] == '\n') {
      t.kind = FL_FOREIGN_LINE;
    } else if (begins_text(out, s, at, t.glued)) {
      t.kind = FL_FOREIGN_TEXT;
      to = text_end(s, at, len);
      if (to < at + 2 || s[to - 1] != s[at]) t.kind = FL_FOREIGN_SIGN; /* it has no end */
    } else if (s[at] >= '0' && s[at] <= '9') {
      t.kind = FL_FOREIGN_NUMBER;
      while (to < len && (in_word(s[to]) || (s[to] == '.' && s[to + 1] >= '0' && s[to + 1] <= '9'))) to++;
    } else if (in_word(s[at])) {
      t.kind = FL_FOREIGN_WORD;
      while (to < len && in_word(s[to])) to++;
    } else {
      t.kind = FL_FOREIGN_SIGN;
      to = at + sign_at(s + at, !t.glued);
      if (to - at == 1 && strchr("([{", s[at])) {
        fl_vec_push(a, &open, out->n);
      } else if (to - at == 1 && strchr(")]}", s[at]) && open.n) {
        t.match = open.at[--open.n];
        out->at[t.match].match = out->n;
      }
    }
    t.len = (uint32_t)(to - at);
    at = to;
    bool inside = t.kind == FL_FOREIGN_LINE && open.n && s[out->at[open.at[open.n - 1]].start] != '{';
    inside = inside || (t.kind == FL_FOREIGN_LINE && within_pipe(out, s, at, len));
    if (!inside) fl_vec_push(a, out, t);
  }
}

bool fl_foreign_is(const FlForeign *f, int i, const char *word) {
  if (i < 0 || i >= f->tokens.n) return false;
  const FlForeignToken *t = &f->tokens.at[i];
  return t->len == strlen(word) && strncmp(f->text + t->start, word, t->len) == 0;
}

bool fl_foreign_is_any(const FlForeign *f, int i, const char *words) {
  if (i < 0 || i >= f->tokens.n) return false;
  const FlForeignToken *t = &f->tokens.at[i];
  for (const char *w = words; *w; w += strspn(w, " ")) {
    size_t n = strcspn(w, " ");
    if (n == t->len && strncmp(f->text + t->start, w, n) == 0) return true;
    w += n;
  }
  return false;
}

bool fl_foreign_kind(const FlForeign *f, int i, FlForeignKind kind) {
  return i >= 0 && i < f->tokens.n && f->tokens.at[i].kind == kind;
}

const char *fl_foreign_text(const FlForeign *f, int a, int b) {
  if (b < a || a < 0 || b >= f->tokens.n) return "";
  const FlForeignToken *first = &f->tokens.at[a], *last = &f->tokens.at[b];
  return fl_arena_strndup(f->arena, f->text + first->start, last->start + last->len - first->start);
}

bool fl_foreign_put(FlForeign *f, int a, int b, const char *by) {
  if (b >= f->tokens.n) b = f->tokens.n - 1;
  size_t len = strlen(f->text), from = a < f->tokens.n ? f->tokens.at[a].start : len;
  size_t to = b >= a ? f->tokens.at[b].start + f->tokens.at[b].len : from;
  f->text = fl_arena_printf(f->arena, "%.*s%s%s", (int)from, f->text, by, f->text + to);
  f->tokens.n = 0;
  fl_foreign_tokens(f->arena, f->text, strlen(f->text), &f->tokens);
  return true;
}

int fl_foreign_operand(const FlForeign *f, int i) {
  if (i < 0 || i >= f->tokens.n) return i;
  for (;;) {
    const FlForeignToken *t = &f->tokens.at[i];
    if (t->match >= 0 && t->match < i) {
      i = t->match;
      bool on = f->tokens.at[i].glued && i > 0 && !fl_foreign_is(f, i, "{") &&
                (f->tokens.at[i - 1].kind == FL_FOREIGN_WORD || fl_foreign_is_any(f, i - 1, ") ]"));
      if (on && !fl_foreign_is_any(f, i - 1, "in if and or not else while")) {
        i--;
        continue;
      }
    } else if (fl_foreign_is(f, i, "'") && i > 0) {
      i--;
      continue;
    }
    if (i > 1 && fl_foreign_is_any(f, i - 1, ". $")) i -= 2;
    else return i;
  }
}

int fl_foreign_end(const FlForeign *f, int i) {
  for (; i < f->tokens.n; i++) {
    const FlForeignToken *t = &f->tokens.at[i];
    if (t->kind == FL_FOREIGN_LINE || fl_foreign_is_any(f, i, ", ;")) break;
    if (t->match >= 0 && t->match < i) break;
    if (t->match > i) i = t->match;
  }
  return i - 1;
}

int fl_foreign_begin(const FlForeign *f, int i) {
  if (i >= f->tokens.n) i = f->tokens.n - 1;
  for (; i >= 0; i--) {
    const FlForeignToken *t = &f->tokens.at[i];
    if (t->kind == FL_FOREIGN_LINE || fl_foreign_is_any(f, i, ", ; = => |> : return let var += and or"))
      break;
    if (t->match > i) break;
    if (t->match >= 0) i = t->match;
  }
  return i + 1;
}

const char *fl_foreign_plain(const FlForeign *f, int i) {
  if (!fl_foreign_kind(f, i, FL_FOREIGN_TEXT)) return NULL;
  const FlForeignToken *t = &f->tokens.at[i];
  const char *inner = t->len >= 2 ? fl_arena_strndup(f->arena, f->text + t->start + 1, t->len - 2) : "";
  return strpbrk(inner, "{}\\\"'`$\n") ? NULL : inner;
}
