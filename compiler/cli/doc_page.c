/* doc_page.c: documentation as pages of HTML; see doc.h.
 *
 * What always holds: a page needs nothing but itself, and its links lead to pages that are written with it;
 * what stands in scripts is escaped; it is read without a mouse, on a narrow screen, in light and in dark. */
#include "cli/doc.h"

#include <ctype.h>

static const char style[] =
    ":root{color-scheme:light dark;--bg:#fff;--fg:#1c1e21;--dim:#57606a;--line:#d0d7de;--soft:#f5f7f9;"
    "--link:#0550ae;--word:#8b1a6b;--text:#0a5c36}"
    "@media(prefers-color-scheme:dark){:root{--bg:#14171a;--fg:#e3e6e9;--dim:#a3adb7;--line:#3a424a;"
    "--soft:#1d2227;--link:#83b7ff;--word:#f0a3d6;--text:#8fd6ac}}"
    "*{box-sizing:border-box}html{scroll-padding-top:1rem}"
    "body{margin:0 auto;max-width:56rem;padding:1rem;background:var(--bg);color:var(--fg);"
    "font:1rem/1.6 system-ui,sans-serif;overflow-wrap:anywhere}"
    "a{color:var(--link)}a:focus-visible,summary:focus-visible,input:focus-visible,pre:focus-visible"
    "{outline:3px solid var(--link);outline-offset:2px}"
    ".skip{position:absolute;left:-99rem}.skip:focus{position:static}"
    "h1{font-size:1.8rem;line-height:1.25}h2{margin-top:2.5rem;border-bottom:1px solid var(--line)}"
    "h3{margin:2rem 0 .25rem;font-size:1.1rem}h3 a,h2 a{color:inherit;text-decoration:none}"
    "h3 a:hover,h2 a:hover{text-decoration:underline}"
    "code,pre{font:.9rem/1.5 ui-monospace,monospace}"
    "pre{margin:.5rem 0;padding:.6rem .8rem;background:var(--soft);border:1px solid var(--line);"
    "border-radius:.4rem;white-space:pre-wrap}"
    ".names{padding:0;list-style:none;columns:12rem}dt{font-weight:600}dd{margin:0 0 .6rem}"
    "summary{cursor:pointer}.c{color:var(--dim)}.k{color:var(--word)}.s{color:var(--text)}";

static void put_char(FlText1 *out, char c) {
  switch (c) {
  case '<': fl_text_addz(out, "&lt;"); break;
  case '>': fl_text_addz(out, "&gt;"); break;
  case '&': fl_text_addz(out, "&amp;"); break;
  case '"': fl_text_addz(out, "&quot;"); break;
  default: fl_text_addc(out, c);
  }
}

static void put_text(FlText1 *out, const char *s, size_t n) {
  for (size_t i = 0; i < n; i++) put_char(out, s[i]);
}

static void put(FlText1 *out, const char *s) { put_text(out, s, strlen(s)); }

/* ---- links ---- */

typedef struct Page {
  FlText1 *out;
  const FlDocModules *all;
  const FlDocModule *m;
  const FlDocModule *own; /* the page of flow's own functions, or NULL */
  const char *head;       /* of the item that is described: its parameters are no functions; or "" */
} Page;

static bool in_name(char c) { return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80; }

static size_t name_length(const char *s, const char *end) {
  size_t n = 0;
  while (s + n < end && in_name(s[n])) n++;
  return n;
}

/* The page of what the script calls a module. */
static const FlDocModule *module_called(const Page *p, const char *name, size_t n) {
  for (int i = 0; i < p->m->imports.n; i++) {
    const FlDocImport *im = &p->m->imports.at[i];
    if (strlen(im->alias) == n && strncmp(im->alias, name, n) == 0)
      return fl_doc_module(p->all, im->module, strlen(im->module));
  }
  return NULL;
}

static void put_link(const Page *p, const FlDocModule *m, const FlDocItem *item, const char *text, size_t n) {
  fl_text_addz(p->out, "<a href=\"");
  if (m != p->m) fl_text_addf(p->out, "%s.html", m->name);
  if (item) fl_text_addf(p->out, "#%s", item->id);
  fl_text_addz(p->out, "\">");
  put_text(p->out, text, n);
  fl_text_addz(p->out, "</a>");
}

/* What a name in code leads to. Only what is called, or stands behind |>, is a function; a type is one
 * anywhere. */
static const FlDocItem *meant(const Page *p, const char *begin, const char *name, size_t n, const char *end,
                              const FlDocModule **m) {
  const char *next = name + n, *before = name;
  while (next < end && *next == ' ') next++;
  while (before > begin && (before[-1] == ' ' || before[-1] == '\n')) before--;
  bool called =
      (next < end && *next == '(') || (before >= begin + 2 && before[-1] == '>' && before[-2] == '|');
  const FlDocItem *item = fl_doc_find(p->m, name, n);
  *m = p->m;
  if (item && (called || item->kind == FL_DOC_TYPE)) return item;
  *m = p->own;
  return called && p->own ? fl_doc_find(p->own, name, n) : NULL;
}

/* ---- code ---- */

