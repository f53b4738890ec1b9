/* load_elf.c: relocatable x86-64 objects, as the code generator makes them, into this process.
 *
 * In: the bytes of an ELF object of the small code model, position independent. Out: an FlProgram.
 * Sections are laid out in three runs of pages: code, constants, variables; behind them a table of addresses
 * (GOT) and jumps to functions that are too far for a 32-bit distance. Every offset, size and relocation is
 * checked before it is used: a damaged object gives an error, not a crash. Pages are written first and get
 * their final protection (code: read and execute; constants: read) before anything runs. */
#include "codegen/codegen.h"

#include <elf.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { STUB_BYTES = 16, MAX_SECTIONS = 65535 };
static const size_t max_image = (size_t)1 << 30;

struct FlLoaded {
  char *base;
  size_t size;
  const FlProgram *program; /* or */
  FlKernelFn kernel;
};

typedef enum Run { RUN_CODE, RUN_CONSTANT, RUN_VARIABLE, N_RUNS } Run;

/* One object while it is being loaded. */
typedef struct Load {
  const unsigned char *bytes;
  size_t size;
  char **why;
  const Elf64_Shdr *sections;
  size_t n_sections;
  const Elf64_Sym *symbols;
  size_t n_symbols;
  const char *names;
  size_t names_size;
  size_t *place;     /* by section: offset in the image; SIZE_MAX: not loaded */
  uint64_t *address; /* by symbol; 0: undefined name that nobody needs */
  char *base;
  size_t image, run_at[N_RUNS + 1], got, stubs;
} Load;

static bool fail(Load *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static bool fail(Load *l, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  if (vasprintf(l->why, fmt, ap) < 0) *l->why = NULL;
  va_end(ap);
  return false;
}

static bool in_file(const Load *l, uint64_t offset, uint64_t size) {
  return offset <= l->size && size <= l->size - offset;
}

/* ---- reading ------------------------------------------------------------------------------ */

static bool read_header(Load *l) {
  const Elf64_Ehdr *h = (const void *)l->bytes;
  if (l->size < sizeof *h || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0) return fail(l, "not an object");
  if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB || h->e_type != ET_REL ||
      h->e_machine != EM_X86_64)
    return fail(l, "an object of another kind");
  if (h->e_shentsize != sizeof(Elf64_Shdr) || h->e_shnum == 0 || h->e_shoff % 8 != 0 ||
      !in_file(l, h->e_shoff, (uint64_t)h->e_shnum * sizeof(Elf64_Shdr)))
    return fail(l, "the section table is damaged");
  l->sections = (const void *)(l->bytes + h->e_shoff);
  l->n_sections = h->e_shnum;
  for (size_t i = 0; i < l->n_sections; i++) {
    const Elf64_Shdr *s = &l->sections[i];
    if (s->sh_type != SHT_NOBITS && s->sh_type != SHT_NULL && !in_file(l, s->sh_offset, s->sh_size))
      return fail(l, "section %zu is cut off", i);
    if (s->sh_addralign > 4096 || (s->sh_addralign & (s->sh_addralign - 1)))
      return fail(l, "section %zu has an impossible alignment", i);
    if ((s->sh_flags & SHF_ALLOC) && ((s->sh_flags & SHF_TLS) || s->sh_size > max_image))
      return fail(l, "section %zu cannot be loaded", i);
  }
  return true;
}

static bool read_symbols(Load *l) {
  const Elf64_Shdr *table = NULL;
  for (size_t i = 0; i < l->n_sections; i++)
    if (l->sections[i].sh_type == SHT_SYMTAB) table = &l->sections[i];
  if (!table || table->sh_link >= l->n_sections || table->sh_offset % 8 != 0 ||
      table->sh_size % sizeof(Elf64_Sym) != 0)
    return fail(l, "the symbol table is damaged");
  const Elf64_Shdr *names = &l->sections[table->sh_link];
  if (names->sh_type != SHT_STRTAB || names->sh_size == 0 ||
      l->bytes[names->sh_offset + names->sh_size - 1] != 0)
    return fail(l, "the symbol names are damaged");
  l->symbols = (const void *)(l->bytes + table->sh_offset);
  l->n_symbols = table->sh_size / sizeof(Elf64_Sym);
  l->names = (const char *)l->bytes + names->sh_offset;
  l->names_size = names->sh_size;
  return true;
}

