#include <sqlite3.h>

/// Has SQLite not keep count of its memory, which takes a lock for each piece of it. Before its first use. Swift cannot
/// call `sqlite3_config` itself, which takes any number of arguments.
static inline int csqlite_forgo_memory_statistics(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }
