/* history.c: what a script's stage calls were in its last runs, for `flowc why`.
 *
 * In: each stage call of a run with its key's parts. Out: a record in the store, named by the script's path:
 * the calls of the run that ends, and those of the run before (history.h has the format). Only the record of
 * a script's last two runs is kept. */
#include "exec/exec_internal.h"
#include "exec/history.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct FlHistory {
  pthread_mutex_t lock;
  char *text;
  size_t size;
  FILE *out; /* NULL: no memory */
};

FlHistory *fl_history_new(void) {
  FlHistory *h = calloc(1, sizeof *h);
  if (!h) return NULL;
  pthread_mutex_init(&h->lock, NULL);
  h->out = open_memstream(&h->text, &h->size);
  return h;
}

void fl_history_free(FlHistory *h) {
  if (!h) return;
  if (h->out) fclose(h->out);
  free(h->text);
  pthread_mutex_destroy(&h->lock);
  free(h);
}

static void put_digest(FILE *f, FlDigest d) {
  fprintf(f, " %016llx%016llx", (unsigned long long)d.hi, (unsigned long long)d.lo);
}

/* Words of a record hold no blanks: these, and %, are written as %20. */
static void put_word(FILE *f, const char *s) {
  for (; *s; s++) {
    if ((unsigned char)*s <= ' ' || *s == '%') fprintf(f, "%%%02x", (unsigned char)*s);
    else fputc(*s, f);
  }
}

/* Its name, and of a scalar its value. */
static void put_argument(FILE *f, const FlStage *stage, int32_t i, FlSlot value) {
  const char *name = stage->arg_names ? stage->arg_names[i] : "";
  if (!*name) return;
  fputc(':', f);
  put_word(f, name);
  FlType1 t = stage->arg_types[i];
  if (t.rank || t.depth || t.dtype == FL_FILE) return;
  char shown[FL_SHOWN];
  fputc('=', f);
  put_word(f, fl_show_scalar(shown, t.dtype, value));
}

void fl_history_add(FlHistory *h, const FlStage *stage, const FlStageKey *key, const FlSlot *args,
                    FlStageHow how) {
  pthread_mutex_lock(&h->lock);
  if (h->out) {
    fprintf(h->out, "%s %s", stage->name, fl_report_how(how));
    put_digest(h->out, stage->code);
    for (int32_t i = 0; i < stage->n_args; i++) {
      put_digest(h->out, key->args[i]);
      put_argument(h->out, stage, i, args[i]);
    }
    fputc('\n', h->out);
  }
  pthread_mutex_unlock(&h->lock);
}

/* A line for each stage: the functions that it is made of. */
static void put_sources(FILE *f, const FlProgram *program) {
  for (int32_t i = 0; i < program->n_stages; i++) {
    const FlStage *s = &program->stages[i];
    if (!s->sources || !*s->sources) continue;
    fprintf(f, "@%s", s->name);
    for (const char *at = s->sources, *end; *at; at = *end ? end + 1 : end) {
      end = at + strcspn(at, "\n");
      fprintf(f, " ");
      for (; at < end; at++) fprintf(f, *at == ' ' || *at == '%' ? "%%%02x" : "%c", (unsigned char)*at);
    }
    fputc('\n', f);
  }
}

char *fl_history_name(const char *script) {
  char *whole = realpath(script, NULL), *name = NULL;
  if (asprintf(&name, "stages of %s", whole ? whole : script) < 0) name = NULL;
  free(whole);
  return name;
}

void fl_history_save(FlRun *run) {
  FlHistory *h = run->history;
  if (!h->out || fflush(h->out) || h->size == 0) return;
  char *name = fl_history_name(run->options.script ? run->options.script : "/proc/self/exe");
  FlMemoEntry *before = name ? fl_memo_record_get(run->memo, name) : NULL;
  char *text = NULL;
  size_t size = 0;
  FILE *f = name ? open_memstream(&text, &size) : NULL;
  if (f) {
    fputs(FL_HISTORY_HEAD, f);
    put_sources(f, run->program);
    fwrite(h->text, 1, h->size, f);
    fputs(FL_HISTORY_BEFORE, f);
    const size_t head = strlen(FL_HISTORY_HEAD);
    if (before && (size_t)before->bytes > head && !memcmp(before->payload, FL_HISTORY_HEAD, head)) {
      const char *calls = (const char *)before->payload + head;
      size_t rest = (size_t)before->bytes - head;
      const char *end = memmem(calls, rest, FL_HISTORY_BEFORE, strlen(FL_HISTORY_BEFORE));
      fwrite(calls, 1, end ? (size_t)(end - calls) : rest, f);
    }
    if (fclose(f) == 0) fl_memo_record_put(run->memo, name, text, (int64_t)size);
  }
  free(text);
  free(name);
  fl_memo_unmap(before);
}
