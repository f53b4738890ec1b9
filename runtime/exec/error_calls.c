/* error_calls.c: the calls that led to an error, and which of them the user wrote.
 *
 * In: the sites of calls, as the error passes through them on its way up. Out: the way from the script to
 * where it failed. What always holds: without an error none of this runs; the way is the same however the
 * calls were compiled, as what was made part of its caller says so in its site. */
#include "exec/exec_internal.h"

#include <string.h>

static const FlSite *site_at(const FlProgram *p, int32_t site) {
  return p && site >= 0 && site < p->n_sites && p->sites[site].line > 0 ? &p->sites[site] : NULL;
}

/* The call itself and those around it that are part of the same function. */
static int64_t count_calls(const FlProgram *p, int32_t site) {
  int64_t n = 0;
  for (const FlSite *s = site_at(p, site); s; s = site_at(p, s->caller)) n++;
  return n;
}

bool fl_error_place(FlError *e, const FlProgram *program, int32_t site) {
  if (site_at(program, e->site)) return false;
  e->site = site;
  return true;
}

void fl_error_through(FlError *e, const FlProgram *program, int32_t site) {
  if (fl_error_place(e, program, site)) return;
  FlErrorCalls *c = &e->calls;
  if (c->n < FL_MAX_CALLS) {
    c->inner[c->n] = site;
  } else {
    int32_t *slot = &c->outer[c->n % FL_MAX_CALLS];
    if (c->n >= 2 * FL_MAX_CALLS) c->lost += count_calls(program, *slot);
    *slot = site;
  }
  c->n++;
}

/* Sites from the inside out: the first ones and the last ones. */
typedef struct Way {
  const FlSite *inner[FL_MAX_CALLS], *outer[FL_MAX_CALLS];
  int64_t n;
} Way;

static void add(Way *w, const FlProgram *p, int32_t site) {
  for (const FlSite *s = site_at(p, site); s; s = site_at(p, s->caller), w->n++) {
    if (w->n < FL_MAX_CALLS) w->inner[w->n] = s;
    else w->outer[w->n % FL_MAX_CALLS] = s;
  }
}

static bool same_place(const FlSite *a, const FlSite *b) {
  return a->line == b->line && a->column == b->column && a->length == b->length &&
         strcmp(a->file, b->file) == 0;
}

FlErrorWay fl_error_way(const FlProgram *program, const FlError *e) {
  FlErrorWay out = {0};
  const FlErrorCalls *c = &e->calls;
  const FlSite *failed = site_at(program, e->site);
  if (!failed) return out;
  Way w = {0};
  add(&w, program, failed->caller);
  int64_t own = w.n; /* a stage that is one operation, as `exec`, fails where it is called */
  int64_t few = c->n < FL_MAX_CALLS ? c->n : FL_MAX_CALLS, n_outer = c->n - few;
  if (n_outer > FL_MAX_CALLS) n_outer = FL_MAX_CALLS;
  for (int64_t i = 0; i < few; i++) {
    const FlSite *s = site_at(program, c->inner[i]);
    if (i == 0 && own == 0 && s && same_place(s, failed)) add(&w, program, s->caller);
    else add(&w, program, c->inner[i]);
  }
  int64_t n_inner =
      c->lost ? (w.n < FL_MAX_CALLS ? w.n : FL_MAX_CALLS) : -1; /* what is lost was further out */
  for (int64_t i = c->n - n_outer; i < c->n; i++) add(&w, program, c->outer[i % FL_MAX_CALLS]);
  int64_t kept = w.n < 2 * FL_MAX_CALLS ? w.n : 2 * FL_MAX_CALLS,
          inside = kept < FL_MAX_CALLS ? kept : FL_MAX_CALLS;
  if (n_inner >= 0 && n_inner < inside) inside = n_inner;
  out.more = c->lost + w.n - kept;
  for (int64_t i = w.n - 1; i >= w.n - (kept - inside) && i >= 0; i--)
    out.at[out.n++] = i < FL_MAX_CALLS ? w.inner[i] : w.outer[i % FL_MAX_CALLS];
  out.cut = out.n;
  for (int64_t i = inside - 1; i >= 0; i--) out.at[out.n++] = w.inner[i];
  out.at[out.n++] = failed;
  out.shown = out.n - 1;
  for (int i = out.n - 1; i >= 0; i--)
    if (!out.at[i]->library) {
      out.shown = i;
      break;
    }
  return out;
}
