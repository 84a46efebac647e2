/* A preload library for tests on Linux: it makes a program die, or its disk refuse, at the n-th operation.
 *
 * The program under test is the real one and knows nothing of this. Its calls of the C library pass here first:
 * operations on files below one folder ("disk") and on TCP sockets ("net") are counted in a small shared file,
 * and at the chosen one the process is killed or the call fails. A power cut also takes back what was written
 * since the last successful sync of each file, sector by sector as a seed decides. A second shared file shifts
 * the computer's clock, so that minutes of waiting need not pass.
 *
 * Environment (journeys::faults writes it):
 *   FAULTS_UNDER  folder whose files count, absolute, without a slash at its end
 *   FAULTS_TALLY  file of the counters, see `struct tally`
 *   FAULTS_CLOCK  file of one signed 64-bit number: microseconds to add to CLOCK_REALTIME
 *   FAULTS_PASS   1: the same for CLOCK_MONOTONIC, as if the time had really passed
 *   FAULTS_ON     which operations count: letters of write, sync, name (disk), net, out, in (bytes on the net)
 *   FAULTS_AT     the n-th of them, from 1; without it nothing happens
 *   FAULTS_DO     before | within | after (death), ENOSPC | EDQUOT | EIO | short (failure)
 *   FAULTS_LAST   1: failures from then on, else only this once
 *   FAULTS_TORN   seed: death is a power cut
 *   FAULTS_LIE    1: syncs succeed and do nothing for a power cut, as with a disk that lies
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { WRITE, SYNC, NAME, NET, OUT, IN, KINDS };
static const char LETTERS[KINDS] = { 'w', 's', 'n', 't', 'o', 'i' };
enum { NOTHING, BEFORE, WITHIN, AFTER, FAIL, SHORT };
enum { SECTOR = 512, SECTORS_MAX = 1 << 16 };

struct tally {
    int64_t counted[KINDS]; /* operations; bytes for OUT and IN */
    int64_t fired;          /* how often the fault happened */
    int64_t undone;         /* sectors that a power cut took back */
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static char under[4096];
static size_t under_length;
static struct tally nowhere, *tally = &nowhere;
static volatile int64_t *shift;
static int chosen[KINDS], act, failure, to_the_last, torn, lies, passes;
static int64_t at, seen;
static uint64_t seed;

/* The state at the last sync of one sector that was written since. */
struct sector {
    dev_t device;
    ino_t inode;
    off_t offset;
    ssize_t length; /* bytes that were there; the file may have been shorter */
    char path[256];
    char bytes[SECTOR];
};
static struct sector *sectors;
static size_t sectors_used;

#define REAL(name) ((__typeof__(&name))real(#name))

static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

static void *shared(const char *variable, size_t size) {
    const char *path = getenv(variable);
    if (!path) return NULL;
    int fd = REAL(open)(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) abort(); /* a test that is set up wrongly must not pass */
    void *place = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (place == MAP_FAILED) abort();
    REAL(close)(fd);
    return place;
}

