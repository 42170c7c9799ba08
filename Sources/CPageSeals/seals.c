#define _GNU_SOURCE
#include "CPageSeals.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "seal.h"

// <https://www.sqlite.org/vfs.html>: a file system of ours above the one that SQLite has. Only databases are files of
// ours; logs and all others are opened as if we were not there.

/// The page that does not fit is told of once by each connection that reads it while it is in here; a file with more of
/// them is no matter of single pages any more.
enum { MOST_NOTED = 64 };

typedef struct {
    sqlite3_file base;
    /// 0 as long as it is not known, or known that there are no seals.
    uint32_t page_size;
    uint32_t damaged[MOST_NOTED];
    unsigned damaged_count;
    /// A page with its seal: what SQLite gives is not ours to change.
    unsigned char *copy;
} database;

/// The file of the file system below, in the memory behind ours.
static sqlite3_file *below(sqlite3_file *file) { return (sqlite3_file *)((database *)file + 1); }

/// Numbers of our own for sqlite3_file_control: "Opcodes below 100 are reserved".
enum { OPCODE_TAKE = 0x436E6372, OPCODE_EXPECT, OPCODE_HAS };

/// The first bytes of page 1: <https://www.sqlite.org/fileformat2.html#the_database_header>.
static void look_at_header(database *file, const unsigned char *bytes, int count, sqlite3_int64 offset) {
    if (offset != 0 || count < 100 || memcmp(bytes, "SQLite format 3", 16) != 0) return;
    uint32_t size = (uint32_t)bytes[16] << 8 | bytes[17];
    // 65,536 does not fit and is written as 1.
    if (size == 1) size = 65536;
    file->page_size = bytes[20] == CPAGESEALS_BYTES && size >= 512 && (size & (size - 1)) == 0 ? size : 0;
}

/// Whether it is one page as a whole; gives its number. All else are bytes of the header.
static bool is_page(const database *file, int count, sqlite3_int64 offset, uint32_t *number) {
    if (file->page_size == 0 || (uint32_t)count != file->page_size || offset % count != 0) return false;
    *number = (uint32_t)(offset / count) + 1;
    return true;
}

static void note(database *file, uint32_t number) {
    for (unsigned place = 0; place < file->damaged_count; place++) {
        if (file->damaged[place] == number) return;
    }
    if (file->damaged_count < MOST_NOTED) file->damaged[file->damaged_count++] = number;
}

static uint32_t kept_seal(const unsigned char *page, uint32_t size) {
    uint32_t seal;
    memcpy(&seal, page + size - sizeof seal, sizeof seal);
    return le32toh(seal);
}

static int database_read(sqlite3_file *self, void *bytes, int count, sqlite3_int64 offset) {
    database *file = (database *)self;
    int code = below(self)->pMethods->xRead(below(self), bytes, count, offset);
    uint32_t number;
    if (code == SQLITE_OK) {
        look_at_header(file, bytes, count, offset);
        if (is_page(file, count, offset, &number)) {
            uint32_t kept = kept_seal(bytes, file->page_size);
            // 0: written by another program, or never: room that is free.
            if (kept != 0 && kept != cpageseals_seal(bytes, file->page_size, number)) note(file, number);
        }
    } else if (code == SQLITE_IOERR_SHORT_READ && is_page(file, count, offset, &number)) {
        // SQLite reads zeros where the file has ended; that is as it should be for a page that is all behind the end.
        sqlite3_int64 end = 0;
        if (below(self)->pMethods->xFileSize(below(self), &end) == SQLITE_OK && end > offset) note(file, number);
    }
    return code;
}

static int database_write(sqlite3_file *self, const void *bytes, int count, sqlite3_int64 offset) {
    database *file = (database *)self;
    look_at_header(file, bytes, count, offset);
    uint32_t number;
    if (is_page(file, count, offset, &number)) {
        if (file->copy == NULL) file->copy = malloc(65536);
        if (file->copy == NULL) return SQLITE_IOERR_NOMEM;
        memcpy(file->copy, bytes, (size_t)count);
        uint32_t seal = htole32(cpageseals_seal(file->copy, file->page_size, number));
        memcpy(file->copy + count - sizeof seal, &seal, sizeof seal);
        bytes = file->copy;
    }
    return below(self)->pMethods->xWrite(below(self), bytes, count, offset);
}

static int database_truncate(sqlite3_file *self, sqlite3_int64 size) {
    sqlite3_int64 end = 0;
    int code = below(self)->pMethods->xFileSize(below(self), &end);
    if (code != SQLITE_OK || end <= size + CPAGESEALS_SPARE) return code;
    return below(self)->pMethods->xTruncate(below(self), size + CPAGESEALS_SPARE);
}

static int database_close(sqlite3_file *self) {
    free(((database *)self)->copy);
    return below(self)->pMethods->xClose(below(self));
}

