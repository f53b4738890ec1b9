/* merge_elf.c: several relocatable x86-64 objects become one, as `ld -r` would make it, but for joining
 * sections of one name: the linker and the loader take each section by itself.
 *
 * Or one is cut: functions that are remembered by themselves, with all that they reach but what they call.
 *
 * In: objects as the code generator makes them. Out: an object with the sections that take memory and their
 * relocations, local symbols first, and each global name once: a name that one object defines, or that of a
 * number, is what the others mean by it. Every offset and index is checked before it is used. */
#include "codegen/codegen.h"

#include <elf.h>
#include <stdlib.h>

/* One object that comes in. */
typedef struct Part {
  const char *bytes;
  size_t size;
  const Elf64_Shdr *sections;
  size_t n_sections, n_symbols;
  const Elf64_Sym *symbols;
  const char *names, *section_names;
  size_t names_size, section_names_size;
  uint16_t *section_to;   /* by section: its place in the result, 0: left out */
  uint32_t *symbol_to;    /* by symbol */
  bool *keeps, *names_it; /* of a cut: by section, by symbol; NULL: all */
} Part;

typedef struct Merge {
  FlArena *arena;
  Part *parts;
  int n;
  FlVec(Elf64_Shdr) sections;
  FlVec(Elf64_Sym) symbols;
  uint32_t n_local;
  FlInterner *interner;
  FlMap *globals; /* interned name -> index into symbols */
  FlMap *roots;   /* of a cut: interned names of the functions that are cut out, and of what they name of the
                     program */
  FlText1 names, section_names, body;
  const char *error;
} Merge;

static bool fail(Merge *m, const char *why) {
  if (!m->error) m->error = why;
  return false;
}

static bool within(const Part *p, uint64_t offset, uint64_t bytes) {
  return offset <= p->size && bytes <= p->size - offset;
}

/* ---- reading --------------------------------------------------------------------------------------- */

/* A section of names: ends with a zero. */
static bool read_names(const Part *p, size_t section, const char **names, size_t *size) {
  if (section >= p->n_sections) return false;
  const Elf64_Shdr *s = &p->sections[section];
  *names = p->bytes + s->sh_offset;
  *size = s->sh_size;
  return s->sh_type == SHT_STRTAB && s->sh_size > 0 && (*names)[s->sh_size - 1] == 0;
}

static bool read_part(Merge *m, Part *p) {
  const Elf64_Ehdr *h = (const void *)p->bytes;
  if (p->size < sizeof *h || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 || h->e_type != ET_REL ||
      h->e_machine != EM_X86_64 || h->e_shentsize != sizeof(Elf64_Shdr) || h->e_shoff % 8 != 0 ||
      !within(p, h->e_shoff, (uint64_t)h->e_shnum * sizeof(Elf64_Shdr)))
    return fail(m, "a part is no object");
  p->sections = (const void *)(p->bytes + h->e_shoff);
  p->n_sections = h->e_shnum;
  const Elf64_Shdr *table = NULL;
  for (size_t i = 0; i < p->n_sections; i++) {
    const Elf64_Shdr *s = &p->sections[i];
    if (s->sh_type != SHT_NOBITS && !within(p, s->sh_offset, s->sh_size))
      return fail(m, "a section is cut off");
    if (s->sh_type == SHT_SYMTAB) table = s;
  }
  if (!table || table->sh_offset % 8 != 0 || !read_names(p, table->sh_link, &p->names, &p->names_size) ||
      !read_names(p, h->e_shstrndx, &p->section_names, &p->section_names_size))
    return fail(m, "a part has no symbols");
  p->symbols = (const void *)(p->bytes + table->sh_offset);
  p->n_symbols = table->sh_size / sizeof(Elf64_Sym);
  p->section_to = FL_NEW_ARRAY(m->arena, uint16_t, p->n_sections + 1);
  p->symbol_to = FL_NEW_ARRAY(m->arena, uint32_t, p->n_symbols + 1);
  return true;
}

/* ---- sections -------------------------------------------------------------------------------------- */

static void pad(Merge *m, size_t to) {
  while (m->body.len % (to ? to : 1) != 0) fl_text_addc(&m->body, '\0');
}

static uint32_t add_name(FlText1 *names, const char *name) {
  uint32_t at = (uint32_t)names->len;
  fl_text_add(names, name, strlen(name) + 1);
  return at;
}

