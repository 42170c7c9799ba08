"""Many stored sessions in a database file of ours, written faster than requests could make them.

This file alone knows what the tables of `Sources/Storage/SQLite` look like. It copies a session that the server made,
under new ids and tokens, and does nothing to a file that is not as it expects: the version, the columns, and the
checksums of the session that it copies must all be those that it would have written.
"""

import base64
import hashlib
import os
import sqlite3
import struct
import zlib

from server import Failed

VERSION = 3  # PRAGMA user_version
SESSIONS = ("key", "id", "token", "revision", "created_at", "expires_at", "used_at", "due_at", "mode", "user_id",
            "labels", "retired", "checksum")
RECENT = ("recent_even", "recent_odd")  # writes that are not in services yet; none in a file that was closed
SERVICES = ("session", "name", "birth", "revision", "created_at", "updated_at", "document", "checksum")
KEY_OFFSET = 2**63  # the key of a session is the first half of its id less this
BATCH = 20_000
BYTES_A_SESSION = 600  # more than a session takes on the disk: a look at the free space before


def multiply(path, token, count, known):
    """Puts `count` copies of the session of `token` in the place of all that is in the file, which no server has open.

    The tokens of `known` of them, which lie evenly among the others; nobody knows a token of the rest.
    """
    space = os.statvfs(os.path.dirname(path))
    if space.f_bavail * space.f_frsize < count * BYTES_A_SESSION:
        raise Failed(f"{count:,} stored sessions need up to {count * BYTES_A_SESSION / 2**30:.0f} GiB beside {path}")
    database = sqlite3.connect(path, isolation_level=None)
    try:
        session, service = template(database, token)
        # A file that breaks off half filled is thrown away: no journal.
        for pragma in ("locking_mode = EXCLUSIVE", "journal_mode = DELETE", "journal_mode = OFF", "synchronous = OFF",
                       "cache_size = -65536"):
            database.execute(f"PRAGMA {pragma}").fetchall()
        database.execute("BEGIN")
        triggers = database.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:  # they count, which is done at once below
            database.execute(f"DROP TRIGGER {name}")
        database.execute("DELETE FROM sessions")
        database.execute("DELETE FROM services")
        tokens = insert(database, session, service, count, known)
        for _, sql in triggers:
            database.execute(sql)
        if database.execute("UPDATE facts SET value = ? WHERE name = 'sessions'", (count,)).rowcount != 1:
            raise unknown("the number of sessions has no row")
        database.execute("COMMIT")
        database.execute("PRAGMA journal_mode = WAL").fetchall()
    except sqlite3.Error as error:
        raise Failed(f"filling {path}: {error}") from error
    finally:
        database.close()
    with open(path, "rb") as file:
        os.fsync(file.fileno())  # or it would be written under the first turns
    return tokens


def unknown(what):
    return Failed(f"the database file is not as storing.py knows it: {what}")


def template(database, token):
    """The rows of the session of `token`, as dictionaries by column; checked in all that is copied."""
    if (version := database.execute("PRAGMA user_version").fetchone()[0]) != VERSION:
        raise unknown(f"it has version {version} instead of {VERSION}")
    for table, columns in (("sessions", SESSIONS), ("services", SERVICES)):
        if (found := tuple(row[1] for row in database.execute(f"PRAGMA table_info({table})"))) != columns:
            raise unknown(f"{table} has the columns {', '.join(found)}")
    identity = base64.urlsafe_b64decode(token[3:])[:16]
    key = struct.unpack(">Q", identity[:8])[0] - KEY_OFFSET
    for table in RECENT:
        if database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]:
            raise unknown(f"{table} is not empty")
    sessions = database.execute("SELECT * FROM sessions WHERE key = ? AND id = ?", (key, identity)).fetchall()
    services = database.execute("SELECT * FROM services WHERE session = ?", (key,)).fetchall()
    if len(sessions) != 1 or len(services) != 1:
        raise unknown(f"a session with a profile has {len(sessions)} and {len(services)} rows")
    session, service = dict(zip(SESSIONS, sessions[0])), dict(zip(SERVICES, services[0]))
    if session["token"] != hashlib.sha256(token.encode()).digest():
        raise unknown("a token's digest is another")
    before, between, after = session_sum(session)
    if session["checksum"] != zlib.crc32(before + identity + between + session["token"] + after):
        raise unknown("the checksum of a session is another")
    before, after = service_sum(service)
    if service["checksum"] != zlib.crc32(before + identity + after):
        raise unknown("the checksum of a service is another")
    return session, service


def summed(value):
    """What a column adds to its row's checksum: a number as it is, anything else after its length."""
    if value is None:
        return struct.pack("<q", -1)
    if isinstance(value, int):
        return struct.pack("<q", value)
    data = value.encode() if isinstance(value, str) else value
    return struct.pack("<q", len(data)) + data


def session_sum(session):
    """What goes into the checksum of a session's row before its id, between that and its token, and after both."""
    columns = ("revision", "created_at", "expires_at", "mode", "user_id", "labels", "retired")
    return (struct.pack("<q", 16), struct.pack("<q", 32), b"".join(summed(session[column]) for column in columns))


def service_sum(service):
    """The same for a service, around the session's id."""
    columns = ("name", "birth", "revision", "created_at", "updated_at", "document")
    return struct.pack("<q", 16), b"".join(summed(service[column]) for column in columns)


def literal(value):
    return "NULL" if value is None else str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"


def statement(table, columns, row, given):
    """An INSERT that binds the columns that differ between rows and has the others as they are in `row`."""
    values = ("?" if column in given else literal(row[column]) for column in columns)
    return f"INSERT INTO {table} VALUES ({', '.join(values)})"


def insert(database, session, service, count, known):
    """Fills both tables in the order of their keys, so that every row goes to the end. The known tokens."""
    into_sessions = statement("sessions", SESSIONS, session, ("key", "id", "token", "checksum"))
    into_services = statement("services", SERVICES, service, ("session", "checksum"))
    before, between, after = session_sum(session)
    before_service, after_service = service_sum(service)
    step, every, tokens, pack, crc = 2**64 // count, max(count // known, 1), [], struct.Struct(">Q").pack, zlib.crc32
    for start in range(0, count, BATCH):
        numbers = range(start, min(start + BATCH, count))
        chance = os.urandom(40 * len(numbers))
        keys = [number * step - KEY_OFFSET for number in numbers]
        ids = [pack(number * step) + chance[place : place + 8]
               for number, place in zip(numbers, range(0, len(chance), 40))]
        digests = [chance[place + 8 : place + 40] for place in range(0, len(chance), 40)]
        for number in range(-(-start // every) * every, numbers.stop, every):
            # What would have been the digest is the secret of those that are known.
            place = number - start
            token = "cg_" + base64.urlsafe_b64encode(ids[place] + digests[place]).decode()
            digests[place] = hashlib.sha256(token.encode()).digest()
            tokens.append(token)
        database.executemany(into_sessions, [
            (key, identity, digest, crc(before + identity + between + digest + after))
            for key, identity, digest in zip(keys, ids, digests)])
        database.executemany(into_services, [
            (key, crc(before_service + identity + after_service)) for key, identity in zip(keys, ids)])
    return tokens
