/* document.c: see document.h. What always holds: a document that is not stale was checked with the texts that
 * are open now; paths that scripts name are looked for beside the script, then in the folder that is open. */
#include "lsp/document.h"

#include <stdlib.h>
#include <unistd.h>

/* A copy that the caller frees; never NULL. */
static char *copied(const char *text, size_t len) {
  char *copy = fl_piece_new(len + 1, 1);
  memcpy(copy, text, len);
  return copy;
}

/* ---- URIs ---------------------------------------------------------------------------------------------- */

static int hex(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

char *fl_lsp_path(const FlLspDocuments *all, const char *uri) {
  FlText1 path = {0};
  const char *at = strncmp(uri, "file://", 7) == 0 ? strchr(uri + 7, '/') : NULL;
  if (!at) { /* a text without a file stands where one of its name would */
    if (all->root) fl_text_addf(&path, "%s/", all->root);
    for (at = uri; *at; at++) fl_text_addc(&path, *at == '/' || *at == ':' ? '-' : *at);
    return path.s;
  }
  for (; *at; at++) {
    int high = *at == '%' ? hex(at[1]) : -1, low = high >= 0 ? hex(at[2]) : -1;
    fl_text_addc(&path, low >= 0 ? (char)(high * 16 + low) : *at);
    if (low >= 0) at += 2;
  }
  return path.s;
}

FlLspDocument *fl_lsp_of_path(const FlLspDocuments *all, const char *path) {
  FlLspDocument *d = all->first;
  while (d && strcmp(d->path, path) != 0) d = d->next;
  if (d) return d;
  char *real = realpath(path, NULL);
  for (d = real ? all->first : NULL; d; d = d->next) {
    char *its = realpath(d->path, NULL);
    bool same = its && strcmp(its, real) == 0;
    free(its);
    if (same) break;
  }
  free(real);
  return d;
}

json_t *fl_lsp_uri(const FlLspDocuments *all, const FlSource *f) {
  const FlLspDocument *d = fl_lsp_of_path(all, f->path);
  if (d) return json_string(d->uri);
  FlText1 uri = {0};
  char *real = realpath(f->path, NULL);
  fl_text_addz(&uri, "file://");
  for (const char *at = real ? real : f->path; *at; at++) {
    bool plain = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || (*at >= '0' && *at <= '9') ||
                 strchr("/-._~", *at);
    if (plain) fl_text_addc(&uri, *at);
    else fl_text_addf(&uri, "%%%02X", (unsigned)(unsigned char)*at);
  }
  json_t *out = json_string(uri.s);
  free(real);
  fl_text_reset(&uri);
  return out;
}

/* ---- places -------------------------------------------------------------------------------------------- */

static size_t bytes_of(unsigned char lead) {
  return lead < 0x80 ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
}

uint32_t fl_lsp_offset(const FlLspDocuments *all, const FlText1 *text, const json_t *position) {
  json_int_t line = json_integer_value(json_object_get(position, "line")),
             character = json_integer_value(json_object_get(position, "character"));
  size_t at = 0;
  while (line > 0 && at < text->len) {
    const char *end = memchr(text->s + at, '\n', text->len - at);
    at = end ? (size_t)(end - text->s) + 1 : text->len;
    line--;
  }
  for (json_int_t units = 0; line == 0 && units < character && at < text->len && text->s[at] != '\n';) {
    if (text->s[at] == '\r' && at + 1 < text->len && text->s[at + 1] == '\n') break;
    size_t n = bytes_of((unsigned char)text->s[at]);
    units += all->utf8 ? (json_int_t)n : n == 4 ? 2 : 1;
    at = at + n < text->len ? at + n : text->len;
  }
  return (uint32_t)at;
}

json_t *fl_lsp_position(const FlLspDocuments *all, const FlSource *f, uint32_t offset) {
  if (offset > f->len) offset = f->len;
  int line, column;
  fl_source_position(f, offset, &line, &column);
  uint32_t start = f->lines[line - 1], units = offset - start;
  for (uint32_t at = start;
       !all->utf8 && at < offset;) { /* a character of n bytes is one unit, of four two */
    uint32_t n = (uint32_t)bytes_of((unsigned char)f->text[at]);
    units -= n == 4 ? 2 : n - 1;
    at += n;
  }
  return json_pack("{s:i, s:I}", "line", line - 1, "character", (json_int_t)units);
}

json_t *fl_lsp_range(const FlLspDocuments *all, const FlSource *f, uint32_t start, uint32_t len) {
  return json_pack("{s:o, s:o}", "start", fl_lsp_position(all, f, start), "end",
                   fl_lsp_position(all, f, start + len));
}

json_t *fl_lsp_location(const FlLspDocuments *all, const FlSources *sources, FlSpan at) {
  const FlSource *f = fl_sources_get(sources, at.file);
  return json_pack("{s:o, s:o}", "uri", fl_lsp_uri(all, f), "range", fl_lsp_range(all, f, at.start, at.len));
}

uint32_t fl_lsp_asked(const FlLspDocuments *all, const FlLspDocument *d, const json_t *params) {
  return fl_lsp_offset(all, &d->text, json_object_get(params, "position"));
}

/* ---- the documents ------------------------------------------------------------------------------------- */

FlLspDocument *fl_lsp_find(const FlLspDocuments *all, const char *uri) {
  FlLspDocument *d = all->first;
  while (d && strcmp(d->uri, uri) != 0) d = d->next;
  return d;
}

FlLspDocument *fl_lsp_open(FlLspDocuments *all, const char *uri, const char *text, size_t len) {
  FlLspDocument *d = fl_lsp_find(all, uri);
  if (!d) {
    d = fl_piece_new(1, sizeof *d);
    *d = (FlLspDocument){.uri = copied(uri, strlen(uri)), .path = fl_lsp_path(all, uri), .next = all->first};
    all->first = d;
  }
  d->text.len = 0;
  fl_text_add(&d->text, text, len);
  d->stale = true;
  return d;
}

void fl_lsp_close(FlLspDocuments *all, FlLspDocument *d) {
  FlLspDocument **at = &all->first;
  while (*at != d) at = &(*at)->next;
  *at = d->next;
  if (d->arena) fl_arena_free(d->arena);
  fl_text_reset(&d->text);
  fl_piece_free(d->uri);
  fl_piece_free(d->path);
  fl_piece_free(d);
}

void fl_lsp_changed(FlLspDocuments *all, const char *path) {
  for (FlLspDocument *d = all->first; d; d = d->next) {
    d->stale = d->stale || !path || !d->c.sources;
    for (int i = 0; !d->stale && i < d->c.sources->files.n; i++) {
      const FlLspDocument *its = fl_lsp_of_path(all, d->c.sources->files.at[i]->path);
      d->stale = its && strcmp(its->path, path) == 0;
    }
  }
}

void fl_lsp_edit(FlLspDocuments *all, FlLspDocument *d, const json_t *range, const char *text, size_t len) {
  uint32_t from = fl_lsp_offset(all, &d->text, json_object_get(range, "start")),
           to = fl_lsp_offset(all, &d->text, json_object_get(range, "end"));
  FlText1 out = {0};
  fl_text_add(&out, d->text.s ? d->text.s : "", from);
  fl_text_add(&out, text, len);
  if (to < from) to = from;
  fl_text_add(&out, d->text.s ? d->text.s + to : "", d->text.len - to);
  fl_text_reset(&d->text);
  d->text = out;
}

/* ---- checking ------------------------------------------------------------------------------------------ */

static void told_value(void *env, FlSpan at, const char *type) {
  FlLspFacts *f = env;
  fl_vec_push(f->arena, &f->values, ((FlLspValue){at, type}));
}
static void told_columns(void *env, FlSpan at, const char *row) {
  FlLspFacts *f = env;
  fl_vec_push(f->arena, &f->columns, ((FlLspValue){at, row}));
}
static void told_step(void *env, FlSpan at, FlFlow takes, FlFlow gives) {
  FlLspFacts *f = env;
  fl_vec_push(f->arena, &f->steps, ((FlLspStep){at, takes, gives}));
}
static void told_name(void *env, FlSpan at, const FlNamed *what) {
  FlLspFacts *f = env;
  fl_vec_push(f->arena, &f->names, ((FlLspName){at, *what}));
}

static void told_among(void *env, FlSpan at, int n, const char *const *texts) {
  FlLspFacts *f = env;
  fl_vec_push(f->arena, &f->among, ((FlLspAmong){at, n, texts}));
}

bool fl_lsp_try(FlLspDocuments *all, FlArena *arena, const FlLspDocument *d, const FlText1 *text,
                FlCompilation *c, FlLspFacts *facts) {
  FlLspWorld here = {all, d->path};
  FlWorld world = fl_lsp_world(&here);
  *facts = (FlLspFacts){.arena = arena};
  fl_compilation_init_in(c, arena, NULL, d->path, text);
  c->silent = true;
  if (!c->lacks)
    fl_front_check(c, &world, &(FlWitness){facts, told_value, told_name, told_columns, told_step, told_among},
                   -1);
  return !c->lacks;
}

bool fl_lsp_check(FlLspDocuments *all, FlLspDocument *d) {
  if (!d->stale) return !d->c.lacks;
  d->stale = false;
  if (d->arena) fl_arena_clear(d->arena);
  else d->arena = fl_arena_new();
  bool good = fl_lsp_try(all, d->arena, d, &d->text, &d->c, &d->facts);
  if (!good) { /* the arena is not to be read, but freed */
    fl_arena_free(d->arena);
    d->arena = NULL;
    d->c.sources = NULL;
    d->facts = (FlLspFacts){0};
  }
  return good;
}

/* ---- what stands at a place ---------------------------------------------------------------------------- */

const FlLspName *fl_lsp_name_at(const FlLspDocument *d, uint32_t offset) {
  const FlLspName *best = NULL;
  for (int i = 0; i < d->facts.names.n; i++) {
    const FlLspName *x = &d->facts.names.at[i];
    if (x->at.file != d->c.script->id || !fl_lsp_in(x->at, offset)) continue;
    if (!best || x->at.len < best->at.len) best = x;
  }
  return best;
}

const FlLspValue *fl_lsp_value_at(const FlLspDocument *d, uint32_t offset) {
  const FlLspValue *best = NULL;
  for (int i = 0; i < d->facts.values.n; i++) {
    const FlLspValue *x = &d->facts.values.at[i];
    if (x->at.file != d->c.script->id || !fl_lsp_in(x->at, offset)) continue;
    if (!best || x->at.len < best->at.len) best = x;
  }
  return best;
}

const char *fl_lsp_row_at(const FlCompilation *c, const FlLspFacts *facts, uint32_t offset) {
  const FlLspValue *best = NULL;
  for (int i = 0; i < facts->columns.n; i++) {
    const FlLspValue *x = &facts->columns.at[i];
    if (x->at.file == c->script->id && fl_lsp_in(x->at, offset) && (!best || x->at.len <= best->at.len))
      best = x;
  }
  return best ? best->type : NULL;
}

void fl_lsp_fields(FlArena *arena, const char *type, void *env,
                   void (*tell)(void *env, const char *name, const char *type)) {
  if (*type != '(') return;
  for (const char *at = type + 1; *at && *at != ')';) {
    bool quoted = *at == '`';
    const char *name = at + quoted;
    size_t n = quoted ? strcspn(name, "`") : strcspn(name, ":,)(");
    at = name + n + (quoted && name[n]);
    if (*at != ':') return;
    const char *its = at + 1 + (at[1] == ' ');
    int depth = 0;
    for (at = its; *at && (depth > 0 || (*at != ',' && *at != ')')); at++) {
      if (*at == '`') at += 1 + strcspn(at + 1, "`");
      depth += (strchr("([", *at) != NULL) - (strchr(")]", *at) != NULL);
    }
    tell(env, fl_arena_strndup(arena, name, n), fl_arena_strndup(arena, its, (size_t)(at - its)));
    at += strspn(at, ", ");
  }
}
