/* llvm_tiles.c: random numbers at successive positions are drawn by tiles.
 *
 * A block of Philox gives the numbers at two positions. A loop that asks for random(seed, i, j) at its own
 * position i draws 64 numbers from 32 blocks into a buffer that stays in the first-level cache, with four
 * vectors in flight (each block is a chain of ten dependent multiplications), and then runs over those 64
 * elements. What always holds: the numbers are those of fl_s_random; tiles begin at multiples of 64, so that
 * a tile has one upper half of the counter, and what is drawn beyond the loop's range is not used.
 *
 * Results of eight bytes are put beside the tile first and copied from there: past the caches when the whole
 * result is so large that it leaves them before anybody reads it, since then memory need not be read before
 * it is written. */
#include "codegen/llvm_internal.h"

enum {
  TILE = 64,            /* elements */
  OUTPUTS_MAX = 8,      /* results that are put beside the tile */
  AHEAD = 8 * TILE,     /* elements before which what is read is asked for */
  STREAM_FROM = 1 << 22 /* elements of a result from which it is stored past the caches: 32 MiB */
};

typedef struct Staged {
  Val buffer, data; /* TILE elements beside the tile; the result */
  Ty type;
  int output;
} Staged;

struct FlTiles {
  const FlPlanKernel *k;
  int n_staged;
  Val *at;  /* by draw: buffers of TILE numbers */
  Val base; /* position of what stands first in the buffers */
  Staged staged[OUTPUTS_MAX];
  bool stages; /* results go beside the tile */
};

/* ---- what is drawn --------------------------------------------------------------------------------- */

FlTiles *fl_ll_tiles_make(FlFn *f, const FlPlanKernel *k) {
  if (f->form != FL_FORM_FAST || f->quick || !k->n_draws) return NULL;
  FlTiles *t = FL_NEW(f->g->arena, FlTiles);
  t->k = k;
  t->at = FL_NEW_ARRAY(f->g->arena, Val, k->n_draws);
  for (int i = 0; i < k->n_draws; i++) t->at[i] = fl_ll_alloca_n(f, f->g->f64, TILE, "tile");
  return t;
}

/* The numbers of one op at [2 block, 2 block + n) */
static void draw(FlFn *f, const FlTiles *t, int i, Val block, int n) {
  FlGen *g = f->g;
  const FlOp *op = t->k->draws[i];
  FlType1 whole = fl_t_scalar(FL_I64), real = fl_t_scalar(FL_F64), types[] = {whole, whole, whole, whole};
  FlLoop l;
  fl_ll_loop_open(f, &l, fl_ll_i64(g, 0), fl_ll_i64(g, n / 2), 0, NULL);
  Val args[] = {fl_ll_value(f, op->args[0]), block, l.i, fl_ll_value(f, op->args[2])}, two[2];
  fl_ll_kern_call(f, op, "fl_s_random_two", 4, types, args, 2, (FlType1[]){real, real}, two);
  Val first = LLVMBuildNSWMul(f->b, l.i, fl_ll_i64(g, 2), "");
  LLVMBuildStore(f->b, two[0], fl_ll_gep(f, g->f64, t->at[i], first));
  Val second = LLVMBuildNSWAdd(f->b, first, fl_ll_i64(g, 1), "");
  LLVMBuildStore(f->b, two[1], fl_ll_gep(f, g->f64, t->at[i], second));
  l.interleave = (unsigned)n / 16; /* with the widest vectors one round of the loop */
  l.masked = false;
  fl_ll_loop_close(f, &l, NULL, true);
}

void fl_ll_tiles_draw(FlFn *f, FlTiles *t, Val base, int n) {
  Val block = LLVMBuildLShr(f->b, base, fl_ll_i64(f->g, 1), "");
  t->base = base;
  f->tiles = t;
  for (int i = 0; i < t->k->n_draws; i++) draw(f, t, i, block, n);
}

Val fl_ll_tiles_random(FlFn *f, const FlOp *op) {
  const FlTiles *t = f->tiles;
  for (int i = 0; t && i < t->k->n_draws; i++) {
    if (t->k->draws[i] != op) continue;
    Val at = LLVMBuildNSWSub(f->b, fl_ll_value(f, op->args[1]), t->base, "");
    return fl_ll_load_elem(f, FL_F64, fl_ll_gep(f, f->g->f64, t->at[i], at));
  }
  return NULL;
}