static bool is_word(const char *s, size_t n) {
  static const char *const words[] = {
#define FL_WORD(word, token, group) #word,
#include "syntax/keywords.def"
#undef FL_WORD
  };
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strlen(words[i]) == n && strncmp(words[i], s, n) == 0) return true;
  return false;
}

static void put_marked(FlText1 *out, char kind, const char *s, size_t n) {
  fl_text_addf(out, "<span class=\"%c\">", kind);
  put_text(out, s, n);
  fl_text_addz(out, "</span>");
}

/* The end of a text that begins at s: what stands in braces may hold others. */
static const char *text_end(const char *s, const char *end) {
  size_t quotes = end - s >= 3 && s[1] == '"' && s[2] == '"' ? 3 : 1;
  int depth = 0;
  for (const char *at = s + quotes; at < end; at++) {
    if (*at == '\\') at++;
    else if (*at == '{') depth++;
    else if (*at == '}' && depth) depth--;
    else if (*at == '"' && depth) at = text_end(at, end) - 1;
    else if (*at == '"' && (quotes == 1 || (end - at >= 3 && at[1] == '"' && at[2] == '"')))
      return at + quotes;
  }
  return end;
}

static const char *put_name(const Page *p, const char *begin, const char *at, const char *end,
                            bool declared) {
  size_t n = name_length(at, end);
  const FlDocModule *m = at > begin && at[-1] == '.' ? NULL : module_called(p, at, n);
  const FlDocItem *item = NULL;
  if (m && at + n < end && at[n] == '.') {
    const char *inner = at + n + 1;
    size_t k = name_length(inner, end);
    item = fl_doc_find(m, inner, k);
    put_link(p, m, item, at, item ? n + 1 + k : n);
    return at + (item ? n + 1 + k : n);
  }
  if (is_word(at, n)) put_marked(p->out, 'k', at, n);
  else if (!declared && !(at > begin && at[-1] == '.') && (item = meant(p, begin, at, n, end, &m)))
    put_link(p, m, item, at, n);
  else put_text(p->out, at, n);
  return at + n;
}

/* `head`: the first name that is no word is declared there. */
static void put_code(const Page *p, const char *code, bool head) {
  const char *end = code + strlen(code);
  bool declares = head;
  for (const char *at = code; at < end;) {
    const char *from = at;
    if (*at == '#') {
      while (at < end && *at != '\n') at++;
      put_marked(p->out, 'c', from, (size_t)(at - from));
    } else if (*at == '"') {
      at = text_end(at, end);
      put_marked(p->out, 's', from, (size_t)(at - from));
    } else if (in_name(*at)) {
      at = put_name(p, code, at, end, declares);
      if (declares && !is_word(from, (size_t)(at - from))) declares = false;
    } else {
      put_char(p->out, *at++);
    }
  }
}

/* ---- prose ---- */

/* What stands in backticks: code, and a link where it is the name of something. */
static void put_quoted(const Page *p, const char *s, size_t n) {
  size_t k = name_length(s, s + n), rest = n - k;
  bool call = rest >= 2 && s[k] == '(' && s[n - 1] == ')';
  const FlDocModule *m = fl_doc_module(p->all, s, k);
  const FlDocItem *item = NULL;
  fl_text_addz(p->out, "<code>");
  if (k && (!rest || call)) {
    item = fl_doc_find(p->m, s, k);
    bool param = false;
    for (const char *at = p->head; !item && *at; at++)
      param |= (at == p->head || !in_name(at[-1])) && strncmp(at, s, k) == 0 && !in_name(at[k]);
    if (item) put_link(p, p->m, item, s, n);
    else if (!param && !rest && m && m != p->m) put_link(p, m, NULL, s, n);
    else if (!param && p->own && (item = fl_doc_find(p->own, s, k))) put_link(p, p->own, item, s, n);
    else put_text(p->out, s, n);
  } else if (k && m && s[k] == '.' && name_length(s + k + 1, s + n) == n - k - 1 &&
             (item = fl_doc_find(m, s + k + 1, n - k - 1))) {
    put_link(p, m, item, s, n);
  } else {
    put_text(p->out, s, n);
  }
  fl_text_addz(p->out, "</code>");
}

static void put_prose(const Page *p, const char *s, size_t n) {
  for (size_t i = 0; i < n;) {
    const char *close = s[i] == '`' ? memchr(s + i + 1, '`', n - i - 1) : NULL;
    if (close && close > s + i + 1) {
      put_quoted(p, s + i + 1, (size_t)(close - s) - i - 1);
      i = (size_t)(close - s) + 1;
    } else {
      put_char(p->out, s[i++]);
    }
  }
}

/* "Sources: a; b" as a list. */
static void put_sources(const Page *p, const char *s, size_t n) {
  fl_text_addz(p->out, "<h2 id=\"sources\">Sources</h2>\n<ul>\n");
  for (size_t i = 0, from = 0; i <= n; i++) {
    if (i < n && !(s[i] == ';' && (i + 1 == n || strchr(" \n", s[i + 1])))) continue;
    while (from < i && strchr(" \n", s[from])) from++;
    size_t to = i;
    while (to > from && strchr(" \n.", s[to - 1])) to--;
    fl_text_addz(p->out, "<li>");
    put_prose(p, s + from, to - from);
    fl_text_addz(p->out, "</li>\n");
    from = i + 1;
  }
  fl_text_addz(p->out, "</ul>\n");
}

