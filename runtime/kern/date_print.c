/* date_print.c: dates and datetimes by a format into text; the letters are listed in date_format.h.
 *
 * What always holds: independent of locale and time zone; what is printed by a format that names year, month
 * and day reads back the same. */
#include "kern/date_format.h"

#include <string.h>

const char *const fl_month_names[12] = {"January",   "February", "March",    "April",
                                        "May",       "June",     "July",     "August",
                                        "September", "October",  "November", "December"};
const char *const fl_day_names[7] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                     "Friday", "Saturday", "Sunday"};

const char *fl_date_format_short(char letter) {
  switch (letter) {
  case 'D':
  case 'x': return "%m/%d/%y";
  case 'F': return "%Y-%m-%d";
  case 'T':
  case 'X': return "%H:%M:%S";
  case 'R': return "%H:%M";
  case 'r': return "%I:%M:%S %p";
  case 'c': return "%a %b %e %H:%M:%S %Y";
  default: return NULL;
  }
}

typedef struct Printer {
  char *buf;
  int64_t room, len; /* len may pass room: what would be there */
  int64_t days, micros;
  FlCivil civil;
  int32_t day;   /* `days`, near enough for its week */
  bool unpadded; /* after %- */
} Printer;

static void put(Printer *p, const char *s, int64_t n) {
  int64_t room = p->room - p->len;
  if (room > 0) memcpy(p->buf + p->len, s, (size_t)(n < room ? n : room));
  p->len += n;
}

static void put_name(Printer *p, const char *name, bool full) {
  put(p, name, full ? (int64_t)strlen(name) : 3);
}

static void put_number(Printer *p, int64_t v, int digits, char fill) {
  char text[24];
  int n = 0;
  if (v >= 0 && v < 100 && digits == 2 && !p->unpadded) { /* nearly always */
    text[0] = (char)(v < 10 ? fill : '0' + v / 10);
    text[1] = (char)('0' + v % 10);
    put(p, text, 2);
    return;
  }
  uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
  for (; u != 0 || n == 0; u /= 10) text[sizeof text - 1 - (size_t)n++] = (char)('0' + u % 10);
  while (n < digits && !p->unpadded) text[sizeof text - 1 - (size_t)n++] = fill;
  if (v < 0) text[sizeof text - 1 - (size_t)n++] = '-';
  put(p, text + sizeof text - n, n);
}

/* Whole weeks of the year before the day, the first one beginning with the first `weekday` (0: Monday). */
static int64_t week_from(const Printer *p, int64_t weekday) {
  int64_t of_year = p->days - fl_days_from_civil(p->civil.year, 1, 1);
  int64_t since =
      fl_floor_div(p->days + 3 - weekday, 7) * -7 + p->days + 3 - weekday; /* days since that weekday */
  return (of_year + 7 - since) / 7;
}

static int64_t of_century(int64_t year) { return year - fl_floor_div(year, 100) * 100; }

static void put_all(Printer *p, const char *format);

static int64_t weekday_of(const Printer *p) { return fl_s_date_weekday(p->day); }

static void put_part(Printer *p, char letter) {
  int64_t second = p->micros / 1000000, hour = second / 3600;
  const char *others;
  switch (letter) {
  case 'Y': put_number(p, p->civil.year, 4, '0'); break;
  case 'C': put_number(p, fl_floor_div(p->civil.year, 100), 2, '0'); break;
  case 'y': put_number(p, of_century(p->civil.year), 2, '0'); break;
  case 'm': put_number(p, p->civil.month, 2, '0'); break;
  case 'd': put_number(p, p->civil.day, 2, '0'); break;
  case 'e': put_number(p, p->civil.day, 2, ' '); break;
  case 'j': put_number(p, p->days - fl_days_from_civil(p->civil.year, 1, 1) + 1, 3, '0'); break;
  case 'H': put_number(p, hour, 2, '0'); break;
  case 'k': put_number(p, hour, 2, ' '); break;
  case 'I': put_number(p, (hour + 11) % 12 + 1, 2, '0'); break;
  case 'l': put_number(p, (hour + 11) % 12 + 1, 2, ' '); break;
  case 'p': put(p, hour < 12 ? "AM" : "PM", 2); break;
  case 'P': put(p, hour < 12 ? "am" : "pm", 2); break;
  case 'M': put_number(p, second / 60 % 60, 2, '0'); break;
  case 'S': put_number(p, second % 60, 2, '0'); break;
  case 'f': put_number(p, p->micros % 1000000, 6, '0'); break;
  case 's': put_number(p, p->days * 86400 + second, 1, '0'); break;
  case 'b':
  case 'h':
  case 'B': put_name(p, fl_month_names[p->civil.month - 1], letter == 'B'); break;
  case 'a':
  case 'A': put_name(p, fl_day_names[weekday_of(p) - 1], letter == 'A'); break;
  case 'u': put_number(p, weekday_of(p), 1, '0'); break;
  case 'w': put_number(p, weekday_of(p) % 7, 1, '0'); break;
  case 'U': put_number(p, week_from(p, 6), 2, '0'); break;
  case 'W': put_number(p, week_from(p, 0), 2, '0'); break;
  case 'V': put_number(p, fl_s_date_iso_week(p->day), 2, '0'); break;
  case 'G': put_number(p, fl_s_date_iso_year(p->day), 4, '0'); break;
  case 'g': put_number(p, of_century(fl_s_date_iso_year(p->day)), 2, '0'); break;
  case 'z': put(p, "+0000", 5); break;
  case 'Z': put(p, "UTC", 3); break;
  case 'n': put(p, "\n", 1); break;
  case 't': put(p, "\t", 1); break;
  default:
    others = fl_date_format_short(letter);
    if (others) put_all(p, others);
    else put(p, &letter, 1);
  }
}

