/* date_parse.c: dates and datetimes out of text by a format; the letters are listed in date_format.h.
 *
 * As strptime has it: %Y is four digits and %y two, other numbers may have fewer digits than printed; names
 * in any case, in full or three letters. What always holds: independent of locale and time zone; all of the
 * text is read; what the calendar does not have is no date. */
#include "kern/date_format.h"

#include "data/number.h"

#include <string.h>
#include <strings.h>

typedef struct Reader {
  const char *s, *end;
} Reader;

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static void skip_spaces(Reader *r) {
  while (r->s < r->end && is_space(*r->s)) r->s++;
}

/* From `least` to `most` digits. */
static bool read_number(Reader *r, int least, int most, int64_t *out) {
  int n = 0;
  int64_t v = 0;
  for (; n < most && r->s < r->end && is_digit(*r->s); n++) v = v * 10 + (*r->s++ - '0');
  *out = v;
  return n >= least;
}

/* The same within bounds. */
static bool read_within(Reader *r, int most_digits, int64_t low, int64_t high, int64_t *out) {
  return read_number(r, 1, most_digits, out) && *out >= low && *out <= high;
}

static bool read_signed(Reader *r, int least, int most, int64_t *out) {
  bool negative = r->s < r->end && *r->s == '-';
  r->s += negative;
  if (!read_number(r, least, most, out)) return false;
  if (negative) *out = -*out;
  return true;
}

/* One of the names, in full or its first three letters; its index from 1. */
static bool read_name(Reader *r, const char *const *names, int n_names, int64_t *index) {
  for (int i = 0; i < n_names; i++) {
    size_t full = strlen(names[i]), left = (size_t)(r->end - r->s);
    size_t take = left >= full && strncasecmp(r->s, names[i], full) == 0 ? full
                  : left >= 3 && strncasecmp(r->s, names[i], 3) == 0     ? 3
                                                                         : 0;
    if (take > 0) {
      r->s += take;
      *index = i + 1;
      return true;
    }
  }
  return false;
}

/* Z, +HH:MM or +HHMM, in minutes */
static bool read_zone(Reader *r, int64_t *minutes) {
  if (r->s < r->end && (*r->s == 'Z' || *r->s == 'z')) {
    r->s++;
    *minutes = 0;
    return true;
  }
  if (r->s == r->end || (*r->s != '+' && *r->s != '-')) return false;
  int64_t sign = *r->s++ == '-' ? -1 : 1, h, m;
  if (!read_number(r, 2, 2, &h)) return false;
  if (r->s < r->end && *r->s == ':') r->s++;
  if (!read_number(r, 2, 2, &m) || h > 23 || m > 59) return false;
  *minutes = sign * (h * 60 + m);
  return true;
}

/* The names of UTC: there are no others, since no table of zones is the same everywhere. */
static bool read_zone_name(Reader *r) {
  static const char *const names[] = {"UTC", "GMT", "Z"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    size_t n = strlen(names[k]);
    if ((size_t)(r->end - r->s) < n || strncasecmp(r->s, names[k], n) != 0) continue;
    r->s += n;
    return true;
  }
  return false;
}

static bool read_fraction(Reader *r, int64_t *micros) {
  int64_t v = 0;
  int n = 0;
  for (; r->s < r->end && is_digit(*r->s) && n < 9; n++, r->s++)
    if (n < 6) v = v * 10 + (*r->s - '0');
  for (int i = n; i < 6; i++) v *= 10;
  *micros = v;
  return n > 0;
}

typedef struct Parts {
  int64_t year, month, day, hour, minute, second, micros, zone;
  int64_t day_of_year, weekday; /* 0: not said; Monday is 1 */
  int64_t week, iso_week;       /* -1: not said */
  int64_t iso_year, seconds;
  bool half_day, afternoon, sundays; /* sundays: weeks begin with them */
  bool since_1970;                   /* seconds says it all */
} Parts;

static bool read_all(Reader *r, const char *format, int64_t n, Parts *p);

static bool read_half(Reader *r, Parts *p) {
  if (r->end - r->s < 2 || (r->s[1] | 0x20) != 'm') return false;
  p->afternoon = (r->s[0] | 0x20) == 'p';
  r->s += 2;
  return p->afternoon || (r->s[-2] | 0x20) == 'a';
}

