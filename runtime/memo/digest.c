/* digest.c: XXH3-128 of bytes. See memo.h. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "memo/memo_internal.h"

static FlDigest of_hash(XXH128_hash_t h) { return (FlDigest){.lo = h.low64, .hi = h.high64}; }

FlDigest fl_memo_digest(const void *bytes, int64_t len) {
  return of_hash(XXH3_128bits(len ? bytes : "", (size_t)len));
}

FlDigest fl_memo_digest_pieces(const FlMemo *m, const struct iovec *pieces, int n_pieces) {
  XXH3_state_t state;
  XXH3_128bits_reset(&state);
  for (int i = 0; i < n_pieces; i++) {
    for (size_t at = 0, n; at < pieces[i].iov_len; at += n) {
      n = pieces[i].iov_len - at < FL_MEMO_BREATH ? pieces[i].iov_len - at : FL_MEMO_BREATH;
      if (m->breathe) m->breathe(m->lend_arg);
      XXH3_128bits_update(&state, (const char *)pieces[i].iov_base + at, n);
    }
  }
  return of_hash(XXH3_128bits_digest(&state));
}