/* Appends the section and its bytes; its place. */
static bool add_section(Merge *m, Part *p, size_t i) {
  Elf64_Shdr s = p->sections[i];
  if (s.sh_name >= p->section_names_size) return fail(m, "a section has no name");
  if (m->sections.n >= SHN_LORESERVE - 4) return fail(m, "too many sections");
  pad(m, s.sh_addralign);
  size_t at = m->body.len;
  if (s.sh_type != SHT_NOBITS) fl_text_add(&m->body, p->bytes + s.sh_offset, s.sh_size);
  s.sh_offset = at;
  s.sh_name = add_name(&m->section_names, p->section_names + s.sh_name);
  p->section_to[i] = (uint16_t)m->sections.n;
  fl_vec_push(m->arena, &m->sections, s);
  return true;
}

static bool add_sections(Merge *m, Part *p) {
  for (size_t i = 1; i < p->n_sections; i++)
    if ((p->sections[i].sh_flags & SHF_ALLOC) && (!p->keeps || p->keeps[i]) && !add_section(m, p, i))
      return false;
  for (size_t i = 1; i < p->n_sections; i++) {
    const Elf64_Shdr *s = &p->sections[i];
    if (s->sh_type != SHT_RELA || s->sh_info >= p->n_sections || !p->section_to[s->sh_info]) continue;
    if (!add_section(m, p, i)) return false;
    m->sections.at[p->section_to[i]].sh_info = p->section_to[s->sh_info];
  }
  return true;
}

/* ---- symbols --------------------------------------------------------------------------------------- */

enum { CALLED = 1, OWN };

/* What the name of the symbol is a root of; 0: it is none. */
static int root_kind(const Merge *m, const Part *p, const Elf64_Sym *s) {
  if (ELF64_ST_BIND(s->st_info) == STB_LOCAL || s->st_name >= p->names_size) return 0;
  return (int)(intptr_t)fl_map_get(m->roots, fl_intern_z(m->interner, p->names + s->st_name));
}

/* The symbol in terms of the result. */
static bool moved(Merge *m, const Part *p, const Elf64_Sym *from, Elf64_Sym *out) {
  *out = *from;
  if (from->st_name >= p->names_size) return fail(m, "a symbol has no name");
  if (p->keeps && root_kind(m, p, from) == CALLED) { /* another unit's, also where it is here */
    out->st_shndx = SHN_UNDEF;
    out->st_value = out->st_size = 0;
    out->st_info = (unsigned char)ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE);
  }
  if (out->st_shndx == SHN_UNDEF || from->st_shndx == SHN_ABS) return true;
  if (from->st_shndx >= p->n_sections) return fail(m, "a symbol is nowhere");
  out->st_shndx = p->section_to[from->st_shndx];
  return true;
}

static bool is_local(const Merge *m, const Part *p, size_t i) {
  const Elf64_Sym *s = &p->symbols[i];
  return ELF64_ST_BIND(s->st_info) == STB_LOCAL ||
         (p->keeps && s->st_shndx != SHN_UNDEF &&
          !fl_map_get(m->roots, fl_intern_z(m->interner, p->names + s->st_name)));
}

static bool add_locals(Merge *m, Part *p) {
  for (size_t i = 1; i < p->n_symbols; i++) {
    Elf64_Sym s;
    int type = ELF64_ST_TYPE(p->symbols[i].st_info);
    if (!is_local(m, p, i) || type == STT_FILE || (p->keeps && !p->names_it[i])) continue;
    if (!moved(m, p, &p->symbols[i], &s)) return false;
    s.st_info = (unsigned char)ELF64_ST_INFO(STB_LOCAL, type);
    if (s.st_shndx == SHN_UNDEF) continue; /* of a section that is left out */
    s.st_name = s.st_name ? add_name(&m->names, p->names + s.st_name) : 0;
    p->symbol_to[i] = (uint32_t)m->symbols.n;
    fl_vec_push(m->arena, &m->symbols, s);
  }
  return true;
}

static bool add_globals(Merge *m, Part *p) {
  for (size_t i = 1; i < p->n_symbols; i++) {
    Elf64_Sym s;
    if (is_local(m, p, i) || (p->keeps && !p->names_it[i])) continue;
    if (!moved(m, p, &p->symbols[i], &s)) return false;
    const char *name = fl_intern_z(m->interner, p->names + s.st_name);
    uint32_t at = (uint32_t)(uintptr_t)fl_map_get(m->globals, name);
    if (!at) {
      at = (uint32_t)m->symbols.n;
      s.st_name = add_name(&m->names, name);
      fl_vec_push(m->arena, &m->symbols, s);
      fl_map_set(m->globals, name, (void *)(uintptr_t)at);
    } else if (s.st_shndx != SHN_UNDEF) {
      Elf64_Sym *known = &m->symbols.at[at];
      if (known->st_shndx != SHN_UNDEF) return fail(m, "two parts define one name");
      s.st_name = known->st_name;
      *known = s;
    }
    p->symbol_to[i] = at;
  }
  return true;
}

