/* kern.h: the meaning of every SCALAR operator of ir/ops.def, one C function each, for whoever computes with
 * scalars.
 *
 * What comes in: unboxed scalars. What goes out: unboxed scalars, fault bits, texts in a heap.
 * What always holds: a function depends on its arguments alone; the bits of its result are the same from any
 * C compiler, on any x86-64 and at any vector width, because only IEEE + - * / sqrt, comparisons and integers
 * are used (no contraction, no reassociation, no libm but fmod and fma, whose results are exact or correctly
 * rounded).
 *
 * Convention: how the C function of an operator follows from its row in ops.def
 *   name       fl_s_<text>_<dtype>  when the signature has T, N, F or I: the dtype of that letter, by
 * dtypes.def; fl_s_<text>          when it has none; fl_s_convert_<from>_<to>  for CONVERT. parameters in
 * this order:
 *     1. FlHeap *heap                     when the flags have HEAP
 *     2. the arguments: the C type of dtypes.def each (bool is uint8_t, 0 or 1); a text is two parameters,
 *        const char *ptr, int64_t len
 *     3. const char *format               TO_TEXT only: attribute s, NUL-terminated, "" for none
 *     4. one pointer for each result after the first: uint8_t *valid of the try_parse functions
 *     5. int32_t *fault                   when the flags have FAULT, for every dtype: FlFault bits are ORed
 * into it result     the first result, returned: the C type; a text is FlText by value (two registers) A
 * faulting function returns something harmless and stores nothing else; *fault is read and written once.
 *
 * Where they live: everything in scalar_*.h, vec_*.h, calendar.h and random.h is a header function: `static
 * inline` here, and external in the bitcode that code generation links (kern/bitcode.h; library flowkernbc).
 * The functions of scalar_text.h are both: inline and in libflowrt. Whatever else makes or reads texts is
 * declared at the end of this file and is an ordinary function of libflowrt.
 *
 * NaN: arithmetic may give any NaN. Whoever stores a computed float into an array (MAP, SCAN, COLLECT, STORE,
 * ARRAY), digests it or hands it to C stores fl_s_canon_f64 or fl_s_canon_f32 of it; values in slots and
 * registers need not be canonical. Readers of files do the same, so that there is one NaN wherever bits can
 * be seen.
 *
 * Conversions: to integers exact or NARROW; to floats rounded to nearest, which never faults. FILE is as
 * TEXT. */
#ifndef FL_KERN_H
#define FL_KERN_H

#include "kern/scalar_arith.h"
#include "kern/scalar_convert.h"
#include "kern/scalar_decimal.h"
#include "kern/scalar_math.h"
#include "kern/calendar.h"
#include "kern/random.h"
#include "kern/scalar_text.h"

/* ---- texts: arguments are borrowed, results point into an argument or into `heap` -------------------- */

/* Order of code points, which is that of bytes. Equality, starts_with and ends_with are in scalar_text.h. */
uint8_t fl_s_lt_text(const char *a, int64_t an, const char *b, int64_t bn);
uint8_t fl_s_le_text(const char *a, int64_t an, const char *b, int64_t bn);
uint8_t fl_s_gt_text(const char *a, int64_t an, const char *b, int64_t bn);
uint8_t fl_s_ge_text(const char *a, int64_t an, const char *b, int64_t bn);

/* Both, one after the other. */
FlText fl_s_text_concat(FlHeap *heap, const char *a, int64_t an, const char *b, int64_t bn);
int64_t fl_s_n_chars(const char *s, int64_t n); /* code points */
/* Unicode's full case mapping (text_case.c): one character may become up to three. */
FlText fl_s_lower(FlHeap *heap, const char *s, int64_t n);
FlText fl_s_upper(FlHeap *heap, const char *s, int64_t n);
/* The first character of each word, which white space divides, in title case, the others in lower case. */
FlText fl_s_title(FlHeap *heap, const char *s, int64_t n);
FlText fl_s_reverse_text(FlHeap *heap, const char *s, int64_t n); /* code point by code point */
/* DOMAIN: fewer than 0 times, or a result of more than 2^31 - 1 bytes. */
FlText fl_s_repeat_text(FlHeap *heap, const char *s, int64_t n, int64_t times, int32_t *fault);
/* Without the characters of `chars` at both ends, or at one; empty: white space (Unicode White_Space). */
FlText fl_s_trim(const char *s, int64_t n, const char *chars, int64_t chars_n);
FlText fl_s_trim_start(const char *s, int64_t n, const char *chars, int64_t chars_n);
FlText fl_s_trim_end(const char *s, int64_t n, const char *chars, int64_t chars_n);
/* Position of the first occurrence; *valid 0: there is none. */
int64_t fl_s_text_find(const char *s, int64_t n, const char *part, int64_t part_n, uint8_t *valid);
/* Levenshtein: how many code points to insert, remove or change to make one the other. */
int64_t fl_s_edit_distance(const char *a, int64_t an, const char *b, int64_t bn, int32_t *fault);
uint8_t fl_s_contains(const char *s, int64_t n, const char *part, int64_t part_n);
/* Every occurrence from the left, none overlapping; an empty `old` occurs nowhere. */
FlText fl_s_replace(FlHeap *heap, const char *s, int64_t n, const char *old, int64_t old_n, const char *by,
                    int64_t by_n);
