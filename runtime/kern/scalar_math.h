/* scalar_math.h: the mathematical operators, over the vector functions on doubles.
 *
 * The f32 forms compute in double and round once, so that they are right to 0.501 ULP. */
#ifndef FL_SCALAR_MATH_H
#define FL_SCALAR_MATH_H

#include "kern/vec_exp.h"
#include "kern/vec_log.h"
#include "kern/vec_polygamma.h"
#include "kern/vec_special.h"
#include "kern/vec_trig.h"

#define FL_DEFINE(NAME)                                                                                      \
  FL_KERN double fl_s_##NAME##_f64(double x) { return fl_vec_##NAME(x); }                                    \
  FL_KERN float fl_s_##NAME##_f32(float x) { return (float)fl_vec_##NAME((double)x); }
FL_DEFINE(exp)
FL_DEFINE(expm1)
FL_DEFINE(log)
FL_DEFINE(log2)
FL_DEFINE(log10)
FL_DEFINE(log1p)
FL_DEFINE(sin)
FL_DEFINE(cos)
FL_DEFINE(tan)
FL_DEFINE(asin)
FL_DEFINE(acos)
FL_DEFINE(atan)
FL_DEFINE(sinh)
FL_DEFINE(cosh)
FL_DEFINE(tanh)
FL_DEFINE(erf)
FL_DEFINE(erfc)
FL_DEFINE(gamma)
FL_DEFINE(lgamma)
FL_DEFINE(cbrt)
#undef FL_DEFINE

#define FL_DEFINE(NAME)                                                                                      \
  FL_KERN double fl_s_##NAME##_f64(double x, double y) { return fl_vec_##NAME(x, y); }                       \
  FL_KERN float fl_s_##NAME##_f32(float x, float y) { return (float)fl_vec_##NAME((double)x, (double)y); }
FL_DEFINE(atan2)
FL_DEFINE(hypot)
#undef FL_DEFINE

FL_KERN double fl_s_polygamma_f64(double x, int64_t m) { return fl_vec_polygamma(x, m); }
FL_KERN float fl_s_polygamma_f32(float x, int64_t m) { return (float)fl_vec_polygamma((double)x, m); }

#endif
