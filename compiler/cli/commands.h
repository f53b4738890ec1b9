/* commands.h: the commands of flowc that compile. Each takes the words after its name and gives the exit
 * status. */
#ifndef FL_COMMANDS_H
#define FL_COMMANDS_H

/* flowc run, build, test. */
int fl_command_run(int n_words, char **words);
int fl_command_build(int n_words, char **words);
int fl_command_test(int n_words, char **words);

/* flowc check FILE.flow ...: compiles as far as messages can come; 0, or 3. */
int fl_command_check(int n_words, char **words);
/* flowc explain FILE.flow: the plan of a script (cli/explain_plan.h); flowc explain [CODE]: the page of a
 * message. */
int fl_command_explain(int n_words, char **words);
/* flowc graph FILE.flow: what in a script is made of what (cli/graph.h). */
int fl_command_graph(int n_words, char **words);
/* flowc doc [MODULE|FILE ...] [--html FOLDER]: what modules say of themselves (cli/doc.h). */
int fl_command_doc(int n_words, char **words);
/* flowc diff FILE [OTHER]: what is shown otherwise (cli/diff.h). 1: something is. */
int fl_command_diff(int n_words, char **words);
/* flowc bench FILE: what its stages take in several runs (cli/bench.h). */
int fl_command_bench(int n_words, char **words);
/* flowc new FOLDER: a folder with a first script. */
int fl_command_new(int n_words, char **words);
/* flowc repl: reads statements and runs each as it comes. */
int fl_command_repl(int n_words, char **words);
/* flowc lsp: serves an editor until it says exit. */
int fl_command_lsp(int n_words, char **words);
/* flowc doctor [--json]: 0, or 1 where what every script needs does not work. */
int fl_command_doctor(int n_words, char **words);
/* flowc version [FILE ...]. */
int fl_command_version(int n_words, char **words);
/* The flow type of data files: flowc schema FILE ... */
int fl_command_schema(int n_words, char **words);

#endif
