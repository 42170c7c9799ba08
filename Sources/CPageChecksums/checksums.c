#define _GNU_SOURCE
#include "CPageChecksums.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// A file system (<https://www.sqlite.org/vfs.html>) that is SQLite's own, except that databases read, write, truncate
// and sync through the functions below, and logs and journals read through them. All other files stay SQLite's.

/// A connection notes at most this many damaged pages until they are taken. In a file with more of them, single pages
/// no longer matter.
enum { MOST_NOTED = 1024 };

/// How often a read that failed is repeated.
enum { MOST_READS = 3 };

/// What is known of an open file. It lies behind SQLite's own structure, in the memory of the same `sqlite3_file`. Of
/// logs and journals only the first two members are used.
typedef struct {
    /// A copy of SQLite's methods with ours in place of some.
    sqlite3_io_methods methods;
    const sqlite3_io_methods *system;
    /// False while it is unknown.
    bool has_checksums;
    /// Whether the database has pages that say which page points to which: SQLite keeps them for `auto_vacuum`.
    bool has_pointer_map;
    /// Whether a damaged page is an error.
    bool refuses_damaged;
    uint32_t damaged[MOST_NOTED];
    unsigned damaged_count;
    /// What the file says of its log, and whether that is known here.
    cpagechecksums_mark mark;
    bool is_mark_known;
    /// A page with its checksum: the page that SQLite passes must not be changed.
    unsigned char copy[CPAGECHECKSUMS_PAGE];
} database_file;

static sqlite3_vfs *system_files;

/// The size of SQLite's own structure, rounded up for the alignment of ours.
static int system_size(void) { return (system_files->szOsFile + 15) & ~15; }

static database_file *database_of(sqlite3_file *file) { return (database_file *)((char *)file + system_size()); }

/// CRC-32 of the page's number, so that a page in another page's place is noticed, and of the page without its last
/// bytes.
uint32_t cpagechecksums_of(const unsigned char *page, uint32_t number) {
    const uint32_t start = htole32(number);
    uint32_t sum = libdeflate_crc32(0, &start, sizeof start);
    sum = libdeflate_crc32(sum, page, CPAGECHECKSUMS_PAGE - CPAGECHECKSUMS_BYTES);
    return sum == 0 ? 1 : sum;
}

static uint32_t stored_checksum(const unsigned char *page) {
    uint32_t sum;
    memcpy(&sum, page + CPAGECHECKSUMS_PAGE - sizeof sum, sizeof sum);
    return le32toh(sum);
}

/// Learns of checksums from the first bytes of page 1: <https://www.sqlite.org/fileformat2.html#the_database_header>.
static void read_header(database_file *database, const unsigned char *bytes, int count, sqlite3_int64 offset) {
    if (offset != 0 || count < 100 || memcmp(bytes, "SQLite format 3", 16) != 0) return;
    const int size = bytes[16] << 8 | bytes[17];
    database->has_pointer_map = (bytes[52] | bytes[53] | bytes[54] | bytes[55]) != 0;
    database->has_checksums = size == CPAGECHECKSUMS_PAGE && bytes[20] == CPAGECHECKSUMS_BYTES;
}

/// Returns the page's number, or 0 when the bytes are not one whole page with a checksum, but a part of the header.
static uint32_t page_number(const database_file *database, int count, sqlite3_int64 offset) {
    if (!database->has_checksums || count != CPAGECHECKSUMS_PAGE || offset % count != 0) return 0;
    return (uint32_t)(offset / count) + 1;
}

static void note(database_file *database, uint32_t number) {
    for (unsigned place = 0; place < database->damaged_count; place++) {
        if (database->damaged[place] == number) return;
    }
    if (database->damaged_count < MOST_NOTED) database->damaged[database->damaged_count++] = number;
}

/// Reads, and reads again after an error, which may pass.
///
/// SQLite's own file system has a code of its own for EIO, ENXIO and ERANGE, which SQLite turns into "the database is
/// malformed". But nothing was read, so nothing is known to be damaged: it stays an error of reading.
static int read_file(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    int code = SQLITE_OK;
    for (int attempt = 0; attempt < MOST_READS; attempt++) {
        code = database_of(file)->system->xRead(file, bytes, count, offset);
        if (code == SQLITE_OK || code == SQLITE_IOERR_SHORT_READ) return code;
    }
    return code == SQLITE_IOERR_CORRUPTFS ? SQLITE_IOERR_READ : code;
}

