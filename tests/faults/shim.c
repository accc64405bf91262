/* Faults of the file system and of the clock for a program that is started with this in LD_PRELOAD.
 *
 * FAULT        what to do, one of
 *   write:ENOSPC   a full disk from the FAULT_AT-th write on
 *   write:EIO      a broken disk from the FAULT_AT-th write on
 *   write:short    every write takes part of what it is given
 *   sync:EIO       the FAULT_AT-th sync and all behind it fail
 *   read:EIO       the FAULT_AT-th read fails, and all behind it
 *   read:short     every read gives a few bytes only
 *   read:EINTR     every other read and write is interrupted
 *   clock:jump     the time of day jumps back and forth by years
 * Only regular files are touched. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static atomic_long calls;

static int is(const char *what) {
    const char *fault = getenv("FAULT");
    return fault && strcmp(fault, what) == 0;
}

static int is_file(int fd) {
    struct stat about;
    int before = errno;
    int file = fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
    errno = before;
    return file;
}

/* Whether it is time for the fault. */
static int due(void) {
    const char *at = getenv("FAULT_AT");
    return atomic_fetch_add(&calls, 1) + 1 >= (at ? atol(at) : 1);
}

static int interrupted(void) {
    if (is("read:EINTR") && atomic_fetch_add(&calls, 1) % 2 == 0) {
        errno = EINTR;
        return 1;
    }
    return 0;
}

/* Whether a write fails. */
static int no_write(int fd) {
    if (!is_file(fd)) return 0;
    if (is("write:ENOSPC") && due()) {
        errno = ENOSPC;
        return 1;
    }
    if (is("write:EIO") && due()) {
        errno = EIO;
        return 1;
    }
    return interrupted();
}

static int no_read(int fd) {
    if (!is_file(fd)) return 0;
    if (is("read:EIO") && due()) {
        errno = EIO;
        return 1;
    }
    return interrupted();
}

static size_t part(int fd, size_t length, const char *what) {
    if (length < 2 || !is(what) || !is_file(fd)) return length;
    return 1 + (size_t)(atomic_fetch_add(&calls, 1) * 7919) % (length < 5000 ? length - 1 : 5000);
}

#define REAL(name) static __typeof__(name) *real; if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

ssize_t write(int fd, const void *bytes, size_t length) {
    REAL(write);
    return no_write(fd) ? -1 : real(fd, bytes, part(fd, length, "write:short"));
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) {
    REAL(pwrite);
    return no_write(fd) ? -1 : real(fd, bytes, part(fd, length, "write:short"), at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t at) {
    REAL(pwrite64);
    return no_write(fd) ? -1 : real(fd, bytes, part(fd, length, "write:short"), at);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    REAL(writev);
    return no_write(fd) ? -1 : real(fd, parts, count);
}

ssize_t read(int fd, void *bytes, size_t length) {
    REAL(read);
    return no_read(fd) ? -1 : real(fd, bytes, part(fd, length, "read:short"));
}

ssize_t pread64(int fd, void *bytes, size_t length, off64_t at) {
    REAL(pread64);
    return no_read(fd) ? -1 : real(fd, bytes, part(fd, length, "read:short"), at);
}

int fsync(int fd) {
    REAL(fsync);
    if (is("sync:EIO") && due()) {
        errno = EIO;
        return -1;
    }
    return real(fd);
}

int fdatasync(int fd) {
    REAL(fdatasync);
    if (is("sync:EIO") && due()) {
        errno = EIO;
        return -1;
    }
    return real(fd);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    REAL(clock_gettime);
    int result = real(clock, now);
    if (result == 0 && clock == CLOCK_REALTIME && is("clock:jump")) {
        static const long years[] = {0, 10, -30, 5, -1, 60};
        now->tv_sec += years[atomic_fetch_add(&calls, 1) % 6] * 31556952L;
    }
    return result;
}
