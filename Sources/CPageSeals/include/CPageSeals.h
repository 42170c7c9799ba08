/// Pages of an SQLite database with a checksum each, their seal, in the bytes that SQLite's file format reserves at the
/// end of every page for such things. SQLite's own structure says nothing about most bits of a page: one that flips
/// in a count of rows or in a key hides rows, and nothing shows it.
///
/// A seal is made when a page is written to the database itself and looked at when it is read from there. What is in the
/// log has SQLite's own checksums; so a commit costs nothing here, and a checkpoint one look at each page. A page that does
/// not fit its seal is noted and given on as it is: whoever reads rows from it has their checksums, and the others
/// may be sound.
#ifndef CPAGESEALS_H
#define CPAGESEALS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

/// How many bytes a page has for its seal. A file whose pages reserve another number has none: SQLite's own extension
/// for checksums takes 8.
enum { CPAGESEALS_BYTES = 4 };

/// How many bytes a database is longer than its pages, at the most: room that can be given up on a full disk. What SQLite
/// cuts off it leaves so much longer.
enum { CPAGESEALS_SPARE = 256 << 10 };

/// The name to open a database with, instead of SQLite's own file system; NULL when that cannot be taken part in.
/// May be called from any thread.
const char *cpageseals_file_system(void);

/// Has the pages of a database that is still empty reserve the bytes, or those of any other when it is next rewritten as a
/// whole (VACUUM). Returns SQLite's code.
int cpageseals_reserve(sqlite3 *connection);

/// Says beforehand how large the pages of a new file will be, for who writes its first page last.
int cpageseals_expect(sqlite3 *connection, uint32_t page_size);

/// Whether the pages of the database have seals, as far as is known: page 1 must have been read.
bool cpageseals_has(sqlite3 *connection);

/// Takes one of the pages that did not fit their seals when this connection read them; 0 when there is none.
uint32_t cpageseals_take_damaged(sqlite3 *connection);

/// Has the kernel begin to write the changed pages of a file (sync_file_range(2)), which Swift's C library does not show.
void cpageseals_start_writeback(int file);

#endif
