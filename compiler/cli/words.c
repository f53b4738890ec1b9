/* words.c: see words.h. In: words. Out: options and operands, or a message and the exit status 2. What always
 * holds: an option that is in the table is read and shown by the same row; one that is not is an error with
 * the closest name. */
#include "cli/words_table.h"

#include "base/base.h"
#include "exec/command_line.h"

const FlWordCommand fl_word_commands[FL_N_COMMANDS] = {
#define FL_COMMAND(id, name, operands, least, most, does)                                                    \
  [FL_COMMAND_##id] = {name, operands, does, least, most},
#include "cli/commands.def"
};

#define ON(id) (1u << FL_COMMAND_##id)
const FlWordFlag fl_word_flags[FL_N_FLAGS] = {
#define FL_FLAG(id, commands, name, other, value, means)                                                     \
  [FL_FLAG_##id] = {commands, name, other, value, means},
#include "cli/commands.def"
};
#undef ON

const char *fl_command_name(FlCommandId command) { return fl_word_commands[command].name; }

FlCommandId fl_command_find(const char *name) {
  int i = 0;
  while (i < FL_N_COMMANDS && strcmp(fl_word_commands[i].name, name) != 0) i++;
  return (FlCommandId)i;
}

/* ---- reading ---- */

static int usage(FlCommandId command) {
  fprintf(stderr, "usage: flowc %s [OPTIONS] %s\n", fl_word_commands[command].name,
          fl_word_commands[command].operands);
  fprintf(stderr, "  help: `flowc %s --help` says more\n", fl_word_commands[command].name);
  return 2;
}

int fl_words_usage(FlCommandId command) { return usage(command); }

int fl_words_unknown(FlCommandId command, const char *word) {
  const char *names[2 * FL_N_FLAGS];
  int n = 0, length = (int)strcspn(word, "=");
  for (int f = 0; f < FL_N_FLAGS; f++) {
    if (!fl_word_has(command, f)) continue;
    names[n++] = fl_word_flags[f].name;
    if (fl_word_flags[f].other) names[n++] = fl_word_flags[f].other;
  }
  char given[128];
  snprintf(given, sizeof given, "%.*s", length, word);
  const char *near = fl_closest(given, names, n);
  fprintf(stderr, "flowc %s: there is no option `%.*s`%s%s%s\n", fl_word_commands[command].name, length, word,
          near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
  fprintf(stderr, "  help: `flowc %s --help` lists what there is\n", fl_word_commands[command].name);
  return 2;
}

/* Whether a word is this option, alone or as --name=VALUE; *value: what stands behind `=`, or NULL. */
static bool is_flag(const FlWordFlag *f, const char *word, const char **value) {
  size_t n = strcspn(word, "=");
  *value = word[n] ? word + n + 1 : NULL;
  return (strlen(f->name) == n && strncmp(f->name, word, n) == 0) ||
         (f->other && strcmp(f->other, word) == 0);
}

int fl_words_option(FlCommandId command, int n_words, char **words, int *i, FlWords *out) {
  const char *word = words[*i], *value = NULL, *name = fl_word_commands[command].name;
  int f = 0;
  while (f < FL_N_FLAGS && !(fl_word_has(command, f) && is_flag(&fl_word_flags[f], word, &value))) f++;
  if (f == FL_N_FLAGS) return 1;
  if (value && !fl_word_flags[f].value)
    return fprintf(stderr, "flowc %s: `%s` takes no value\n", name, fl_word_flags[f].name), 2;
  if (fl_word_flags[f].value && !value) {
    if (*i + 1 >= n_words)
      return fprintf(stderr, "flowc %s: `%s` needs a value behind it: %s\n", name, word,
                     fl_word_flags[f].value),
             2;
    if (fl_word_is_option(words[*i + 1])) {
      fprintf(stderr, "flowc %s: `%s` needs a value behind it, and `%s` looks like an option\n", name, word,
              words[*i + 1]);
      if (word[1] == '-')
        fprintf(stderr, "  help: if that is the value, write `%s=%s`\n", word, words[*i + 1]);
      return 2;
    }
    value = words[++*i];
  }
  if (value && out->flags[f])
    return fprintf(stderr, "flowc %s: `%s` is given twice\n", name, fl_word_flags[f].name), 2;
  out->flags[f] = value ? value : fl_word_flags[f].name;
  return 0;
}

int fl_words_read(FlCommandId command, int n_words, char **words, FlWords *out) {
  *out = (FlWords){.operands = words};
  bool over = false;
  for (int i = 0; i < n_words; i++) {
    char *word = words[i];
    if (over || word[0] != '-' || !word[1]) {
      words[out->n_operands++] = word;
    } else if (strcmp(word, "--") == 0) {
      over = true;
    } else {
      int status = fl_words_option(command, n_words, words, &i, out);
      if (status == 1) return fl_words_unknown(command, word);
      if (status) return status;
    }
  }
  if (out->flags[FL_FLAG_HELP]) return fl_words_help(command), 0;
  const FlWordCommand *c = &fl_word_commands[command];
  if (out->n_operands < c->least) return usage(command);
  if (c->most < 0 || out->n_operands <= c->most) return FL_WORDS_READ;
  fprintf(stderr, "flowc %s: `%s` is one too many\n", c->name, out->operands[c->most]);
  return usage(command);
}

/* ---- pages ---- */

static void put_row(FILE *out, const char *left, const char *right) {
  fprintf(out, "  %-20s", left);
  if (strlen(left) > 20) fprintf(out, "\n  %-20s", "");
  fprintf(out, " %s\n", right);
}

void fl_words_help(FlCommandId command) {
  const FlWordCommand *c = &fl_word_commands[command];
  printf("usage: flowc %s [OPTIONS] %s\n\n  %s\n", c->name, c->operands, c->does);
  if (strstr(c->operands, "FOLDER ..."))
    puts("\n  A folder stands for all scripts in it and in its folders, but for hidden ones.");
  if (strstr(c->operands, "FILE") && command != FL_COMMAND_WHY && command != FL_COMMAND_CACHE &&
      command != FL_COMMAND_VERSION && command != FL_COMMAND_DIFF && command != FL_COMMAND_BENCH)
    puts("\n  `-` is standard input.");
  puts("\noptions");
  for (int f = 0; f < FL_N_FLAGS; f++) {
    if (!fl_word_has(command, f)) continue;
    char left[64];
    snprintf(left, sizeof left, "%s%s%s%s%s", fl_word_flags[f].other ? fl_word_flags[f].other : "",
             fl_word_flags[f].other ? ", " : "", fl_word_flags[f].name, fl_word_flags[f].value ? " " : "",
             fl_word_flags[f].value ? fl_word_flags[f].value : "");
    put_row(stdout, left, fl_word_flags[f].means);
  }
  if (command != FL_COMMAND_RUN) return;
  puts("\noptions of every script");
  for (int o = 0; o < FL_N_OPTIONS; o++) {
    char left[64];
    snprintf(left, sizeof left, "--%s%s%s", fl_option_info[o].name, fl_option_info[o].value ? " " : "",
             fl_option_info[o].value ? fl_option_info[o].value : "");
    if (o != FL_OPTION_HELP) put_row(stdout, left, fl_option_info[o].help);
  }
}

void fl_words_list(FILE *out) {
  fputs("usage: flowc COMMAND ...\n\n", out);
  for (int c = 0; c < FL_N_COMMANDS; c++) put_row(out, fl_word_commands[c].name, fl_word_commands[c].does);
  fputs(
      "\n`flowc COMMAND --help` lists the options of a command, `flowc run FILE --help` those of a script,\n"
      "`flowc help environment` the environment variables.\n",
      out);
}

void fl_words_environment(void) {
  puts("environment variables");
#define FL_ENVIRONMENT(name, readers, means) put_row(stdout, name, means " (" readers ")");
#include "base/environment.def"
#undef FL_ENVIRONMENT
}
