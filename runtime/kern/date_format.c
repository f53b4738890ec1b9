/* date_format.c: dates and datetimes by a format, into text and out of it.
 *
 * The format is strftime's subset of kern.h with English names. What always holds: independent of locale and
 * time zone; what is printed by a format that names year, month and day reads back the same. */
#include "kern/date_format.h"

#include "data/number.h"

#include <string.h>
#include <strings.h>

static const char *const month_names[12] = {"January",   "February", "March",    "April",
                                            "May",       "June",     "July",     "August",
                                            "September", "October",  "November", "December"};
static const char *const day_names[7] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                         "Friday", "Saturday", "Sunday"};

/* ---- printing ---------------------------------------------------------------------------------------- */

static int put(char *buf, int room, int at, const char *s, int n) {
  for (int i = 0; i < n && at < room; i++) buf[at++] = s[i];
  return at;
}
static int put_number(char *buf, int room, int at, int64_t v, int digits) {
  char text[24];
  int n = 0;
  uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
  while (u != 0 || n < digits) text[n++] = (char)('0' + u % 10), u /= 10;
  if (v < 0) text[n++] = '-';
  for (int i = 0; i < n / 2; i++) {
    char c = text[i];
    text[i] = text[n - 1 - i];
    text[n - 1 - i] = c;
  }
  return put(buf, room, at, text, n);
}

int fl_date_format(char *buf, int room, const char *format, int64_t micros) {
  int64_t days = fl_floor_div(micros, FL_DAY_MICROS), rest = micros - days * FL_DAY_MICROS;
  FlCivil c = fl_civil_from_days(days);
  int64_t second = rest / 1000000, hour = second / 3600;
  int64_t weekday = days + 3 - fl_floor_div(days + 3, 7) * 7;
  int at = 0;
  for (; *format != 0; format++) {
    if (*format != '%' || format[1] == 0) {
      at = put(buf, room, at, format, 1);
      continue;
    }
    switch (*++format) {
    case 'Y': at = put_number(buf, room, at, c.year, 4); break;
    case 'y': at = put_number(buf, room, at, c.year - fl_floor_div(c.year, 100) * 100, 2); break;
    case 'm': at = put_number(buf, room, at, c.month, 2); break;
    case 'd': at = put_number(buf, room, at, c.day, 2); break;
    case 'e': at = put_number(buf, room, at, c.day, 1); break;
    case 'j': at = put_number(buf, room, at, days - fl_days_from_civil(c.year, 1, 1) + 1, 3); break;
    case 'H': at = put_number(buf, room, at, hour, 2); break;
    case 'I': at = put_number(buf, room, at, (hour + 11) % 12 + 1, 2); break;
    case 'p': at = put(buf, room, at, hour < 12 ? "AM" : "PM", 2); break;
    case 'M': at = put_number(buf, room, at, second / 60 % 60, 2); break;
    case 'S': at = put_number(buf, room, at, second % 60, 2); break;
    case 'f': at = put_number(buf, room, at, rest % 1000000, 6); break;
    case 'b': at = put(buf, room, at, month_names[c.month - 1], 3); break;
    case 'B': at = put(buf, room, at, month_names[c.month - 1], (int)strlen(month_names[c.month - 1])); break;
    case 'a': at = put(buf, room, at, day_names[weekday], 3); break;
    case 'A': at = put(buf, room, at, day_names[weekday], (int)strlen(day_names[weekday])); break;
    case 'z': at = put(buf, room, at, "+0000", 5); break;
    default: at = put(buf, room, at, format, 1); break;
    }
  }
  return at;
}

bool fl_date_format_check(const char *format, int64_t format_n, const char **why) {
  for (int64_t i = 0; i < format_n; i++) {
    if (format[i] != '%') continue;
    i++;
    if (i == format_n || format[i] == 0 || strchr("YymdejHIpMSfbBaAz%", format[i]) == NULL) {
      if (why != NULL) *why = "a date format knows %Y %y %m %d %e %j %H %I %p %M %S %f %b %B %a %A %z and %%";
      return false;
    }
  }
  return true;
}

/* ---- reading ----------------------------------------------------------------------------------------- */