// MARK: The mark of the log

enum { MARK_OFFSET = 72, MARK_SIZE = 20 };

/// Salts (8) · frames (4) · unused (4) · kind (1) · the low three bytes of a CRC-32.
static void encode_mark(const cpagechecksums_mark *mark, unsigned char *bytes) {
    const uint32_t numbers[2] = {htole32(mark->frames), 0};
    memcpy(bytes, mark->salts, 8);
    memcpy(bytes + 8, numbers, 8);
    bytes[16] = mark->kind;
    const uint32_t sum = htole32(libdeflate_crc32(0, bytes, 17));
    memcpy(bytes + 17, &sum, 3);
}

static bool decode_mark(const unsigned char *bytes, cpagechecksums_mark *mark) {
    const uint32_t sum = htole32(libdeflate_crc32(0, bytes, 17));
    if (bytes[16] == CPAGECHECKSUMS_MARK_NONE || memcmp(bytes + 17, &sum, 3) != 0) return false;
    uint32_t frames;
    memcpy(mark->salts, bytes, 8);
    memcpy(&frames, bytes + 8, sizeof frames);
    mark->frames = le32toh(frames);
    mark->kind = bytes[16];
    return true;
}

static int write_mark(sqlite3_file *file) {
    unsigned char bytes[MARK_SIZE];
    encode_mark(&database_of(file)->mark, bytes);
    return database_of(file)->system->xWrite(file, bytes, MARK_SIZE, MARK_OFFSET);
}

/// Keeps the mark that an earlier connection has left. Returns SQLite's result code: a mark that cannot be read is not
/// none.
static int learn_mark(sqlite3_file *file) {
    database_file *database = database_of(file);
    unsigned char bytes[MARK_SIZE];
    if (database->is_mark_known) return SQLITE_OK;
    int code = read_file(file, bytes, MARK_SIZE, MARK_OFFSET);
    if (code != SQLITE_OK && code != SQLITE_IOERR_SHORT_READ) return code;
    if (code != SQLITE_OK || !decode_mark(bytes, &database->mark)) database->mark.kind = CPAGECHECKSUMS_MARK_NONE;
    database->is_mark_known = true;
    return SQLITE_OK;
}

/// Shows SQLite the zeros that its file format demands. Otherwise its copies of page 1 would bring former marks back.
static void hide_mark(unsigned char *bytes, int count, sqlite3_int64 offset) {
    if (offset > MARK_OFFSET || offset + count < MARK_OFFSET + MARK_SIZE) return;
    memset(bytes + (MARK_OFFSET - offset), 0, MARK_SIZE);
}

// MARK: Methods of a database

/// Whether a page is not what was written. A page without a checksum was written by another program. But no page that
/// SQLite reads is all zeros: it does not read the content of free pages.
static bool is_damaged(const unsigned char *page, uint32_t number) {
    const uint32_t stored = stored_checksum(page);
    if (stored == 0) return page[0] == 0 && memcmp(page, page + 1, CPAGECHECKSUMS_PAGE - 1) == 0;
    return stored != cpagechecksums_of(page, number);
}

/// Whether a page only says where others are used, which follows from them
/// (<https://www.sqlite.org/fileformat2.html#pointer_map_or_ptrmap_pages>). The first is page 2, and each says it of
/// the pages behind it.
static bool is_pointer_map(const database_file *database, uint32_t number) {
    if (!database->has_pointer_map || number < 2) return false;
    const uint32_t described = (CPAGECHECKSUMS_PAGE - CPAGECHECKSUMS_BYTES) / 5 + 1;
    uint32_t map = (number - 2) / described * described + 2;
    // The page of SQLite's locks holds nothing.
    if (map == 0x40000000 / CPAGECHECKSUMS_PAGE + 1) map++;
    return map == number;
}

