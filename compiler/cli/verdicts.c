/* verdicts.c: see verdicts.h. */
#include "cli/verdicts.h"

#include "base/whole_file.h"
#include "flow/version.h"

#include <errno.h>
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

typedef enum Form { JSON, XML_TEXT, XML_ATTRIBUTE } Form;

/* A text for JSON or XML; what neither can hold is U+FFFD. */
static void add_escaped(FlText1 *out, const char *text, Form form) {
  for (const unsigned char *s = (const unsigned char *)text; *s;) {
    int n = character(s);
    char c = (char)*s;
    const char *name = NULL;
    if (n == 0) name = "\xEF\xBF\xBD";
    else if (form != JSON)
      name = c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : c == '"' ? "&quot;" : NULL;
    else
      name = c == '"'    ? "\\\""
             : c == '\\' ? "\\\\"
             : c == '\n' ? "\\n"
             : c == '\t' ? "\\t"
             : c == '\r' ? "\\r"
                         : NULL;
    if (form != JSON && n && (c == '\r' || (form == XML_ATTRIBUTE && (c == '\n' || c == '\t'))))
      fl_text_addf(out, "&#%d;", c);
    else if (name) fl_text_addz(out, name);
    else fl_text_add(out, (const char *)s, (size_t)n);
    s += n ? n : 1;
  }
}

static void add_string(FlText1 *out, const char *text) {
  fl_text_addc(out, '"');
  add_escaped(out, text, JSON);
  fl_text_addc(out, '"');
}

/* ---- JSON ---- */

static void add_place(FlText1 *out, const FlSink *sink, FlSpan span) {
  const FlSource *f = span.file ? fl_sources_get(sink->sources, span.file) : NULL;
  int line = 0, column = 0;
  if (f) fl_source_position(f, span.start < f->len ? span.start : f->len, &line, &column);
  fl_text_addz(out, "\"file\": ");
  if (f) add_string(out, f->path);
  else fl_text_addz(out, "null");
  fl_text_addf(out, ", \"line\": %d, \"column\": %d, \"length\": %u", line, column, f ? span.len : 0);
}

const char *fl_verdict_messages(FlArena *a, const FlSink *sink) {
  FlText1 out = {0};
  fl_text_addc(&out, '[');
  for (int i = 0; i < sink->diags.n; i++) {
    const FlDiag *d = sink->diags.at[i];
    bool error = fl_diag_severity(d->code) == FL_ERROR;
    fl_text_addf(&out, "%s{\"code\": \"%s\", \"level\": \"%s\", ", i ? ", " : "", fl_diag_name(d->code),
                 error ? "error" : "warning");
    add_place(&out, sink, d->span);
    fl_text_addz(&out, ", \"message\": ");
    add_string(&out, d->message);
    fl_text_addz(&out, ", \"notes\": [");
    for (int k = 0; k < d->n_notes; k++) {
      fl_text_addz(&out, k ? ", {" : "{");
      add_place(&out, sink, d->notes[k].span);
      fl_text_addz(&out, ", \"message\": ");
      add_string(&out, d->notes[k].text);
      fl_text_addc(&out, '}');
    }
    fl_text_addz(&out, "], \"help\": ");
    if (d->help) add_string(&out, d->help);
    else fl_text_addz(&out, "null");
    fl_text_addz(&out, ", \"edits\": [");
    const FlSource *f = d->edit.text && d->edit.span.file ? fl_sources_get(sink->sources, d->edit.span.file) : NULL;
    if (f && !f->is_library) {
      fl_text_addc(&out, '{');
      add_place(&out, sink, d->edit.span);
      fl_text_addz(&out, ", \"text\": ");
      add_string(&out, d->edit.text);
      fl_text_addc(&out, '}');
    }
    fl_text_addz(&out, "]}");
  }
  fl_text_addc(&out, ']');
  const char *kept = fl_arena_strndup(a, out.s, out.len);
  fl_text_reset(&out);
  return kept;
}

static void add_json(FlText1 *out, const FlVerdicts *v, int passed) {
  fl_text_addf(out,
               "{\"format\": 1, \"flow\": \"%s\", \"command\": \"%s\", \"passed\": %d, \"failed\": %d,\n "
               "\"results\": [",
               FL_FLOW_VERSION, fl_command_name(v->command), passed, v->at.n - passed);
  for (int i = 0; i < v->at.n; i++) {
    const FlVerdict *x = &v->at.at[i];
    fl_text_addz(out, i ? ",\n  {\"file\": " : "\n  {\"file\": ");
    add_string(out, x->file);
    fl_text_addz(out, ", \"test\": ");
    if (x->name) add_string(out, x->name);
    else fl_text_addz(out, "null");
    fl_text_addf(
        out,
        ", \"line\": %d, \"passed\": %s, \"status\": %d, \"seconds\": %.3f, \"messages\": %s, \"output\": ",
        x->line, x->status ? "false" : "true", x->status, x->seconds, x->messages ? x->messages : "[]");
    add_string(out, x->said);
    fl_text_addc(out, '}');
  }
  fl_text_addz(out, "\n]}\n");
}

/* ---- JUnit ---- */

static void add_attribute(FlText1 *out, const char *name, const char *value) {
  fl_text_addf(out, " %s=\"", name);
  add_escaped(out, value, XML_ATTRIBUTE);
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
    add_escaped(out, x->said, XML_TEXT);
    fl_text_addf(out, "</%s></testcase>\n", x->status == 1 ? "failure" : "error");
  }
  fl_text_addz(out, "</testsuite>\n</testsuites>\n");
}

/* ---- writing ---- */

int fl_verdicts_write(const FlVerdicts *v, const FlWords *w) {
  int passed = 0, status = 0;
  const char *path = w->flags[FL_FLAG_JUNIT];
  if (path && w->flags[FL_FLAG_JSON] && strcmp(path, "-") == 0) {
    fprintf(stderr, "flowc %s: --json and --junit - would both write to standard output; give --junit a file\n",
            fl_command_name(v->command));
    return 2;
  }
  for (int i = 0; i < v->at.n; i++) passed += v->at.at[i].status == 0;
  FlText1 text = {0};
  if (w->flags[FL_FLAG_JSON]) {
    add_json(&text, v, passed);
    fwrite(text.s, 1, text.len, stdout);
    fl_text_reset(&text);
  }
  if (path) {
    add_junit(&text, v, passed);
    bool standard = strcmp(path, "-") == 0;
    bool good = standard ? fwrite(text.s, 1, text.len, stdout) == text.len : fl_whole_put(path, text.s, text.len);
    if (!good) {
      fprintf(stderr, "flowc %s: cannot write `%s`: %s\n", fl_command_name(v->command), path,
              strerror(errno));
      status = 4;
    }
    fl_text_reset(&text);
  }
  return status;
}
