/*
 * Intercepts calls of a process to the C library (LD_PRELOAD). Calls on files below one folder can fail,
 * write half, kill the process, be
 * delayed, or lose written data, and the clock can be shifted. The test controls a running process through a
 * file of
 * 64-bit words that it writes and every process maps.
 *
 * FAULTS_CONTROL names the file, FAULTS_BELOW the folder. Calls that bypass the C library are not
 * intercepted.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* The words of the control file, in the order of layer.rs. */
struct control {
    _Atomic uint64_t calls;      /* calls of the chosen kinds since the last reset */
    _Atomic uint64_t failures;   /* how many of them failed */
    _Atomic uint64_t fail_at;    /* the call that fails, from 1; 0 for none */
    _Atomic uint64_t fault;      /* errno, SHORT or KILL */
    _Atomic uint64_t persists;   /* whether all later calls fail, too */
    _Atomic uint64_t kinds;      /* bits of the counted kinds */
    _Atomic uint64_t sync_delay; /* delay of each sync in milliseconds */
    _Atomic int64_t clock;       /* milliseconds added to the time of day */
    _Atomic uint64_t loses;      /* whether a failed sync reverts the writes since the last one */
    _Atomic uint64_t syncing;    /* running syncs */
    _Atomic uint64_t background; /* a value of enum background */
};

/* A sync after a truncation, on another thread than the syncs of commit groups, reports the failed write of a group. */
enum background { OFF, ARMED, WAITS, TAKES, TOOK };

enum kind { OPEN, WRITE, SYNC, TRUNCATE, ALLOCATE, RENAME, UNLINK };
#define SHORT 1000000
#define KILL 1000001

static struct control *control;
static char below[PATH_MAX];
static size_t below_length;

__attribute__((constructor)) static void attach(void) {
    const char *file = getenv("FAULTS_CONTROL"), *folder = getenv("FAULTS_BELOW");
    int (*real_open)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
    if (!file || !folder || strlen(folder) >= sizeof below)
        return;
    strcpy(below, folder);
    below_length = strlen(below);
    int fd = real_open(file, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        abort();
    void *mapped = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED)
        abort();
    control = mapped;
    close(fd);
}

