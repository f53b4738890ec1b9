/* date.c: days and microseconds as calendar texts and back.
 *
 * Method: H. Hinnant, "chrono-compatible low-level date algorithms" (2013): years start in March, eras of 400
 * years. */
#include "data/number.h"

#include <string.h>

static const int64_t MICROS_PER_DAY = 86400000000;

int32_t fl_date_of_civil(int64_t year, int month, int day) {
  int64_t y = year - (month <= 2), era = (y >= 0 ? y : y - 399) / 400, of_era = y - era * 400;
  int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return (int32_t)(era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468);
}

void fl_civil_of_date(int32_t date, int64_t *year, int *month, int *day) {
  int64_t z = (int64_t)date + 719468, era = (z >= 0 ? z : z - 146096) / 146097, d = z - era * 146097;
  int64_t of_era = (d - d / 1460 + d / 36524 - d / 146096) / 365;
  int64_t of_year = d - (365 * of_era + of_era / 4 - of_era / 100), shifted = (5 * of_year + 2) / 153;
  *day = (int)(of_year - (153 * shifted + 2) / 5 + 1);
  *month = (int)(shifted < 10 ? shifted + 3 : shifted - 9);
  *year = of_era + era * 400 + (*month <= 2);
}

int fl_days_in_month(int64_t year, int month) {
  static const int8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return days[month - 1] + (month == 2 && leap);
}

/* n digits at s, or -1. */
static int digits(const char *s, int n) {
  int x = 0;
  for (int k = 0; k < n; k++) {
    if ((unsigned char)(s[k] - '0') > 9) return -1;
    x = x * 10 + (s[k] - '0');
  }
  return x;
}

bool fl_parse_date(const char *s, int64_t len, int32_t *out) {
  if (len != 10 || s[4] != '-' || s[7] != '-') return false;
  int y = digits(s, 4), m = digits(s + 5, 2), d = digits(s + 8, 2);
  if (y < 0 || m < 1 || m > 12 || d < 1 || d > fl_days_in_month(y, m)) return false;
  *out = fl_date_of_civil(y, m, d);
  return true;
}

/* Z or +HH:MM or +HHMM or nothing, as microseconds east of UTC. */
static bool parse_zone(const char *s, int64_t len, int64_t *east) {
  *east = 0;
  if (len == 0 || (len == 1 && (*s == 'Z' || *s == 'z'))) return true;
  bool colon = len == 6 && s[3] == ':';
  if ((*s != '+' && *s != '-') || !(colon || len == 5)) return false;
  int h = digits(s + 1, 2), m = digits(s + 3 + colon, 2);
  if (h < 0 || h > 23 || m < 0 || m > 59) return false;
  *east = (int64_t)(h * 60 + m) * (*s == '-' ? -60000000 : 60000000);
  return true;
}

bool fl_parse_datetime(const char *s, int64_t len, int64_t *out) {
  int32_t day;
  if (len < 16 || !fl_parse_date(s, 10, &day) || (s[10] != 'T' && s[10] != ' ') || s[13] != ':') return false;
  int h = digits(s + 11, 2), m = digits(s + 14, 2), sec = 0;
  if (h < 0 || h > 23 || m < 0 || m > 59) return false;
  int64_t at = 16, micros = 0, east;
  if (at < len && s[at] == ':') {
    if (len < 19 || (sec = digits(s + 17, 2)) < 0 || sec > 59) return false;
    at = 19;
    if (at < len && s[at] == '.') {
      int n = 0;
      for (at++; at < len && (unsigned char)(s[at] - '0') < 10; at++, n++) {
        if (n < 6) micros = micros * 10 + (s[at] - '0');
      }
      if (n == 0 || n > 9) return false;
      for (; n < 6; n++) micros *= 10;
    }
  }
  if (!parse_zone(s + at, len - at, &east)) return false;
  *out = day * MICROS_PER_DAY + ((h * 60 + m) * 60 + (int64_t)sec) * 1000000 + micros - east;
  return true;
}

static char *put(char *at, int64_t x, int n) {
  for (int k = n - 1; k >= 0; k--) {
    at[k] = (char)('0' + x % 10);
    x /= 10;
  }
  return at + n;
}

int fl_print_date(char *buf, int32_t date) {
  int64_t y;
  int m, d;
  fl_civil_of_date(date, &y, &m, &d);
  char *at = buf;
  if (y < 0) {
    *at++ = '-';
    y = -y;
  }
  if (y > 9999) {
    at += fl_print_i64(at, y);
  } else {
    at = put(at, y, 4);
  }
  *at++ = '-';
  at = put(at, m, 2);
  *at++ = '-';
  return (int)(put(at, d, 2) - buf);
}

static char *put_time(char *at, int64_t micros, bool trim) {
  int64_t sec = micros / 1000000, rest = micros % 1000000;
  at = put(at, sec / 3600, 2);
  *at++ = ':';
  at = put(at, sec / 60 % 60, 2);
  *at++ = ':';
  at = put(at, sec % 60, 2);
  if (rest) {
    *at++ = '.';
    at = put(at, rest, 6);
    while (trim && at[-1] == '0') at--;
  }
  return at;
}

int fl_print_datetime(char *buf, int64_t micros) {
  int64_t day = micros / MICROS_PER_DAY, rest = micros % MICROS_PER_DAY;
  if (rest < 0) {
    rest += MICROS_PER_DAY;
    day--;
  }
  char *at = buf + fl_print_date(buf, (int32_t)day);
  *at++ = 'T';
  at = put_time(at, rest, false);
  *at++ = 'Z';
  return (int)(at - buf);
}

int fl_print_duration(char *buf, int64_t micros) {
  char *at = buf;
  uint64_t size = micros < 0 ? -(uint64_t)micros : (uint64_t)micros, day = (uint64_t)MICROS_PER_DAY;
  if (micros < 0) *at++ = '-';
  if (size >= day) {
    at += fl_print_u64(at, size / day);
    *at++ = 'd';
    *at++ = ' ';
  }
  return (int)(put_time(at, (int64_t)(size % day), true) - buf);
}