static int read_database(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    database_file *database = database_of(file);
    int code = read_file(file, bytes, count, offset);
    hide_mark(bytes, count, offset);
    if (code == SQLITE_OK) read_header(database, bytes, count, offset);
    uint32_t number = page_number(database, count, offset);
    if (number == 0) return code;
    bool damaged = false;
    if (code == SQLITE_OK && is_damaged(bytes, number)) {
        // What the disk or the memory has got wrong once may be right the second time.
        code = read_file(file, bytes, count, offset);
        hide_mark(bytes, count, offset);
        if (code == SQLITE_OK) read_header(database, bytes, count, offset);
        damaged = code == SQLITE_OK && is_damaged(bytes, number);
    } else if (code == SQLITE_IOERR_SHORT_READ) {
        // SQLite reads zeros behind the end of the file. That is right for a page that is wholly behind it.
        sqlite3_int64 end = 0;
        damaged = database->system->xFileSize(file, &end) == SQLITE_OK && end > offset;
    }
    // A page that SQLite changes and writes to its log has no checksum there: one of the former content would be wrong
    // when another program copies the log to the database.
    if (code == SQLITE_OK && !damaged) memset((char *)bytes + count - CPAGECHECKSUMS_BYTES, 0, CPAGECHECKSUMS_BYTES);
    if (!damaged) return code;
    note(database, number);
    // SQLite turns this code into SQLITE_CORRUPT.
    return database->refuses_damaged && !is_pointer_map(database, number) ? SQLITE_IOERR_CORRUPTFS : code;
}

static int write_database(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    database_file *database = database_of(file);
    read_header(database, bytes, count, offset);
    uint32_t number = page_number(database, count, offset);
    int code = learn_mark(file);
    if (code != SQLITE_OK) return code;
    const bool has_mark = offset == 0 && count == CPAGECHECKSUMS_PAGE;
    if (number != 0 || has_mark) {
        memcpy(database->copy, bytes, (size_t)count);
        bytes = database->copy;
    }
    if (number != 0) {
        uint32_t sum = htole32(cpagechecksums_of(database->copy, number));
        memcpy(database->copy + count - sizeof sum, &sum, sizeof sum);
    }
    if (has_mark && database->mark.kind != CPAGECHECKSUMS_MARK_NONE)
        encode_mark(&database->mark, database->copy + MARK_OFFSET);
    return database->system->xWrite(file, bytes, count, offset);
}

static int truncate_database(sqlite3_file *file, sqlite3_int64 size) {
    const sqlite3_io_methods *system = database_of(file)->system;
    sqlite3_int64 end = 0;
    int code = system->xFileSize(file, &end);
    if (code != SQLITE_OK || end <= size + CPAGECHECKSUMS_SPARE) return code;
    return system->xTruncate(file, size + CPAGECHECKSUMS_SPARE);
}

/// With a log SQLite syncs the database only when it has copied all of the log, and lets the log restart after that.
/// The mark that says so is on the disk with the same sync.
static int sync_database(sqlite3_file *file, int flags) {
    database_file *database = database_of(file);
    int code = learn_mark(file);
    if (code != SQLITE_OK) return code;
    const cpagechecksums_mark before = database->mark;
    if (before.kind == CPAGECHECKSUMS_MARK_OPEN) {
        database->mark.kind = CPAGECHECKSUMS_MARK_CLOSED;
        code = write_mark(file);
    }
    if (code == SQLITE_OK) code = database->system->xSync(file, flags);
    if (code != SQLITE_OK && before.kind == CPAGECHECKSUMS_MARK_OPEN) {
        database->mark.kind = CPAGECHECKSUMS_MARK_OPEN;
        (void)write_mark(file);
    }
    return code;
}

// MARK: The file system

static sqlite3_vfs file_system;
static bool is_registered;

static int open_file(sqlite3_vfs *self, const char *name, sqlite3_file *file, int flags, int *out_flags) {
    (void)self;
    const int wrapped = SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL;
    int code = system_files->xOpen(system_files, name, file, flags, out_flags);
    if (code != SQLITE_OK || (flags & wrapped) == 0) return code;
    database_file *database = database_of(file);
    memset(database, 0, sizeof *database);
    database->system = file->pMethods;
    database->methods = *file->pMethods;
    if ((flags & SQLITE_OPEN_MAIN_DB) == 0) {
        database->methods.iVersion = 2;
        database->methods.xRead = read_file;
        file->pMethods = &database->methods;
        return code;
    }
    // Version 2 has shared memory, which the log needs. Version 3 would map the file, and reads would bypass us.
    database->methods.iVersion = 2;
    database->methods.xRead = read_database;
    database->methods.xWrite = write_database;
    database->methods.xTruncate = truncate_database;
    database->methods.xSync = sync_database;
    file->pMethods = &database->methods;
    return code;
}