/* Paragraphs, apart by empty lines; `sources`: those, or all but those. */
static void put_paragraphs(const Page *p, const char *text, bool sources) {
  static const char mark[] = "Sources: ";
  while (*text) {
    while (*text == '\n') text++;
    const char *end = strstr(text, "\n\n");
    size_t n = end ? (size_t)(end - text) : strlen(text);
    while (n && strchr(" \n", text[n - 1])) n--;
    if (!n) break;
    bool are = strncmp(text, mark, sizeof mark - 1) == 0;
    if (are && sources) put_sources(p, text + sizeof mark - 1, n - sizeof mark + 1);
    if (!are && !sources) {
      fl_text_addz(p->out, "<p>");
      put_prose(p, text, n);
      fl_text_addz(p->out, "</p>\n");
    }
    text += n;
  }
}

/* ---- pages ---- */

static void begin(FlText1 *out, const char *title, const char *way) {
  fl_text_addz(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
  put(out, title);
  fl_text_addf(out,
               "</title>\n<style>%s</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">To the "
               "content</a>\n<header><nav aria-label=\"Pages\">%s</nav></header>\n<main id=\"main\">\n",
               style, way);
}

static void end(FlText1 *out) { fl_text_addz(out, "</main>\n</body>\n</html>\n"); }

static void put_names(const Page *p) {
  fl_text_addz(p->out, "<nav aria-label=\"On this page\">\n<ul class=\"names\">\n");
  for (int i = 0; i < p->m->items.n; i++) {
    const FlDocItem *item = &p->m->items.at[i];
    if (fl_doc_find(p->m, item->name, strlen(item->name)) != item) continue; /* one line a name */
    fl_text_addf(p->out, "<li><a href=\"#%s\">", item->id);
    put(p->out, item->name);
    fl_text_addz(p->out, "</a></li>\n");
  }
  fl_text_addz(p->out, "</ul>\n</nav>\n");
}

static void put_examples(const Page *p, int item) {
  for (int i = 0; i < p->m->examples.n; i++) {
    const FlDocExample *e = &p->m->examples.at[i];
    if (e->item != item) continue;
    fl_text_addz(p->out, "<details>\n<summary>Example: ");
    put(p->out, e->name);
    fl_text_addz(p->out, "</summary>\n<pre><code>");
    put_code(p, e->code, false);
    fl_text_addz(p->out, "</code></pre>\n</details>\n");
  }
}

static void put_item(Page *p, int at) {
  const FlDocItem *item = &p->m->items.at[at];
  fl_text_addf(p->out, "<h3 id=\"%s\"><a href=\"#%s\">", item->id, item->id);
  put(p->out, item->name);
  fl_text_addz(p->out, "</a></h3>\n<pre><code>");
  put_code(p, item->head, true);
  fl_text_addz(p->out, "</code></pre>\n");
  p->head = item->head;
  put_paragraphs(p, item->doc, false);
  p->head = "";
  put_examples(p, at);
}

void fl_doc_page(FlText1 *out, const FlDocModules *all, int at) {
  Page p = {out, all, &all->at[at], fl_doc_module(all, FL_DOC_BUILTINS, strlen(FL_DOC_BUILTINS)), ""};
  begin(out, p.m->name, "<a href=\"index.html\">All modules</a>");
  fl_text_addz(out, "<h1>");
  put(out, p.m->name);
  fl_text_addz(out, "</h1>\n");
  put_paragraphs(&p, p.m->about, false);
  if (p.m->items.n > 1) put_names(&p);
  FlDocKind kind = FL_N_DOC_KINDS;
  for (int i = 0; i < p.m->items.n; i++) {
    if (p.m->items.at[i].kind != kind) {
      kind = p.m->items.at[i].kind;
      fl_text_addf(out, "<h2>%s</h2>\n", fl_doc_title(kind));
    }
    put_item(&p, i);
  }
  put_paragraphs(&p, p.m->about, true);
  end(out);
}

void fl_doc_index(FlText1 *out, FlArena *arena, const FlDocModules *all) {
  Page p = {.out = out, .all = all, .head = ""};
  begin(out, "Modules", "<a href=\"index.html\" aria-current=\"page\">All modules</a>");
  fl_text_addz(out, "<h1>Modules</h1>\n<dl>\n");
  for (int i = 0; i < all->n; i++) {
    p.m = &all->at[i];
    const char *says = fl_doc_first_sentence(arena, p.m);
    fl_text_addf(out, "<dt><a href=\"%s.html\">", p.m->name);
    put(out, p.m->name);
    fl_text_addz(out, "</a></dt>\n<dd>");
    put_prose(&p, says, strlen(says));
    fl_text_addz(out, "</dd>\n");
  }
  fl_text_addz(out, "</dl>\n");
  end(out);
}
