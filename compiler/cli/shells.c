/* shells.c: scripts by which bash, zsh and fish complete the words of flowc.
 *
 * In: the table of commands and options, and that of the options of every script. Out: a script that needs
 * nothing but the shell; for `run` it asks flowc for the options of the script that stands on the line. What
 * always holds: what is completed is what the tables say; files are the shell's own. */
#include "cli/shells.h"
#include "cli/words_table.h"

#include "exec/command_line.h"

#include <stdio.h>
#include <string.h>

/* The alternatives of a command's operands that are words themselves, as `ls` and `gc` of `ls|gc [FILE]`:
 * each is put. */
static void each_word(FlCommandId command, void (*put)(FlCommandId command, const char *word, int n)) {
  const char *at = fl_word_commands[command].operands;
  if (*at == '[') at++;
  for (size_t n = strcspn(at, "| ]"); n; at += n + (at[n] == '|'), n = strcspn(at, "| ]"))
    if (*at >= 'a' && *at <= 'z') put(command, at, (int)n);
    else if (n == 7 && strncmp(at, "COMMAND", n) == 0)
      for (int c = 0; c < FL_N_COMMANDS; c++)
        put(command, fl_word_commands[c].name, (int)strlen(fl_word_commands[c].name));
}

static bool takes_files(FlCommandId command) {
  const char *operands = fl_word_commands[command].operands;
  return strstr(operands, "FILE") || strstr(operands, "FOLDER");
}

static bool is_file(const char *value) { return strcmp(value, "FILE") == 0 || strcmp(value, "DIR") == 0; }

/* The options of a command with their dashes, those of every script where it is `run`: each is put. `value`:
 * what stands behind it; NULL: nothing does. */
static void each_option(FlCommandId command, void (*put)(FlCommandId command, const char *name,
                                                         const char *value, const char *means)) {
  for (int f = 0; f < FL_N_FLAGS; f++) {
    const FlWordFlag *flag = &fl_word_flags[f];
    if (!fl_word_has(command, f)) continue;
    put(command, flag->name, flag->value, flag->means);
    if (flag->other) put(command, flag->other, flag->value, flag->means);
  }
  for (int o = 0; command == FL_COMMAND_RUN && o < FL_N_OPTIONS; o++) {
    char name[64];
    snprintf(name, sizeof name, "--%s", fl_option_info[o].name);
    if (o != FL_OPTION_HELP) put(command, name, fl_option_info[o].value, fl_option_info[o].help);
  }
}

/* Of `flowc run FILE --help`: the names of its options. The file is the first word behind `run` that ends in
 * .flow. */
#define ASK "flowc run \"$file\" --help 2>/dev/null | sed -n 's/^  \\(--[A-Za-z_][A-Za-z0-9_-]*\\).*/\\1/p'"

/* ---- bash ---------------------------------------------------------------------------------------------- */

static void put_spaced(FlCommandId command, const char *word, int n) {
  (void)command;
  printf(" %.*s", n, word);
}

static void bash_option(FlCommandId command, const char *name, const char *value, const char *means) {
  (void)command, (void)value, (void)means;
  printf(" %s", name);
}

/* Patterns of a command and an option behind which a value stands: that of FILE and DIR is completed as a
 * file, others are not. */
static void bash_file(FlCommandId command, const char *name, const char *value, const char *means) {
  (void)means;
  if (value && is_file(value)) printf("|%s:%s", fl_word_commands[command].name, name);
}

static void bash_value(FlCommandId command, const char *name, const char *value, const char *means) {
  (void)means;
  if (value && !is_file(value)) printf("|%s:%s", fl_word_commands[command].name, name);
}

static void bash(void) {
  puts("# flowc: completion for bash, made by flowc help bash\n"
       "_flowc_files() {\n"
       "  compopt -o filenames\n"
       "  mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- \"$word\")\n"
       "}\n"
       "_flowc() {\n"
       "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} options= words= file= w\n"
       "  COMPREPLY=()");
  printf("  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    COMPREPLY=($(compgen -W \"");
  for (int c = 0; c < FL_N_COMMANDS; c++) printf(" %s", fl_word_commands[c].name);
  printf("\" -- \"$word\"))\n    return\n  fi\n  case ${COMP_WORDS[1]}:$before in\n    ");
  printf("-"); /* no command */
  for (int c = 0; c < FL_N_COMMANDS; c++) each_option((FlCommandId)c, bash_file);
  printf(") _flowc_files; return ;;\n    -");
  for (int c = 0; c < FL_N_COMMANDS; c++) each_option((FlCommandId)c, bash_value);
  puts(") return ;;\n  esac\n  case ${COMP_WORDS[1]} in");
  for (int c = 0; c < FL_N_COMMANDS; c++) {
    printf("    %s) options=\"", fl_word_commands[c].name);
    each_option((FlCommandId)c, bash_option);
    printf("\" words=\"");
    each_word((FlCommandId)c, put_spaced);
    printf("\" ;;\n");
  }
  puts("  esac\n"
       "  if [[ $word == -* ]]; then\n"
       "    if [ \"${COMP_WORDS[1]}\" = run ]; then\n"
       "      for w in \"${COMP_WORDS[@]:2}\"; do [[ $w == *.flow && -z $file ]] && file=$w; done\n"
       "      [ -z \"$file\" ] || options=\"$options $(" ASK ")\"\n"
       "    fi\n"
       "    COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
       "    return\n"
       "  fi\n"
       "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
       "  _flowc_files\n"
       "}\n"
       "complete -F _flowc flowc");
}

