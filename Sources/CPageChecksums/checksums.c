#define _GNU_SOURCE
#include "CPageChecksums.h"

#include <endian.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// A file system (<https://www.sqlite.org/vfs.html>) that is SQLite's own, except that databases read, write, truncate
// and close through the functions below, and logs and journals read through them. All other files stay SQLite's.

/// A connection notes at most this many damaged pages until they are taken. In a file with more of them, single pages
/// no longer matter.
enum { MOST_NOTED = 64 };

/// How often a read that failed is repeated.
enum { MOST_READS = 3 };

/// What is known of an open file. It lies behind SQLite's own structure, in the memory of the same `sqlite3_file`. Of
/// logs and journals only the first two members are used.
typedef struct {
    /// A copy of SQLite's methods with ours in place of some.
    sqlite3_io_methods methods;
    const sqlite3_io_methods *system;
    /// 0 while it is unknown, and in a database without checksums.
    uint32_t page_size;
    /// Whether the database has pages that say which page points to which: SQLite keeps them for `auto_vacuum`.
    bool has_pointer_map;
    /// Whether a damaged page is an error.
    bool refuses_damaged;
    uint32_t damaged[MOST_NOTED];
    unsigned damaged_count;
    /// A page with its checksum: the page that SQLite passes must not be changed.
    unsigned char *copy;
} database_file;

static sqlite3_vfs *system_files;

/// The size of SQLite's own structure, rounded up for the alignment of ours.
static int system_size(void) { return (system_files->szOsFile + 15) & ~15; }

static database_file *database_of(sqlite3_file *file) { return (database_file *)((char *)file + system_size()); }

/// CRC-32 of the page's number, so that a page in another page's place is noticed, and of the page without its last
/// bytes. Never 0, which stands for a page without a checksum.
static uint32_t checksum(const unsigned char *page, size_t size, uint32_t number) {
    const uint32_t start = htole32(number);
    uint32_t sum = libdeflate_crc32(0, &start, sizeof start);
    sum = libdeflate_crc32(sum, page, size - CPAGECHECKSUMS_BYTES);
    return sum == 0 ? 1 : sum;
}

static uint32_t stored_checksum(const unsigned char *page, uint32_t size) {
    uint32_t sum;
    memcpy(&sum, page + size - sizeof sum, sizeof sum);
    return le32toh(sum);
}

/// Takes the page size from the first bytes of page 1: <https://www.sqlite.org/fileformat2.html#the_database_header>.
static void read_header(database_file *database, const unsigned char *bytes, int count, sqlite3_int64 offset) {
    if (offset != 0 || count < 100 || memcmp(bytes, "SQLite format 3", 16) != 0) return;
    uint32_t size = (uint32_t)bytes[16] << 8 | bytes[17];
    // 65,536 does not fit and is written as 1.
    if (size == 1) size = 65536;
    database->has_pointer_map = (bytes[52] | bytes[53] | bytes[54] | bytes[55]) != 0;
    database->page_size = bytes[20] == CPAGECHECKSUMS_BYTES && size >= 512 && (size & (size - 1)) == 0 ? size : 0;
}

/// Returns the page's number, or 0 when the bytes are not one whole page: then they are a part of the header.
static uint32_t page_number(const database_file *database, int count, sqlite3_int64 offset) {
    if (database->page_size == 0 || (uint32_t)count != database->page_size || offset % count != 0) return 0;
    return (uint32_t)(offset / count) + 1;
}

static void note(database_file *database, uint32_t number) {
    for (unsigned place = 0; place < database->damaged_count; place++) {
        if (database->damaged[place] == number) return;
    }
    if (database->damaged_count < MOST_NOTED) database->damaged[database->damaged_count++] = number;
}

// MARK: Methods of a database

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

static bool is_zero(const unsigned char *page, uint32_t size) {
    return page[0] == 0 && memcmp(page, page + 1, size - 1) == 0;
}

/// Whether a page is not what was written. A page without a checksum was written by another program. But no page that
/// SQLite reads is all zeros: it does not read the content of free pages.
static bool is_damaged(const database_file *database, const unsigned char *page, uint32_t number) {
    uint32_t stored = stored_checksum(page, database->page_size);
    if (stored == 0) return is_zero(page, database->page_size);
    return stored != checksum(page, database->page_size, number);
}