static bool relocations(Merge *m, const Part *p) {
  for (size_t i = 1; i < p->n_sections; i++) {
    if (p->sections[i].sh_type != SHT_RELA || !p->section_to[i]) continue;
    const Elf64_Shdr *s = &m->sections.at[p->section_to[i]];
    for (size_t at = 0; at + sizeof(Elf64_Rela) <= s->sh_size; at += sizeof(Elf64_Rela)) {
      Elf64_Rela r;
      memcpy(&r, m->body.s + s->sh_offset + at, sizeof r);
      size_t symbol = ELF64_R_SYM(r.r_info);
      if (symbol >= p->n_symbols || (symbol && !p->symbol_to[symbol]))
        return fail(m, "a relocation names no symbol");
      r.r_info = ELF64_R_INFO((uint64_t)p->symbol_to[symbol], ELF64_R_TYPE(r.r_info));
      memcpy(m->body.s + s->sh_offset + at, &r, sizeof r);
    }
  }
  return true;
}

/* ---- writing --------------------------------------------------------------------------------------- */

static void add_table(Merge *m, uint32_t type, const char *name, const void *bytes, size_t size,
                      Elf64_Shdr s) {
  pad(m, 8);
  s.sh_type = type;
  s.sh_name = add_name(&m->section_names, name);
  s.sh_offset = m->body.len;
  s.sh_size = size;
  s.sh_addralign = 8;
  fl_text_add(&m->body, bytes, size);
  fl_vec_push(m->arena, &m->sections, s);
}

static void finish(Merge *m) {
  uint32_t symtab = (uint32_t)m->sections.n;
  for (int i = 1; i < m->sections.n; i++)
    if (m->sections.at[i].sh_type == SHT_RELA) m->sections.at[i].sh_link = symtab;
  Elf64_Shdr symbols = {.sh_link = symtab + 1, .sh_info = m->n_local, .sh_entsize = sizeof(Elf64_Sym)};
  add_table(m, SHT_SYMTAB, ".symtab", m->symbols.at, (size_t)m->symbols.n * sizeof(Elf64_Sym), symbols);
  add_table(m, SHT_STRTAB, ".strtab", m->names.s, m->names.len, (Elf64_Shdr){0});
  add_table(m, SHT_PROGBITS, ".note.GNU-stack", "", 0, (Elf64_Shdr){0});
  pad(m, 8);
  Elf64_Shdr names = {.sh_type = SHT_STRTAB, .sh_offset = m->body.len, .sh_addralign = 1};
  names.sh_name = add_name(&m->section_names, ".shstrtab");
  names.sh_size = m->section_names.len;
  fl_text_add(&m->body, m->section_names.s, m->section_names.len);
  fl_vec_push(m->arena, &m->sections, names);
  pad(m, 8);
  Elf64_Ehdr h = *(const Elf64_Ehdr *)(const void *)m->parts[0].bytes;
  h.e_shoff = m->body.len;
  h.e_shnum = (uint16_t)m->sections.n;
  h.e_shstrndx = (uint16_t)(m->sections.n - 1);
  fl_text_add(&m->body, (const char *)m->sections.at, (size_t)m->sections.n * sizeof(Elf64_Shdr));
  memcpy(m->body.s, &h, sizeof h);
}

/* Names of numbers are absolute symbols. */
static void add_numbers(Merge *m, const FlNumberName *numbers, int n) {
  for (int i = 0; i < n; i++) {
    const char *name = fl_intern_z(m->interner, numbers[i].name);
    uint32_t at = (uint32_t)(uintptr_t)fl_map_get(m->globals, name);
    if (!at || m->symbols.at[at].st_shndx != SHN_UNDEF) continue; /* nobody asks for it */
    m->symbols.at[at].st_shndx = SHN_ABS;
    m->symbols.at[at].st_value = numbers[i].number;
  }
}

/* ---- cutting --------------------------------------------------------------------------------------- */

/* A function of the program, or a number: not each program has it. */
static bool is_of_program(const Part *p, const Elf64_Sym *s) {
  return ELF64_ST_BIND(s->st_info) != STB_LOCAL && s->st_name < p->names_size &&
         strncmp(p->names + s->st_name, "flow.", 5) == 0;
}

