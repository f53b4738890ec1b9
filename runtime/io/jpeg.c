/* jpeg.c: JPEG images by libjpeg-turbo; see image.h.
 *
 * Its errors leave by longjmp, to where decode begins; what it warns of, data that is cut off or damaged, is
 * an error here too. */
#include "io/image.h"

#include <stdio.h>

#include <jpeglib.h>
#include <setjmp.h>
#include <string.h>

enum { FL_JPEG_RATIO = 2000 };

#define FL_API JpegApi
#define FL_API_PREFIX jpeg_
#define FL_API_DEF "io/jpeg.def"
#include "io/opened.inc"

typedef struct Jpeg {
  struct jpeg_error_mgr errors; /* first: libjpeg gives it back */
  struct jpeg_decompress_struct image;
  JpegApi api;
  jmp_buf jump;
  char why[JMSG_LENGTH_MAX];
} Jpeg;

static void on_error(j_common_ptr image) {
  Jpeg *j = (Jpeg *)(void *)image->err;
  j->errors.format_message(image, j->why);
  longjmp(j->jump, 1);
}

static void on_message(j_common_ptr image, int level) {
  if (level < 0) on_error(image);
}

/* With `to` NULL only the header, then the size is in `size`. false: libjpeg said why. */
static bool decode(Jpeg *j, const FlInput *in, FlImageSize *size, uint8_t *to) {
  struct jpeg_decompress_struct *image = &j->image;
  if (setjmp(j->jump)) return false;
  j->api.CreateDecompress(image, JPEG_LIB_VERSION, sizeof *image);
  j->api.mem_src(image, (const unsigned char *)in->data, (unsigned long)in->size);
  j->api.read_header(image, TRUE);
  bool gray = image->jpeg_color_space == JCS_GRAYSCALE;
  image->out_color_space = gray ? JCS_GRAYSCALE : JCS_RGB;
  FlImageSize has = {image->image_height, image->image_width, gray ? 1 : 3};
  if (!to) {
    *size = has;
    return true;
  }
  if (memcmp(size, &has, sizeof has) != 0) {
    (void)snprintf(j->why, sizeof j->why, "its size changed");
    return false;
  }
  j->api.start_decompress(image);
  for (int64_t row = 0; row < has.height;) {
    JSAMPROW at = to + row * has.width * has.channels;
    row += j->api.read_scanlines(image, &at, 1);
  }
  j->api.finish_decompress(image);
  return true;
}

bool fl_jpeg_read(const FlInput *in, const char *label, FlImageSize *size, uint8_t *to, FlIoError *e) {
  Jpeg j;
  memset(&j, 0, sizeof j);
  if (!open_api(&j.api, "libjpeg.so.62", "libjpeg62-turbo", "reading JPEG images", e)) return false;
  j.image.err = j.api.std_error(&j.errors);
  j.errors.error_exit = on_error;
  j.errors.emit_message = on_message;
  bool ok = decode(&j, in, size, to) || fl_image_bad(label, j.why, e);
  j.api.destroy_decompress(&j.image);
  return ok && (to || fl_image_plausible(in, label, *size, FL_JPEG_RATIO, e));
}