/* ---- zsh and fish -------------------------------------------------------------------------------------- */

/* A text in single quotes; zsh's brackets and colons, which mean something there, are quoted too. */
static void put_quoted(const char *text, bool zsh) {
  for (; *text; text++) {
    if (*text == '\'') printf(zsh ? "'\\''" : "\\'");
    else if (*text == '\\') printf("\\\\");
    else printf(zsh && strchr("[]:", *text) ? "\\%c" : "%c", *text);
  }
}

static void zsh_option(FlCommandId command, const char *name, const char *value, const char *means) {
  (void)command;
  printf(" \\\n        '%s[", name);
  put_quoted(means, true);
  printf("]%s%s%s'", value ? ":" : "", value ? value : "", !value ? "" : is_file(value) ? ":_files" : ": ");
}

/* The `:` ends the options of _arguments, some of which are those of flowc (-O0). */
static void zsh(void) {
  puts("#compdef flowc\n"
       "# flowc: completion for zsh, made by flowc help zsh\n"
       "_flowc() {\n"
       "  local -a commands own\n"
       "  local file\n"
       "  commands=(");
  for (int c = 0; c < FL_N_COMMANDS; c++) {
    printf("    '%s:", fl_word_commands[c].name);
    put_quoted(fl_word_commands[c].does, true);
    puts("'");
  }
  puts("  )\n"
       "  if (( CURRENT == 2 )); then\n"
       "    _describe command commands\n"
       "    return\n"
       "  fi\n"
       "  local command=$words[2]\n"
       "  if [[ $command == run ]]; then\n"
       "    file=${words[(r)*.flow]}\n"
       "    [[ -z $file ]] || own=(${(f)\"$(" ASK ")\"})\n"
       "  fi\n"
       "  shift words\n"
       "  (( CURRENT-- ))\n"
       "  case $command in");
  for (int c = 0; c < FL_N_COMMANDS; c++) {
    FlCommandId id = (FlCommandId)c;
    printf("    %s)\n      _arguments -S :", fl_word_commands[c].name);
    each_option(id, zsh_option);
    if (id == FL_COMMAND_RUN) printf(" \\\n        ${own}");
    printf(" \\\n        '*: :{ local -a w; w=(");
    each_word(id, put_spaced);
    printf(" ); compadd -a w; %s }' ;;\n", takes_files(id) ? "_files" : ":");
  }
  puts("  esac\n"
       "}\n"
       "_flowc \"$@\"");
}

static void put_fish(FlCommandId command, const char *word, int n) {
  printf("complete -c flowc -n '__fish_seen_subcommand_from %s' -a '%.*s'\n", fl_word_commands[command].name,
         n, word);
}

static void fish_option(FlCommandId command, const char *name, const char *value, const char *means) {
  bool two = name[1] == '-', one = !two && !name[2];
  printf("complete -c flowc -n '__fish_seen_subcommand_from %s' -%c %s%s -d '",
         fl_word_commands[command].name,
         two   ? 'l'
         : one ? 's'
               : 'o',
         name + 1 + two,
         !value           ? ""
         : is_file(value) ? " -rF"
                          : " -x");
  put_quoted(means, false);
  puts("'");
}

static void fish(void) {
  puts("# flowc: completion for fish, made by flowc help fish\n"
       "function __flowc_own\n"
       "  set -l file (string match -- '*.flow' (commandline -opc))[1]\n"
       "  test -n \"$file\"; and " ASK "\n"
       "end\n"
       "complete -c flowc -n '__fish_seen_subcommand_from run; and string match -q -- \"-*\" (commandline "
       "-ct)' -a '(__flowc_own)'");
  for (int c = 0; c < FL_N_COMMANDS; c++) {
    FlCommandId id = (FlCommandId)c;
    printf("complete -c flowc -n __fish_use_subcommand -f -a %s -d '", fl_word_commands[c].name);
    put_quoted(fl_word_commands[c].does, false);
    puts("'");
    if (!takes_files(id))
      printf("complete -c flowc -n '__fish_seen_subcommand_from %s' -f\n", fl_word_commands[c].name);
    each_word(id, put_fish);
    each_option(id, fish_option);
  }
}

bool fl_shells_complete(const char *shell) {
  static const struct {
    const char *name;
    void (*print)(void);
  } shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
  for (size_t k = 0; k < sizeof shells / sizeof *shells; k++)
    if (strcmp(shell, shells[k].name) == 0) return shells[k].print(), true;
  return false;
}