/* Keeps what the own roots reach: sections, and the symbols that these name. */
static bool reach(Merge *m, Part *p) {
  size_t *relocations_of = FL_NEW_ARRAY(m->arena, size_t, p->n_sections);
  FlVec(size_t) open = {0};
  p->keeps = FL_NEW_ARRAY(m->arena, bool, p->n_sections);
  p->names_it = FL_NEW_ARRAY(m->arena, bool, p->n_symbols + 1);
  for (size_t i = 1; i < p->n_sections; i++)
    if (p->sections[i].sh_type == SHT_RELA && p->sections[i].sh_info < p->n_sections)
      relocations_of[p->sections[i].sh_info] = i;
  for (size_t i = 1; i < p->n_symbols; i++) {
    const Elf64_Sym *s = &p->symbols[i];
    if (root_kind(m, p, s) != OWN || s->st_shndx == SHN_UNDEF) continue;
    p->names_it[i] = true;
    fl_vec_push(m->arena, &open, s->st_shndx);
  }
  while (open.n) {
    size_t section = open.at[--open.n];
    if (section >= p->n_sections || p->keeps[section]) continue;
    p->keeps[section] = true;
    const Elf64_Shdr *s = &p->sections[relocations_of[section]];
    for (size_t at = 0; relocations_of[section] && at + sizeof(Elf64_Rela) <= s->sh_size;
         at += sizeof(Elf64_Rela)) {
      Elf64_Rela r;
      memcpy(&r, p->bytes + s->sh_offset + at, sizeof r);
      size_t symbol = ELF64_R_SYM(r.r_info);
      if (symbol >= p->n_symbols) return fail(m, "a relocation names no symbol");
      const Elf64_Sym *to = &p->symbols[symbol];
      p->names_it[symbol] = true;
      bool outside = root_kind(m, p, to) == CALLED;
      if (!outside && is_of_program(p, to) && root_kind(m, p, to) != OWN)
        return fail(m, "it reaches what it does not name");
      if (!outside && to->st_shndx != SHN_UNDEF && to->st_shndx != SHN_ABS)
        fl_vec_push(m->arena, &open, to->st_shndx);
    }
  }
  return true;
}

/* ---- the public functions -------------------------------------------------------------------------- */

static Merge begin(int n) {
  Merge m = {.arena = fl_arena_new(), .n = n};
  m.parts = FL_NEW_ARRAY(m.arena, Part, n);
  m.interner = fl_interner_make(m.arena);
  m.globals = fl_map_make(m.arena);
  m.roots = fl_map_make(m.arena);
  fl_text_add(&m.names, "", 1);
  fl_text_add(&m.section_names, "", 1);
  static const Elf64_Ehdr no_header;
  fl_text_add(&m.body, (const char *)&no_header, sizeof no_header);
  fl_vec_push(m.arena, &m.sections, (Elf64_Shdr){0});
  fl_vec_push(m.arena, &m.symbols, (Elf64_Sym){0});
  return m;
}

static FlObject end(Merge *m, bool ok) {
  FlObject out = {0};
  if (ok) {
    finish(m);
    out = (FlObject){.bytes = malloc(m->body.len + 1), .size = m->body.len};
    if (!out.bytes) fl_no_memory();
    memcpy(out.bytes, m->body.s, m->body.len);
  } else {
    out.why = strdup(m->error ? m->error : "out of memory");
  }
  fl_text_reset(&m->body);
  fl_text_reset(&m->names);
  fl_text_reset(&m->section_names);
  fl_arena_free(m->arena);
  return out;
}

FlObject fl_cut_object(const FlObject *object, const char *const *own, int n_own, const char *const *called,
                       int n_called) {
  Merge m = begin(1);
  Part *p = &m.parts[0];
  for (int i = 0; i < n_called; i++)
    fl_map_set(m.roots, fl_intern_z(m.interner, called[i]), (void *)(intptr_t)CALLED);
  for (int i = 0; i < n_own; i++) fl_map_set(m.roots, fl_intern_z(m.interner, own[i]), (void *)(intptr_t)OWN);
  p->bytes = object->bytes;
  p->size = object->size;
  bool ok = read_part(&m, p) && reach(&m, p) && add_sections(&m, p) && add_locals(&m, p);
  m.n_local = (uint32_t)m.symbols.n;
  return end(&m, ok && add_globals(&m, p) && relocations(&m, p));
}

FlObject fl_merge_objects(const FlObject *parts, int n, const FlNumberName *numbers, int n_numbers) {
  Merge m = begin(n);
  bool ok = true;
  for (int i = 0; ok && i < n; i++) {
    m.parts[i].bytes = parts[i].bytes;
    m.parts[i].size = parts[i].size;
    ok = read_part(&m, &m.parts[i]) && add_sections(&m, &m.parts[i]) && add_locals(&m, &m.parts[i]);
  }
  m.n_local = (uint32_t)m.symbols.n;
  for (int i = 0; ok && i < n; i++) ok = add_globals(&m, &m.parts[i]);
  if (ok) add_numbers(&m, numbers, n_numbers);
  for (int i = 0; ok && i < n; i++) ok = relocations(&m, &m.parts[i]);
  return end(&m, ok);
}
