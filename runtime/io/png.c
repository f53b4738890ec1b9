/* png.c: PNG images by libpng; see image.h.
 *
 * Before libpng sees a file its chunks are walked: each lies within the file, has the sum that it says, and
 * the last one is the end. A file that says another gamma than sRGB's is converted to it. */
#include "io/image.h"

#include <png.h>
#include <string.h>
#include <zlib.h>

static const char png_library[] = "libpng16.so.16", png_package[] = "libpng16-16";
enum { FL_PNG_RATIO = 1032 * 8 }; /* of deflate, with pixels of one bit */

#define FL_API PngApi
#define FL_API_PREFIX png_image_
#define FL_API_DEF "io/png.def"
#include "io/opened.inc"

static uint32_t big_endian(const char *at) {
  const unsigned char *b = (const unsigned char *)at;
  return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* chunk := length:u32 type:4 data:length sum:u32, big endian; the first is IHDR, the last IEND. */
static bool walk_chunks(const FlInput *in, const char *label, FlIoError *e) {
  for (int64_t at = 8;;) {
    if (in->size - at < 12) return fl_image_bad(label, "it is cut off", e);
    const char *chunk = in->data + at;
    int64_t n = big_endian(chunk);
    if (n > in->size - at - 12) return fl_image_bad(label, "it is cut off", e);
    if (crc32_z(crc32_z(0, NULL, 0), (const Bytef *)chunk + 4, (size_t)n + 4) != big_endian(chunk + 8 + n))
      return fl_image_bad(label, "a part of it is damaged", e);
    if (at == 8 && (memcmp(chunk + 4, "IHDR", 4) != 0 || n != 13))
      return fl_image_bad(label, "it has no header", e);
    if (memcmp(chunk + 4, "IEND", 4) == 0) return true;
    at += n + 12;
  }
}

static bool decode(const PngApi *api, const FlInput *in, const char *label, FlImageSize *size, uint8_t *to,
                   FlIoError *e) {
  png_image image = {.version = PNG_IMAGE_VERSION};
  if (!api->begin_read_from_memory(&image, in->data, (size_t)in->size))
    return fl_image_bad(label, image.message, e);
  image.format &= ~(png_uint_32)(PNG_FORMAT_FLAG_COLORMAP | PNG_FORMAT_FLAG_LINEAR);
  image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
  FlImageSize has = {image.height, image.width, PNG_IMAGE_SAMPLE_CHANNELS(image.format)};
  bool ok = fl_image_plausible(in, label, has, FL_PNG_RATIO, e);
  if (!to) *size = has;
  else if (ok && memcmp(size, &has, sizeof has) != 0) ok = fl_image_bad(label, "its size changed", e);
  else if (ok && !api->finish_read(&image, NULL, to, 0, NULL)) ok = fl_image_bad(label, image.message, e);
  api->free(&image);
  return ok;
}

bool fl_png_read(const FlInput *in, const char *label, FlImageSize *size, uint8_t *to, FlIoError *e) {
  PngApi api;
  return open_api(&api, png_library, png_package, "reading PNG images", e) &&
         (to || walk_chunks(in, label, e)) && decode(&api, in, label, size, to, e);
}

bool fl_png_write(FlOutput *out, const uint8_t *from, FlImageSize size, FlIoError *e) {
  static const png_uint_32 formats[] = {PNG_FORMAT_GRAY, PNG_FORMAT_GA, PNG_FORMAT_RGB, PNG_FORMAT_RGBA};
  PngApi api;
  FlBytes bytes = fl_output_bytes(out);
  png_alloc_size_t n = 0;
  if (!open_api(&api, png_library, png_package, "writing PNG images", e)) return false;
  png_image image = {.version = PNG_IMAGE_VERSION,
                     .width = (png_uint_32)size.width,
                     .height = (png_uint_32)size.height,
                     .format = formats[size.channels - 1]};
  bool ok = api.write_to_memory(&image, NULL, &n, 0, from, 0, NULL) != 0;
  char *room = ok ? fl_bytes_room(&bytes, n) : NULL;
  ok = room && api.write_to_memory(&image, room, &n, 0, from, 0, NULL) != 0;
  if (!ok) fl_io_error(e, FL_E_WRITE, "cannot write `%s`: %.100s", out->path, image.message);
  ok = ok && fl_output_write(out, room, n, e);
  api.free(&image);
  fl_bytes_reset(&bytes);
  return ok;
}
