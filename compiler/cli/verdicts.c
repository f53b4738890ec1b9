/* verdicts.c: see verdicts.h. */
#include "cli/verdicts.h"

#include "base/whole_file.h"
#include "flow/version.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Bytes of the UTF-8 character at s, 0: it is none that both JSON and XML can hold. */
static int character(const unsigned char *s) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  int n = s[0] < 0x80 ? 1 : s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : s[0] >= 0xC0 ? 2 : 0;
  if (n <= 1) return n == 1 && (s[0] >= 0x20 || s[0] == '\t' || s[0] == '\n' || s[0] == '\r') && s[0] != 0x7F;
  uint32_t c = s[0] & (0xFFu >> (n + 1));
  for (int i = 1; i < n; i++) {
    if ((s[i] & 0xC0) != 0x80) return 0;
    c = c << 6 | (s[i] & 0x3F);
  }
  bool good = c >= least[n] && c <= 0x10FFFF && !(c >= 0xD800 && c < 0xE000) && (c & 0xFFFE) != 0xFFFE;
  return good ? n : 0;
}

/* What both can hold of a text: the rest is U+FFFD. */
static void add_clean(FlText1 *out, const char *text) {
  for (const unsigned char *s = (const unsigned char *)text; *s;) {
    int n = character(s);
    if (n) fl_text_add(out, (const char *)s, (size_t)n);
    else fl_text_addz(out, "\xEF\xBF\xBD");
    s += n ? n : 1;
  }
}

/* ---- JSON ---- */

/* NULL is null. */
static json_t *text_value(const char *text) {
  if (!text) return json_null();
  FlText1 clean = {0};
  add_clean(&clean, text);
  json_t *out = json_stringn(clean.len ? clean.s : "", clean.len);
  fl_text_reset(&clean);
  return out;
}

/* An object of where something stands, and of what else is said of it. */
static json_t *place(const FlSink *sink, FlSpan span, const char *key, const char *text) {
  const FlSource *f = span.file ? fl_sources_get(sink->sources, span.file) : NULL;
  int line = 0, column = 0;
  if (f) fl_source_position(f, span.start < f->len ? span.start : f->len, &line, &column);
  return json_pack("{s:o, s:i, s:i, s:I, s:o}", "file", text_value(f ? f->path : NULL), "line", line,
                   "column", column, "length", (json_int_t)(f ? span.len : 0), key, text_value(text));
}

static json_t *message(const FlSink *sink, const FlDiag *d) {
  json_t *notes = json_array(), *edits = json_array();
  for (int k = 0; k < d->n_notes; k++)
    json_array_append_new(notes, place(sink, d->notes[k].span, "message", d->notes[k].text));
  const FlSource *f =
      d->edit.text && d->edit.span.file ? fl_sources_get(sink->sources, d->edit.span.file) : NULL;
  if (f && !f->is_library) json_array_append_new(edits, place(sink, d->edit.span, "text", d->edit.text));
  json_t *out = json_pack("{s:s, s:s}", "code", fl_diag_name(d->code), "level",
                          fl_diag_severity(d->code) == FL_ERROR ? "error" : "warning");
  json_t *rest = place(sink, d->span, "message", d->message);
  json_object_update(out, rest);
  json_decref(rest);
  json_object_set_new(out, "notes", notes);
  json_object_set_new(out, "help", text_value(d->help));
  json_object_set_new(out, "edits", edits);
  return out;
}

json_t *fl_verdict_messages(FlSink *sink) {
  json_t *all = json_array();
  fl_sink_sort(sink);
  for (int i = 0; i < sink->diags.n; i++) json_array_append_new(all, message(sink, sink->diags.at[i]));
  return all;
}

static json_t *result(const FlVerdict *x) {
  return json_pack("{s:o, s:o, s:i, s:b, s:i, s:f, s:O, s:o}", "file", text_value(x->file), "test",
                   text_value(x->name), "line", x->line, "passed", x->status == 0, "status", x->status,
                   "seconds", round(x->seconds * 1000) / 1000, "messages", x->messages, "output",
                   text_value(x->said));
}

static char *all_json(const FlVerdicts *v, int passed) {
  json_t *results = json_array();
  for (int i = 0; i < v->at.n; i++) json_array_append_new(results, result(&v->at.at[i]));
  json_t *all = json_pack("{s:i, s:s, s:s, s:i, s:i, s:o}", "format", 1, "flow", FL_FLOW_VERSION, "command",
                          fl_command_name(v->command), "passed", passed, "failed", v->at.n - passed,
                          "results", results);
  char *text = json_dumps(all, JSON_REAL_PRECISION(15));
  json_decref(all);
  return text;
}

/* ---- JUnit ---- */

/* Line ends of an attribute would be read as blanks. */
static void add_escaped(FlText1 *out, const char *text, bool attribute) {
  FlText1 clean = {0};
  add_clean(&clean, text);
  for (const char *c = clean.len ? clean.s : ""; *c; c++) {
    const char *name = *c == '<'   ? "&lt;"
                       : *c == '>' ? "&gt;"
                       : *c == '&' ? "&amp;"
                       : *c == '"' ? "&quot;"
                                   : NULL;
    if (name) fl_text_addz(out, name);
    else if (*c == '\r' || (attribute && (*c == '\n' || *c == '\t'))) fl_text_addf(out, "&#%d;", *c);
    else fl_text_addc(out, *c);
  }
  fl_text_reset(&clean);
}

static void add_attribute(FlText1 *out, const char *name, const char *value) {
  fl_text_addf(out, " %s=\"", name);
  add_escaped(out, value, true);
  fl_text_addc(out, '"');
}

/* A failure is what was tested and is not so (status 1); all else is an error: it could not be tested. */
static void add_junit(FlText1 *out, const FlVerdicts *v, int passed) {
  int failures = 0;
  double seconds = 0;
  for (int i = 0; i < v->at.n; i++) {
    failures += v->at.at[i].status == 1;
    seconds += v->at.at[i].seconds;
  }
  const char *command = fl_command_name(v->command);
  fl_text_addf(out,
               "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
               "<testsuite name=\"flowc %s\" tests=\"%d\" failures=\"%d\" errors=\"%d\" skipped=\"0\" "
               "time=\"%.3f\">\n",
               command, v->at.n, failures, v->at.n - passed - failures, seconds);
  for (int i = 0; i < v->at.n; i++) {
    const FlVerdict *x = &v->at.at[i];
    fl_text_addz(out, "<testcase");
    add_attribute(out, "classname", x->file);
    add_attribute(out, "name", x->name ? x->name : command);
    add_attribute(out, "file", x->file);
    if (x->line) fl_text_addf(out, " line=\"%d\"", x->line);
    fl_text_addf(out, " time=\"%.3f\"", x->seconds);
    if (!x->status) {
      fl_text_addz(out, "/>\n");
      continue;
    }
    char status[32];
    snprintf(status, sizeof status, "status %d", x->status);
    fl_text_addf(out, "><%s", x->status == 1 ? "failure" : "error");
    add_attribute(out, "message", status);
    add_attribute(out, "type", status);
    fl_text_addc(out, '>');
    add_escaped(out, x->said, false);
    fl_text_addf(out, "</%s></testcase>\n", x->status == 1 ? "failure" : "error");
  }
  fl_text_addz(out, "</testsuite>\n</testsuites>\n");
}

/* ---- writing ---- */

static int write_all(const FlVerdicts *v, const FlWords *w) {
  int passed = 0;
  const char *path = w->flags[FL_FLAG_JUNIT];
  if (path && w->flags[FL_FLAG_JSON] && strcmp(path, "-") == 0) {
    fprintf(stderr,
            "flowc %s: --json and --junit - would both write to standard output; give --junit a file\n",
            fl_command_name(v->command));
    return 2;
  }
  for (int i = 0; i < v->at.n; i++) passed += v->at.at[i].status == 0;
  if (w->flags[FL_FLAG_JSON]) {
    char *text = all_json(v, passed);
    if (!text) fl_no_memory();
    puts(text);
    free(text);
  }
  if (!path) return 0;
  FlText1 text = {0};
  add_junit(&text, v, passed);
  bool standard = strcmp(path, "-") == 0;
  bool good =
      standard ? fwrite(text.s, 1, text.len, stdout) == text.len : fl_whole_put(path, text.s, text.len);
  if (!good)
    fprintf(stderr, "flowc %s: cannot write `%s`: %s\n", fl_command_name(v->command), path, strerror(errno));
  fl_text_reset(&text);
  return good ? 0 : 4;
}

int fl_verdicts_write(const FlVerdicts *v, const FlWords *w) {
  for (int i = 0; i < v->at.n; i++)
    if (!v->at.at[i].messages) v->at.at[i].messages = json_array();
  int status = write_all(v, w);
  for (int i = 0; i < v->at.n; i++) json_decref(v->at.at[i].messages);
  return status;
}
