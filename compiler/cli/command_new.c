/* command_new.c: flowc new: a folder with a first script and its data, ready to run.
 *
 * What always holds: nothing that exists is changed; when a file cannot be made, the message says which. */
#include "cli/commands.h"

#include "cli/words.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char script[] = "# Which shop sells the most?\n"
                             "param least: f64 = 0.0  ## leave out smaller sales\n"
                             "\n"
                             "let sales = read_csv(\"sales.csv\")\n"
                             "\n"
                             "sales\n"
                             "  |> where(amount >= least)\n"
                             "  |> group_by(shop)\n"
                             "  |> summarize(n = count(), total = sum(amount))\n"
                             "  |> sort(-total)\n"
                             "  |> show\n";

static const char data[] = "shop,day,amount\n"
                           "north,2026-01-02,12.5\n"
                           "south,2026-01-02,7.25\n"
                           "north,2026-01-03,3.0\n"
                           "east,2026-01-03,21.0\n"
                           "south,2026-01-04,9.75\n";

/* A new file with these bytes; false: errno says why. */
static bool write_new(const char *path, const char *bytes, size_t len) {
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return false;
  bool ok = write(fd, bytes, len) == (ssize_t)len;
  return close(fd) == 0 && ok;
}

int fl_command_new(int n_words, char **words) {
  char path[4096];
  FlWords w;
  int status = fl_words_read(FL_COMMAND_NEW, n_words, words, &w);
  if (status != FL_WORDS_READ) return status;
  const char *folder = w.operands[0];
  if (mkdir(folder, 0777)) {
    fprintf(stderr, "flowc new: cannot make the folder `%s`: %s\n", folder, strerror(errno));
    return errno == EEXIST ? 2 : 4;
  }
  const struct {
    const char *name, *bytes;
    size_t len;
  } files[] = {{"main.flow", script, sizeof script - 1}, {"sales.csv", data, sizeof data - 1}};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    int n = snprintf(path, sizeof path, "%s/%s", folder, files[i].name);
    if (n < 0 || (size_t)n >= sizeof path || !write_new(path, files[i].bytes, files[i].len)) {
      fprintf(stderr, "flowc new: cannot write `%s`: %s\n", path, strerror(errno));
      return 4;
    }
  }
  printf("made %s: cd %s && flowc run main.flow\n", folder, folder);
  return 0;
}