typedef struct Reader {
  const char *s, *end;
} Reader;

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* From one to `most` digits. */
static bool read_number(Reader *r, int most, int64_t *out) {
  int n = 0;
  int64_t v = 0;
  for (; n < most && r->s < r->end && is_digit(*r->s); n++) v = v * 10 + (*r->s++ - '0');
  *out = v;
  return n > 0;
}
/* One of the names, in full or its first three letters; its index. */
static bool read_name(Reader *r, const char *const *names, int n_names, int64_t *index) {
  for (int i = 0; i < n_names; i++) {
    size_t full = strlen(names[i]), left = (size_t)(r->end - r->s);
    size_t take = left >= full && strncasecmp(r->s, names[i], full) == 0 ? full
                  : left >= 3 && strncasecmp(r->s, names[i], 3) == 0     ? 3
                                                                         : 0;
    if (take > 0) {
      r->s += take;
      *index = i;
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
  if (!read_number(r, 2, &h)) return false;
  if (r->s < r->end && *r->s == ':') r->s++;
  if (!read_number(r, 2, &m) || h > 23 || m > 59) return false;
  *minutes = sign * (h * 60 + m);
  return true;
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
  int64_t year, month, day, day_of_year, hour, minute, second, micros, zone, ignored;
  bool half_day, afternoon;
} Parts;

static bool read_part(Reader *r, char kind, Parts *p) {
  switch (kind) {
  case 'Y': {
    bool negative = r->s < r->end && *r->s == '-';
    r->s += negative;
    if (!read_number(r, 4, &p->year)) return false;
    if (negative) p->year = -p->year;
    return true;
  }
  case 'y': /* 69 to 99 are 1969 to 1999, as POSIX has it */
    if (!read_number(r, 2, &p->year)) return false;
    p->year += p->year < 69 ? 2000 : 1900;
    return true;
  case 'm': return read_number(r, 2, &p->month);
  case 'd':
  case 'e':
    while (kind == 'e' && r->s < r->end && *r->s == ' ') r->s++;
    return read_number(r, 2, &p->day);
  case 'j': return read_number(r, 3, &p->day_of_year) && p->day_of_year > 0;
  case 'H': return read_number(r, 2, &p->hour);
  case 'I': p->half_day = true; return read_number(r, 2, &p->hour) && p->hour >= 1 && p->hour <= 12;
  case 'p':
    if (r->end - r->s < 2 || (r->s[1] | 0x20) != 'm') return false;
    p->afternoon = (r->s[0] | 0x20) == 'p';
    r->s += 2;
    return p->afternoon || (r->s[-2] | 0x20) == 'a';
  case 'M': return read_number(r, 2, &p->minute);
  case 'S': return read_number(r, 2, &p->second);
  case 'f': return read_fraction(r, &p->micros);
  case 'b':
  case 'B':
    if (!read_name(r, month_names, 12, &p->month)) return false;
    p->month++;
    return true;
  case 'a':
  case 'A': return read_name(r, day_names, 7, &p->ignored);
  case 'z': return read_zone(r, &p->zone);
  case '%': return r->s < r->end && *r->s++ == '%';
  default: return false;
  }
}

bool fl_parse_datetime_by(const char *s, int64_t n, const char *format, int64_t format_n, int64_t *micros) {
  if (format_n == 0) return fl_parse_datetime(s, n, micros);
  Reader r = {s, s + n};
  Parts p = {.year = 1970, .month = 1, .day = 1};
  for (int64_t i = 0; i < format_n; i++) {
    if (is_space(format[i])) {
      while (r.s < r.end && is_space(*r.s)) r.s++;
    } else if (format[i] == '%' && i + 1 < format_n) {
      if (!read_part(&r, format[++i], &p)) return false;
    } else if (r.s == r.end || *r.s++ != format[i]) {
      return false;
    }
  }
  if (r.s != r.end) return false;
  if (p.half_day) p.hour = p.hour % 12 + (p.afternoon ? 12 : 0);
  if (p.month < 1 || p.month > 12 || p.day < 1 || p.day > fl_month_length(p.year, p.month)) return false;
  if (p.hour > 23 || p.minute > 59 || p.second > 59 || p.day_of_year > 365 + fl_leap_year(p.year))
    return false;
  int64_t days = p.day_of_year > 0 ? fl_days_from_civil(p.year, 1, 1) + p.day_of_year - 1
                                   : fl_days_from_civil(p.year, p.month, p.day);
  int64_t seconds = days * 86400 + p.hour * 3600 + (p.minute - p.zone) * 60 + p.second;
  *micros = seconds * 1000000 + p.micros;
  return true;
}

bool fl_parse_date_by(const char *s, int64_t n, const char *format, int64_t format_n, int32_t *days) {
  int64_t micros;
  if (format_n == 0) return fl_parse_date(s, n, days);
  if (!fl_parse_datetime_by(s, n, format, format_n, &micros) || micros % FL_DAY_MICROS != 0) return false;
  *days = (int32_t)(micros / FL_DAY_MICROS);
  return true;
}
