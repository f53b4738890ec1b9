/* zip.h: ZIP archives (PKWARE APPNOTE 6.3): what is in them, members out of them, and writing them.
 *
 *   archive := (local header, name, extra, data)* (central header, name, extra, comment)* end
 *
 * Members are stored or deflated; sizes may be those of ZIP64. What always holds: every offset and size is
 * checked against the file before it is used; members do not overlap, have names of their own, and are at
 * most a thousand times as large as what they are unpacked from. Encrypted archives and those of several
 * files are refused. */
#ifndef FL_ZIP_H
#define FL_ZIP_H

#include "io/io_internal.h"

enum { FL_E_ZIP = 960 };

typedef struct FlZipMember {
  const char *name; /* NUL-terminated */
  bool deflated;
  int64_t packed, size; /* bytes in the archive, bytes unpacked */
  int64_t header, at;   /* where its local header and its data begin */
  uint32_t crc;
} FlZipMember;

typedef struct FlZip {
  const FlInput *in;
  const char *label;
  FlZipMember *members;
  int32_t n;
  char *names;
} FlZip;

/* What is in an archive. To be closed in any case. */
bool fl_zip_open(const FlInput *in, const char *label, FlZip *out, FlIoError *e);
void fl_zip_close(FlZip *zip);
/* Unpacks a deflated member into `to`, which has room for its size, and checks its sum. Any thread. */
bool fl_zip_inflate(const FlZip *zip, const FlZipMember *m, char *to, FlIoError *e);
/* Unpacks the first bytes of a deflated member, as many as there are up to `room`; the sum is not checked. */
bool fl_zip_begin(const FlZip *zip, const FlZipMember *m, char *to, int64_t room, FlIoError *e);
/* Checks the sum of a stored member, in parallel. */
bool fl_zip_check(FlCtx *ctx, const FlZip *zip, const FlZipMember *m, FlIoError *e);

/* An archive that is being written. */
typedef struct FlZipWriter {
  FlOutput *out;
  int64_t at; /* bytes written */
  int64_t n;  /* members */
  FlBytes central;
} FlZipWriter;
bool fl_zip_add(FlZipWriter *w, const char *name, const char *bytes, size_t n, bool deflate, FlIoError *e);
bool fl_zip_end(FlZipWriter *w, FlIoError *e);
void fl_zip_writer_reset(FlZipWriter *w);

#endif
