/* record_read.c: the reader of records; see record.h. What always holds: nothing in a record is believed; a
 * line that does not hold what it should is as if it were not there. */
#include "report/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All that a record holds: blocks that are freed with it. */
struct FlRecordMemory {
  struct FlRecordMemory *next;
};

typedef struct Reader {
  FlRecord *r;
  FlRecordCalls *calls; /* of this run, then of the one before */
  bool before, failed;
  bool rows; /* the line of the last rows was whole, so that their cells may follow */
} Reader;

void *fl_record_room(FlRecord *r, size_t bytes) {
  struct FlRecordMemory *m = calloc(1, sizeof *m + bytes);
  if (!m) return NULL;
  m->next = r->memory;
  r->memory = m;
  return m + 1;
}

void fl_record_free(FlRecord *r) {
  if (!r) return;
  for (struct FlRecordMemory *m = r->memory, *next; m; m = next) {
    next = m->next;
    free(m);
  }
  free(r->runs);
  free(r->files);
  free(r->reads);
  free(r->notes);
  free(r->places);
  for (int i = 0; i < r->n_rows; i++) free(r->rows[i].columns);
  free(r->rows);
  free(r->now.made);
  free(r->now.stages);
  free(r->before.made);
  free(r->before.stages);
  free(r);
}

/* Room for one more behind the `n` that there are: arrays grow by doubling. NULL: no memory. */
static void *more(Reader *in, void **at, int n, size_t size) {
  if (n == 0 || (n & (n - 1)) == 0) {
    void *larger = realloc(*at, (size_t)(n ? 2 * n : 1) * size);
    if (!larger) {
      in->failed = true;
      return NULL;
    }
    *at = larger;
  }
  return (char *)*at + (size_t)n * size;
}

/* %20 as the byte it stands for, in place. */
char *fl_record_plain(char *word) {
  char *to = word;
  for (const char *at = word; *at; at++) {
    unsigned byte;
    if (*at == '%' && sscanf(at + 1, "%2x", &byte) == 1) {
      *to++ = (char)byte;
      at += at[2] ? 2 : 1;
    } else {
      *to++ = *at;
    }
  }
  *to = '\0';
  return word;
}

static char *word_of(char **rest) {
  char *word = *rest ? strsep(rest, " ") : NULL;
  return word && *word ? word : NULL;
}

static bool number_of(char **rest, int64_t *out) {
  char *word = word_of(rest), *end = word;
  if (word) *out = strtoll(word, &end, 10);
  return word && end != word && !*end;
}

static bool int_of(char **rest, int *out) {
  int64_t n;
  if (!number_of(rest, &n) || n < -1 || n > INT32_MAX) return false;
  *out = (int)n;
  return true;
}

static bool text_of(char **rest, const char **out) {
  char *word = word_of(rest);
  *out = word ? fl_record_plain(word) : NULL;
  return word != NULL;
}

static int words_in(const char *rest) {
  int n = rest && *rest;
  for (; rest && *rest; rest++) n += *rest == ' ';
  return n;
}

/* The rest of a line: "name=value" each. */
static FlRecordPair *pairs_of(Reader *in, char **rest, int *n) {
  FlRecordPair *pairs = fl_record_room(in->r, (size_t)(words_in(*rest) + 1) * sizeof *pairs);
  *n = 0;
  for (char *word; pairs && (word = word_of(rest));) {
    char *value = word, *name = strsep(&value, "=");
    if (value) pairs[(*n)++] = (FlRecordPair){fl_record_plain(name), fl_record_plain(value)};
  }
  return pairs;
}

static bool read_run(Reader *in, char *rest) {
  FlRecordSum s = {0};
  bool good = number_of(&rest, &s.began) && text_of(&rest, &s.state) && int_of(&rest, &s.status) &&
              number_of(&rest, &s.ns) && number_of(&rest, &s.peak) && int_of(&rest, &s.workers) &&
              text_of(&rest, &s.source) && int_of(&rest, &s.run) && int_of(&rest, &s.cached) &&
              int_of(&rest, &s.failed) && (s.notes = pairs_of(in, &rest, &s.n_notes));
  FlRecordSum *to = good ? more(in, (void **)&in->r->runs, in->r->n_runs, sizeof s) : NULL;
  if (to) *to = s, in->r->n_runs++;
  return to;
}

