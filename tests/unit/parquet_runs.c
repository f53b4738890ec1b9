/* parquet_runs.c: numbers of every width in random runs, written here one bit at a time, are read back; and
 * what Snappy packs, as its format says, is unpacked, and never written beyond its size. */
#include "check.h"
#include "io/parquet.h"
#include "splitmix.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 6000, ROOM = 1 << 17 };

static uint64_t state = 1;
static uint64_t draw(uint64_t n) { return splitmix(&state) % n; }

static uint8_t *put_head(uint8_t *to, uint64_t v) {
  for (; v >= 128; v >>= 7) *to++ = (uint8_t)(v | 128);
  *to++ = (uint8_t)v;
  return to;
}

/* n numbers in runs of both kinds; the end of what was written. */
static uint8_t *write_runs(uint8_t *to, int width, uint32_t *numbers, int n) {
  const uint64_t all = (UINT64_C(1) << width) - 1;
  for (int k = 0; k < n;) {
    int left = n - k, run = (int)draw(draw(2) ? 40 : 4000);
    if (draw(2)) {
      run = run < left ? run : left;
      to = put_head(to, (uint64_t)run << 1);
      uint32_t v = (uint32_t)(draw(UINT64_MAX) & all);
      for (int i = 0; i < (width + 7) / 8; i++) *to++ = (uint8_t)(v >> 8 * i);
      for (int i = 0; i < run; i++) numbers[k++] = v;
      continue;
    }
    int eights = run / 8 < left / 8 + 1 ? run / 8 : left / 8 + 1;
    to = put_head(to, (uint64_t)eights << 1 | 1);
    memset(to, 0, (size_t)(eights * width));
    for (int i = 0; i < eights * 8; i++) {
      uint64_t v = draw(UINT64_MAX) & all; /* also of those behind the last one */
      for (int b = 0; b < width; b++)
        to[(i * width + b) / 8] |= (uint8_t)((v >> b & 1) << (i * width + b) % 8);
      if (k < n) numbers[k++] = (uint32_t)v;
    }
    to += eights * width;
  }
  return to;
}

static bool reads(const uint8_t *at, const uint8_t *end, int width, const uint32_t *numbers, int n) {
  uint32_t some[FL_PARQUET_BLOCK], most, largest;
  FlParquetRuns r;
  if (!fl_parquet_runs(at, end, width, &r)) return false;
  for (int k = 0; k < n;) {
    int64_t m = fl_parquet_next(&r, n - k, some, &most);
    if (m == 0) return false;
    largest = 0;
    for (int64_t i = 0; i < m; i++) {
      uint32_t v = r.packed ? some[i] : r.number;
      largest = v > largest ? v : largest;
      if (v != numbers[k + i]) return false;
    }
    if (most != largest) return false;
    k += (int)m;
  }
  return true;
}

static void test_runs(void) {
  uint8_t *bytes = malloc(ROOM);
  static uint32_t numbers[MOST];
  for (int width = 0; width <= 32; width++) {
    for (int round = 0; round < 20; round++) {
      int n = 1 + (int)draw(MOST);
      const uint8_t *end = write_runs(bytes, width, numbers, n);
      uint8_t *copy = malloc((size_t)(end - bytes) + FL_PARQUET_SLACK); /* no byte more */
      memcpy(copy, bytes, (size_t)(end - bytes));
      CHECK(reads(copy, copy + (end - bytes), width, numbers, n));
      CHECK(!reads(copy, copy + (end - bytes) / 2, width, numbers, n + MOST));
      free(copy);
    }
  }
  FlParquetRuns r;
  CHECK(!fl_parquet_runs(bytes, bytes, 33, &r));
  free(bytes);
}

/* ---- Snappy ------------------------------------------------------------------------------------------- */