static void register_file_system(void) {
    system_files = sqlite3_vfs_find("unix");
    if (system_files == NULL) return;
    // The functions of "unix" ignore the structure that they are called with, except xOpen.
    file_system = *system_files;
    file_system.pNext = NULL;
    file_system.zName = "concierge";
    file_system.szOsFile = system_size() + (int)sizeof(database_file);
    file_system.xOpen = open_file;
    is_registered = sqlite3_vfs_register(&file_system, 0) == SQLITE_OK;
}

const char *cpagechecksums_file_system(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_file_system);
    return is_registered ? file_system.zName : NULL;
}

// MARK: For connections

/// Returns the file of a connection; NULL when SQLite's own file system opened it.
static sqlite3_file *file_of_connection(sqlite3 *connection) {
    sqlite3_file *file = NULL;
    int code = sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (code != SQLITE_OK || file == NULL || file->pMethods == NULL) return NULL;
    return file->pMethods->xRead == read_database ? file : NULL;
}

static database_file *database_of_connection(sqlite3 *connection) {
    sqlite3_file *file = file_of_connection(connection);
    return file == NULL ? NULL : database_of(file);
}

int cpagechecksums_reserve(sqlite3 *connection) {
    int count = CPAGECHECKSUMS_BYTES;
    return sqlite3_file_control(connection, "main", SQLITE_FCNTL_RESERVE_BYTES, &count);
}

void cpagechecksums_expect(sqlite3 *connection) {
    database_file *database = database_of_connection(connection);
    if (database != NULL) database->has_checksums = true;
}

bool cpagechecksums_has(sqlite3 *connection) {
    const database_file *database = database_of_connection(connection);
    return database != NULL && database->has_checksums;
}

void cpagechecksums_refuse_damaged(sqlite3 *connection, bool refuses) {
    database_file *database = database_of_connection(connection);
    if (database != NULL) database->refuses_damaged = refuses;
}

bool cpagechecksums_is_pointer_map(sqlite3 *connection, uint32_t page) {
    const database_file *database = database_of_connection(connection);
    return database != NULL && database->has_checksums && is_pointer_map(database, page);
}

uint32_t cpagechecksums_take_damaged(sqlite3 *connection) {
    database_file *database = database_of_connection(connection);
    return database == NULL || database->damaged_count == 0 ? 0 : database->damaged[--database->damaged_count];
}

int cpagechecksums_current_mark(sqlite3 *connection, cpagechecksums_mark *mark) {
    sqlite3_file *file = file_of_connection(connection);
    mark->kind = CPAGECHECKSUMS_MARK_NONE;
    if (file == NULL) return SQLITE_OK;
    int code = learn_mark(file);
    if (code == SQLITE_OK) *mark = database_of(file)->mark;
    return code;
}

void cpagechecksums_forget_mark(sqlite3 *connection) {
    database_file *database = database_of_connection(connection);
    if (database != NULL) database->is_mark_known = false;
}

int cpagechecksums_write_mark(sqlite3 *connection, cpagechecksums_mark mark) {
    sqlite3_file *file = file_of_connection(connection);
    if (file == NULL) return SQLITE_OK;
    database_of(file)->mark = mark;
    database_of(file)->is_mark_known = true;
    return write_mark(file);
}

int cpagechecksums_read_mark(int file, cpagechecksums_mark *mark) {
    unsigned char bytes[MARK_SIZE];
    ssize_t count = -1;
    for (int attempt = 0; attempt < MOST_READS && count < 0; attempt++)
        count = pread(file, bytes, MARK_SIZE, MARK_OFFSET);
    if (count < 0) return errno;
    if (count != MARK_SIZE || !decode_mark(bytes, mark)) mark->kind = CPAGECHECKSUMS_MARK_NONE;
    return 0;
}

// MARK: System calls that Swift's C library lacks

// A file system without RENAME_NOREPLACE leaves the check to us.
int cpagechecksums_rename_new(const char *from, const char *to) {
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS) return errno;
    if (access(to, F_OK) == 0) return EEXIST;
    if (errno != ENOENT) return errno;
    return rename(from, to) == 0 ? 0 : errno;
}

// A length of 0 is the whole file.
void cpagechecksums_start_writeback(int file) { sync_file_range(file, 0, 0, SYNC_FILE_RANGE_WRITE); }