/* Piece i, from 0, of s cut at each sep; -1 is the last; empty when there is none. An empty sep cuts nothing.
 */
FlText fl_s_split_part(const char *s, int64_t n, const char *sep, int64_t sep_n, int64_t i);
/* How many pieces that are, at least one. */
int64_t fl_s_count_pieces(const char *s, int64_t n, const char *sep, int64_t sep_n);
/* Code points [from, to), both clamped to the text; negative ones count from its end. */
FlText fl_s_text_slice(const char *s, int64_t n, int64_t from, int64_t to);
/* At least |width| code points: `fill` repeated on the right, or on the left when width < 0; empty fill:
 * spaces. */
FlText fl_s_pad(FlHeap *heap, const char *s, int64_t n, int64_t width, const char *fill, int64_t fill_n);

/* Regular expressions: regex.h. Does the pattern match somewhere, how often, the group of the first match
 * (*valid 0: no match, or the group took no part), and every match replaced. PATTERN, LIMIT; DOMAIN: no such
 * group. */
uint8_t fl_s_matches(const char *s, int64_t n, const char *pattern, int64_t pattern_n, int32_t *fault);
int64_t fl_s_count_matches(const char *s, int64_t n, const char *pattern, int64_t pattern_n, int32_t *fault);
FlText fl_s_extract(const char *s, int64_t n, const char *pattern, int64_t pattern_n, int64_t group,
                    uint8_t *valid, int32_t *fault);
FlText fl_s_replace_regex(FlHeap *heap, const char *s, int64_t n, const char *pattern, int64_t pattern_n,
                          const char *by, int64_t by_n, int32_t *fault);

/* A text read whole. One that is no such value sets FL_FAULT_PARSE; try_ gives *valid 0 instead. Dates are
 * days, datetimes microseconds since 1970; `format`: date_format.h. */
double fl_s_parse_f64(const char *s, int64_t n, int32_t *fault);
int64_t fl_s_parse_i64(const char *s, int64_t n, int32_t *fault); /* [+-]digits, all of it */
/* Numbers as people write them, `decimal` being "." or "," (text_number.c). */
double fl_s_parse_number(const char *s, int64_t n, const char *decimal, int64_t decimal_n, int32_t *fault);
double fl_s_try_parse_number(const char *s, int64_t n, const char *decimal, int64_t decimal_n,
                             uint8_t *valid);
int32_t fl_s_parse_date(const char *s, int64_t n, const char *format, int64_t format_n, int32_t *fault);
int64_t fl_s_parse_datetime(const char *s, int64_t n, const char *format, int64_t format_n, int32_t *fault);
double fl_s_try_parse_f64(const char *s, int64_t n, uint8_t *valid);
int64_t fl_s_try_parse_i64(const char *s, int64_t n, uint8_t *valid);
int32_t fl_s_try_parse_date(const char *s, int64_t n, const char *format, int64_t format_n, uint8_t *valid);
int64_t fl_s_try_parse_datetime(const char *s, int64_t n, const char *format, int64_t format_n,
                                uint8_t *valid);

/* decimal.c: the decimal of that scale nearest to a; NARROW: there is none, it is too large. The decimal that
 * a text says; PARSE: it is none, or no whole number of units. */
int64_t fl_s_decimal_of_real(double a, int64_t scale, int32_t *fault);
int64_t fl_s_parse_decimal(const char *s, int64_t n, int64_t scale, int32_t *fault);

/* ---- printing (format.c). `format` was accepted by fl_format_check for that dtype -------------------- */