static int database_file_control(sqlite3_file *self, int opcode, void *argument) {
    database *file = (database *)self;
    switch (opcode) {
    case OPCODE_TAKE:
        *(uint32_t *)argument = file->damaged_count == 0 ? 0 : file->damaged[--file->damaged_count];
        return SQLITE_OK;
    case OPCODE_EXPECT:
        file->page_size = *(uint32_t *)argument;
        return SQLITE_OK;
    case OPCODE_HAS:
        *(bool *)argument = file->page_size != 0;
        return SQLITE_OK;
    default: return below(self)->pMethods->xFileControl(below(self), opcode, argument);
    }
}

// MARK: Handed down as it is

static int database_sync(sqlite3_file *self, int flags) { return below(self)->pMethods->xSync(below(self), flags); }
static int database_size(sqlite3_file *self, sqlite3_int64 *size) {
    return below(self)->pMethods->xFileSize(below(self), size);
}
static int database_lock(sqlite3_file *self, int kind) { return below(self)->pMethods->xLock(below(self), kind); }
static int database_unlock(sqlite3_file *self, int kind) { return below(self)->pMethods->xUnlock(below(self), kind); }
static int database_check_lock(sqlite3_file *self, int *is_reserved) {
    return below(self)->pMethods->xCheckReservedLock(below(self), is_reserved);
}
static int database_sector_size(sqlite3_file *self) { return below(self)->pMethods->xSectorSize(below(self)); }
static int database_characteristics(sqlite3_file *self) {
    return below(self)->pMethods->xDeviceCharacteristics(below(self));
}
static int database_shm_map(sqlite3_file *self, int region, int size, int extends, void volatile **memory) {
    return below(self)->pMethods->xShmMap(below(self), region, size, extends, memory);
}
static int database_shm_lock(sqlite3_file *self, int offset, int count, int flags) {
    return below(self)->pMethods->xShmLock(below(self), offset, count, flags);
}
static void database_shm_barrier(sqlite3_file *self) { below(self)->pMethods->xShmBarrier(below(self)); }
static int database_shm_unmap(sqlite3_file *self, int deletes) {
    return below(self)->pMethods->xShmUnmap(below(self), deletes);
}

/// Version 2 has shared memory, which the log needs. Version 3 would map the file, and then nobody reads.
static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = database_close,
    .xRead = database_read,
    .xWrite = database_write,
    .xTruncate = database_truncate,
    .xSync = database_sync,
    .xFileSize = database_size,
    .xLock = database_lock,
    .xUnlock = database_unlock,
    .xCheckReservedLock = database_check_lock,
    .xFileControl = database_file_control,
    .xSectorSize = database_sector_size,
    .xDeviceCharacteristics = database_characteristics,
    .xShmMap = database_shm_map,
    .xShmLock = database_shm_lock,
    .xShmBarrier = database_shm_barrier,
    .xShmUnmap = database_shm_unmap,
};

// MARK: The file system

static sqlite3_vfs *system_below;
static sqlite3_vfs file_system;
static bool is_registered;

static int open_file(sqlite3_vfs *self, const char *name, sqlite3_file *file, int flags, int *out_flags) {
    (void)self;
    if ((flags & SQLITE_OPEN_MAIN_DB) == 0) return system_below->xOpen(system_below, name, file, flags, out_flags);
    memset(file, 0, sizeof(database));
    int code = system_below->xOpen(system_below, name, below(file), flags, out_flags);
    // A file without methods is not closed.
    if (below(file)->pMethods != NULL && below(file)->pMethods->iVersion >= 2) {
        file->pMethods = &methods;
    } else if (code == SQLITE_OK) {
        if (below(file)->pMethods != NULL) below(file)->pMethods->xClose(below(file));
        code = SQLITE_CANTOPEN;
    }
    return code;
}

static void register_file_system(void) {
    system_below = sqlite3_vfs_find(NULL);
    if (system_below == NULL) return;
    // The functions of Unix file systems do not care for the structure that they are called with, but for xOpen.
    file_system = *system_below;
    file_system.pNext = NULL;
    file_system.zName = "concierge";
    file_system.szOsFile += (int)sizeof(database);
    file_system.xOpen = open_file;
    is_registered = sqlite3_vfs_register(&file_system, 0) == SQLITE_OK;
}

const char *cpageseals_file_system(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_file_system);
    return is_registered ? file_system.zName : NULL;
}

// MARK: For connections

int cpageseals_reserve(sqlite3 *connection) {
    int count = CPAGESEALS_BYTES;
    return sqlite3_file_control(connection, "main", SQLITE_FCNTL_RESERVE_BYTES, &count);
}

int cpageseals_expect(sqlite3 *connection, uint32_t page_size) {
    return sqlite3_file_control(connection, "main", OPCODE_EXPECT, &page_size);
}

bool cpageseals_has(sqlite3 *connection) {
    bool has = false;
    return sqlite3_file_control(connection, "main", OPCODE_HAS, &has) == SQLITE_OK && has;
}

uint32_t cpageseals_take_damaged(sqlite3 *connection) {
    uint32_t number = 0;
    return sqlite3_file_control(connection, "main", OPCODE_TAKE, &number) == SQLITE_OK ? number : 0;
}

// MARK: What Swift's C library lacks

// 0 for the length is all of the file.
void cpageseals_start_writeback(int file) { sync_file_range(file, 0, 0, SYNC_FILE_RANGE_WRITE); }
