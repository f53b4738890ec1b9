/* csv_make.c: writes a CSV file of about the given size: csv_make PATH MEGABYTES
 *
 * Ten numeric columns as real data has them (a running number, counts, prices with two decimals, measurements
 * with many digits, nulls in one) and two of text (few values, many values). The same size gives the same
 * bytes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t state = 42;
static uint64_t next(void) { /* splitmix64 */
  uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}
static double uniform(void) { return (double)(next() >> 11) * 0x1p-53; }

int main(int argc, char **argv) {
  static const char *const towns[] = {"Amsterdam", "Berlin", "Chicago", "Dakar",
                                      "Edinburgh", "Fes",    "Geneva",  "Hanoi"};
  long long bytes = 0, limit = argc == 3 ? atoll(argv[2]) * 1000000 : 0;
  FILE *f = argc == 3 ? fopen(argv[1], "w") : NULL;
  if (!f) {
    fprintf(stderr, "usage: csv_make PATH MEGABYTES\n");
    return 2;
  }
  setvbuf(f, NULL, _IOFBF, 1 << 20);
  bytes += fprintf(f, "id,count,code,price,tax,x,y,z,share,late,town,name\n");
  for (int64_t row = 0; bytes < limit; row++) {
    int n = fprintf(f, "%" PRId64 ",%d,%d,%.2f,%.2f,%.6f,%.9f,%.15g,%.4f,", row, (int)(next() % 1000),
                    (int)(next() % 2000000) - 1000000, uniform() * 1000, uniform() * 50,
                    uniform() * 200 - 100, uniform(), uniform() * 1e3, uniform());
    bytes += n;
    if (next() % 20) bytes += fprintf(f, "%d", (int)(next() % 600) - 60);
    bytes += fprintf(f, ",%s,n%" PRIu64 "\n", towns[next() % 8], next() % 1000000);
  }
  return fclose(f) != 0;
}
