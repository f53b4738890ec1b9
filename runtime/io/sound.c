/* sound.c: the operator read_wav: sounds in WAV, AIFF, FLAC, Ogg and other files by libsndfile.
 *
 * In: a file. Out: frames a second, samples f32[frames, channels]: integers divided by the largest, so from
 * -1 up to 1. What always holds: memory grows with what is decoded, not with what the file says; a file that
 * ends before it says it does is an error. */
#include "io/opened.h"
#include "data/data.h"
#include "exec/exec.h"

#include <math.h>
#include <sndfile.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FL_E_SOUND = 965, FL_FRAMES = 1 << 14, FL_RATIO = 8192 };

#define FL_API SoundApi
#define FL_API_PREFIX sf_
#define FL_API_DEF "io/sndfile.def"
#include "io/opened.inc"

static bool bad(const char *label, const char *what, FlIoError *e) {
  return fl_io_error(e, FL_E_SOUND, "`%s` is no sound that can be read: %.200s", label, what);
}

/* ---- the file in memory, for libsndfile --------------------------------------------------------------- */

typedef struct Memory {
  const FlInput *in;
  int64_t at;
} Memory;

static sf_count_t memory_size(void *env) { return ((const Memory *)env)->in->size; }
static sf_count_t memory_tell(void *env) { return ((const Memory *)env)->at; }

static sf_count_t memory_seek(sf_count_t offset, int whence, void *env) {
  Memory *m = env;
  int64_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? m->at : m->in->size, to;
  if (__builtin_add_overflow(base, offset, &to) || to < 0 || to > m->in->size) return -1;
  return m->at = to;
}

static sf_count_t memory_read(void *to, sf_count_t n, void *env) {
  Memory *m = env;
  int64_t left = m->in->size - m->at;
  if (n > left) n = left;
  if (n > 0) memcpy(to, m->in->data + m->at, (size_t)n);
  m->at += n > 0 ? n : 0;
  return n > 0 ? n : 0;
}

static sf_count_t memory_write(const void *from, sf_count_t n, void *env) {
  (void)from;
  (void)n;
  (void)env;
  return 0;
}

/* ---- samples ------------------------------------------------------------------------------------------ */

/* RIFF and FORM files say how long they are; libsndfile reads what is there of a shorter one. */
static bool check_length(const FlInput *in, const char *label, FlIoError *e) {
  const unsigned char *b = (const unsigned char *)in->data;
  if (in->size < 12) return bad(label, "it is cut off", e);
  bool riff = memcmp(b, "RIFF", 4) == 0, form = memcmp(b, "FORM", 4) == 0;
  uint32_t little = b[4] | (uint32_t)b[5] << 8 | (uint32_t)b[6] << 16 | (uint32_t)b[7] << 24;
  uint32_t n = riff ? little : __builtin_bswap32(little);
  bool streamed = n == UINT32_MAX || n == 0; /* its writer could not go back */
  if ((riff || form) && !streamed && (int64_t)n + 8 > in->size) return bad(label, "it is cut off", e);
  return true;
}

/* All frames; their number in *frames. */
static bool read_frames(const SoundApi *api, SNDFILE *sound, const SF_INFO *info, const FlInput *in,
                        const char *label, FlBytes *out, int64_t *frames, FlIoError *e) {
  int64_t frame = (int64_t)sizeof(float) * info->channels, most = in->size * FL_RATIO;
  *frames = 0;
  for (;;) {
    char *room = fl_bytes_room(out, (size_t)(FL_FRAMES * frame));
    if (!room) return fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", label);
    sf_count_t n = api->readf_float(sound, (float *)(void *)room, FL_FRAMES);
    if (n <= 0) break;
    out->len += (size_t)(n * frame);
    *frames += n;
    if ((int64_t)out->len > most) return bad(label, "it is longer than its size explains", e);
  }
  if (api->error(sound)) return bad(label, api->strerror(sound), e);
  return *frames >= info->frames || bad(label, "it is cut off", e);
}

static FlArray *take(FlCtx *ctx, const FlBytes *from, const char *label, int64_t frames, int64_t channels,
                     FlIoError *e) {
  int64_t dims[2] = {frames, channels};
  FlArray *a = fl_array_new(ctx, FL_F32, 2, dims);
  if (!a) {
    fl_io_error(e, FL_E_MEMORY, "out of memory while reading `%s`", label);
    return NULL;
  }
  float *to = a->data;
  if (from->len) memcpy(to, from->at, from->len);
  for (int64_t k = 0; k < frames * channels; k++)
    if (to[k] != to[k]) to[k] = NAN; /* the one NaN */
  return a;
}

static FlArray *decode(FlCtx *ctx, const FlInput *in, const char *label, int64_t *rate, FlIoError *e) {
  SoundApi api;
  SF_INFO info = {0};
  SF_VIRTUAL_IO io = {memory_size, memory_seek, memory_read, memory_write, memory_tell};
  Memory memory = {in, 0};
  FlBytes samples = fl_counted_bytes(fl_ctx_pool(ctx));
  FlArray *out = NULL;
  int64_t frames;
  if (in->size == 0) {
    fl_io_error(e, FL_E_EMPTY, "`%s` is empty", label);
    return NULL;
  }
  if (!open_api(&api, "libsndfile.so.1", "libsndfile1", "reading sounds", e)) return NULL;
  SNDFILE *sound = api.open_virtual(&io, SFM_READ, &info, &memory);
  if (!sound) {
    bad(label, api.strerror(NULL), e);
    return NULL;
  }
  if (check_length(in, label, e) && read_frames(&api, sound, &info, in, label, &samples, &frames, e))
    out = take(ctx, &samples, label, frames, info.channels, e);
  *rate = info.samplerate;
  api.close(sound);
  fl_bytes_reset(&samples);
  return out;
}

/* An FlTakeFn: frames a second, samples. */
static bool read_sound(FlCtx *ctx, const FlOpDesc *desc, const char *path, FlSlot *results, FlIoError *e) {
  FlInput in;
  (void)desc;
  if (!fl_input_open(ctx, path, &in, e)) return false;
  FlArray *samples = decode(ctx, &in, path, &results[0].i, e);
  bool ok = samples && fl_input_check(&in, path, e);
  fl_input_close(&in);
  if (!ok) fl_array_unref(samples);
  results[1].a = ok ? samples : NULL;
  return ok;
}

FlStatus fl_rt_read_wav(FlCtx *ctx, const FlOpDesc *desc, const FlSlot *args, FlSlot *results) {
  return fl_io_read_file(ctx, desc, args[0].t, read_sound, results);
}