#define REAL(result, name, ...)                                     \
    static result (*real)(__VA_ARGS__);                             \
    if (!real)                                                      \
    real = (result (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

static int path_is_below(const char *path) {
    return control && !strncmp(path, below, below_length) && (path[below_length] == '/' || !path[below_length]);
}

static int fd_is_below(int fd) {
    char link[64], path[PATH_MAX];
    if (!control || fd < 0)
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return 0;
    path[length] = 0;
    return path_is_below(path);
}

static int at_is_below(int folder, const char *path) {
    return path[0] == '/' ? path_is_below(path) : folder != AT_FDCWD && fd_is_below(folder);
}

/*
 * Counts a call. Returns 0, an errno, or SHORT, or kills the process. A fault that does not persist hits the first call from the
 * chosen one on: the
 * process may make calls while the test writes the words.
 */
static int fault_of(enum kind kind) {
    if (!(atomic_load(&control->kinds) >> kind & 1))
        return 0;
    uint64_t call = atomic_fetch_add(&control->calls, 1) + 1, at = atomic_load(&control->fail_at), none = 0;
    int fault = (int)atomic_load(&control->fault);
    if (!at || call < at || (fault == SHORT && kind != WRITE))
        return 0;
    if (atomic_load(&control->persists))
        atomic_fetch_add(&control->failures, 1);
    else if (!atomic_compare_exchange_strong(&control->failures, &none, 1))
        return 0;
    if (fault == KILL) {
        kill(getpid(), SIGKILL);
        for (;;)
            pause();
    }
    return fault;
}

#define FAIL_IF(is_below, kind)                                     \
    do {                                                            \
        int fault = (is_below) ? fault_of(kind) : 0;                \
        if (fault) {                                                \
            errno = fault;                                          \
            return -1;                                              \
        }                                                           \
    } while (0)

/* Data for a failed sync to restore: the previous bytes of each write since the last successful sync. */
struct undo {
    struct undo *next;
    dev_t device;
    ino_t inode;
    off_t offset, size;
    size_t length;
    char bytes[];
};
static struct undo *undos;
static pthread_mutex_t undo_lock = PTHREAD_MUTEX_INITIALIZER;

static void save_undo(int fd, off_t offset, size_t length) {
    struct stat stat;
    if (!atomic_load(&control->loses) || fstat(fd, &stat))
        return;
    struct undo *undo = malloc(sizeof *undo + length);
    if (!undo)
        abort();
    ssize_t old = pread(fd, undo->bytes, length, offset);
    *undo = (struct undo){.device = stat.st_dev, .inode = stat.st_ino, .offset = offset, .size = stat.st_size,
                          .length = old > 0 ? (size_t)old : 0};
    pthread_mutex_lock(&undo_lock);
    undo->next = undos;
    undos = undo;
    pthread_mutex_unlock(&undo_lock);
}

/* Discards the undo data after a successful sync, or restores it after a failed one. */
static void synced(int fd, int succeeded) {
    struct stat stat;
    ssize_t (*real_write)(int, const void *, size_t, off_t) = dlsym(RTLD_NEXT, "pwrite");
    int (*real_truncate)(int, off_t) = dlsym(RTLD_NEXT, "ftruncate");
    if (fstat(fd, &stat))
        return;
    pthread_mutex_lock(&undo_lock);
    for (struct undo **link = &undos; *link;) {
        struct undo *undo = *link;
        if (undo->device != stat.st_dev || undo->inode != stat.st_ino) {
            link = &undo->next;
            continue;
        }
        if (!succeeded && (real_write(fd, undo->bytes, undo->length, undo->offset) < 0 ||
                           (undo->size < stat.st_size && real_truncate(fd, undo->size))))
            abort();
        *link = undo->next;
        free(undo);
    }
    pthread_mutex_unlock(&undo_lock);
}

/*
 * Linux reports a failed write once for each open file description: errors counts the failures of one file,
 * and seen has
 * the number that each descriptor has reported.
 */
#define DESCRIPTORS 4096
static _Atomic uint64_t errors, seen[DESCRIPTORS];
static dev_t failed_device;
static ino_t failed_inode;

static int mark_reported(int fd) {
    if (fd >= 0 && fd < DESCRIPTORS)
        atomic_store(&seen[fd], atomic_load(&errors));
    return fd;
}

static int has_unreported_error(int fd) {
    struct stat stat;
    uint64_t all = atomic_load(&errors);
    return all && fd < DESCRIPTORS && !fstat(fd, &stat) && stat.st_dev == failed_device && stat.st_ino == failed_inode &&
           atomic_exchange(&seen[fd], all) != all;
}

/* Milliseconds for which a background sync waits for the sync of a group. */
#define WAIT_MILLIS 1000
static _Thread_local int shrunk = -1;

static int transition(enum background from, enum background to) {
    uint64_t state = from;
    return atomic_compare_exchange_strong(&control->background, &state, to);
}

/* Lets the background sync fail once the sync of a group, whose error it takes, has arrived. */
static int take_error(int fd) {
    if (shrunk != fd)
        return 0;
    shrunk = -1;
    if (!transition(ARMED, WAITS))
        return 0;
    for (int waited = 0; waited < WAIT_MILLIS || atomic_load(&control->background) == TAKES; waited++) {
        if (atomic_load(&control->background) == TOOK)
            return 1;
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    return !transition(WAITS, ARMED);
}

/* Reverts the data that is not durable. This descriptor has reported the error. */
static void lose(int fd) {
    struct stat stat;
    if (fstat(fd, &stat))
        return;
    failed_device = stat.st_dev;
    failed_inode = stat.st_ino;
    synced(fd, 0);
    atomic_fetch_add(&errors, 1);
    mark_reported(fd);
}

/* Lets the sync of a group succeed, although its data is lost. */
static int lose_error(int fd) {
    if (!transition(WAITS, TAKES))
        return 0;
    lose(fd);
    atomic_store(&control->background, TOOK);
    return 1;
}

#define OPEN_LIKE(name)                                             \
    int name(const char *path, int flags, ...) {                    \
        REAL(int, #name, const char *, int, ...);                   \
        va_list list;                                               \
        va_start(list, flags);                                      \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0; \
        va_end(list);                                               \
        FAIL_IF(flags &O_CREAT && path_is_below(path), OPEN);       \
        return mark_reported(real(path, flags, mode));                           \
    }
OPEN_LIKE(open)
OPEN_LIKE(open64)

#define OPENAT_LIKE(name)                                           \
    int name(int folder, const char *path, int flags, ...) {        \
        REAL(int, #name, int, const char *, int, ...);              \
        va_list list;                                               \
        va_start(list, flags);                                      \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0; \
        va_end(list);                                               \
        FAIL_IF(flags &O_CREAT && at_is_below(folder, path), OPEN); \
        return mark_reported(real(folder, path, flags, mode));                    \
    }
OPENAT_LIKE(openat)
OPENAT_LIKE(openat64)

ssize_t write(int fd, const void *bytes, size_t length) {
    REAL(ssize_t, "write", int, const void *, size_t);
    if (!fd_is_below(fd))
        return real(fd, bytes, length);
    int fault = fault_of(WRITE);
    if (fault && fault != SHORT) {
        errno = fault;
        return -1;
    }
    save_undo(fd, lseek(fd, 0, fcntl(fd, F_GETFL) & O_APPEND ? SEEK_END : SEEK_CUR), length);
    return real(fd, bytes, fault && length > 1 ? length / 2 : length);
}

#define PWRITE_LIKE(name)                                           \
    ssize_t name(int fd, const void *bytes, size_t length, off_t offset) { \
        REAL(ssize_t, #name, int, const void *, size_t, off_t);     \
        if (!fd_is_below(fd))                                       \
            return real(fd, bytes, length, offset);                 \
        int fault = fault_of(WRITE);                                \
        if (fault && fault != SHORT) {                              \
            errno = fault;                                          \
            return -1;                                              \
        }                                                           \
        save_undo(fd, offset, length);                               \
        return real(fd, bytes, fault && length > 1 ? length / 2 : length, offset); \
    }
PWRITE_LIKE(pwrite)
PWRITE_LIKE(pwrite64)

ssize_t writev(int fd, const struct iovec *parts, int count) {
    REAL(ssize_t, "writev", int, const struct iovec *, int);
    FAIL_IF(fd_is_below(fd), WRITE);
    return real(fd, parts, count);
}

#define PWRITEV_LIKE(name)                                          \
    ssize_t name(int fd, const struct iovec *parts, int count, off_t offset) { \
        REAL(ssize_t, #name, int, const struct iovec *, int, off_t); \
        FAIL_IF(fd_is_below(fd), WRITE);                            \
        return real(fd, parts, count, offset);                      \
    }
PWRITEV_LIKE(pwritev)
PWRITEV_LIKE(pwritev64)

#define SYNC_LIKE(name)                                             \
    int name(int fd) {                                              \
        REAL(int, #name, int);                                      \
        if (!fd_is_below(fd))                                       \
            return real(fd);                                        \
        atomic_fetch_add(&control->syncing, 1);                     \
        uint64_t delay = atomic_load(&control->sync_delay);         \
        if (delay) {                                                \
            struct timespec rest = {(time_t)(delay / 1000), (long)(delay % 1000) * 1000000}; \
            nanosleep(&rest, NULL);                                 \
        }                                                           \
        int reported = take_error(fd) || has_unreported_error(fd);              \
        int fault = reported ? EIO : lose_error(fd) ? 0 : fault_of(SYNC); \
        int result = fault ? -1 : real(fd);                         \
        if (!result)                                                \
            synced(fd, 1);                                          \
        else if (!reported && fault != EINTR && atomic_load(&control->loses)) \
            lose(fd);                                               \
        atomic_fetch_sub(&control->syncing, 1);                     \
        if (fault)                                                  \
            errno = fault;                                          \
        return result;                                              \
    }
SYNC_LIKE(fsync)
SYNC_LIKE(fdatasync)

#define FTRUNCATE_LIKE(name)                                        \
    int name(int fd, off_t length) {                                \
        REAL(int, #name, int, off_t);                               \
        FAIL_IF(fd_is_below(fd), TRUNCATE);                         \
        shrunk = fd;                                                \
        return real(fd, length);                                    \
    }
FTRUNCATE_LIKE(ftruncate)
FTRUNCATE_LIKE(ftruncate64)

#define FALLOCATE_LIKE(name)                                        \
    int name(int fd, int mode, off_t offset, off_t length) {        \
        REAL(int, #name, int, int, off_t, off_t);                   \
        FAIL_IF(fd_is_below(fd), ALLOCATE);                         \
        return real(fd, mode, offset, length);                      \
    }
FALLOCATE_LIKE(fallocate)
FALLOCATE_LIKE(fallocate64)

/* These functions return the error and do not change errno. */
#define POSIX_FALLOCATE_LIKE(name)                                  \
    int name(int fd, off_t offset, off_t length) {                  \
        REAL(int, #name, int, off_t, off_t);                        \
        int fault = fd_is_below(fd) ? fault_of(ALLOCATE) : 0;       \
        return fault ? fault : real(fd, offset, length);            \
    }
POSIX_FALLOCATE_LIKE(posix_fallocate)
POSIX_FALLOCATE_LIKE(posix_fallocate64)

int rename(const char *from, const char *to) {
    REAL(int, "rename", const char *, const char *);
    FAIL_IF(path_is_below(to), RENAME);
    return real(from, to);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to) {
    REAL(int, "renameat", int, const char *, int, const char *);
    FAIL_IF(at_is_below(to_folder, to), RENAME);
    return real(from_folder, from, to_folder, to);
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned int flags) {
    REAL(int, "renameat2", int, const char *, int, const char *, unsigned int);
    FAIL_IF(at_is_below(to_folder, to), RENAME);
    return real(from_folder, from, to_folder, to, flags);
}

int unlink(const char *path) {
    REAL(int, "unlink", const char *);
    FAIL_IF(path_is_below(path), UNLINK);
    return real(path);
}

int unlinkat(int folder, const char *path, int flags) {
    REAL(int, "unlinkat", int, const char *, int);
    FAIL_IF(at_is_below(folder, path), UNLINK);
    return real(folder, path, flags);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    REAL(int, "clock_gettime", clockid_t, struct timespec *);
    int result = real(clock, now);
    int64_t shift = control && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) ? atomic_load(&control->clock) : 0;
    if (!result && shift) {
        int64_t nanoseconds = now->tv_nsec + shift % 1000 * 1000000;
        now->tv_sec += shift / 1000 + (nanoseconds >= 1000000000) - (nanoseconds < 0);
        now->tv_nsec = (nanoseconds + 1000000000) % 1000000000;
    }
    return result;
}