static bool read_file(Reader *in, char *rest) {
  const char *path;
  const char **to =
      text_of(&rest, &path) ? more(in, (void **)&in->r->files, in->r->n_files, sizeof path) : NULL;
  if (to) *to = path, in->r->n_files++;
  return to;
}

static bool read_read(Reader *in, char *rest) {
  FlRecordRead f;
  bool good = number_of(&rest, &f.bytes) && number_of(&rest, &f.mtime) && text_of(&rest, &f.path);
  FlRecordRead *to = good ? more(in, (void **)&in->r->reads, in->r->n_reads, sizeof f) : NULL;
  if (to) *to = f, in->r->n_reads++;
  return to;
}

static bool read_made(Reader *in, char *rest) {
  FlRecordMade m;
  bool good = text_of(&rest, &m.stage) && (m.functions = pairs_of(in, &rest, &m.n));
  FlRecordMade *to = good ? more(in, (void **)&in->calls->made, in->calls->n_made, sizeof m) : NULL;
  if (to) *to = m, in->calls->n_made++;
  return to;
}

static FlRecordArg *args_of(Reader *in, char **rest, int *n) {
  FlRecordArg *args = fl_record_room(in->r, (size_t)(words_in(*rest) + 1) * sizeof *args);
  *n = 0;
  for (char *word; args && (word = word_of(rest));) {
    FlRecordArg *a = &args[(*n)++];
    a->digest = strsep(&word, ":");
    char *name = word ? strsep(&word, "=") : NULL;
    a->name = name ? fl_record_plain(name) : NULL;
    a->value = word ? fl_record_plain(word) : NULL;
  }
  return args;
}

static bool read_stage(Reader *in, char *rest) {
  FlRecordStage s = {0};
  bool good = text_of(&rest, &s.name) && text_of(&rest, &s.how) && text_of(&rest, &s.kept) &&
              int_of(&rest, &s.worker) && number_of(&rest, &s.begin) && number_of(&rest, &s.ns) &&
              number_of(&rest, &s.rows_in) && number_of(&rest, &s.rows_out) && number_of(&rest, &s.bytes) &&
              number_of(&rest, &s.held) && int_of(&rest, &s.file) && int_of(&rest, &s.line) &&
              text_of(&rest, &s.code) && (s.args = args_of(in, &rest, &s.n_args));
  FlRecordStage *to = good ? more(in, (void **)&in->calls->stages, in->calls->n_stages, sizeof s) : NULL;
  if (to) *to = s, in->calls->n_stages++;
  return to;
}

static bool read_note(Reader *in, char *rest) {
  FlRecordNote n = {0};
  bool good = int_of(&rest, &n.stage) && number_of(&rest, &n.at) && text_of(&rest, &n.name) &&
              text_of(&rest, &n.value);
  FlRecordNote *to = good ? more(in, (void **)&in->r->notes, in->r->n_notes, sizeof n) : NULL;
  if (to) *to = n, in->r->n_notes++;
  return to;
}

static bool read_place(Reader *in, char *rest) {
  FlRecordPlace p = {0};
  const char *text = NULL;
  bool good = text_of(&rest, &p.op) && int_of(&rest, &p.file) && int_of(&rest, &p.line) &&
              int_of(&rest, &p.column) && int_of(&rest, &p.length) && text_of(&rest, &p.callers) &&
              text_of(&rest, &text) && number_of(&rest, &p.calls) && number_of(&rest, &p.ns) &&
              number_of(&rest, &p.rows_in) && number_of(&rest, &p.rows_out) && number_of(&rest, &p.bytes) &&
              number_of(&rest, &p.held) && number_of(&rest, &p.moved);
  if (good) p.text = strtoull(text, NULL, 16);
  FlRecordPlace *to = good ? more(in, (void **)&in->r->places, in->r->n_places, sizeof p) : NULL;
  if (to) *to = p, in->r->n_places++;
  return to;
}

