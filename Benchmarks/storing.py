"""Many stored sessions in a database file of ours, written faster than requests could make them.

This file alone knows what the tables of `Sources/SQLiteStorage` look like. It copies a session that the server made,
under new ids and tokens, and does nothing to a file that is not as it expects: the version, the columns, and the
checksum of the session that it copies must all be those that it would have written.
"""

import base64
import hashlib
import os
import sqlite3
import struct
import time
import zlib

from server import Failed

VERSION = 10  # PRAGMA user_version
COLUMNS = ("key", "revision", "used_at", "expires_at", "user_id", "large", "state")
# Sessions without journeys have none.
TIMES = ("due_at", "kept_until")
KEY_OFFSET = 2**63  # the key of a session is the first half of its id less this
# The first half of an id: milliseconds, and so many random bits.
CHANCE_BITS = 16
# A state: the format, the second half of the id, the digest of the token, the rest, a checksum.
FORMAT = b"\1"
REST = slice(1 + 8 + 32, -4)
PAGE = 4096
MARK = range(72, 92)  # what page 1 says of the log, which its checksum leaves out
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
        session = template(database, token)
        # A file that breaks off half filled is thrown away: no journal.
        for pragma in ("locking_mode = EXCLUSIVE", "journal_mode = DELETE", "journal_mode = OFF", "synchronous = OFF",
                       "cache_size = -65536"):
            database.execute(f"PRAGMA {pragma}").fetchall()
        database.execute("BEGIN")
        database.execute("DELETE FROM sessions")
        tokens = insert(database, session, count, known)
        if database.execute("UPDATE facts SET value = ? WHERE name = 'sessions'", (count,)).rowcount != 1:
            raise unknown("the number of sessions has no row")
        database.execute("COMMIT")
        database.execute("PRAGMA journal_mode = WAL").fetchall()
    except sqlite3.Error as error:
        raise Failed(f"filling {path}: {error}") from error
    finally:
        database.close()
    seal(path)
    return tokens


def seal(path):
    """Gives each page its checksum, as `Sources/CPageChecksums` does when it writes one."""
    with open(path, "r+b") as file:
        number = 0
        while page := file.read(PAGE):
            number += 1
            if number == 1:
                page = page[: MARK.start] + bytes(len(MARK)) + page[MARK.stop :]
            checksum = zlib.crc32(page[:-4], zlib.crc32(struct.pack("<I", number))) or 1
            file.seek(-4, os.SEEK_CUR)
            file.write(struct.pack("<I", checksum))
        file.flush()
        os.fsync(file.fileno())  # or it would be written under the first turns


def unknown(what):
    return Failed(f"the database file is not as storing.py knows it: {what}")


def template(database, token):
    """The row of the session of `token`, as a dictionary by column; checked in all that is copied."""
    if (version := database.execute("PRAGMA user_version").fetchone()[0]) != VERSION:
        raise unknown(f"it has version {version} instead of {VERSION}")
    if (found := tuple(row[1] for row in database.execute("PRAGMA table_info(sessions)"))) != COLUMNS + TIMES:
        raise unknown(f"sessions has the columns {', '.join(found)}")
    identity = base64.urlsafe_b64decode(token[3:])[:16]
    key = struct.unpack(">Q", identity[:8])[0] - KEY_OFFSET
    if not (row := database.execute("SELECT * FROM sessions WHERE key = ?", (key,)).fetchone()):
        raise unknown("the session has no row")
    session = dict(zip(COLUMNS, row))
    if session["large"]:
        raise unknown("a profile is not in the session's row")
    digest = hashlib.sha256(token.encode()).digest()
    if session["state"] != state(session, key, identity[8:], digest):
        raise unknown("the state of a session is another")
    return session


def state(session, key, second_half, digest):
    """The state of a copy of the session under another id and token."""
    content = FORMAT + second_half + digest + session["state"][REST]
    user = session["user_id"]
    user = struct.pack("<q", -1) if user is None else struct.pack("<q", len(user.encode())) + user.encode()
    columns = struct.pack("<qqq", key, session["revision"], session["expires_at"])
    return content + struct.pack("<I", zlib.crc32(columns + user + content))


def insert(database, session, count, known):
    """Fills the table in the order of keys, one for each millisecond until a minute ago. The known tokens."""
    first, every, tokens = int(time.time() * 1000) - 60_000 - count, max(count // known, 1), []
    for start in range(0, count, BATCH):
        rows = []
        for number in range(start, min(start + BATCH, count)):
            chance = os.urandom(42)
            high = first + number << CHANCE_BITS | int.from_bytes(chance[:2], "big")
            second_half, digest, key = chance[2:10], chance[10:], high - KEY_OFFSET
            if number % every == 0:
                # What would have been the digest is the secret of those that are known.
                token = "cg_" + base64.urlsafe_b64encode(struct.pack(">Q", high) + second_half + digest).decode()
                digest = hashlib.sha256(token.encode()).digest()
                tokens.append(token)
            rows.append((key, *(session[column] for column in COLUMNS[1:-1]), state(session, key, second_half, digest)))
        database.executemany("INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?, NULL, NULL)", rows)
    return tokens
