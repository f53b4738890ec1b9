/* diag.h: source texts, places in them, and the sink that collects what is wrong.
 *
 * Every message has a row in diag.def (code, severity, page). Messages are in the user's words: lower case
 * first, no full stop, the smallest span, what was expected and found, where that came from, one fix that
 * works. */
#ifndef FL_DIAG_H
#define FL_DIAG_H

#include "base/base.h"

/* A piece of one source file: bytes [start, start + len). file 0 is "no place". */
typedef struct FlSpan {
  uint16_t file;
  uint32_t start, len;
  /* of an operation that a function brought to where it was called: the call (FlCall), else 0 */
  uint32_t call;
} FlSpan;

/* A call that was replaced by what it calls. `place.call` is the call around it in turn, so that places are a
 * tree whose root is the function that is left. */
typedef struct FlCall {
  FlSpan place;
  const char *callee; /* its name, or "" for one without */
} FlCall;

enum { FL_POINTS_STEP = 64 };
typedef struct FlSource {
  uint16_t id;      /* by which FlSources has it, from 1 */
  const char *path; /* as the user wrote it */
  const char *text; /* NUL-terminated */
  uint32_t len;
  uint32_t n_lines;
  uint32_t *lines;  /* byte offset of each line's start */
  uint32_t *points; /* code points before each FL_POINTS_STEP bytes; lines may be long, and places many */
  bool is_library;  /* of the standard library: not what the user wrote */
} FlSource;

enum { FL_SHARED_FROM = 1 << 15 }; /* numbers behind it are of files that several compilations share */
typedef struct FlSources {
  FlArena *arena;
  const struct FlSources *shared; /* with the files of other compilations, or NULL */
  FlSource *
      own; /* the one of the shared files that is the script here, by the path that the user wrote; or NULL */
  uint16_t from; /* its files have the numbers behind this: 0 or FL_SHARED_FROM */
  FlVec(FlSource *) files;
  FlVec(FlCall) calls;                /* call k is at [k - 1]; equal ones are one */
  uint32_t *call_slots, n_call_slots; /* hash table of their numbers, 0: free */
} FlSources;

/* No files yet; their texts will live in the arena. */
FlSources *fl_sources_make(FlArena *a);
FlSources *fl_sources_make_shared(FlArena *a); /* for other FlSources to share */
/* Takes a copy of the text. Never fails; validity (UTF-8, NUL) is the lexer's to report. */
FlSource *fl_sources_add(FlSources *s, const char *path, const char *text, size_t len);
FlSource *fl_sources_get(const FlSources *s, uint16_t id);
/* The script is the file `shared` of those that are shared: here it has this path, and is no library. */
FlSource *fl_sources_take(FlSources *s, const FlSource *shared, const char *path);
/* 1-based line and column in code points of a byte offset. */
void fl_source_position(const FlSource *f, uint32_t offset, int *line, int *column);
int fl_source_line_at(const FlSource *f, uint32_t offset); /* offset: at most the length */
/* The bytes of the line, without what ends it: from `start` to before `end`. */
void fl_source_line(const FlSource *f, int line, uint32_t *start, uint32_t *end);
/* How many code points the bytes from `start` to before `end` are. */
uint32_t fl_source_points(const FlSource *f, uint32_t start, uint32_t end);
FlSpan fl_span_join(FlSpan a, FlSpan b);

/* The number of a call, never 0: the same for the same place and callee. `callee` stays where it is. */
uint32_t fl_sources_call(FlSources *s, FlSpan place, const char *callee);
/* Call `number` of a function's own places, once that function's body stands where `outer` called it. */
uint32_t fl_sources_call_within(FlSources *s, uint32_t number, uint32_t outer);
static inline const FlCall *fl_sources_call_at(const FlSources *s, uint32_t number) {
  return &s->calls.at[number - 1];
}

typedef enum FlSeverity { FL_ERROR, FL_WARNING } FlSeverity;

typedef enum FlDiagCode {
#define FL_DIAG(code, severity, title) FL_##code,
#include "diag/diag.def"
#undef FL_DIAG
  FL_N_DIAGS
} FlDiagCode;

typedef struct FlDiag {
  FlDiagCode code;
  FlSpan span;
  const char *message;
  struct {
    FlSpan span;
    const char *text;
  } notes[4]; /* "the other size came from here" */
  int n_notes;
  const char *help; /* a suggestion, or NULL */
  struct {
    FlSpan span;
    const char *text; /* what stands there instead; NULL: there is none */
  } edit;             /* which mends it as `help` says */
} FlDiag;

typedef struct FlSink {
  FlArena *arena;
  FlSources *sources;
  FlVec(FlDiag *) diags;
  int n_errors;
  int n_raised; /* the same, and those that were there already: did something in between go wrong? */
  int limit;    /* after so many errors further ones are only counted; 0: 50 */
} FlSink;

/* An empty sink; `s`: what its spans refer to. */
FlSink *fl_sink_make(FlArena *a, FlSources *s);
/* Reports; the result can take notes and help. Two errors at the same span with the same code are one. Never
 * NULL. */
FlDiag *fl_report(FlSink *sink, FlDiagCode code, FlSpan span, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void fl_diag_note(FlSink *sink, FlDiag *d, FlSpan span, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void fl_diag_help(FlSink *sink, FlDiag *d, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* "did you mean `name`?", and the edit that writes so, as scripts write names, over what stands at `at`.
 * `before`: what stands before it anyway, as `plot.`, or "". */
void fl_diag_meant(FlSink *sink, FlDiag *d, FlSpan at, const char *before, const char *name);
/* The same of a text: did you mean "left"? */
void fl_diag_meant_text(FlSink *sink, FlDiag *d, FlSpan at, const char *text);

/* Puts what is collected in source order. */
void fl_sink_sort(FlSink *sink);
/* Everything collected, in source order: code, file:line:column, message, the line with the place marked,
 * notes, help. color: ANSI. */
void fl_sink_print(FlSink *sink, FlText1 *out, bool color);
const char *fl_diag_name(FlDiagCode code); /* "E0312" */
const char *fl_diag_title(FlDiagCode code);
FlSeverity fl_diag_severity(FlDiagCode code);
bool fl_diag_find(const char *name, FlDiagCode *out);
/* The page of `flowc explain`, or NULL when the code has none. */
const char *fl_diag_page(FlDiagCode code);

#endif
