/* pool_moves.c: blocks that are made of the pages of free ones, where the system refuses to move them: it may
 * have unmapped the place already, and another thread may have got it. Nothing of others is touched, and the
 * block is whole. */
#include "check.h"
#include "data/data.h"
#include "data/data_internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const size_t MEGA = 1 << 20;

/* What mremap does, in place of the system's: from the call `fails_at` on it fails, before or after it has
 * unmapped the place; then somebody else gets the hole, or nobody does. */
typedef struct Refusal {
  int calls, fails_at;
  bool unmaps, other_comes;
  char *other;
  size_t other_bytes;
} Refusal;
static Refusal refusal;

void *mremap(void *from, size_t old, size_t size, int flags, ...) {
  va_list args;
  va_start(args, flags);
  char *at = va_arg(args, char *);
  va_end(args);
  if (refusal.calls++ < refusal.fails_at) { /* moves, as far as one sees */
    if (mmap(at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != at)
      return MAP_FAILED;
    memcpy(at, from, size);
    munmap(from, old);
    return at;
  }
  if (refusal.unmaps) munmap(at, size);
  if (refusal.other_comes && !refusal.other) {
    refusal.other =
        mmap(at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    refusal.other_bytes = size;
    if (refusal.other == at) memset(at, 0xAB, size);
  }
  errno = ENOMEM;
  return MAP_FAILED;
}

static bool is_all(const char *at, size_t n, char value) {
  for (size_t k = 0; k < n; k++)
    if (at[k] != value) return false;
  return true;
}

/* Three blocks are given back; then one is taken that is as large as all. */
static void test(Refusal how) {
  refusal = how;
  FlPool *p = fl_pool_new((int64_t)4 << 30);
  FlBlock small[3], large;
  for (int k = 0; k < 3; k++) {
    check(fl_pool_take(p, (size_t)(4 + 2 * k) * MEGA, FL_BLOCK_SWEPT, &small[k]), "a block");
    memset(small[k].data, 0x11, small[k].capacity);
  }
  for (int k = 0; k < 3; k++) fl_pool_give(p, small[k]);
  check(fl_pool_take(p, 24 * MEGA, FL_BLOCK_SWEPT, &large), "a block of their pages");
  check(refusal.calls > how.fails_at, "pages were to be moved (%d calls)", refusal.calls);
  bool apart = !refusal.other || refusal.other + refusal.other_bytes <= (char *)large.data ||
               (char *)large.data + large.capacity <= refusal.other;
  check(apart, "it lies where nobody else does");
  memset(large.data, 0x22, large.capacity);
  check(is_all(large.data, large.capacity, 0x22), "it can be written");
  if (refusal.other) {
    check(is_all(refusal.other, refusal.other_bytes, (char)0xAB), "what another thread has is as it was");
    munmap(refusal.other, refusal.other_bytes);
  }
  fl_pool_give(p, large);
  fl_pool_free(p);
}

int main(void) {
  for (int fails_at = 0; fails_at < 3; fails_at++) {
    test((Refusal){.fails_at = fails_at});
    test((Refusal){.fails_at = fails_at, .unmaps = true});
    test((Refusal){.fails_at = fails_at, .unmaps = true, .other_comes = true});
  }
  return finish();
}
