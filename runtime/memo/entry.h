/* entry.h: the bytes of one file of the store.
 *
 *   file      := header label key zeros payload
 *   header    := magic version abi kind label-bytes key-bytes payload-bytes created reserved
 *                key-digest meta-checksum payload-checksum spare header-checksum        128 bytes
 *   magic     := "flowmemo"                            8 bytes
 *   version   := u32, FL_ENTRY_VERSION                 a reader takes no other
 *   abi       := u32, FL_ABI_VERSION of the writer     a reader takes no other: types are its
 *   kind      := u32 of FlEntryKind
 *   label-bytes := u32, at most 255
 *   key-bytes, payload-bytes := u64
 *   created   := i64, seconds since 1970
 *   reserved, spare := u64, 0
 *   key-digest := XXH3-128 of key                      also the file's name
 *   meta-checksum := XXH3-128 of label key zeros
 *   payload-checksum := XXH3-128 of payload
 *   header-checksum  := XXH3-128 of the 112 bytes of header before it
 *   label     := UTF-8 for people
 *   key       := the full key
 *   zeros     := 0 to 63 zero bytes, so that payload starts at a multiple of 64
 *   payload   := payload-bytes bytes, to the end of the file
 *
 * Integers are little-endian; a digest is its low, then its high half. Every byte of a file is covered:
 * changing, removing or adding any makes it not verify.
 *
 * Kind PART is the place of partition-level results: the payload is one partition's output (row-local stages)
 * or its partial state (folds), the key is that of a RESULT whose table argument is named by the digest of
 * the partition instead of the whole. Readers of this version know the kind and need nothing more. */
#ifndef FL_MEMO_ENTRY_H
#define FL_MEMO_ENTRY_H

#include "memo/memo.h"

enum { FL_ENTRY_VERSION = 1, FL_ENTRY_HEADER = 128, FL_ENTRY_LABEL = 255 };

typedef enum FlEntryKind { FL_ENTRY_RESULT = 1, FL_ENTRY_PART = 2, FL_ENTRY_RECORD = 3 } FlEntryKind;

typedef struct FlEntryHeader {
  FlEntryKind kind;
  int64_t label_bytes, key_bytes, payload_bytes;
  int64_t created;
  FlDigest key, meta, payload;
} FlEntryHeader;

/* Where the payload starts. */
int64_t fl_entry_payload_offset(const FlEntryHeader *h);

/* The header as the bytes that the entry begins with. */
void fl_entry_write_header(const FlEntryHeader *h, unsigned char out[FL_ENTRY_HEADER]);
/* Reads a header and checks it against the size of the whole file. NULL: good; else the reason, a sentence
 * part like "its header is damaged" (static text). */
const char *fl_entry_read_header(const unsigned char *bytes, int64_t n_bytes, int64_t file_bytes,
                                 FlEntryHeader *out);
/* Checks a whole file. `key` may be NULL: then any key is good. Same result as above. */
const char *fl_entry_check(const unsigned char *file, int64_t file_bytes, const void *key, int64_t key_bytes,
                           FlEntryHeader *out);

#endif
