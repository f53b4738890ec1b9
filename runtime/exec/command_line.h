/* command_line.h: what a program's command line says. */
#ifndef FL_COMMAND_LINE_H
#define FL_COMMAND_LINE_H

#include "exec/exec.h"

/* The options of every program; FLAG takes no value. FL_OPTION(name, "value's name" or NULL, "help") */
#define FL_EACH_OPTION(FL_OPTION)                                                                            \
  FL_OPTION(HELP, "help", NULL, "this text")                                                                 \
  FL_OPTION(VERSION, "version", NULL, "which flow made this program, and of which source")                   \
  FL_OPTION(WORKERS, "workers", "N",                                                                         \
            "threads that compute; all CPUs without it, and the same results in any case")                   \
  FL_OPTION(RANKS, "ranks", "N",                                                                             \
            "processes that share the work, started by MPI's mpirun; the same results in any case")          \
  FL_OPTION(HOSTS, "hosts", "HOSTS",                                                                         \
            "the same on these machines, as a:8,b, by ssh: a rank each, of so many workers, or all CPUs")    \
  FL_OPTION(CACHE, "cache", "DIR", "where results of stages are remembered (FLOW_CACHE, .flow/cache)")       \
  FL_OPTION(NO_CACHE, "no-cache", NULL, "remember nothing, use nothing remembered")                          \
  FL_OPTION(QUIET, "quiet", NULL, "no progress and no closing line")                                         \
  FL_OPTION(REPORT, "report", "FILE", "write a page about the run (HTML)")                                   \
  FL_OPTION(TRACE, "trace", "FILE",                                                                          \
            "write a timeline of stages, loops, operators (JSON, for chrome://tracing)")                     \
  FL_OPTION(MEMORY, "memory", "SIZE", "memory to use, as in 500M or 8G; what is beyond goes to disk")        \
  FL_OPTION(ALLOW_EXEC, "allow-exec", NULL, "let the script run other programs")

typedef enum FlOption {
#define FL_OPTION(NAME, text, value, help) FL_OPTION_##NAME,
  FL_EACH_OPTION(FL_OPTION)
#undef FL_OPTION
      FL_N_OPTIONS
} FlOption;

typedef struct FlOptionInfo {
  const char *name, *value, *help;
} FlOptionInfo;
extern const FlOptionInfo fl_option_info[FL_N_OPTIONS];

typedef struct FlCommandLine {
  bool help, version, no_cache, quiet, allow_exec;
  int workers, ranks;
  int64_t memory; /* bytes; 0: no limit */
  const char *cache, *report, *trace, *hosts;
  const char **values; /* one a parameter: the text given, or NULL */
} FlCommandLine;

/* Reads argv; 0, or 2 after a message on standard error. `out->values` has room for the program's parameters.
 */
int fl_command_line_read(const FlProgram *program, int argc, char **argv, FlCommandLine *out);
/* The usage page, on standard output. */
void fl_command_line_help(const FlProgram *program, const char *name);
/* What the program is (FlProgram.about), on standard output. */
void fl_command_line_version(const FlProgram *program);
/* A message about the command line, on standard error. Returns 2. */
int fl_usage_error(const char *program, const char *help, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Slots that a program's parameters take: two for T?, else one. */
int32_t fl_param_slots(const FlProgram *program);
/* Values of all parameters, from the command line or their defaults; 0, or an exit status after a message.
 * Texts live as long as the run. */
int fl_params_read(FlRun *run, const char *name, const char *const *values, FlSlot *slots);
void fl_params_release(const FlProgram *program, FlSlot *slots);

/* Is a word of the command line an option rather than a value: does it begin with a minus, and is no number
 * and not `-` alone? */
bool fl_word_is_option(const char *word);

#endif
