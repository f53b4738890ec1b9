/* opt.c: the pass manager. Runs passes.def in order (or the passes asked for), verifying between them. */
#include "opt/opt_internal.h"

typedef struct Pass {
  const char *name;
  int level;
  void (*run)(FlModule *);
} Pass;

static const Pass passes[] = {
#define FL_PASS(name, level) {#name, level, fl_opt_##name},
#include "opt/passes.def"
#undef FL_PASS
};
enum { N_PASSES = sizeof passes / sizeof *passes };

static void trace(const FlModule *m, const char *pass, FlText1 *out) {
  fl_text_addf(out, "# after %s\n", pass);
  fl_ir_print(out, m);
  fl_text_addc(out, '\n');
}

static bool run_one(FlModule *m, const Pass *pass, const FlOptOptions *o, FlText1 *why) {
  pass->run(m);
  if (o->trace) trace(m, pass->name, o->trace);
#ifdef NDEBUG
  if (!o->verify) return true;
#endif
  FlText1 rule = {0};
  bool fine = fl_ir_verify(m, &rule);
  if (!fine) fl_text_addf(why, "after pass %s: %s", pass->name, rule.s);
  fl_text_reset(&rule);
  return fine;
}

static bool run_named(FlModule *m, const FlOptOptions *o, FlText1 *why) {
  for (const char *at = o->only; *at; at += *at == ',') {
    size_t len = strcspn(at, ",");
    const Pass *pass = NULL;
    for (int i = 0; i < N_PASSES && !pass; i++)
      if (strlen(passes[i].name) == len && memcmp(passes[i].name, at, len) == 0) pass = &passes[i];
    if (!pass) {
      fl_text_addf(why, "no pass is called %.*s", (int)len, at);
      return false;
    }
    if (!run_one(m, pass, o, why)) return false;
    at += len;
  }
  return true;
}

bool fl_opt_run(FlModule *m, const FlOptOptions *options, FlText1 *why) {
  if (options->only) return run_named(m, options, why);
  for (int i = 0; i < N_PASSES; i++)
    if (passes[i].level <= options->level && !run_one(m, &passes[i], options, why)) return false;
  return true;
}

bool fl_opt_text(FlArena *arena, const char *text, const FlOptOptions *options, FlSink *sink, FlText1 *out) {
  FlModule *m = fl_ir_read(arena, text, sink);
  if (!m || !fl_opt_run(m, options, out)) return false;
  fl_ir_print(out, m);
  return true;
}

int fl_opt_count(const FlFunc *f, FlOpcode code) { return fl_ir_n_of(f->body, code); }