static bool read_part(Reader *r, char letter, Parts *p) {
  const char *others;
  switch (letter) {
  case 'Y': return read_signed(r, 4, 4, &p->year);
  case 'y': /* 69 to 99 are 1969 to 1999, as POSIX has it */
    if (!read_number(r, 2, 2, &p->year)) return false;
    p->year += p->year < 69 ? 2000 : 1900;
    return true;
  case 'm': return read_within(r, 2, 1, 12, &p->month);
  case 'd':
  case 'e': skip_spaces(r); return read_within(r, 2, 1, 31, &p->day);
  case 'j': return read_within(r, 3, 1, 366, &p->day_of_year);
  case 'H':
  case 'k': skip_spaces(r); return read_within(r, 2, 0, 23, &p->hour);
  case 'I':
  case 'l':
    skip_spaces(r);
    p->half_day = true;
    return read_within(r, 2, 1, 12, &p->hour);
  case 'p':
  case 'P': return read_half(r, p);
  case 'M': return read_within(r, 2, 0, 59, &p->minute);
  case 'S': return read_within(r, 2, 0, 59, &p->second);
  case 'f': return read_fraction(r, &p->micros);
  case 's': p->since_1970 = true; return read_signed(r, 1, 12, &p->seconds);
  case 'b':
  case 'h':
  case 'B': return read_name(r, fl_month_names, 12, &p->month);
  case 'a':
  case 'A': return read_name(r, fl_day_names, 7, &p->weekday);
  case 'u': return read_within(r, 1, 1, 7, &p->weekday);
  case 'w':
    if (!read_within(r, 1, 0, 6, &p->weekday)) return false;
    if (!p->weekday) p->weekday = 7;
    return true;
  case 'U':
  case 'W': p->sundays = letter == 'U'; return read_within(r, 2, 0, 53, &p->week);
  case 'V': return read_within(r, 2, 1, 53, &p->iso_week);
  case 'G': return read_signed(r, 4, 4, &p->iso_year);
  case 'z': return read_zone(r, &p->zone);
  case 'Z': return read_zone_name(r);
  case 'n':
  case 't': skip_spaces(r); return true;
  case '%': return r->s < r->end && *r->s++ == '%';
  default:
    others = fl_date_format_short(letter);
    return others && read_all(r, others, (int64_t)strlen(others), p);
  }
}

static bool read_all(Reader *r, const char *format, int64_t n, Parts *p) {
  for (int64_t i = 0; i < n; i++) {
    if (is_space(format[i])) {
      skip_spaces(r);
    } else if (format[i] == '%' && i + 1 < n) {
      i += 1 + (format[i + 1] == '-' && i + 2 < n);
      if (!read_part(r, format[i], p)) return false;
    } else if (r->s == r->end || *r->s++ != format[i]) {
      return false;
    }
  }
  return true;
}

/* The Monday of week 1 of ISO 8601: the week with January 4. */
static int64_t first_iso_monday(int64_t year) {
  int64_t fourth = fl_days_from_civil(year, 1, 4);
  return fourth - (fl_s_date_weekday((int32_t)fourth) - 1);
}

/* The day that the parts say; false: the calendar has no such day. */
static bool day_of(const Parts *p, int64_t *days) {
  int64_t january = fl_days_from_civil(p->year, 1, 1);
  if (p->iso_week > 0) {
    *days = first_iso_monday(p->iso_year) + (p->iso_week - 1) * 7 + p->weekday - 1;
    return p->weekday > 0 && *days - (p->weekday - 1) < first_iso_monday(p->iso_year + 1);
  }
  if (p->week >= 0) {
    if (!p->weekday) return false;
    int64_t before =
        fl_s_date_weekday((int32_t)january) - 1 + p->sundays; /* days of that week before January 1 */
    int64_t within = p->sundays ? p->weekday % 7 : p->weekday - 1;
    *days = january - before % 7 + (p->week - (before % 7 == 0)) * 7 + within;
    return *days >= january && *days < january + 365 + fl_leap_year(p->year);
  }
  if (p->day_of_year > 0) {
    *days = january + p->day_of_year - 1;
    return p->day_of_year <= 365 + fl_leap_year(p->year);
  }
  *days = fl_days_from_civil(p->year, p->month, p->day);
  return p->day <= fl_month_length(p->year, p->month);
}

bool fl_parse_datetime_by(const char *s, int64_t n, const char *format, int64_t format_n, int64_t *micros) {
  if (format_n == 0) return fl_parse_datetime(s, n, micros);
  Reader r = {s, s + n};
  Parts p = {.year = 1970, .month = 1, .day = 1, .week = -1, .iso_week = -1};
  int64_t days;
  if (!read_all(&r, format, format_n, &p) || r.s != r.end || !day_of(&p, &days)) return false;
  if (p.half_day) p.hour = p.hour % 12 + (p.afternoon ? 12 : 0);
  int64_t seconds = days * 86400 + p.hour * 3600 + (p.minute - p.zone) * 60 + p.second;
  *micros = (p.since_1970 ? p.seconds : seconds) * 1000000 + p.micros;
  return true;
}

bool fl_parse_date_by(const char *s, int64_t n, const char *format, int64_t format_n, int32_t *days) {
  static const char calendar[] = "%Y-%m-%d";
  int64_t micros;
  if (format_n == 0) return fl_parse_date(s, n, days);
  bool same = format_n == (int64_t)strlen(calendar) && memcmp(format, calendar, (size_t)format_n) == 0;
  if (same && fl_parse_date(s, n, days)) return true; /* what else it takes (2026-1-5) goes on */
  if (!fl_parse_datetime_by(s, n, format, format_n, &micros) || micros % FL_DAY_MICROS != 0) return false;
  *days = (int32_t)(micros / FL_DAY_MICROS);
  return true;
}
