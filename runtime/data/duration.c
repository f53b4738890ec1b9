/* duration.c: durations as text in ISO 8601, and back.
 *
 * What always holds: what is printed reads back the same; text that is no exact number of microseconds is
 * none. Years and months have no length, so they are no part of a duration. Source: ISO 8601-1:2019, 5.5.2.
 */
#include "data/number.h"

static const uint64_t SECOND = 1000000, MINUTE = 60000000, HOUR = 3600000000, DAY = 86400000000,
                      WEEK = 604800000000;

static char *put_part(char *at, uint64_t n, char unit) {
  if (!n) return at;
  at += fl_print_u64(at, n);
  *at++ = unit;
  return at;
}

int fl_print_duration_iso(char *buf, int64_t micros) {
  char *at = buf;
  uint64_t size = micros < 0 ? -(uint64_t)micros : (uint64_t)micros, rest = size % DAY;
  if (micros < 0) *at++ = '-';
  *at++ = 'P';
  at = put_part(at, size / DAY, 'D');
  if (rest || !size) *at++ = 'T';
  at = put_part(at, rest / HOUR, 'H');
  at = put_part(at, rest % HOUR / MINUTE, 'M');
  uint64_t seconds = rest % MINUTE / SECOND, fraction = rest % SECOND;
  if (!seconds && !fraction && size) return (int)(at - buf);
  at += fl_print_u64(at, seconds);
  if (fraction) {
    *at++ = '.';
    for (uint64_t digit = SECOND / 10; fraction; fraction %= digit, digit /= 10)
      *at++ = (char)('0' + fraction / digit);
  }
  *at++ = 'S';
  return (int)(at - buf);
}

/* Digits at *s, at least one; false: there are none, or too many. */
static bool take_digits(const char **s, const char *end, uint64_t *n) {
  const char *begin = *s;
  for (*n = 0; *s < end && **s >= '0' && **s <= '9'; (*s)++) {
    if (*s - begin >= 18) return false;
    *n = *n * 10 + (uint64_t)(**s - '0');
  }
  return *s > begin;
}

/* .digits of a second in microseconds; true also without a point. */
static bool take_fraction(const char **s, const char *end, uint64_t *micros) {
  *micros = 0;
  if (*s == end || (**s != '.' && **s != ',')) return true;
  const char *begin = ++*s;
  uint64_t digit = SECOND / 10;
  for (; *s < end && **s >= '0' && **s <= '9'; (*s)++, digit /= 10) {
    if (!digit && **s != '0') return false;
    *micros += digit * (uint64_t)(**s - '0');
  }
  return *s > begin;
}

bool fl_parse_duration_iso(const char *s, int64_t len, int64_t *micros) {
  static const struct {
    char name;
    bool time;
    const uint64_t *size;
  } units[] = {{'W', false, &WEEK},
               {'D', false, &DAY},
               {'H', true, &HOUR},
               {'M', true, &MINUTE},
               {'S', true, &SECOND}};
  enum { N_UNITS = sizeof units / sizeof *units };
  const char *end = s + len;
  bool negative = len && *s == '-', time = false;
  if (len && (*s == '-' || *s == '+')) s++;
  if (end - s < 3 || *s++ != 'P') return false;
  uint64_t all = 0;
  for (int unit = 0; s < end;) {
    uint64_t n, fraction, part;
    if (*s == 'T' && !time) {
      time = true;
      s++;
    }
    if (!take_digits(&s, end, &n) || !take_fraction(&s, end, &fraction) || s == end) return false;
    while (unit < N_UNITS && (units[unit].name != *s || units[unit].time != time)) unit++;
    if (unit == N_UNITS || (fraction && units[unit].size != &SECOND)) return false;
    if (__builtin_mul_overflow(n, *units[unit].size, &part) || __builtin_add_overflow(all, part, &all) ||
        __builtin_add_overflow(all, fraction, &all))
      return false;
    unit++;
    s++;
  }
  if (all > (uint64_t)INT64_MAX + negative) return false;
  *micros = negative ? (int64_t)-all : (int64_t)all;
  return true;
}
