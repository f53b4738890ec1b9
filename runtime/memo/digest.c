/* digest.c: XXH3-128 of bytes, in one go. See memo.h. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "memo/memo.h"

FlDigest fl_memo_digest(const void *bytes, int64_t len) {
  XXH128_hash_t h = XXH3_128bits(len ? bytes : "", (size_t)len);
  return (FlDigest){.lo = h.low64, .hi = h.high64};
}