static void put_all(Printer *p, const char *format) {
  for (; *format != 0; format++) {
    if (*format != '%' || format[1] == 0) {
      put(p, format, 1);
      continue;
    }
    p->unpadded = *++format == '-' && format[1] != 0;
    format += p->unpadded;
    put_part(p, *format);
    p->unpadded = false;
  }
}

int64_t fl_date_format(char *buf, int64_t room, const char *format, int64_t days, int64_t micros) {
  Printer p = {.buf = buf, .room = room, .days = days, .micros = micros, .day = (int32_t)days};
  p.civil = fl_civil_from_days(days);
  put_all(&p, format);
  return p.len;
}

/* ---- which formats there are --------------------------------------------------------------------------- */

#define NUMBERS "YCymdejHkIlMSfsUWVGguw"
#define OTHERS "bhBaAPpzZDFTXRrxcnt%"
#define LISTED                                                                                               \
  "%Y %y %m %d %e %j %H %I %M %S %f %p %b %B %a %A %G %V %u %w %U %W %z %Z %C %g %k %l %P %h %s %D %F %T "   \
  "%R %r "                                                                                                   \
  "%x %X %c %n %t %%, and %-d for digits without what fills them"

/* Which letters a format has, in full; false: one that is none. */
static bool collect(const char *format, int64_t n, bool seen[128]) {
  for (int64_t k = 0; k < n; k++) {
    if (format[k] != '%') continue;
    bool unpadded = k + 1 < n && format[k + 1] == '-';
    k += 1 + unpadded;
    if (k >= n || format[k] <= 0 || !strchr(unpadded ? NUMBERS : NUMBERS OTHERS, format[k])) return false;
    const char *others = fl_date_format_short(format[k]);
    seen[(unsigned char)format[k]] = true;
    if (others) (void)collect(others, (int64_t)strlen(others), seen);
  }
  return true;
}

bool fl_date_format_check(const char *format, int64_t n, bool reads, const char **why) {
  bool seen[128] = {false};
  const char *wrong = NULL;
  if (!collect(format, n, seen)) wrong = "a date format knows " LISTED;
  bool weekday = seen['a'] || seen['A'] || seen['u'] || seen['w'], year = seen['Y'] || seen['y'];
  if (!wrong && reads) {
    if (seen['C'] || seen['g']) wrong = "%C and %g are printed only: %Y and %G read a year";
    else if ((seen['V'] || seen['G']) && !(seen['V'] && seen['G'] && weekday))
      wrong = "%G, %V and a day of the week (%u %w %a %A) are read together";
    else if ((seen['U'] || seen['W']) && !(year && weekday))
      wrong = "%U and %W are read with %Y and a day of the week (%u %w %a %A)";
  }
  if (wrong && why) *why = wrong;
  return !wrong;
}

bool fl_date_format_has_time(const char *format) {
  bool seen[128] = {false};
  (void)collect(format, (int64_t)strlen(format), seen);
  for (const char *s = "HkIlMSfsz"; *s; s++)
    if (seen[(unsigned char)*s]) return true;
  return false;
}