static void begin(void) {
    const char *text;
    if ((text = getenv("FAULTS_UNDER"))) {
        strncpy(under, text, sizeof under - 1);
        under_length = strlen(under);
    }
    struct tally *counters = shared("FAULTS_TALLY", sizeof *tally);
    if (counters) tally = counters;
    shift = shared("FAULTS_CLOCK", sizeof *shift);
    if ((text = getenv("FAULTS_ON")))
        for (int kind = 0; kind < KINDS; kind++) chosen[kind] = strchr(text, LETTERS[kind]) != NULL;
    if ((text = getenv("FAULTS_AT"))) at = atoll(text);
    if ((text = getenv("FAULTS_DO"))) {
        static const struct { const char *name; int act, failure; } acts[] = {
            { "before", BEFORE, 0 }, { "within", WITHIN, 0 },        { "after", AFTER, 0 },
            { "short", SHORT, 0 },   { "ENOSPC", FAIL, ENOSPC },     { "EDQUOT", FAIL, EDQUOT },
            { "EIO", FAIL, EIO },
        };
        for (size_t i = 0; i < sizeof acts / sizeof *acts; i++)
            if (!strcmp(text, acts[i].name)) { act = acts[i].act; failure = acts[i].failure; }
        if (act == NOTHING) abort();
    }
    to_the_last = (text = getenv("FAULTS_LAST")) && *text == '1';
    passes = (text = getenv("FAULTS_PASS")) && *text == '1';
    lies = (text = getenv("FAULTS_LIE")) && *text == '1';
    if ((text = getenv("FAULTS_TORN"))) {
        torn = 1;
        seed = strtoull(text, NULL, 10) * 2 + 1;
        sectors = mmap(NULL, sizeof *sectors * SECTORS_MAX, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (sectors == MAP_FAILED) abort();
    }
}

static void enter(void) {
    pthread_once(&once, begin);
    pthread_mutex_lock(&lock);
}

static void leave(void) {
    int kept = errno;
    pthread_mutex_unlock(&lock);
    errno = kept;
}

static uint64_t random_number(void) { /* xorshift64* */
    seed ^= seed >> 12;
    seed ^= seed << 25;
    seed ^= seed >> 27;
    return seed * 2685821657736338717ULL;
}

/* Sectors come back as they were at the last sync, each by a throw whose odds differ from death to death. */
static void cut_power(void) {
    uint64_t odds = random_number() % 5; /* 0: everything stays, 4: everything goes */
    for (size_t i = 0; i < sectors_used; i++) {
        struct sector *sector = &sectors[i];
        if (random_number() % 4 >= odds) continue;
        int fd = REAL(open)(sector->path, O_RDWR | O_CLOEXEC);
        struct stat facts;
        if (fd < 0) continue; /* renamed or removed meanwhile */
        if (!fstat(fd, &facts) && facts.st_ino == sector->inode && facts.st_dev == sector->device) {
            off_t end = sector->offset + sector->length;
            /* (never that of the shared memory, which other threads still have mapped) */
            if (sector->length < SECTOR && facts.st_size > end && !strstr(sector->path, "-shm") && random_number() % 2) {
                /* what was appended may be gone with its length ... */
                if (REAL(ftruncate64)(fd, end) == 0) tally->undone++;
            } else {
                /* ... or the length stays and the sector was never written */
                size_t length = SECTOR;
                if (facts.st_size < sector->offset + SECTOR)
                    length = facts.st_size > sector->offset ? (size_t)(facts.st_size - sector->offset) : 0;
                if (length && REAL(pwrite64)(fd, sector->bytes, length, sector->offset) >= 0) tally->undone++;
            }
        }
        REAL(close)(fd);
    }
}

static void die(void) {
    tally->fired++;
    if (torn) cut_power();
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

/* Counts; true where this is the one, or one after it that fails too. */
static int hit(int kind, int64_t amount) {
    tally->counted[kind] += amount;
    if (!chosen[kind] || !at || act == NOTHING) return 0;
    int64_t before = seen;
    seen += amount;
    return (before < at && seen >= at) || (to_the_last && act >= FAIL && before >= at);
}

static int is_under(const char *path) {
    return under_length && !strncmp(path, under, under_length) && (path[under_length] == '/' || !path[under_length]);
}

/* The path of an open file below the folder, or 0. */
static int watched(int fd, char *path, size_t size) {
    char link[64];
    struct stat facts;
    if (!under_length || fd < 0 || fstat(fd, &facts)) return 0;
    if (!S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode)) return 0;
    strcpy(link, "/proc/self/fd/");
    char digits[16], *digit = digits + sizeof digits;
    unsigned rest = (unsigned)fd;
    *--digit = 0;
    do *--digit = (char)('0' + rest % 10); while (rest /= 10);
    strcat(link, digit);
    ssize_t length = readlink(link, path, size - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return is_under(path);
}

static int named(int folder, const char *name) {
    char path[4096];
    if (*name == '/') return is_under(name);
    if (folder != AT_FDCWD) return watched(folder, path, sizeof path);
    return getcwd(path, sizeof path) && is_under(path);
}

static int is_net(int fd) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &length)) return 0;
    return address.ss_family == AF_INET || address.ss_family == AF_INET6;
}

/* Keeps what a write is about to replace, if a power cut may bring it back. */
static void remember(int fd, const char *path, off_t offset, size_t length) {
    struct stat facts;
    if (!torn || !length || fstat(fd, &facts) || strlen(path) >= sizeof sectors->path) return;
    for (off_t start = offset / SECTOR * SECTOR; start < offset + (off_t)length; start += SECTOR) {
        int known = 0;
        for (size_t i = sectors_used; i-- > 0 && !known;)
            known = sectors[i].inode == facts.st_ino && sectors[i].device == facts.st_dev && sectors[i].offset == start;
        if (known || sectors_used == SECTORS_MAX) continue;
        struct sector *sector = &sectors[sectors_used++];
        memset(sector, 0, sizeof *sector);
        sector->inode = facts.st_ino;
        sector->device = facts.st_dev;
        sector->offset = start;
        int reader = REAL(open)(path, O_RDONLY | O_CLOEXEC); /* `fd` may be open for writing only */
        if (reader >= 0) {
            sector->length = REAL(pread64)(reader, sector->bytes, SECTOR, start);
            REAL(close)(reader);
        }
        if (sector->length < 0) sector->length = 0;
        strcpy(sector->path, path);
    }
}