/* ---- layout ------------------------------------------------------------------------------- */

static size_t align_up(size_t n, size_t to) { return to > 1 ? (n + to - 1) & ~(to - 1) : n; }

static Run run_of(const Elf64_Shdr *s, const char *name) {
  if (s->sh_flags & SHF_EXECINSTR) return RUN_CODE;
  /* Constants that hold addresses are written only while relocating. */
  bool constant = !(s->sh_flags & SHF_WRITE) || strncmp(name, ".data.rel.ro", 12) == 0;
  return constant ? RUN_CONSTANT : RUN_VARIABLE;
}

static bool section_name(Load *l, size_t i, const char **name) {
  const Elf64_Ehdr *h = (const void *)l->bytes;
  *name = "";
  if (h->e_shstrndx >= l->n_sections) return fail(l, "the section names are damaged");
  const Elf64_Shdr *names = &l->sections[h->e_shstrndx];
  uint32_t at = l->sections[i].sh_name;
  if (names->sh_type != SHT_STRTAB || at >= names->sh_size ||
      l->bytes[names->sh_offset + names->sh_size - 1] != 0)
    return fail(l, "the section names are damaged");
  *name = (const char *)l->bytes + names->sh_offset + at;
  return true;
}

static bool lay_out(Load *l) {
  const size_t page = 4096;
  size_t at = 0;
  for (int run = 0; run < N_RUNS; run++) {
    l->run_at[run] = at;
    if (run == RUN_CODE) {
      l->stubs = at;
      at += l->n_symbols * STUB_BYTES;
    } else if (run == RUN_CONSTANT) {
      l->got = at;
      at += l->n_symbols * 8;
    }
    for (size_t i = 0; i < l->n_sections; i++) {
      const Elf64_Shdr *s = &l->sections[i];
      const char *name;
      if (!(s->sh_flags & SHF_ALLOC)) continue;
      if (!section_name(l, i, &name)) return false;
      if ((int)run_of(s, name) != run) continue;
      at = align_up(at, s->sh_addralign);
      l->place[i] = at;
      at += s->sh_size;
      if (at > max_image) return fail(l, "the object is too large");
    }
    at = align_up(at, page);
  }
  l->run_at[N_RUNS] = l->image = at;
  l->base = mmap(NULL, at ? at : page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (l->base == MAP_FAILED) {
    l->base = NULL;
    return fail(l, "out of memory");
  }
  for (size_t i = 0; i < l->n_sections; i++) {
    const Elf64_Shdr *s = &l->sections[i];
    if (l->place[i] != SIZE_MAX && s->sh_type != SHT_NOBITS)
      memcpy(l->base + l->place[i], l->bytes + s->sh_offset, s->sh_size);
  }
  return true;
}

/* ---- symbols ------------------------------------------------------------------------------ */

/* A jump through the symbol's entry of the GOT. */
static void make_stub(Load *l, size_t symbol) {
  char *stub = l->base + l->stubs + symbol * STUB_BYTES;
  int32_t distance =
      (int32_t)((int64_t)(l->got + symbol * 8) - (int64_t)(l->stubs + symbol * STUB_BYTES + 6));
  memset(stub, 0xcc, STUB_BYTES);
  stub[0] = (char)0xff;
  stub[1] = 0x25;
  memcpy(stub + 2, &distance, 4);
}

static bool resolve(Load *l) {
  for (size_t i = 1; i < l->n_symbols; i++) {
    const Elf64_Sym *s = &l->symbols[i];
    if (s->st_name >= l->names_size) return fail(l, "symbol %zu has no name", i);
    const char *name = l->names + s->st_name;
    uint64_t address = 0;
    if (s->st_shndx == SHN_UNDEF) {
      address = (uint64_t)(uintptr_t)fl_runtime_symbol(name);
      if (!address) return fail(l, "the runtime has no function '%s'", name);
      make_stub(l, i);
    } else if (s->st_shndx == SHN_ABS) {
      address = s->st_value;
    } else if (s->st_shndx >= l->n_sections) {
      return fail(l, "symbol '%s' is nowhere", name);
    } else if (l->place[s->st_shndx] != SIZE_MAX) {
      if (s->st_value > l->sections[s->st_shndx].sh_size)
        return fail(l, "symbol '%s' is out of its section", name);
      address = (uint64_t)(uintptr_t)(l->base + l->place[s->st_shndx]) + s->st_value;
    }
    l->address[i] = address;
    memcpy(l->base + l->got + i * 8, &address, 8);
  }
  return true;
}

/* ---- relocations -------------------------------------------------------------------------- */

static bool relocate(Load *l, size_t section, const Elf64_Rela *r) {
  size_t symbol = ELF64_R_SYM(r->r_info);
  uint32_t type = (uint32_t)ELF64_R_TYPE(r->r_info);
  if (type == R_X86_64_NONE) return true;
  size_t width = type == R_X86_64_64 || type == R_X86_64_PC64 ? 8 : 4;
  uint64_t size = l->sections[section].sh_size;
  if (symbol >= l->n_symbols || r->r_offset > size || size - r->r_offset < width)
    return fail(l, "a relocation is out of bounds");
  char *at = l->base + l->place[section] + r->r_offset;
  uint64_t place = (uint64_t)(uintptr_t)at, target = l->address[symbol], addend = (uint64_t)r->r_addend;
  bool outside = l->symbols[symbol].st_shndx == SHN_UNDEF && symbol != 0;
  if (!outside && l->symbols[symbol].st_shndx != SHN_ABS && target == 0)
    return fail(l, "a relocation refers to what is not loaded");
  uint64_t value;
  switch (type) {
  case R_X86_64_64: value = target + addend; break;
  case R_X86_64_PC64: value = target + addend - place; break;
  case R_X86_64_PC32:
  case R_X86_64_PLT32:
    if (outside) target = (uint64_t)(uintptr_t)(l->base + l->stubs + symbol * STUB_BYTES);
    value = target + addend - place;
    break;
  case R_X86_64_32:
    value = target + addend;
    if (value != (uint32_t)value) return fail(l, "a relocation holds too large a number");
    memcpy(at, &value, width);
    return true;
  case R_X86_64_GOTPCREL:
  case R_X86_64_GOTPCRELX:
  case R_X86_64_REX_GOTPCRELX:
    value = (uint64_t)(uintptr_t)(l->base + l->got + symbol * 8) + addend - place;
    break;
  default: return fail(l, "a relocation of unknown type %u", type);
  }
  if (width == 4 && (int64_t)value != (int32_t)value) return fail(l, "a relocation reaches too far");
  memcpy(at, &value, width);
  return true;
}

static bool relocate_all(Load *l) {
  for (size_t i = 0; i < l->n_sections; i++) {
    const Elf64_Shdr *s = &l->sections[i];
    if (s->sh_type == SHT_REL) return fail(l, "relocations without addends");
    if (s->sh_type != SHT_RELA) continue;
    if (s->sh_info >= l->n_sections || s->sh_offset % 8 != 0 || s->sh_size % sizeof(Elf64_Rela) != 0)
      return fail(l, "the relocations are damaged");
    if (l->place[s->sh_info] == SIZE_MAX) continue;
    if (l->sections[s->sh_info].sh_type == SHT_NOBITS) return fail(l, "the relocations are damaged");
    const Elf64_Rela *r = (const void *)(l->bytes + s->sh_offset);
    for (size_t k = 0; k < s->sh_size / sizeof *r; k++)
      if (!relocate(l, s->sh_info, &r[k])) return false;
  }
  return true;
}

static bool protect(Load *l) {
  static const int protection[N_RUNS] = {[RUN_CODE] = PROT_READ | PROT_EXEC,
                                         [RUN_CONSTANT] = PROT_READ,
                                         [RUN_VARIABLE] = PROT_READ | PROT_WRITE};
  for (int run = 0; run < N_RUNS; run++) {
    size_t size = l->run_at[run + 1] - l->run_at[run];
    if (size && mprotect(l->base + l->run_at[run], size, protection[run]) != 0)
      return fail(l, "the system refuses to make code executable");
  }
  return true;
}

static bool find_program(Load *l, const FlProgram **out) {
  for (size_t i = 1; i < l->n_symbols; i++) {
    const Elf64_Sym *s = &l->symbols[i];
    if (s->st_shndx == SHN_UNDEF || strcmp(l->names + s->st_name, "flow_program") != 0) continue;
    bool whole = s->st_shndx < l->n_sections && l->address[i] % 8 == 0 &&
                 s->st_value + sizeof(FlProgram) <= l->sections[s->st_shndx].sh_size;
    if (!whole || l->address[i] == 0) return fail(l, "the program's description is damaged");
    const FlProgram *p = (const FlProgram *)(uintptr_t)l->address[i];
    if (p->version != FL_PROGRAM_VERSION) return fail(l, "made for another version of flow");
    *out = p;
    return true;
  }
  return fail(l, "no program in the object");
}

static bool find_kernel(Load *l, FlKernelFn *out) {
  for (size_t i = 1; i < l->n_symbols; i++) {
    const Elf64_Sym *s = &l->symbols[i];
    if (ELF64_ST_TYPE(s->st_info) != STT_FUNC || strcmp(l->names + s->st_name, FL_KERNEL_NAME) != 0) continue;
    if (s->st_shndx >= l->n_sections || !l->address[i]) return fail(l, "the kernel is damaged");
    void *at = (void *)(uintptr_t)l->address[i];
    memcpy(out, &at, sizeof *out);
    return true;
  }
  return fail(l, "no kernel in the object");
}

/* ---- the public functions ----------------------------------------------------------------- */

static FlLoaded *load(const void *bytes, size_t size, bool is_kernel, char **why) {
  Load l = {.bytes = bytes, .size = size, .why = why};
  FlLoaded *out = calloc(1, sizeof *out);
  *why = NULL;
  bool ok = out && (uintptr_t)bytes % 8 == 0 && read_header(&l) && read_symbols(&l);
  if (ok) {
    l.place = malloc(l.n_sections * sizeof *l.place);
    l.address = calloc(l.n_symbols + 1, sizeof *l.address);
    ok = l.place && l.address;
    for (size_t i = 0; ok && i < l.n_sections; i++) l.place[i] = SIZE_MAX;
  }
  const FlProgram *program = NULL;
  FlKernelFn kernel = NULL;
  ok = ok && lay_out(&l) && resolve(&l) && relocate_all(&l) && protect(&l) &&
       (is_kernel ? find_kernel(&l, &kernel) : find_program(&l, &program));
  free(l.place);
  free(l.address);
  if (ok) {
    *out = (FlLoaded){l.base, l.image, program, kernel};
    return out;
  }
  if (!*why) *why = strdup("out of memory");
  if (l.base) munmap(l.base, l.image ? l.image : 4096);
  free(out);
  return NULL;
}

FlLoaded *fl_load_object(const void *bytes, size_t size, char **why) { return load(bytes, size, false, why); }
FlLoaded *fl_load_kernel(const void *bytes, size_t size, char **why) { return load(bytes, size, true, why); }
FlKernelFn fl_loaded_kernel(const FlLoaded *l) { return l->kernel; }
const FlProgram *fl_loaded_program(const FlLoaded *l) { return l->program; }

void fl_loaded_free(FlLoaded *l) {
  if (!l) return;
  munmap(l->base, l->size);
  free(l);
}
