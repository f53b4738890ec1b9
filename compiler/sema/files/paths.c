/* paths.c: constant paths that clash: one that is written twice, or both read and written. What the script
 * computes is compared when it runs (runtime/exec/paths.c). */
#include "sema/files/paths.h"

static const char *plain(FlSema *s, const char *path) {
  char *out = FL_NEW_ARRAY(s->arena, char, strlen(path) + 1), *to = out;
  for (const char *at = path; *at;) {
    bool start = at == path || at[-1] == '/';
    if (start && at[0] == '.' && at[1] == '/') at += 2;
    else if (at[0] == '/' && at[1] == '/') at++;
    else *to++ = *at++;
  }
  return out;
}

bool fl_sema_claim_path(FlSema *s, const char *path, FlSpan span, bool output) {
  FlKnownPath now = {plain(s, path), span, output};
  bool known = false;
  for (int i = 0; i < s->paths.n; i++) {
    const FlKnownPath *old = &s->paths.at[i];
    if (strcmp(old->path, now.path) != 0) continue;
    known = known || old->output == output;
    if (!output && !old->output) continue;
    FlDiag *d = old->output && output
                    ? fl_sema_report(s, FL_E0922, span, "`%s` is written twice by this script", path)
                    : fl_sema_report(s, FL_E0921, span, "`%s` is both read and written by this script", path);
    fl_diag_note(s->sink, d, old->span, old->output ? "it is written here" : "it is read here");
    fl_diag_help(s->sink, d, "write to another path");
    return false;
  }
  if (!known) fl_vec_push(s->arena, &s->paths, now);
  return true;
}
