/* npy_time.c: NumPy's datetime64 and timedelta64 of every unit as dates, datetimes and durations.
 *
 * In: integers that count units since 1970. Out: days (of years, months, weeks, days) or microseconds. What
 * always holds: a time is exact or an error that names it, and what is missing (NaT, the least integer) never
 * becomes a time. */
#include "io/npy.h"
#include "data/data.h"
#include "kern/calendar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Unit {
  const char *name;
  bool days;      /* of points in time: dates */
  FlNpyUnit time; /* of one: days where they are dates, else microseconds */
} Unit;

static const Unit units[] = {
    {"Y", true, {12, 0, 0}},
    {"M", true, {1, 0, 0}},
    {"W", true, {0, 7, 1}},
    {"D", true, {0, 1, 1}},
    {"h", false, {0, 3600000000, 1}},
    {"m", false, {0, 60000000, 1}},
    {"s", false, {0, 1000000, 1}},
    {"ms", false, {0, 1000, 1}},
    {"us", false, {0, 1, 1}},
    {"ns", false, {0, 1, 1000}},
    {"ps", false, {0, 1, 1000000}},
    {"fs", false, {0, 1, 1000000000}},
    {"as", false, {0, 1, 1000000000000}},
};

bool fl_npy_time_type(const char *text, FlNpy *h, const char **why) {
  bool span = text[0] == 'm';
  char name[8] = "";
  *why = NULL;
  if (strlen(text) < 2 || (text[0] != 'M' && !span) || text[1] != '8') return false;
  *why = span ? "it has no unit; in Python: x.astype(\"timedelta64[us]\")"
              : "it has no unit; in Python: x.astype(\"datetime64[us]\")";
  if (text[2] != '[') return false;
  char *end;
  int64_t count =
      text[3] >= '1' && text[3] <= '9' ? strtoll(text + 3, &end, 10) : (end = (char *)(uintptr_t)text + 3, 1);
  size_t n = strcspn(end, "]");
  if (n == 0 || n >= sizeof name || strcmp(end + n, "]") != 0) return false;
  memcpy(name, end, n);
  for (size_t k = 0; k < sizeof units / sizeof *units; k++) {
    const Unit *u = &units[k];
    if (strcmp(u->name, name) != 0) continue;
    if (span && u->time.months) {
      *why = "years and months have no fixed length; in Python: x.astype(\"int64\") counts them";
      return false;
    }
    h->time = u->time;
    h->dtype = span ? FL_DURATION : u->days ? FL_DATE : FL_DATETIME;
    if (span && u->days) h->time.times *= FL_DAY_MICROS;
    h->size = 8;
    if (!__builtin_mul_overflow(h->time.months, count, &h->time.months) &&
        !__builtin_mul_overflow(h->time.times, count, &h->time.times))
      return true;
    break;
  }
  *why = span ? "its unit is not known; in Python: x.astype(\"timedelta64[us]\")"
              : "its unit is not known; in Python: x.astype(\"datetime64[us]\")";
  return false;
}

FlNpyFit fl_npy_time(const FlNpy *h, int64_t v, int64_t *out) {
  *out = 0;
  if (v == INT64_MIN) return FL_NPY_NAT;
  __int128 x;
  if (h->time.months) {
    __int128 months = (__int128)v * h->time.months, most = (__int128)INT32_MAX / 28;
    if (months < -most || months > most) return FL_NPY_FAR;
    int64_t m = (int64_t)months, year = fl_floor_div(m, 12);
    x = fl_days_from_civil(1970 + year, m - 12 * year + 1, 1);
  } else {
    x = (__int128)v * h->time.times;
    if (x % h->time.parts) return FL_NPY_PARTS;
    x /= h->time.parts;
  }
  bool far = h->dtype == FL_DATE ? x != (int32_t)x : x != (int64_t)x;
  if (far) return FL_NPY_FAR;
  *out = (int64_t)x;
  return FL_NPY_FITS;
}

bool fl_npy_misfit(const char *label, const FlNpy *h, int64_t k, FlNpyFit why, FlIoError *e) {
  char place[FL_MAX_RANK * 24 + 4] = "";
  int64_t at = fl_npy_place(h, k), index[FL_MAX_RANK];
  for (int32_t d = h->rank - 1; d >= 0; d--) {
    index[d] = at % h->dims[d];
    at /= h->dims[d];
  }
  for (int32_t d = 0, n = 0; d < h->rank; d++)
    n += snprintf(place + n, sizeof place - (size_t)n, "%s%lld", d ? ", " : " at [", (long long)index[d]);
  if (h->rank) strcat(place, "]");
  const char *type = fl_dtype_info[h->dtype].name;
  const char *name = h->dtype == FL_DURATION ? "timedelta64" : "datetime64";
  if (why == FL_NPY_NAT) {
    fl_io_error(e, FL_E_NULL, "`%s` holds a %s that is missing (NaT)%s", label, type, place);
    fl_io_help(e, "allow null: declare `%s?%s`%s", type,
               h->rank == 0   ? ""
               : h->rank == 1 ? "[_]"
               : h->rank == 2 ? "[_, _]"
                              : "[...]",
               h->rank ? ", as in `let x: datetime?[_] = ...`" : "");
  } else if (why == FL_NPY_PARTS) {
    fl_io_error(e, FL_E_VALUE, "`%s` holds a %s%s that is not whole microseconds: its type is `%s`", label,
                type, place, h->type);
    fl_io_help(e, "in Python: x.astype(\"%s[us]\") leaves out what is below", name);
  } else {
    fl_io_error(e, FL_E_VALUE, "`%s` holds a %s%s that is too far away: its type is `%s`", label, type, place,
                h->type);
  }
  return false;
}