static void forget(int fd) {
    struct stat facts;
    if (!torn || lies || fstat(fd, &facts)) return;
    size_t kept = 0;
    for (size_t i = 0; i < sectors_used; i++)
        if (sectors[i].inode != facts.st_ino || sectors[i].device != facts.st_dev) sectors[kept++] = sectors[i];
    sectors_used = kept;
}

static ssize_t put(int fd, const void *bytes, size_t length, off_t offset, int placed) {
    return placed ? REAL(pwrite64)(fd, bytes, length, offset) : REAL(write)(fd, bytes, length);
}

/* A write to a watched file. */
static ssize_t write_file(int fd, const char *path, const void *bytes, size_t length, off_t offset, int placed) {
    int flags = fcntl(fd, F_GETFL);
    struct stat facts;
    off_t from = offset;
    if (!placed) from = flags & O_APPEND && !fstat(fd, &facts) ? facts.st_size : lseek(fd, 0, SEEK_CUR);
    int now = hit(WRITE, 1);
    if (now && act == BEFORE) die();
    if (now && act == FAIL) { tally->fired++; errno = failure; return -1; }
    remember(fd, path, from, length);
    if (now && (act == WITHIN || act == SHORT)) {
        ssize_t done = put(fd, bytes, length / 2, offset, placed);
        if (act == WITHIN) die();
        /* the rest finds no room, as on a disk that has just become full */
        tally->fired++;
        if (length > 1) return done;
        errno = ENOSPC;
        return -1;
    }
    ssize_t done = put(fd, bytes, length, offset, placed);
    if (now && act == AFTER) die();
    return done;
}

/* Whether bytes going out may pass; `room` is how many of them before death. */
static int out(size_t length, size_t *room) {
    int operation = hit(NET, 1);
    int64_t left = at - seen;
    int bytes = chosen[OUT] && hit(OUT, (int64_t)length);
    if (!chosen[OUT]) tally->counted[OUT] += (int64_t)length;
    *room = length;
    if (bytes) *room = left > 0 ? (size_t)left : 0;
    if (operation && act == BEFORE) die();
    if (operation && act == WITHIN) *room = length / 2;
    return operation || bytes;
}

static void came(ssize_t length) {
    int operation = hit(NET, 1);
    int bytes = hit(IN, length);
    if (operation || bytes) die();
}

ssize_t write(int fd, const void *bytes, size_t length) {
    char path[4096];
    enter();
    ssize_t done;
    size_t room;
    if (watched(fd, path, sizeof path)) {
        done = write_file(fd, path, bytes, length, 0, 0);
    } else if (is_net(fd)) {
        int last = out(length, &room);
        done = REAL(write)(fd, bytes, room);
        if (last) die();
    } else {
        leave();
        return REAL(write)(fd, bytes, length);
    }
    leave();
    return done;
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t offset) {
    char path[4096];
    enter();
    ssize_t done = watched(fd, path, sizeof path) ? write_file(fd, path, bytes, length, offset, 1)
                                                  : REAL(pwrite64)(fd, bytes, length, offset);
    leave();
    return done;
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) {
    return pwrite64(fd, bytes, length, offset);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    char path[4096];
    enter();
    ssize_t done;
    if (watched(fd, path, sizeof path)) {
        done = count ? write_file(fd, path, parts[0].iov_base, parts[0].iov_len, 0, 0) : 0;
    } else if (is_net(fd)) {
        size_t length = 0, room;
        for (int i = 0; i < count; i++) length += parts[i].iov_len;
        if (out(length, &room)) {
            for (int i = 0; i < count && room; i++) {
                size_t part = parts[i].iov_len < room ? parts[i].iov_len : room;
                REAL(send)(fd, parts[i].iov_base, part, MSG_NOSIGNAL);
                room -= part;
            }
            die();
        }
        done = REAL(writev)(fd, parts, count);
    } else {
        leave();
        return REAL(writev)(fd, parts, count);
    }
    leave();
    return done;
}