/// Whether a page only says where others are used, which follows from them
/// (<https://www.sqlite.org/fileformat2.html#pointer_map_or_ptrmap_pages>). The first is page 2, and each says it of the
/// pages behind it.
static bool is_pointer_map(const database_file *database, uint32_t number) {
    if (!database->has_pointer_map || number < 2) return false;
    uint32_t described = (database->page_size - CPAGECHECKSUMS_BYTES) / 5 + 1;
    uint32_t map = (number - 2) / described * described + 2;
    // The page of SQLite's locks holds nothing.
    if (map == 0x40000000 / database->page_size + 1) map++;
    return map == number;
}

static int read_database(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    database_file *database = database_of(file);
    int code = read_file(file, bytes, count, offset);
    if (code == SQLITE_OK) read_header(database, bytes, count, offset);
    uint32_t number = page_number(database, count, offset);
    if (number == 0) return code;
    bool damaged = false;
    if (code == SQLITE_OK && is_damaged(database, bytes, number)) {
        // What the disk or the memory has got wrong once may be right the second time.
        code = read_file(file, bytes, count, offset);
        damaged = code == SQLITE_OK && is_damaged(database, bytes, number);
    } else if (code == SQLITE_IOERR_SHORT_READ) {
        // SQLite reads zeros behind the end of the file. That is right for a page that is wholly behind it.
        sqlite3_int64 end = 0;
        damaged = database->system->xFileSize(file, &end) == SQLITE_OK && end > offset;
    }
    if (!damaged) return code;
    note(database, number);
    // SQLite turns this code into SQLITE_CORRUPT.
    return database->refuses_damaged && !is_pointer_map(database, number) ? SQLITE_IOERR_CORRUPTFS : code;
}

static int write_database(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    database_file *database = database_of(file);
    read_header(database, bytes, count, offset);
    uint32_t number = page_number(database, count, offset);
    if (number != 0) {
        if (database->copy == NULL) database->copy = malloc(65536);
        if (database->copy == NULL) return SQLITE_IOERR_NOMEM;
        memcpy(database->copy, bytes, (size_t)count);
        uint32_t sum = htole32(checksum(database->copy, database->page_size, number));
        memcpy(database->copy + count - sizeof sum, &sum, sizeof sum);
        bytes = database->copy;
    }
    return database->system->xWrite(file, bytes, count, offset);
}

static int truncate_database(sqlite3_file *file, sqlite3_int64 size) {
    const sqlite3_io_methods *system = database_of(file)->system;
    sqlite3_int64 end = 0;
    int code = system->xFileSize(file, &end);
    if (code != SQLITE_OK || end <= size + CPAGECHECKSUMS_SPARE) return code;
    return system->xTruncate(file, size + CPAGECHECKSUMS_SPARE);
}

static int close_database(sqlite3_file *file) {
    free(database_of(file)->copy);
    return database_of(file)->system->xClose(file);
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
    database->methods.xClose = close_database;
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

/// Returns the open database of a connection; NULL when SQLite's own file system opened it.
static database_file *database_of_connection(sqlite3 *connection) {
    sqlite3_file *file = NULL;
    int code = sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (code != SQLITE_OK || file == NULL || file->pMethods == NULL) return NULL;
    return file->pMethods->xRead == read_database ? database_of(file) : NULL;
}

int cpagechecksums_reserve(sqlite3 *connection) {
    int count = CPAGECHECKSUMS_BYTES;
    return sqlite3_file_control(connection, "main", SQLITE_FCNTL_RESERVE_BYTES, &count);
}

void cpagechecksums_expect(sqlite3 *connection, uint32_t page_size) {
    database_file *database = database_of_connection(connection);
    if (database != NULL) database->page_size = page_size;
}

bool cpagechecksums_has(sqlite3 *connection) {
    const database_file *database = database_of_connection(connection);
    return database != NULL && database->page_size != 0;
}

void cpagechecksums_refuse_damaged(sqlite3 *connection, bool refuses) {
    database_file *database = database_of_connection(connection);
    if (database != NULL) database->refuses_damaged = refuses;
}

bool cpagechecksums_is_pointer_map(sqlite3 *connection, uint32_t page) {
    const database_file *database = database_of_connection(connection);
    return database != NULL && database->page_size != 0 && is_pointer_map(database, page);
}

uint32_t cpagechecksums_take_damaged(sqlite3 *connection) {
    database_file *database = database_of_connection(connection);
    return database == NULL || database->damaged_count == 0 ? 0 : database->damaged[--database->damaged_count];
}

// MARK: System calls that Swift's C library lacks

// A length of 0 is the whole file.
void cpagechecksums_start_writeback(int file) { sync_file_range(file, 0, 0, SYNC_FILE_RANGE_WRITE); }
