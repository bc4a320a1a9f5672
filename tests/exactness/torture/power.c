/* Preloaded into a process, it notes what that does to files of one folder (POWER_FOLDER) in another file (POWER_LOG):
 * one record of five numbers for each call, then its bytes: kind, file, place, length, length of the second name.
 * A file is named by a number, which `open` gives together with its name. Only Linux with glibc. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { OPEN, WRITE, CUT, SYNC, RENAME, UNLINK, LINK };
#define MOST 4096
static int64_t file_of[MOST]; /* descriptor -> number of its file, 0: another folder's */
static int64_t files;
static int into = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int is_ours(const char *path)
{
    const char *folder = getenv("POWER_FOLDER");
    return folder && path && strncmp(path, folder, strlen(folder)) == 0;
}

static void note(int64_t kind, int64_t file, int64_t place, const void *data, size_t length, const char *second)
{
    size_t more = second ? strlen(second) : 0;
    int64_t head[5] = {kind, file, place, (int64_t)length, (int64_t)more};
    struct iovec parts[3] = {{head, sizeof head}, {(void *)data, length}, {(void *)second, more}};
    int before = errno;
    if (into < 0) {
        into = REAL(open)(getenv("POWER_LOG"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    }
    if (REAL(writev)(into, parts, second ? 3 : 2) != (ssize_t)(sizeof head + length + more)) {
        abort();
    }
    errno = before;
}

static int opened(int file, const char *path, int flags)
{
    if (file >= 0 && file < MOST) {
        pthread_mutex_lock(&lock);
        file_of[file] = is_ours(path) ? ++files : 0;
        if (file_of[file]) {
            note(OPEN, file_of[file], flags & O_TRUNC ? 1 : 0, path, strlen(path), NULL);
        }
        pthread_mutex_unlock(&lock);
    }
    return file;
}

static int64_t number_of(int file) { return file >= 0 && file < MOST ? file_of[file] : 0; }

#define OPENER(name, first, ...)                                                                                       \
    {                                                                                                                  \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0;                                      \
        va_end(rest);                                                                                                  \
        return opened(REAL(name)(__VA_ARGS__, mode), first, flags);                                                    \
    }
int open(const char *path, int flags, ...) OPENER(open, path, path, flags)
int open64(const char *path, int flags, ...) OPENER(open64, path, path, flags)
int openat(int at, const char *path, int flags, ...) OPENER(openat, path, at, path, flags)
int openat64(int at, const char *path, int flags, ...) OPENER(openat64, path, at, path, flags)

int close(int file)
{
    if (file >= 0 && file < MOST) {
        file_of[file] = 0;
    }
    return REAL(close)(file);
}

/* A call that changes a file is noted together with what it does, so that the order is the real one. */
#define NOTED(type, call, is_done, ...)                                                                                \
    {                                                                                                                  \
        pthread_mutex_lock(&lock);                                                                                     \
        type done = call;                                                                                              \
        if (is_done) {                                                                                                 \
            note(__VA_ARGS__);                                                                                         \
        }                                                                                                              \
        pthread_mutex_unlock(&lock);                                                                                   \
        return done;                                                                                                   \
    }
#define IS_OURS (done >= 0 && number_of(file))

ssize_t write(int file, const void *data, size_t length)
NOTED(ssize_t, REAL(write)(file, data, length), done > 0 && number_of(file),
      WRITE, number_of(file), REAL(lseek)(file, 0, SEEK_CUR) - done, data, (size_t)done, NULL)
ssize_t pwrite(int file, const void *data, size_t length, off_t place)
NOTED(ssize_t, REAL(pwrite)(file, data, length, place), done > 0 && number_of(file),
      WRITE, number_of(file), place, data, (size_t)done, NULL)
ssize_t pwrite64(int file, const void *data, size_t length, off64_t place)
NOTED(ssize_t, REAL(pwrite64)(file, data, length, place), done > 0 && number_of(file),
      WRITE, number_of(file), place, data, (size_t)done, NULL)
int ftruncate(int file, off_t size) NOTED(int, REAL(ftruncate)(file, size), IS_OURS, CUT, number_of(file), size, NULL, 0, NULL)
int ftruncate64(int file, off64_t size)
NOTED(int, REAL(ftruncate64)(file, size), IS_OURS, CUT, number_of(file), size, NULL, 0, NULL)
int fsync(int file) NOTED(int, REAL(fsync)(file), IS_OURS, SYNC, number_of(file), 0, NULL, 0, NULL)
int fdatasync(int file) NOTED(int, REAL(fdatasync)(file), IS_OURS, SYNC, number_of(file), 0, NULL, 0, NULL)
int rename(const char *from, const char *to)
NOTED(int, REAL(rename)(from, to), done == 0 && is_ours(to), RENAME, 0, 0, from, strlen(from), to)
int unlink(const char *path)
NOTED(int, REAL(unlink)(path), done == 0 && is_ours(path), UNLINK, 0, 0, path, strlen(path), NULL)
int link(const char *from, const char *to)
NOTED(int, REAL(link)(from, to), done == 0 && is_ours(to), LINK, 0, 0, from, strlen(from), to)
int linkat(int old, const char *from, int new, const char *to, int flags)
NOTED(int, REAL(linkat)(old, from, new, to, flags), done == 0 && is_ours(to), LINK, 0, 0, from, strlen(from), to)