static uint8_t *put_reference(uint8_t *to, int64_t back, int64_t len) {
  if (back < 2048 && len >= 4 && len <= 11 && draw(4)) {
    *to++ = (uint8_t)(1 | (len - 4) << 2 | back >> 8 << 5);
    *to++ = (uint8_t)back;
    return to;
  }
  int bytes = back < 65536 && draw(4) ? 2 : 4;
  *to++ = (uint8_t)((bytes == 2 ? 2 : 3) | (len - 1) << 2);
  for (int i = 0; i < bytes; i++) *to++ = (uint8_t)(back >> 8 * i);
  return to;
}

static uint8_t *put_bytes(uint8_t *to, const uint8_t *from, int64_t len) {
  int more = len <= 60 && draw(8) ? 0 : len <= 256 ? 1 : 2;
  *to++ = (uint8_t)((more ? 59 + more : len - 1) << 2);
  for (int i = 0; i < more; i++) *to++ = (uint8_t)((len - 1) >> 8 * i);
  memcpy(to, from, (size_t)len);
  return to + len;
}

/* Random elements that give `size` bytes, which are put to `plain`; the end of what is packed. */
static uint8_t *write_snappy(uint8_t *to, uint8_t *plain, int64_t size) {
  to = put_head(to, (uint64_t)size);
  for (int64_t done = 0; done < size;) {
    int64_t left = size - done, len = 1 + (int64_t)draw(draw(4) ? 12 : draw(4) ? 64 : 3000);
    if (done && draw(2)) {
      int64_t back = 1 + (int64_t)draw((uint64_t)(draw(2) && done > 20 ? 20 : done));
      len = len < left ? len : left;
      if (len > 64) len = 64;
      for (int64_t i = 0; i < len; i++) plain[done + i] = plain[done + i - back];
      to = put_reference(to, back, len);
    } else {
      len = len < left ? len : left;
      for (int64_t i = 0; i < len; i++) plain[done + i] = (uint8_t)draw(256);
      to = put_bytes(to, plain + done, len);
    }
    done += len;
  }
  return to;
}

enum { SNAPPY = 1 };

/* Bytes that stand there as they are, are those that unpacking them gives, and stand within. */
static bool lies(const uint8_t *packed, int64_t n, const uint8_t *plain, int64_t size, int *found) {
  const uint8_t *at = fl_parquet_lies(SNAPPY, packed, n, size);
  *found += at != NULL;
  return at == NULL || (at > packed && at + size == packed + n && memcmp(at, plain, (size_t)size) == 0);
}

static void test_snappy(void) {
  enum { BYTES = 20000 };
  int found = 0, none = 0;
  uint8_t *packed = malloc(ROOM), *plain = malloc(BYTES);
  for (int round = 0; round < 2000; round++) {
    int64_t size = (int64_t)draw(draw(2) ? 200 : BYTES), n = write_snappy(packed, plain, size) - packed;
    uint8_t *exact = malloc((size_t)n + 1), *to = malloc((size_t)size + 1);
    memcpy(exact, packed, (size_t)n);
    CHECK(fl_parquet_unpack(SNAPPY, exact, n, to, size) && memcmp(to, plain, (size_t)size) == 0);
    CHECK(!size || !fl_parquet_unpack(SNAPPY, exact, n - 1, to, size));
    CHECK(lies(exact, n, plain, size, &found) && lies(exact, n - 1, plain, size, &none));
    free(exact);
    for (int k = 0; k < 3; k++) { /* it may say anything: nothing is read or written beyond */
      exact = malloc((size_t)n + 1);
      memcpy(exact, packed, (size_t)n);
      exact[draw((uint64_t)n)] = (uint8_t)draw(256);
      if (fl_parquet_unpack(SNAPPY, exact, n, to, size)) CHECK(lies(exact, n, to, size, &none));
      free(exact);
    }
    free(to);
  }
  CHECK(found > 20);
  free(packed);
  free(plain);
}

int main(void) {
  test_runs();
  test_snappy();
  return finish();
}
