/* text_distance.c: how far texts are apart.
 *
 * In: two texts. Out: the Levenshtein distance in code points. What always holds: short texts need no memory,
 * and where long ones find none there is a fault; time is the product of the lengths. */
#include "data/data.h"
#include "kern/kern.h"

#include <stdlib.h>

/* Code points of a text; `few` when they fit there, else memory of its own, or NULL. */
enum { FEW_POINTS = 128 };

static uint32_t *points_of(const char *s, int64_t n, uint32_t *few, int64_t *count) {
  uint32_t *out = n <= FEW_POINTS ? few : malloc((size_t)n * sizeof *out);
  *count = 0;
  for (int64_t i = 0; out != NULL && i < n; (*count)++) {
    uint32_t v = (unsigned char)s[i++]; /* bytes of a code point side by side: different where it is */
    for (; i < n && ((unsigned char)s[i] & 0xc0) == 0x80; i++) v = v << 8 | (unsigned char)s[i];
    out[*count] = v;
  }
  return out;
}
/* Method: R. Wagner, M. Fischer, "The String-to-String Correction Problem" (1974), one row at a time. */
int64_t fl_s_edit_distance(const char *a, int64_t an, const char *b, int64_t bn, int32_t *fault) {
  uint32_t few[2][FEW_POINTS];
  int64_t short_row[FEW_POINTS + 1], n, m;
  uint32_t *x = points_of(a, an, few[0], &n), *y = points_of(b, bn, few[1], &m);
  int64_t *row = m <= FEW_POINTS ? short_row : malloc((size_t)(m + 1) * sizeof *row);
  bool memory = x != NULL && y != NULL && row != NULL;
  fl_fault_if(fault, !memory, FL_FAULT_MEMORY);
  for (int64_t j = 0; memory && j <= m; j++) row[j] = j;
  for (int64_t i = 0; memory && i < n; i++) {
    int64_t diagonal = row[0];
    row[0] = i + 1;
    for (int64_t j = 0; j < m; j++) {
      int64_t change = diagonal + (x[i] != y[j]), drop = row[j + 1] + 1, add = row[j] + 1;
      diagonal = row[j + 1];
      int64_t best = change < drop ? change : drop;
      row[j + 1] = best < add ? best : add;
    }
  }
  int64_t distance = memory ? row[m] : 0;
  if (x != few[0]) free(x);
  if (y != few[1]) free(y);
  if (row != short_row) free(row);
  return distance;
}
