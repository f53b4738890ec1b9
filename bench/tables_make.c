/* tables_make.c: the data of the public db-benchmark (G1: grouping, J1: joining), made anew from a seed.
 *
 * Comes in: a folder, how many rows, how many groups K of the small keys. Goes out: G1.csv with K values of
 * id1 id2 id4 id5 and rows / K of id3 id6; x.csv, small.csv (rows / 10^6, at least 10), medium.csv (rows /
 * 10^3, at least 100) and big.csv (rows), of whose keys nine tenths are on both sides. Always holds: the same
 * bytes for the same numbers (SplitMix64, G. Steele, D. Lea, C. Flood, 2014). */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t state;

static uint64_t next(void) {
  uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

/* One of 0..n, evenly. */
static int64_t below(int64_t n) { return (int64_t)((unsigned __int128)next() * (uint64_t)n >> 64); }

static FILE *create(const char *folder, const char *name) {
  char path[4096];
  (void)snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  if (file == NULL) {
    perror(path);
    exit(1);
  }
  return file;
}

static void finish(FILE *file) {
  if (fclose(file) != 0) {
    perror("writing");
    exit(1);
  }
}

/* A number of 0..100 with six digits behind the point. */
static void write_value(FILE *file) {
  int64_t v = below(100000001);
  (void)fprintf(file, "%" PRId64 ".%06" PRId64 "\n", v / 1000000, v % 1000000);
}

static void grouping(const char *folder, int64_t n, int64_t k) {
  FILE *file = create(folder, "G1.csv");
  int64_t many = n / k > 0 ? n / k : 1;
  (void)fprintf(file, "id1,id2,id3,id4,id5,id6,v1,v2,v3\n");
  for (int64_t i = 0; i < n; i++) {
    (void)fprintf(file, "id%03" PRId64 ",id%03" PRId64 ",id%010" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64,
                  1 + below(k), 1 + below(k), 1 + below(many), 1 + below(k), 1 + below(k), 1 + below(many));
    (void)fprintf(file, ",%" PRId64 ",%" PRId64 ",", 1 + below(5), 1 + below(15));
    write_value(file);
  }
  finish(file);
}

/* Keys 1..1.1 n in any order: those on both sides are [0, 0.9 n), the left's own [0.9 n, n), the right's own
 * beyond. */
typedef struct Keys {
  int32_t *key;
  int64_t n, both;
} Keys;

static void shuffle(int32_t *a, int64_t n) {
  for (int64_t i = n - 1; i > 0; i--) {
    int64_t j = below(i + 1);
    int32_t x = a[i];
    a[i] = a[j];
    a[j] = x;
  }
}

static Keys make_keys(int64_t n) {
  int64_t all = n + n / 10;
  Keys k = {malloc((size_t)all * sizeof *k.key), n, n - n / 10};
  if (k.key == NULL) exit(1);
  for (int64_t i = 0; i < all; i++) k.key[i] = (int32_t)(i + 1);
  shuffle(k.key, all);
  return k;
}

/* `rows` keys of one side, in any order, each at least once when there is room. */
static int32_t *draw(const Keys *k, int64_t rows, int right) {
  int32_t *out = malloc((size_t)rows * sizeof *out);
  if (out == NULL) exit(1);
  for (int64_t i = 0; i < rows; i++) {
    int64_t at = i < k->n ? i : below(k->n);
    out[i] = k->key[right && at >= k->both ? at + k->n / 10 : at];
  }
  shuffle(out, rows);
  return out;
}

static void joining(const char *folder, const char *name, const char *value, int64_t rows, const Keys *keys,
                    int levels, int right) {
  FILE *file = create(folder, name);
  int32_t *id[3] = {0};
  for (int k = 0; k < levels; k++) {
    id[k] = draw(&keys[k], rows, right);
    (void)fprintf(file, "id%d,", k + 1);
  }
  for (int k = 0; k < levels; k++) (void)fprintf(file, "id%d,", k + 4);
  (void)fprintf(file, "%s\n", value);
  for (int64_t i = 0; i < rows; i++) {
    for (int k = 0; k < levels; k++) (void)fprintf(file, "%" PRId32 ",", id[k][i]);
    for (int k = 0; k < levels; k++) (void)fprintf(file, "id%" PRId32 ",", id[k][i]);
    write_value(file);
  }
  for (int k = 0; k < levels; k++) free(id[k]);
  finish(file);
}

int main(int argc, char **argv) {
  if (argc != 4) {
    (void)fprintf(stderr, "usage: tables_make FOLDER ROWS K\n");
    return 2;
  }
  int64_t n = strtoll(argv[2], NULL, 10), k = strtoll(argv[3], NULL, 10);
  int64_t small = n / 1000000 < 10 ? 10 : n / 1000000, medium = n / 1000 < 100 ? 100 : n / 1000;
  if (n < 1000 || k < 1 || n > INT32_MAX / 2) return 2;
  state = 108;
  grouping(argv[1], n, k);
  Keys keys[3] = {make_keys(small), make_keys(medium), make_keys(n)};
  joining(argv[1], "x.csv", "v1", n, keys, 3, 0);
  joining(argv[1], "small.csv", "v2", small, keys, 1, 1);
  joining(argv[1], "medium.csv", "v2", medium, keys, 2, 1);
  joining(argv[1], "big.csv", "v2", n, keys, 3, 1);
  for (int i = 0; i < 3; i++) free(keys[i].key);
  return 0;
}
