/* number.h: numbers, dates and texts into each other, exactly and independent of locale.
 *
 * Printing writes at most FL_NUMBER_ROOM bytes, no NUL, and returns how many. Parsing takes the whole of [s,
 * s + len) or fails; it leaves *out alone then. No function here allocates but the parsing of numbers of more
 * than 1,000 characters. */
#ifndef FL_NUMBER_H
#define FL_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

enum { FL_NUMBER_ROOM = 40 };

/* The shortest decimal text that reads back as the same value, always with a point or an exponent: 2.0,
 * 0.0001, 1e-5, 1234567890123456.0, 1e16, -0.0, inf, nan. */
int fl_print_f64(char *buf, double x);
int fl_print_f32(char *buf, float x);
int fl_print_i64(char *buf, int64_t x);
int fl_print_u64(char *buf, uint64_t x);
/* The digits behind fl_print_f64: |x| = digits * 10^exponent, x finite and not zero, digits without trailing
 * zeros. */
void fl_shortest_f64(double x, uint64_t *digits, int *exponent);

/* [+-] digits [. digits] [e [+-] digits] with a digit before or after the point, or inf, infinity, nan in any
 * case. Correctly rounded. A number too large for the type fails. */
bool fl_parse_f64(const char *s, int64_t len, double *out);
bool fl_parse_f32(const char *s, int64_t len, float *out);
/* [+-] digits; what does not fit fails. */
bool fl_parse_i64(const char *s, int64_t len, int64_t *out);
bool fl_parse_u64(const char *s, int64_t len, uint64_t *out);
/* A decimal of so many units of 10^-scale, scale 0 to 18: 12.50, -0.05, 7; and back, by the grammar of
 * fl_parse_f64 without its words: what is no whole number of units, or does not fit, fails. */
int fl_print_decimal(char *buf, int64_t units, int scale);
bool fl_parse_decimal(const char *s, int64_t len, int scale, int64_t *out);
/* true or false, also True, TRUE, False, FALSE. */
bool fl_parse_bool(const char *s, int64_t len, bool *out);

/* dates: proleptic Gregorian calendar, days since 1970-01-01, microseconds since 1970-01-01T00:00Z */

int32_t fl_date_of_civil(int64_t year, int month, int day); /* 1..12, 1..31 */
void fl_civil_of_date(int32_t date, int64_t *year, int *month, int *day);
int fl_days_in_month(int64_t year, int month);

/* YYYY-MM-DD, years 0000 to 9999. */
bool fl_parse_date(const char *s, int64_t len, int32_t *out);
/* YYYY-MM-DD, `T` or a space, HH:MM[:SS[.f]], up to 9 digits of f (cut to microseconds), then nothing, Z or
 * +HH:MM; without a zone it is UTC. */
bool fl_parse_datetime(const char *s, int64_t len, int64_t *out);
int fl_print_date(char *buf, int32_t date);
/* 2026-01-31T12:00:00Z, with .ffffff when there are microseconds. */
int fl_print_datetime(char *buf, int64_t micros);
/* 2d 03:04:05.5, 00:00:01, -1d 00:00:00 (the sign is of the whole) */
int fl_print_duration(char *buf, int64_t micros);
/* ISO 8601: -P1DT2H3.5S, into FL_NUMBER_ROOM bytes; and back, weeks too. false: it is none, or not whole
 * microseconds. */
int fl_print_duration_iso(char *buf, int64_t micros);
bool fl_parse_duration_iso(const char *s, int64_t len, int64_t *micros);

#endif
