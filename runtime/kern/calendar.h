/* calendar.h: dates, datetimes and durations: the proleptic Gregorian calendar over 64-bit day numbers.
 *
 * A date is days since 1970-01-01, a datetime microseconds since 1970-01-01T00:00Z, a duration microseconds.
 * Day numbers and civil dates: H. Hinnant, "chrono-Compatible Low-Level Date Algorithms" (days_from_civil):
 * the year starts in March, 400 years are one era of 146,097 days; within it C. Neri, L. Schneider,
 * "Euclidean affine functions and their application to calendar algorithms" (2022). No branches. */
#ifndef FL_CALENDAR_H
#define FL_CALENDAR_H

#include "kern/scalar_arith.h"
#include "kern/scalar_convert.h"

#define FL_DAY_MICROS INT64_C(86400000000)

typedef struct FlCivil {
  int64_t year;
  int64_t month, day; /* from 1 */
} FlCivil;

FL_KERN_HELPER int64_t fl_floor_div(int64_t a, int64_t b) { return a / b - ((a % b != 0) & ((a ^ b) < 0)); }

FL_KERN_HELPER int64_t fl_days_from_civil(int64_t year, int64_t month, int64_t day) {
  int64_t y = year - (month <= 2);
  int64_t era = fl_floor_div(y, 400);
  int64_t year_of_era = y - era * 400;
  int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

/* The same of b > 0 and quotients below 2^31 in size. Vectors multiply doubles fast, but not 64 bits. The
 * quotient that comes of it may be one too large, by rounding or, below zero, by cutting off: then r is
 * negative; or one too small, by rounding: then it is not below b. */
FL_KERN_HELPER int64_t fl_floor_div_near(int64_t a, int64_t b) {
  int64_t q = (int32_t)((double)a * (1.0 / (double)b));
  int64_t r = (int64_t)((uint64_t)a - (uint64_t)q * (uint64_t)b);
  return q - (r < 0) + (r >= b);
}

/* Of days that are less than 2^47 in size; within an era 32 bits are enough. */
FL_KERN_HELPER FlCivil fl_civil_from_days(int64_t days) {
  int64_t z = days + 719468;
  int64_t era = fl_floor_div_near(z, 146097);
  uint32_t day_of_era = (uint32_t)(z - era * 146097);
  /* Quarters of days: a century has 146,097, a year of it 1,461, whose share of 2^32 is 2,939,745. */
  uint32_t quarters = 4 * day_of_era + 3, century = quarters / 146097;
  uint64_t years = UINT64_C(2939745) * ((quarters - 146097 * century) | 3);
  uint32_t day_of_year = (uint32_t)years / (4 * 2939745);
  /* Months of 153 / 5 days: 2^16 / 2141. */
  uint32_t months = 2141 * day_of_year + 197913;
  bool next = day_of_year >= 306; /* January or February, of the year that begins then */
  return (FlCivil){era * 400 + 100 * century + (int64_t)(years >> 32) + next,
                   (months >> 16) - (next ? 12 : 0), (months & 0xffff) / 2141 + 1};
}

FL_KERN_HELPER bool fl_leap_year(int64_t y) { return (y % 4 == 0) & ((y % 100 != 0) | (y % 400 == 0)); }
FL_KERN_HELPER int64_t fl_month_length(int64_t y, int64_t m) {
  return m == 2 ? 28 + fl_leap_year(y) : 30 + ((m + (m > 7)) & 1);
}

FL_KERN_HELPER int32_t fl_date_fit(int64_t days, int32_t *fault) {
  fl_fault_if(fault, days != (int32_t)days, FL_FAULT_OVERFLOW);
  return (int32_t)days;
}

FL_KERN int64_t fl_s_date_year(int32_t d) { return fl_civil_from_days(d).year; }
FL_KERN int64_t fl_s_date_month(int32_t d) { return fl_civil_from_days(d).month; }
FL_KERN int64_t fl_s_date_day(int32_t d) { return fl_civil_from_days(d).day; }
FL_KERN int64_t fl_s_date_weekday(int32_t d) {
  int64_t z = (int64_t)d + 3; /* 1970-01-01 was a Thursday */
  return z - fl_floor_div_near(z, 7) * 7 + 1;
}

FL_KERN int64_t fl_s_date_quarter(int32_t d) { return (fl_civil_from_days(d).month + 2) / 3; }
FL_KERN int64_t fl_s_date_day_of_year(int32_t d) {
  return d - fl_days_from_civil(fl_civil_from_days(d).year, 1, 1) + 1;
}
/* The Thursday of d's week says which year the week belongs to (ISO 8601). */
FL_KERN_HELPER int64_t fl_thursday(int32_t d) { return d - fl_s_date_weekday(d) + 4; }
FL_KERN int64_t fl_s_date_iso_year(int32_t d) { return fl_civil_from_days(fl_thursday(d)).year; }
FL_KERN int64_t fl_s_date_iso_week(int32_t d) {
  int64_t t = fl_thursday(d);
  return (t - fl_days_from_civil(fl_civil_from_days(t).year, 1, 1)) / 7 + 1;
}
FL_KERN int64_t fl_s_date_days_in_month(int32_t d) {
  FlCivil c = fl_civil_from_days(d);
  return fl_month_length(c.year, c.month);
}
/* DOMAIN when the calendar has no such day; years reach as far as dates do. */
FL_KERN int32_t fl_s_date_of(int64_t year, int64_t month, int64_t day, int32_t *fault) {
  bool far = (year > INT64_C(5000000)) | (year < -INT64_C(5000000));
  bool ok = !far & (month >= 1) & (month <= 12);
  int64_t y = ok ? year : 1970, m = ok ? month : 1;
  ok &= (day >= 1) & (day <= fl_month_length(y, m));
  fl_fault_if(fault, !ok, FL_FAULT_DOMAIN);
  return fl_date_fit(fl_days_from_civil(y, m, ok ? day : 1), fault);
}
FL_KERN int64_t fl_s_time_of(int64_t hour, int64_t minute, int64_t second, int32_t *fault) {
  bool ok = (hour >= 0) & (hour < 24) & (minute >= 0) & (minute < 60) & (second >= 0) & (second < 60);
  fl_fault_if(fault, !ok, FL_FAULT_DOMAIN);
  return ok ? ((hour * 60 + minute) * 60 + second) * 1000000 : 0;
}

/* Is the text s of n bytes the literal `name`? Folds to nothing where s is a constant. */
#define FL_KERN_IS(s, n, name)                                                                               \
  ((n) == (int64_t)sizeof(name) - 1 && __builtin_memcmp((s), (name), sizeof(name) - 1) == 0)

/* The first day of the unit that d lies in: "year" "quarter" "month" "week" (Monday) "day"; another is
 * DOMAIN. */
FL_KERN int32_t fl_s_date_trunc(const char *unit, int64_t unit_n, int32_t d, int32_t *fault) {
  bool year = FL_KERN_IS(unit, unit_n, "year"), quarter = FL_KERN_IS(unit, unit_n, "quarter");
  bool month = FL_KERN_IS(unit, unit_n, "month"), week = FL_KERN_IS(unit, unit_n, "week");
  bool day = FL_KERN_IS(unit, unit_n, "day");
  fl_fault_if(fault, !(year | quarter | month | week | day), FL_FAULT_DOMAIN);
  FlCivil c = fl_civil_from_days(d);
  int64_t first_month = year ? 1 : quarter ? (c.month - 1) / 3 * 3 + 1 : c.month;
  int64_t r = (year | quarter | month) ? fl_days_from_civil(c.year, first_month, 1)
              : week                   ? d - (fl_s_date_weekday(d) - 1)
                                       : d;
  return fl_date_fit(r, fault);
}

/* The same day `months` later, or the last of that month when there is no such day. */
FL_KERN int32_t fl_s_add_months(int32_t d, int64_t months, int32_t *fault) {
  bool far = (months > INT64_C(200000000)) | (months < -INT64_C(200000000)); /* beyond every date */
  fl_fault_if(fault, far, FL_FAULT_OVERFLOW);
  FlCivil c = fl_civil_from_days(d);
  int64_t index = c.year * 12 + c.month - 1 + (far ? 0 : months);
  int64_t year = fl_floor_div(index, 12), month = index - year * 12 + 1;
  int64_t last = fl_month_length(year, month);
  return fl_date_fit(fl_days_from_civil(year, month, c.day < last ? c.day : last), fault);
}

/* A date has no hours: w must be whole days. */
FL_KERN int32_t fl_s_date_add(int64_t w, int32_t d, int32_t *fault) {
  fl_fault_if(fault, w % FL_DAY_MICROS != 0, FL_FAULT_DOMAIN);
  return fl_date_fit(d + w / FL_DAY_MICROS, fault);
}
FL_KERN int64_t fl_s_date_diff(int32_t a, int32_t b) { return ((int64_t)a - b) * FL_DAY_MICROS; }
FL_KERN int64_t fl_s_date_to_datetime(int32_t d, int32_t *fault) {
  return fl_s_mul_i64(d, FL_DAY_MICROS, fault);
}
FL_KERN int32_t fl_s_datetime_to_date(int64_t t) { return (int32_t)fl_floor_div_near(t, FL_DAY_MICROS); }
FL_KERN int64_t fl_s_datetime_add(int64_t t, int64_t w, int32_t *fault) { return fl_s_add_i64(t, w, fault); }
FL_KERN int64_t fl_s_datetime_diff(int64_t a, int64_t b, int32_t *fault) { return fl_s_sub_i64(a, b, fault); }
/* How many whole units of the day that t lies in are over. */
FL_KERN_HELPER uint32_t fl_units_of_day(int64_t t, int64_t unit) {
  int64_t midnight = (int64_t)((uint64_t)fl_floor_div_near(t, FL_DAY_MICROS) * (uint64_t)FL_DAY_MICROS);
  return (uint32_t)fl_floor_div_near((int64_t)((uint64_t)t - (uint64_t)midnight), unit);
}
FL_KERN int64_t fl_s_datetime_hour(int64_t t) { return fl_units_of_day(t, INT64_C(3600000000)); }
FL_KERN int64_t fl_s_datetime_minute(int64_t t) { return fl_units_of_day(t, INT64_C(60000000)) % 60; }
FL_KERN int64_t fl_s_datetime_second(int64_t t) { return fl_units_of_day(t, 1000000) % 60; }
FL_KERN int64_t fl_s_datetime_microsecond(int64_t t) { return t - fl_floor_div(t, 1000000) * 1000000; }
/* The start of the unit that t lies in: those of dates, and "hour" "minute" "second"; another is DOMAIN. */
FL_KERN int64_t fl_s_datetime_trunc(const char *unit, int64_t unit_n, int64_t t, int32_t *fault) {
  bool hour = FL_KERN_IS(unit, unit_n, "hour"), minute = FL_KERN_IS(unit, unit_n, "minute");
  bool second = FL_KERN_IS(unit, unit_n, "second");
  int64_t step = hour ? INT64_C(3600000000) : minute ? INT64_C(60000000) : 1000000;
  if (hour | minute | second) return fl_floor_div(t, step) * step;
  return fl_s_date_to_datetime(fl_s_date_trunc(unit, unit_n, fl_s_datetime_to_date(t), fault), fault);
}
FL_KERN int64_t fl_s_datetime_add_months(int64_t t, int64_t months, int32_t *fault) {
  int64_t days = fl_floor_div_near(t, FL_DAY_MICROS);
  int64_t midnight = fl_s_date_to_datetime(fl_s_add_months((int32_t)days, months, fault), fault);
  return fl_s_add_i64(midnight, t - days * FL_DAY_MICROS, fault);
}
FL_KERN int64_t fl_s_duration_of(int64_t count, int64_t unit, int32_t *fault) {
  return fl_s_mul_i64(count, unit, fault);
}
FL_KERN double fl_s_duration_ratio(int64_t a, int64_t b, int32_t *fault) {
  fl_fault_if(fault, b == 0, FL_FAULT_DIV_ZERO);
  return (double)a / (double)(b == 0 ? 1 : b);
}

#endif