/* ---- results --------------------------------------------------------------------------------------- */

Val fl_ll_tiles_output(FlFn *f, int output, FlDtype d, Val data, Val pos) {
  FlTiles *t = f->tiles;
  Ty type = fl_ll_mem_type(f->g, d);
  bool fits = t && t->stages && fl_ll_size(d) == 8 && d != FL_LIST && t->n_staged < OUTPUTS_MAX;
  if (!fits) return fl_ll_gep(f, type, data, pos);
  Val buffer = fl_ll_alloca_n(f, type, TILE, "results");
  t->staged[t->n_staged++] = (Staged){buffer, data, type, output};
  return fl_ll_gep(f, type, buffer, LLVMBuildNSWSub(f->b, pos, t->base, ""));
}

static void in_scope_of(FlFn *f, Val store, int output) {
  if (!f->output_scopes) return;
  LLVMSetMetadata(store, LLVMGetMDKindIDInContext(f->g->cx, "alias.scope", 11), f->output_scopes[output]);
  LLVMSetMetadata(store, LLVMGetMDKindIDInContext(f->g->cx, "noalias", 7), f->output_apart[output]);
}

/* A whole tile of results, by vectors. */
static void copy_tile(FlFn *f, const FlTiles *t, const Staged *s, bool stream) {
  FlGen *g = f->g;
  enum { WIDTH = 8 };
  Ty vector = LLVMVectorType(s->type, WIDTH);
  Val to = fl_ll_gep(f, s->type, s->data, t->base);
  for (int i = 0; i < TILE; i += WIDTH) {
    Val v = LLVMBuildLoad2(f->b, vector, fl_ll_at_byte(f, s->buffer, 8 * i), "");
    Val store = LLVMBuildStore(f->b, v, fl_ll_at_byte(f, to, 8 * i));
    LLVMSetAlignment(store, stream ? FL_ALIGN : 8);
    in_scope_of(f, store, s->output);
    if (!stream) continue;
    LLVMMetadataRef one = LLVMValueAsMetadata(fl_ll_i32(g, 1));
    Val node = LLVMMetadataAsValue(g->cx, LLVMMDNodeInContext2(g->cx, &one, 1));
    LLVMSetMetadata(store, LLVMGetMDKindIDInContext(g->cx, "nontemporal", 11), node);
  }
}

/* A part of a tile: the positions [lo, hi). */
static void copy_part(FlFn *f, const FlTiles *t, const Staged *s, Val lo, Val hi) {
  Val skip = LLVMBuildNSWSub(f->b, lo, t->base, "");
  Val bytes = LLVMBuildNSWMul(f->b, LLVMBuildNSWSub(f->b, hi, lo, ""), fl_ll_i64(f->g, 8), "");
  Val to = fl_ll_gep(f, s->type, s->data, lo), from = fl_ll_gep(f, s->type, s->buffer, skip);
  LLVMBuildMemCpy(f->b, to, 8, from, 8, bytes);
}

static void copy_results(FlFn *f, const FlTiles *t, Val lo, Val hi, const Val *streams) {
  Val full = LLVMBuildICmp(f->b, LLVMIntEQ, LLVMBuildNSWSub(f->b, hi, lo, ""), fl_ll_i64(f->g, TILE), "");
  Block whole = fl_ll_block(f, "whole"), part = fl_ll_block(f, "part"), on = fl_ll_block(f, "on");
  LLVMBuildCondBr(f->b, full, whole, part);
  fl_ll_at(f, part);
  for (int i = 0; i < t->n_staged; i++) copy_part(f, t, &t->staged[i], lo, hi);
  LLVMBuildBr(f->b, on);
  fl_ll_at(f, whole);
  for (int i = 0; i < t->n_staged; i++) {
    Block past = fl_ll_block(f, "past"), plain = fl_ll_block(f, "plain"), next = fl_ll_block(f, "next");
    LLVMBuildCondBr(f->b, streams[i], past, plain);
    fl_ll_at(f, past);
    copy_tile(f, t, &t->staged[i], true);
    LLVMBuildBr(f->b, next);
    fl_ll_at(f, plain);
    copy_tile(f, t, &t->staged[i], false);
    LLVMBuildBr(f->b, next);
    fl_ll_at(f, next);
  }
  LLVMBuildBr(f->b, on);
  fl_ll_at(f, on);
}

