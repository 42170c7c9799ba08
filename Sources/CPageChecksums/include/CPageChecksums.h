/// A checksum for each page of an SQLite database, in the bytes that SQLite's file format reserves at the end of every
/// page. SQLite's own structure says nothing about most bits of a page: a bit that flips in a count of rows or in a key
/// hides rows without a trace.
///
/// The checksum is written when SQLite writes a page to the database file, and compared when SQLite reads the page from
/// there. SQLite itself checks the pages in its log, so a commit costs nothing here and a checkpoint one pass over each
/// page. A page that fails its checksum twice is noted. A connection that reads gets it unchanged: each row on it has a
/// checksum of its own, and most rows may be sound. A connection that writes is refused it: with a change it would get
/// a new checksum, and the damage would be lost from sight.
///
/// A read that fails says nothing about the data. It is repeated, and if it fails again it is an error of reading, for
/// databases, logs and journals alike.
#ifndef CPAGECHECKSUMS_H
#define CPAGECHECKSUMS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

/// The bytes of a page: SQLite's default. A file with other pages has no checksums.
enum { CPAGECHECKSUMS_PAGE = 4096 };

/// The bytes that a page reserves for its checksum. A file whose pages reserve another number of bytes has no checksums
/// of ours: SQLite's own extension for checksums reserves 8.
enum { CPAGECHECKSUMS_BYTES = 4 };

/// The most bytes that a database file has behind its last page: room that the store can release on a full disk. A
/// truncation by SQLite leaves the file this much longer.
enum { CPAGECHECKSUMS_SPARE = 256 << 10 };

/// Returns the name of the SQLite file system (VFS) that keeps the checksums, or NULL when it cannot be registered.
/// May be called on any thread.
const char *cpagechecksums_file_system(void);

/// Makes the pages of an empty database reserve the bytes; any other database reserves them when VACUUM next rewrites
/// it. Returns SQLite's result code.
int cpagechecksums_reserve(sqlite3 *connection);

/// Announces that a new file has checksums, for a caller that writes the first page last.
void cpagechecksums_expect(sqlite3 *connection);

/// Whether the pages of the database have checksums. Known once page 1 has been read.
bool cpagechecksums_has(sqlite3 *connection);

/// From now on a damaged page is SQLITE_CORRUPT for the connection, or is passed to it again. Pages of the pointer map
/// are always passed to it, because they follow from the others and are needed to give space back only. What the
/// connection has in its cache by then stays.
void cpagechecksums_refuse_damaged(sqlite3 *connection, bool refuses);

/// Whether a page is one of the pointer map.
bool cpagechecksums_is_pointer_map(sqlite3 *connection, uint32_t page);

/// Returns and forgets the number of a page that failed its checksum when this connection read it; 0 when there is
/// none.
uint32_t cpagechecksums_take_damaged(sqlite3 *connection);

/// What a database says of its log, in the last reserved bytes of the file's header (72 to 91), which SQLite leaves
/// alone: <https://www.sqlite.org/fileformat2.html#the_database_header>. SQLite sees zeros there, and page checksums
/// are of those. The mark belongs to the file: a page 1 that SQLite writes gets it, too.
typedef struct {
    /// The round of the log, as the log's header has it.
    uint8_t salts[8];
    /// The frames that have to be in the log.
    uint32_t frames;
    uint8_t kind;
} cpagechecksums_mark;

enum {
    /// The file says nothing of its log.
    CPAGECHECKSUMS_MARK_NONE,
    /// Some log may be there, and nothing was acknowledged that is only in it.
    CPAGECHECKSUMS_MARK_OPENING,
    /// The log has these frames.
    CPAGECHECKSUMS_MARK_OPEN,
    /// The database has all of the log, which may restart. A sync of the database by SQLite turns `OPEN` into this.
    CPAGECHECKSUMS_MARK_CLOSED
};

/// Gives the mark of a connection's database. Returns SQLite's result code.
int cpagechecksums_current_mark(sqlite3 *connection, cpagechecksums_mark *mark);

/// Makes the connection read the mark again.
void cpagechecksums_forget_mark(sqlite3 *connection);

/// Writes the mark, without a sync. Returns SQLite's result code.
int cpagechecksums_write_mark(sqlite3 *connection, cpagechecksums_mark mark);

/// Gives the mark of a file that is not open in SQLite. Returns 0, or the value of `errno` of a read that failed.
int cpagechecksums_read_mark(int file, cpagechecksums_mark *mark);

/// The checksum of a page, of which the last `CPAGECHECKSUMS_BYTES` bytes are left out; never 0. A page has it in these
/// bytes, little-endian; 0 stands for a page without one.
uint32_t cpagechecksums_of(const unsigned char *page, uint32_t number);

/// Renames a file unless there is one of the new name. Returns 0 or a value of `errno`.
int cpagechecksums_rename_new(const char *from, const char *to);

/// Makes the kernel start writing a file's changed pages to the disk (sync_file_range(2)). Swift's C library lacks it.
void cpagechecksums_start_writeback(int file);

#endif
