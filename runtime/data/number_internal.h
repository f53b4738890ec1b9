/* number_internal.h: powers of ten as parsing and printing share them. */
#ifndef FL_NUMBER_INTERNAL_H
#define FL_NUMBER_INTERNAL_H

#include <stdint.h>

enum { FL_POWER_MIN = -348, FL_POWER_MAX = 347 };

/* 5^q normalised to 128 bits; see powers.inc. */
typedef struct FlPower {
  uint64_t hi, lo;
} FlPower;
extern const FlPower fl_powers_of_five[FL_POWER_MAX - FL_POWER_MIN + 1];

typedef unsigned __int128 FlU128;

#endif