ssize_t send(int fd, const void *bytes, size_t length, int flags) {
    if ((pthread_once(&once, begin), !is_net(fd))) return REAL(send)(fd, bytes, length, flags);
    enter();
    size_t room;
    int last = out(length, &room);
    ssize_t done = REAL(send)(fd, bytes, room, flags);
    if (last) die();
    leave();
    return done;
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
    if ((pthread_once(&once, begin), !is_net(fd))) return REAL(sendmsg)(fd, message, flags);
    enter();
    size_t length = 0, room;
    for (size_t i = 0; i < message->msg_iovlen; i++) length += message->msg_iov[i].iov_len;
    int last = out(length, &room);
    ssize_t done = last && room < length ? 0 : REAL(sendmsg)(fd, message, flags);
    if (last) die();
    leave();
    return done;
}

ssize_t recv(int fd, void *bytes, size_t length, int flags) {
    ssize_t done = REAL(recv)(fd, bytes, length, flags);
    if (done <= 0 || flags & MSG_PEEK) return done;
    enter();
    if (is_net(fd)) came(done);
    leave();
    return done;
}

ssize_t read(int fd, void *bytes, size_t length) {
    ssize_t done = REAL(read)(fd, bytes, length);
    if (done <= 0) return done;
    enter();
    if (is_net(fd)) came(done);
    leave();
    return done;
}

ssize_t readv(int fd, const struct iovec *parts, int count) {
    ssize_t done = REAL(readv)(fd, parts, count);
    if (done <= 0) return done;
    enter();
    if (is_net(fd)) came(done);
    leave();
    return done;
}

int connect(int fd, const struct sockaddr *address, socklen_t length) {
    enter();
    int net = address->sa_family == AF_INET || address->sa_family == AF_INET6;
    int now = net && hit(NET, 1);
    if (now && act == BEFORE) die();
    int done = REAL(connect)(fd, address, length);
    if (now) die();
    leave();
    return done;
}

/* Everything that a disk does beside writing: -1 and the failure, or the call between two chances to die. */
#define OPERATION(kind, counts, call)                                      \
    do {                                                                   \
        enter();                                                           \
        int now_ = (counts) && hit(kind, 1);                               \
        if (now_ && act == BEFORE) die();                                  \
        if (now_ && act >= FAIL) {                                         \
            tally->fired++;                                                \
            errno = act == FAIL ? failure : EIO;                           \
            leave();                                                       \
            return -1;                                                     \
        }                                                                  \
        __typeof__(call) done_ = (call);                                   \
        if (now_ && act <= AFTER) die();                                   \
        leave();                                                           \
        return done_;                                                      \
    } while (0)

static int synced(int fd, int done) {
    if (done == 0) forget(fd);
    return done;
}

static int watches(int fd) {
    char path[4096];
    pthread_once(&once, begin);
    return watched(fd, path, sizeof path);
}

int fsync(int fd) { OPERATION(SYNC, watches(fd), synced(fd, REAL(fsync)(fd))); }
int fdatasync(int fd) { OPERATION(SYNC, watches(fd), synced(fd, REAL(fdatasync)(fd))); }

int ftruncate64(int fd, off64_t length) {
    char path[4096];
    struct stat facts;
    pthread_once(&once, begin);
    int counts = watched(fd, path, sizeof path);
    if (counts && torn && !fstat(fd, &facts) && facts.st_size > length) {
        pthread_mutex_lock(&lock);
        remember(fd, path, length, (size_t)(facts.st_size - length));
        pthread_mutex_unlock(&lock);
    }
    OPERATION(WRITE, counts, REAL(ftruncate64)(fd, length));
}

int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }

int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    pthread_once(&once, begin);
    OPERATION(WRITE, flags & O_CREAT && named(AT_FDCWD, path) && access(path, F_OK), REAL(open)(path, flags, mode));
}

int open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return open(path, flags, mode);
}

int unlink(const char *path) {
    pthread_once(&once, begin);
    OPERATION(NAME, named(AT_FDCWD, path), REAL(unlink)(path));
}

int rename(const char *from, const char *to) {
    pthread_once(&once, begin);
    OPERATION(NAME, named(AT_FDCWD, to), REAL(rename)(from, to));
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
    pthread_once(&once, begin);
    OPERATION(NAME, named(to_folder, to), REAL(linkat)(from_folder, from, to_folder, to, flags));
}

int mkdir(const char *path, mode_t mode) {
    pthread_once(&once, begin);
    OPERATION(NAME, named(AT_FDCWD, path), REAL(mkdir)(path, mode));
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int done = REAL(clock_gettime)(clock, now);
    pthread_once(&once, begin);
    if (done || !shift || !(clock == CLOCK_REALTIME || (passes && clock == CLOCK_MONOTONIC))) return done;
    int64_t nanos = now->tv_nsec + (*shift % 1000000) * 1000;
    now->tv_sec += *shift / 1000000 + nanos / 1000000000;
    now->tv_nsec = nanos % 1000000000;
    return 0;
}
