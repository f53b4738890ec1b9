/* spare.c: buffers in parts that take the addresses and pages of one that nobody has any more: what is memory
 * is what they were asked for, and nothing else; lists begin empty; few are kept, and none after the end. */
#include "check.h"

#include "data/cut.h"
#include "data/data.h"
#include "data/data_internal.h"
#include "exec/exec.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SIZE = 8 << 20 };

static FlSpare mapped(size_t bytes, size_t from, size_t to) {
  char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(at + from, 7, to - from);
  return (FlSpare){at, bytes, from, to};
}

/* Whether the system lets anybody read the byte: by a call, which fails where a load would trap. */
static bool is_readable(const char *at) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  bool fine = write(ends[1], at, 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return fine;
}

static void test_kept(void) {
  FlSpares s;
  FlSpare got, first = mapped(SIZE, 0, SIZE / 2);
  fl_spares_init(&s);
  CHECK(!fl_spares_take(&s, SIZE, &got) && !fl_spares_take(NULL, SIZE, &got));
  CHECK(fl_spares_put(&s, first) && !is_readable(first.at));
  CHECK(!fl_spares_take(&s, SIZE / 2, &got));
  CHECK(fl_spares_take(&s, SIZE, &got) && got.at == first.at && got.to == SIZE / 2);
  CHECK(!fl_spares_take(&s, SIZE, &got));
  CHECK(mprotect(first.at, SIZE, PROT_READ) == 0 && first.at[SIZE / 2 - 1] == 7);
  munmap(first.at, SIZE);

  FlSpare large = {first.at, (size_t)FL_SPARE_BYTES + SIZE, 0, (size_t)FL_SPARE_BYTES + 1};
  CHECK(!fl_spares_put(&s, large) && !fl_spares_put(NULL, first));
  for (int k = 0; k < FL_SPARES + 3; k++) CHECK(fl_spares_put(&s, mapped(SIZE + (size_t)k * 4096, 0, 4096)));
  for (int k = 0; k < FL_SPARES + 3; k++) {
    bool there = fl_spares_take(&s, SIZE + (size_t)k * 4096, &got);
    check(there == (k >= 3), "of %d the last ones are kept: %d", FL_SPARES + 3, k);
    if (there) munmap(got.at, got.bytes);
  }
  for (int k = 0; k < 20; k++) CHECK(fl_spares_put(&s, mapped((size_t)24 << 20, 0, (size_t)24 << 20)));
  CHECK(s.n == 2); /* of 64 MiB */
  fl_spares_close(&s);
  FlSpare late = mapped(SIZE, 0, 4096);
  CHECK(s.n == 0 && !fl_spares_put(&s, late));
  munmap(late.at, late.bytes);
  fl_spares_reset(&s);
}

/* A new buffer whose rows here are all `with`, as soon as it is seen to begin as it must. */
static FlBuffer *filled(FlCtx *ctx, const FlCut *cut, char with) {
  int64_t row = SIZE / fl_cut_rows(cut), from = row * fl_cut_from(cut), to = row * fl_cut_to(cut);
  FlBuffer *b = fl_buffer_new_part(ctx, SIZE, cut);
  char *at = b->data;
  check(is_readable(at + from) && is_readable(at + to - 1), "rows that are here are memory");
  check(from == 0 || !is_readable(at), "the first one is not");
  check(to == SIZE || !is_readable(at + SIZE - 1), "nor is the last one");
  memset(at + from, with, (size_t)(to - from));
  return b;
}

static void test_buffers(FlCtx *ctx) {
  const int64_t half[] = {0, SIZE / 16, SIZE / 8}, most[] = {0, SIZE / 8 - 4096, SIZE / 8};
  FlCuts *cuts = fl_cuts_new(2, 0);
  const FlCut *a = fl_cut_of(cuts, half), *c = fl_cut_of(cuts, most);
  FlBuffer *b = filled(ctx, a, 5);
  const char *at = b->data;
  fl_buffer_unref(b);
  CHECK(!is_readable(at));
  b = filled(ctx, a, 6);
  CHECK(b->data == at);
  fl_buffer_unref(b);
  b = fl_buffer_new_part(ctx, SIZE, c);
  CHECK(b->data == at && at[0] == 0 && is_readable(at + SIZE / 2)); /* other rows: none of the pages stay */
  fl_buffer_unref(b);
  fl_buffer_unref(filled(ctx, c, 7));
  b = fl_buffer_new_apart(ctx, SIZE);
  CHECK(b->data == at && !is_readable(at) && !fl_buffer_is_open(b));
  CHECK(fl_buffer_borrow(ctx, b, 100) == 0 && at[0] == 0);
  fl_buffer_give_back(b, 100);
  CHECK(!is_readable(at) && fl_buffer_open(ctx, b, SIZE / 2, SIZE) == 0);
  CHECK(!is_readable(at) && at[SIZE / 2] == 0);
  fl_buffer_unref(b);
  fl_buffer_unref(filled(ctx, c, 7));
  b = fl_buffer_new_part_list(ctx, SIZE, c);
  CHECK(b->data == at && ((FlArray **)b->data)[SIZE / 32] == NULL);
  fl_buffer_unref(b);
  fl_cuts_free(cuts);
}

int main(void) {
  test_kept();
  FlRun *run = fl_run_new(NULL, &(FlRunOptions){.workers = 1, .quiet = true});
  test_buffers(fl_run_ctx(run));
  fl_run_free(run);
  return finish();
}
