/*
 * Preloaded into the real program (LD_PRELOAD): lets single system calls on files fail, also those
 * of SQLite and of threads, which no hook in JavaScript sees. FAULT_CALLS names the file of
 * `struct orders`, which calls.ts writes while the program runs.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { READ = 1, WRITE = 2, SYNC = 4 };

static volatile struct orders {
  int kinds;      /* the calls that are meant; 0 for none */
  int code;       /* errno */
  int first;      /* the call that fails, counted from 1 */
  int times;      /* how many fail from there */
  int counted;
  int failed;
  char path[256]; /* a part of the path of the file */
} *orders;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("FAULT_CALLS");
  int file = path ? syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0) : -1;
  if (file < 0) return;
  void *memory = mmap(0, sizeof *orders, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  syscall(SYS_close, file);
  if (memory != MAP_FAILED) orders = memory;
}

/* Whether this call has to fail; sets errno. */
static int fails(int file, int kind) {
  if (!orders || !(orders->kinds & kind)) return 0;
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  if (!strstr(path, (const char *)orders->path)) return 0;
  int number = __sync_add_and_fetch(&orders->counted, 1);
  if (number < orders->first || number >= orders->first + orders->times) return 0;
  __sync_add_and_fetch(&orders->failed, 1);
  errno = orders->code;
  return 1;
}

#define CALL(kind, result, name, parameters, arguments) \
  result name parameters { \
    static result(*real) parameters; \
    if (!real) real = (result(*) parameters)dlsym(RTLD_NEXT, #name); \
    return fails(file, kind) ? -1 : real arguments; \
  }

CALL(READ, ssize_t, read, (int file, void *to, size_t n), (file, to, n))
CALL(READ, ssize_t, pread, (int file, void *to, size_t n, off_t at), (file, to, n, at))
CALL(READ, ssize_t, pread64, (int file, void *to, size_t n, off64_t at), (file, to, n, at))
CALL(WRITE, ssize_t, write, (int file, const void *from, size_t n), (file, from, n))
CALL(WRITE, ssize_t, pwrite, (int file, const void *from, size_t n, off_t at), (file, from, n, at))
CALL(WRITE, ssize_t, pwrite64, (int file, const void *from, size_t n, off64_t at), (file, from, n, at))
CALL(WRITE, ssize_t, writev, (int file, const struct iovec *from, int n), (file, from, n))
CALL(WRITE, int, ftruncate, (int file, off_t n), (file, n))
CALL(WRITE, int, ftruncate64, (int file, off64_t n), (file, n))
CALL(SYNC, int, fsync, (int file), (file))
CALL(SYNC, int, fdatasync, (int file), (file))
