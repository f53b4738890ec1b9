/* dtypes.c: the table of element types as data, expanded from flow/dtypes.def. */
#include "data/data.h"

#include <string.h>

const FlDtypeInfo fl_dtype_info[FL_N_DTYPES] = {
#define FL_DTYPE(NAME, text, ctype, size, kind) [FL_##NAME] = {text, size, FL_KIND_##kind},
#include "flow/dtypes.def"
#undef FL_DTYPE
};

#define FL_DTYPE(NAME, text, ctype, size, kind)                                                              \
  _Static_assert(sizeof(ctype) == (size), "dtypes.def says another size for " text);
#include "flow/dtypes.def"
#undef FL_DTYPE

bool fl_dtype_named(const char *name, size_t len, FlDtype *out) {
  for (int k = 0; k < FL_N_DTYPES; k++) {
    if (strlen(fl_dtype_info[k].name) == len && memcmp(fl_dtype_info[k].name, name, len) == 0) {
      *out = (FlDtype)k;
      return true;
    }
  }
  return false;
}
