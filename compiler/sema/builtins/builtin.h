/* builtin.h: the table of builtins, how their handlers get a call, and the arguments of common shapes. */
#ifndef FL_SEMA_BUILTIN_H
#define FL_SEMA_BUILTIN_H

#include "sema/call.h"

/* A call of a builtin as its handler gets it. */
typedef struct FlCallSite {
  const FlBuiltin *builtin;
  FlSpan span;    /* of the whole call */
  FlActual *args; /* one a parameter, in order; fl_actual_given tells those that the call leaves out */
  int n_rest;
  FlActual *rest; /* what "..." took */
  const FlType *want;
} FlCallSite;
typedef FlVal FlBuiltinFn(FlSema *s, FlCallSite *c);
typedef struct FlBuiltinParam {
  const char *name; /* interned */
  bool optional, by_name;
} FlBuiltinParam;
/* builtins.def says what they mean. */
typedef enum FlBuiltinKind {
  FL_BUILTIN_SCALAR = 1,
  FL_BUILTIN_AGGREGATE = 2,
  FL_BUILTIN_WINDOW = 4,
  FL_BUILTIN_POSITION = 8,
  FL_BUILTIN_VERB = 16,
  FL_BUILTIN_COLUMNS = 32,
  FL_BUILTIN_NAMING = 64
} FlBuiltinKind;
struct FlBuiltin {
  unsigned kinds; /* of FlBuiltinKind */
  const char *name;
  const char *signature; /* its parameters as builtins.def writes them, for messages */
  FlBuiltinFn *fn;
  FlOpcode op;      /* for families of builtins that differ by their operator */
  const char *data; /* likewise: the reduction's or aggregate's name, flags */
  const char *doc;
  int n_params;
  const FlBuiltinParam *params;
  bool takes_rest; /* "...": arguments that are for no parameter go to `rest` */
};
FlMap *fl_builtins_make(FlArena *arena, FlInterner *names);    /* FlBuiltin by interned name */
const FlBuiltin *fl_builtin_find(FlSema *s, const char *name); /* NULL: none */
const char *fl_builtin_closest(FlSema *s, const char *name);   /* among functions of all kinds; NULL: none */
FlVal fl_sema_call_builtin(FlSema *s, const FlBuiltin *bi, int n, FlActual *args, FlSpan span,
                           const FlType *want);
/* Adds to a message about its arguments how it is called. */
void fl_builtin_called(FlSema *s, FlDiag *d, const FlBuiltin *bi);
/* Reports that a call lacks what `what` says it needs, and how it is called. */
FlVal fl_builtin_lacks(FlSema *s, const FlCallSite *c, const char *what);
/* Do these arguments fit its parameters, by number and name? Else it reports. */
bool fl_builtin_takes(FlSema *s, const FlBuiltin *bi, int n, const FlActual *args, FlSpan span);
static inline bool fl_actual_given(const FlActual *a) { return a->expr != NULL || a->value.type != NULL; }
/* Evaluated arguments of common shapes; report and return false when they do not fit. */
bool fl_actual_i64(FlSema *s, FlActual *a, FlValue **out);    /* any integer */
bool fl_actual_const_i(FlSema *s, FlActual *a, int64_t *out); /* known while compiling */
bool fl_actual_f64(FlSema *s, FlActual *a, FlValue **out);
bool fl_actual_const_text(FlSema *s, FlActual *a,
                          const char **out); /* a literal text without interpolation */
bool fl_actual_const_bool(FlSema *s, FlActual *a, bool *out);

/* The length of what split_text or extract_all gave, counted without making it; NULL: another array. */
FlValue *fl_text_pieces_counted(FlSema *s, FlVal v);

void fl_sema_show(FlSema *s, FlVal v); /* the op of show(v); v is a value */
/* Effects: reports E0801 when we are in pure code. */
bool fl_sema_effect_ok(FlSema *s, const char *what, FlSpan span);

#endif
