/* spell.c: edit distance between names.
 *
 * Method: optimal string alignment (Damerau 1964, Wagner and Fischer 1974), three rows of the table at a
 * time. */
#include "base/spell.h"

#include <ctype.h>
#include <string.h>

enum { FL_SPELL_MAX = 64 };

static int at_most(int a, int b) { return a < b ? a : b; }

static bool same(char a, char b) { return tolower((unsigned char)a) == tolower((unsigned char)b); }

/* Distance of a[0..n) and b[0..m), both at most FL_SPELL_MAX. */
static int distance(const char *a, int n, const char *b, int m) {
  int rows[3][FL_SPELL_MAX + 1];
  for (int j = 0; j <= m; j++) rows[0][j] = j;
  for (int i = 1; i <= n; i++) {
    int *now = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
    now[0] = i;
    for (int j = 1; j <= m; j++) {
      int change = last[j - 1] + !same(a[i - 1], b[j - 1]);
      now[j] = at_most(at_most(last[j], now[j - 1]) + 1, change);
      if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
        now[j] = at_most(now[j], before[j - 2] + 1);
    }
  }
  return rows[n % 3][m];
}

int32_t fl_spell_closest(const char *name, size_t len, const char *const *candidates, int32_t n) {
  int32_t best = -1;
  int limit = len < 6 ? 1 : (int)(len / 3), found = limit + 1;
  if (len > FL_SPELL_MAX) return -1;
  for (int32_t k = 0; k < n; k++) {
    size_t m = strlen(candidates[k]);
    if (m > FL_SPELL_MAX) continue;
    int d = distance(name, (int)len, candidates[k], (int)m);
    if (d < found) {
      found = d;
      best = k;
    }
  }
  return best;
}
