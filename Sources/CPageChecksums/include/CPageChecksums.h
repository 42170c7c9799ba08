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

/// Announces the page size of a new file with checksums, for a caller that writes the first page last.
void cpagechecksums_expect(sqlite3 *connection, uint32_t page_size);

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

/// Makes the kernel start writing a file's changed pages to the disk (sync_file_range(2)). Swift's C library lacks it.
void cpagechecksums_start_writeback(int file);

#endif