static bool read_rows(Reader *in, char *rest) {
  FlRecordRows x = {0};
  const char *kind = NULL, *text = NULL;
  int looped = 0;
  bool good = text_of(&rest, &kind) && int_of(&rest, &x.file) && int_of(&rest, &x.line) &&
              int_of(&rest, &x.column) && int_of(&rest, &x.length) && text_of(&rest, &x.callers) &&
              text_of(&rest, &text) && number_of(&rest, &x.n) && int_of(&rest, &x.of) &&
              int_of(&rest, &x.stage) && int_of(&rest, &looped) && x.n >= 0 && x.file >= 0;
  x.looped = looped > 0;
  if (good) x.text = strtoull(text, NULL, 16);
  x.let = good && strcmp(kind, "let") == 0;
  FlRecordRows *to = good ? more(in, (void **)&in->r->rows, in->r->n_rows, sizeof x) : NULL;
  if (to) *to = x, in->r->n_rows++;
  in->rows = to != NULL;
  return to;
}

/* A column of the rows before it. */
static bool read_cells(Reader *in, char *rest) {
  FlRecordRows *rows = in->rows ? &in->r->rows[in->r->n_rows - 1] : NULL;
  FlRecordColumn c = {0};
  bool good = rows && int_of(&rest, &c.at) && text_of(&rest, &c.name) && text_of(&rest, &c.type);
  int most = good ? words_in(rest) : 0;
  int wanted = good && rows->n < FL_RECORD_ROWS ? (int)rows->n : FL_RECORD_ROWS;
  if (!good || most != wanted || !(c.words = fl_record_room(in->r, (size_t)(most + 1) * sizeof *c.words)))
    return false;
  for (char *word; (word = word_of(&rest));) c.words[c.n++] = word;
  if (c.n != wanted) return false;
  FlRecordColumn *to = more(in, (void **)&rows->columns, rows->n_columns, sizeof c);
  if (to) *to = c, rows->n_columns++;
  return to;
}

static const struct {
  const char *word;
  bool (*read)(Reader *in, char *rest);
  bool before; /* stands behind FL_RECORD_BEFORE, too */
} lines[] = {{"run", read_run, false},     {"file", read_file, false},  {"read", read_read, false},
             {"made", read_made, true},    {"stage", read_stage, true}, {"note", read_note, false},
             {"place", read_place, false}, {"rows", read_rows, false},  {"cells", read_cells, false}};

static void read_line(Reader *in, char *line) {
  if (strcmp(line, "---") == 0) {
    in->before = true;
    in->calls = &in->r->before;
    return;
  }
  char *rest = line, *word = word_of(&rest);
  for (size_t k = 0; word && rest && k < sizeof lines / sizeof *lines; k++)
    if (strcmp(word, lines[k].word) == 0 && (!in->before || lines[k].before)) (void)lines[k].read(in, rest);
}

FlRecord *fl_record_read(const char *bytes, size_t len) {
  const size_t head = strlen(FL_RECORD_HEAD);
  if (len < head || memcmp(bytes, FL_RECORD_HEAD, head) != 0) return NULL;
  FlRecord *r = calloc(1, sizeof *r);
  const char *shown = memmem(bytes, len, "\n" FL_RECORD_SHOWN, strlen("\n" FL_RECORD_SHOWN));
  if (shown) len = (size_t)(shown - bytes);
  if (len < head) len = head;
  char *text = r ? fl_record_room(r, len - head + 1) : NULL;
  Reader in = {.r = r, .calls = text ? &r->now : NULL};
  if (text) memcpy(text, bytes + head, len - head);
  for (char *line; text && !in.failed && (line = strsep(&text, "\n"));) read_line(&in, line);
  if (r && in.calls && !in.failed && r->n_runs > 0) return r;
  fl_record_free(r);
  return NULL;
}

uint64_t fl_record_line(const char *text, size_t len) {
  while (len && (*text == ' ' || *text == '\t')) text++, len--;
  while (len && (text[len - 1] == ' ' || text[len - 1] == '\t' || text[len - 1] == '\r')) len--;
  uint64_t h = 0xcbf29ce484222325u;
  for (size_t i = 0; i < len; i++) h = (h ^ (unsigned char)text[i]) * 0x100000001b3u;
  return h;
}
