/* image.h: PNG and JPEG images as arrays u8[height, width, channels]. Private to the room.
 *
 * Channels are gray, gray and alpha, RGB, or RGBA, as the file has them: palettes become RGB, 16 bits 8. What
 * always holds: no more memory is asked for than the size of the file explains; an image that is cut off or
 * damaged is an error, never one with a gray part. */
#ifndef FL_IMAGE_H
#define FL_IMAGE_H

#include "io/opened.h"

enum { FL_E_IMAGE = 964 };

typedef struct FlImageSize {
  int64_t height, width, channels;
} FlImageSize;

typedef enum FlImageKind { FL_IMAGE_NONE, FL_IMAGE_PNG, FL_IMAGE_JPEG } FlImageKind;

/* Reads an image: its size into *size when `to` is NULL, else its bytes, which must have that size, to `to`.
 * Any thread. */
typedef bool FlImageReader(const FlInput *in, const char *label, FlImageSize *size, uint8_t *to,
                           FlIoError *e);
FlImageReader fl_png_read, fl_jpeg_read;

/* Writes a PNG file. */
bool fl_png_write(FlOutput *out, const uint8_t *from, FlImageSize size, FlIoError *e);

/* false: an image of that size is not explained by so many bytes; ratio: bytes of it that one may give. */
bool fl_image_plausible(const FlInput *in, const char *label, FlImageSize size, int64_t ratio, FlIoError *e);
bool fl_image_bad(const char *label, const char *what, FlIoError *e);

#endif