/* A value as text by that format; "": its plain form. */
FlText fl_s_to_text_bool(FlHeap *heap, uint8_t v, const char *format);
FlText fl_s_to_text_i8(FlHeap *heap, int8_t v, const char *format);
FlText fl_s_to_text_i16(FlHeap *heap, int16_t v, const char *format);
FlText fl_s_to_text_i32(FlHeap *heap, int32_t v, const char *format);
FlText fl_s_to_text_i64(FlHeap *heap, int64_t v, const char *format);
FlText fl_s_to_text_u8(FlHeap *heap, uint8_t v, const char *format);
FlText fl_s_to_text_u16(FlHeap *heap, uint16_t v, const char *format);
FlText fl_s_to_text_u32(FlHeap *heap, uint32_t v, const char *format);
FlText fl_s_to_text_u64(FlHeap *heap, uint64_t v, const char *format);
FlText fl_s_to_text_f32(FlHeap *heap, float v, const char *format);
FlText fl_s_to_text_f64(FlHeap *heap, double v, const char *format);
FlText fl_s_to_text_text(FlHeap *heap, const char *s, int64_t n, const char *format);
FlText fl_s_to_text_date(FlHeap *heap, int32_t v, const char *format);
FlText fl_s_to_text_datetime(FlHeap *heap, int64_t v, const char *format);
FlText fl_s_to_text_duration(FlHeap *heap, int64_t v, const char *format);
/* The last word is that of the row in dtypes.def. */
FlText fl_s_to_text_decimal0(FlHeap *heap, int64_t v, const char *format);
FlText fl_s_to_text_decimal1(FlHeap *heap, int64_t v, const char *format);
FlText fl_s_to_text_decimal2(FlHeap *heap, int64_t v, const char *format);
FlText fl_s_to_text_decimal3(FlHeap *heap, int64_t v, const char *format);
FlText fl_s_to_text_decimal4(FlHeap *heap, int64_t v, const char *format);
FlText fl_s_to_text_decimal5(FlHeap *heap, int64_t v, const char *format);
FlText fl_s_to_text_decimal6(FlHeap *heap, int64_t v, const char *format);
FlText fl_s_to_text_decimal7(FlHeap *heap, int64_t v, const char *format);
FlText fl_s_to_text_decimal8(FlHeap *heap, int64_t v, const char *format);
FlText fl_s_to_text_decimal9(FlHeap *heap, int64_t v, const char *format);
FlText fl_s_to_text_decimal10(FlHeap *heap, int64_t v, const char *format);
FlText fl_s_to_text_decimal11(FlHeap *heap, int64_t v, const char *format);
FlText fl_s_to_text_decimal12(FlHeap *heap, int64_t v, const char *format);
FlText fl_s_to_text_decimal13(FlHeap *heap, int64_t v, const char *format);
FlText fl_s_to_text_decimal14(FlHeap *heap, int64_t v, const char *format);
FlText fl_s_to_text_decimal15(FlHeap *heap, int64_t v, const char *format);
FlText fl_s_to_text_decimal16(FlHeap *heap, int64_t v, const char *format);
FlText fl_s_to_text_decimal17(FlHeap *heap, int64_t v, const char *format);
FlText fl_s_to_text_decimal18(FlHeap *heap, int64_t v, const char *format);

/* Is `format` (what stands after ':' in "{x:...}") right for a value of this type? When not, *why (may be
 * NULL) is set to a constant sentence without full stop. The grammar is at the top of format.c. */
bool fl_format_check(const char *format, FlDtype dtype, const char **why);

/* Reads all of s by `format`, whose letters date_format.h lists, as strptime has it: English names in any
 * case, %Y four digits and %y two, %f one to nine digits of a fraction; other bytes are themselves, white
 * space matches any run of it. Missing parts are 1970, January, the first, midnight. A date may not have a
 * time of day other than midnight. An empty format means the form of fl_parse_date and fl_parse_datetime
 * (data/number.h). */
bool fl_parse_date_by(const char *s, int64_t n, const char *format, int64_t format_n, int32_t *days);
bool fl_parse_datetime_by(const char *s, int64_t n, const char *format, int64_t format_n, int64_t *micros);
/* Is it a format to print by; to read by? *why (may be NULL) as above. */
bool fl_date_format_check(const char *format, int64_t format_n, bool reads, const char **why);
bool fl_date_format_has_time(const char *format); /* a time of day is part of it */

#endif
