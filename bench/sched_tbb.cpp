/* sched_tbb.cpp: what oneTBB's pool costs, beside sched.c: one empty task spawned and waited for, one parallel
 * loop of empty bodies. Prints medians as sched.c does. Usage: sched_tbb WORKERS */
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_group.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

static double now() {
  using namespace std::chrono;
  return duration<double, std::nano>(steady_clock::now().time_since_epoch()).count();
}

template <class Body> static double median(int times, Body body) {
  std::vector<double> v;
  for (int r = 0; r < 101; r++) {
    double from = now();
    for (int i = 0; i < times; i++) body();
    v.push_back((now() - from) / times);
  }
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

int main(int argc, char **argv) {
  int workers = argc > 1 ? std::atoi(argv[1]) : 2;
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism, (size_t)workers);
  tbb::task_group group;
  double task = median(20000, [&] {
    group.run([] {});
    group.wait();
  });
  std::printf("oneTBB   %3d threads: spawn + wait of an empty task %8.1f ns\n", workers, task);
  double loop = median(2000, [&] {
    tbb::parallel_for(0, 32, 1, [](int) { __asm__ volatile(""); });
  });
  std::printf("oneTBB   %3d threads: parallel_for of 32 empty bodies %8.1f ns\n", workers, loop);
}