/* ---- elements -------------------------------------------------------------------------------------- */

/* Asks for what elements some tiles ahead read; beyond the end of an array that does nothing. */
static void prefetch(FlFn *f, const FlTiles *t) {
  FlGen *g = f->g;
  for (int i = 0; i < t->k->n_reads; i++) {
    const FlValue *array = t->k->reads[i]->args[0];
    FlDtype d = (FlDtype)array->type.dtype;
    Val from = LLVMBuildAdd(f->b, t->base, fl_ll_i64(g, AHEAD), "");
    Ty type = fl_ll_mem_type(g, d);
    Val at = LLVMBuildGEP2(f->b, type, fl_ll_held(f, array)->view->data, &from, 1, "");
    for (int line = 0; line < TILE * (int)fl_ll_size(d); line += FL_ALIGN) {
      Val offset = fl_ll_i64(g, line), place = LLVMBuildGEP2(f->b, g->i8, at, &offset, 1, "");
      /* to read, kept near, data */
      Val args[] = {place, fl_ll_i32(g, 0), fl_ll_i32(g, 3), fl_ll_i32(g, 1)};
      fl_ll_intrinsic(f, "llvm.prefetch", g->ptr, 4, args);
    }
  }
}

void fl_ll_tiles_elements(FlFn *f, const FlPlanKernel *k, FlTiles *t, Val begin, Val end, Val size,
                          FlElementBody *each, void *arg) {
  FlGen *g = f->g;
  Val shift = fl_ll_i64(g, 6), tile_n = fl_ll_i64(g, TILE);
  Val large = LLVMBuildICmp(f->b, LLVMIntSGE, size, fl_ll_i64(g, STREAM_FROM), "");
  Val last = LLVMBuildLShr(f->b, LLVMBuildNSWAdd(f->b, end, fl_ll_i64(g, TILE - 1), ""), shift, "");
  FlLoop tile, l;
  fl_ll_loop_open(f, &tile, LLVMBuildLShr(f->b, begin, shift, ""), last, 0, NULL);
  Val base = LLVMBuildShl(f->b, tile.i, shift, ""), next = LLVMBuildNSWAdd(f->b, base, tile_n, "");
  t->stages = true;
  fl_ll_tiles_draw(f, t, base, TILE);
  prefetch(f, t);
  Val lo = LLVMBuildSelect(f->b, LLVMBuildICmp(f->b, LLVMIntSGT, begin, base, ""), begin, base, "");
  Val hi = LLVMBuildSelect(f->b, LLVMBuildICmp(f->b, LLVMIntSLT, end, next, ""), end, next, "");
  fl_ll_loop_open(f, &l, lo, hi, 0, NULL);
  fl_ll_set(f, k->region->params[0], l.i);
  fl_ll_kernel_region(f, k->region);
  fl_ll_keep_yields(f);
  each(f, k, l.i, arg);
  fl_ll_leave_element(f);
  l.masked = false;
  fl_ll_loop_close(f, &l, NULL, true);
  Val streams[OUTPUTS_MAX];
  for (int i = 0; i < t->n_staged; i++) {
    Val address = LLVMBuildPtrToInt(f->b, t->staged[i].data, g->i64, "");
    Val odd = LLVMBuildAnd(f->b, address, fl_ll_i64(g, FL_ALIGN - 1), "");
    Val even = LLVMBuildICmp(f->b, LLVMIntEQ, odd, fl_ll_i64(g, 0), "");
    streams[i] = LLVMBuildAnd(f->b, large, even, "");
  }
  if (t->n_staged) copy_results(f, t, lo, hi, streams);
  fl_ll_loop_close(f, &tile, NULL, true);
  /* Stores past the caches come before whatever says that they are done. */
  if (t->n_staged) LLVMBuildFence(f->b, LLVMAtomicOrderingSequentiallyConsistent, false, "");
  f->tiles = NULL;
}
