/* Sets the wall clock that a server sees: preloaded into it, adds the microseconds in the file HOLDFAST_SKEW, which the
 * test changes while the server runs. The monotonic clock stays. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *skew;

__attribute__((constructor)) static void open_skew(void) {
  const char *path = getenv("HOLDFAST_SKEW");
  int file = path ? open(path, O_RDONLY) : -1;
  if (file >= 0) {
    void *mapped = mmap(0, sizeof *skew, PROT_READ, MAP_SHARED, file, 0);
    skew = mapped == MAP_FAILED ? 0 : mapped;
    close(file);
  }
}

static int64_t now(void) {
  struct timespec real;
  syscall(SYS_clock_gettime, CLOCK_REALTIME, &real);
  return (int64_t)real.tv_sec * 1000000 + real.tv_nsec / 1000 + (skew ? *skew : 0);
}

int gettimeofday(struct timeval *restrict at, void *restrict zone) {
  (void)zone;
  int64_t micros = now();
  at->tv_sec = micros / 1000000;
  at->tv_usec = micros % 1000000;
  return 0;
}

int clock_gettime(clockid_t clock, struct timespec *at) {
  if (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE) {
    return (int)syscall(SYS_clock_gettime, clock, at);
  }
  int64_t micros = now();
  at->tv_sec = micros / 1000000;
  at->tv_nsec = micros % 1000000 * 1000;
  return 0;
}

time_t time(time_t *at) {
  time_t seconds = now() / 1000000;
  if (at) {
    *at = seconds;
  }
  return seconds;
}
