import CCrypto
import Sessions

/// A Lua script that Redis executes as a whole. It touches the keys of one session, or one other key, or those of an
/// index of all sessions.
struct RedisScript: Sendable {
    let text: String
    /// SHA-1 of the text, in hexadecimal digits: its name in Redis.
    let digest: String
    /// How a call with one key begins, in Redis' protocol.
    let opening: [UInt8]

    /// - Parameter needsRoom: whether it is refused when Redis has no memory left. Scripts that free memory or need
    ///   little are not.
    init(_ text: String, needsRoom: Bool = true) {
        let text = needsRoom ? text : "#!lua flags=allow-oom\n" + text
        self.text = text
        var sum = [UInt8](repeating: 0, count: Int(SHA_DIGEST_LENGTH))
        let bytes = Array(text.utf8)
        SHA1(bytes, bytes.count, &sum)
        digest = Hexadecimal.text(sum)
        opening = Array("$7\r\nEVALSHA\r\n$40\r\n\(digest)\r\n$1\r\n1\r\n".utf8)
    }

    static let all = [
        commit, put, end, reserve, touch, swap, bringForward, insistOnTime, lend, place, raise, find, exchange, fence,
        insist, rights,
    ]

    /// Replaces the state of a session.
    ///
    /// Arguments: the nonce, the replaced revision, the new one, the last use (or ""), the number of fields to remove,
    /// these fields, and the other fields with their values. The last of them may be a response, see ``replays``.
    /// Result: 1, the former user, the removed tasks, or 1 without a list if there were none; 0 without a session; -1
    /// and the session's fields when the revision is another one; -1 alone when another process has reserved the
    /// session. A copy of what was executed changes nothing: its result is 1.
    static let commit = RedisScript(
        copies + reservations + replays + """
            local key = KEYS[1]
            local was = redis.call('HMGET', key, 'r', 'n', 'u', 'o', 'c')
            if not was[1] then return {0} end
            if isCopy(key, was[2]) then return 1 end
            if was[1] ~= ARGV[2] then return {-1, redis.call('HGETALL', key)} end
            if was[5] and isReserved(was[5], string.match(ARGV[1], '^%w+')) then return {-1} end
            local result = {1, was[4]}
            local first = 6 + tonumber(ARGV[5])
            for i = 6, first - 1 do
              if string.sub(ARGV[i], 1, 2) == 'k:' then redis.call('HDEL', key .. ':k', string.sub(ARGV[i], 3)) end
            end
            local last = keep(key, first)
            if was[5] then redis.call('HDEL', key, 'c') end
            for i = 6, first - 1 do
              if string.sub(ARGV[i], 1, 2) == 't:' then
                local task = redis.call('HGET', key, ARGV[i])
                if task then result[#result + 1] = task end
              end
              redis.call('HDEL', key, ARGV[i])
            end
            local used = was[3]
            if ARGV[4] ~= '' and tonumber(ARGV[4]) > tonumber(used) then used = ARGV[4] end
            local function some(i) return unpack(ARGV, i, math.min(i + 999, last)) end
            redis.call('HSET', key, 'r', ARGV[3], 'n', ARGV[1], 'u', used, some(first))
            for i = first + 1000, last, 1000 do redis.call('HSET', key, some(i)) end
            redis.call('SPUBLISH', key, ARGV[3])
            if not was[4] and #result == 2 then return 1 end
            return result
            """)

    /// Tells the copy of a commit by its nonce, and writes that again: from Redis 7.2 on, `WAIT` waits for nothing on a
    /// connection that has written nothing.
    private static let copies = """
        local function isCopy(key, nonce)
          if nonce ~= ARGV[1] then return false end
          redis.call('HSET', key, 'n', nonce)
          return true
        end

        """

    /// Appends the tasks of the session to a result, and removes the responses that are kept beside it. `notices` are
    /// fields with their values, which stay.
    private static let tasks = """
        local key = KEYS[1]
        local notices = {}
        local function tasks(result)
          local hasReplays = false
          for _, field in ipairs(redis.call('HKEYS', key)) do
            local kind = string.sub(field, 1, 2)
            if kind == 't:' then result[#result + 1] = redis.call('HGET', key, field) end
            if kind == 'k:' then hasReplays = true end
            if kind == 'e:' then
              notices[#notices + 1] = field
              notices[#notices + 1] = redis.call('HGET', key, field)
            end
          end
          if hasReplays then redis.call('DEL', key .. ':k') end
          return result
        end
        local function putBack()
          for i = 1, #notices, 2 do redis.call('HSET', key, notices[i], notices[i + 1]) end
        end

        """

    /// Keeps a response beside its session. In a cluster the two keys are on different nodes for a moment while their
    /// slot moves. Then a script fails when it uses the second one, so it does that before it changes the first: a
    /// session without responses notices nothing, and others are tried again.
    ///
    /// The response is the last field with its value, and has a name of its own: `K:`, the id, and a blank and when the
    /// last of the session's responses may go (Unix time in milliseconds), if Redis is to remove them. Returns where
    /// the other fields end.
    private static let replays = """
        local function keep(key, first)
          local last = #ARGV
          local name = last > first and ARGV[last - 1] or ''
          if string.sub(name, 1, 2) ~= 'K:' then return last end
          redis.call('HSET', key .. ':k', string.sub(name, 3, 34), ARGV[last])
          if #name > 35 then redis.call('PEXPIREAT', key .. ':k', string.sub(name, 36)) end
          return last - 2
        end

        """

    /// Adds a session, or puts it in the place of another one.
    ///
    /// Arguments: as for ``commit``, but no revision is replaced when that is "", and in place of the number is when
    /// Redis may end the session (Unix time in milliseconds, or ""), and then the highest revision that the session may
    /// have had: a copy that comes when the session has ended since is too late.
    /// Result: as for ``commit``, with the tasks of the former session, and without fields.
    static let put = RedisScript(
        copies + replays + tasks + """
            local was = redis.call('HMGET', key, 'r', 'o', 'n', 'f')
            if isCopy(key, was[3]) then return 1 end
            if ARGV[2] == '' and was[1] then return {-1} end
            if was[4] and (#ARGV[6] < #was[4] or (#ARGV[6] == #was[4] and ARGV[6] < was[4])) then return {-1} end
            if ARGV[2] ~= '' and not was[1] then return {0} end
            if ARGV[2] ~= '' and was[1] ~= ARGV[2] then return {-1} end
            local result = tasks({1, was[2]})
            local last = keep(key, 7)
            redis.call('DEL', key)
            redis.call('HSET', key, 'r', ARGV[3], 'n', ARGV[1], 'u', ARGV[4])
            putBack()
            for i = 7, last, 1000 do redis.call('HSET', key, unpack(ARGV, i, math.min(i + 999, last))) end
            if ARGV[5] ~= '' then redis.call('PEXPIREAT', key, ARGV[5]) end
            redis.call('SPUBLISH', key, ARGV[3])
            return result
            """)

    /// Ends a session. Arguments: the revision that it must have, its last use (or ""), the revision from which another
    /// session in its place has to begin, for how many milliseconds that is kept, and for how many more if there are
    /// notices; then the field of a new one and its value, if there is one.
    /// Result: as for ``put``.
    static let end = RedisScript(
        tasks + """
            local was = redis.call('HMGET', key, 'r', 'o', 'u')
            if not was[1] then return {0} end
            if was[1] ~= ARGV[1] or (ARGV[2] ~= '' and was[3] ~= ARGV[2]) then return {-1} end
            local result = tasks({1, was[2]})
            for i = 6, #ARGV do notices[#notices + 1] = ARGV[i] end
            redis.call('DEL', key)
            redis.call('HSET', key, 'f', ARGV[3])
            putBack()
            redis.call('PEXPIRE', key, ARGV[4] + (#notices > 0 and ARGV[5] or 0))
            redis.call('SPUBLISH', key, '')
            return result
            """, needsRoom: false)

    /// Reserves a session for the commits of one process, until its next one. Arguments: what its nonces begin with,
    /// and for how many milliseconds: 0 gives up a reservation. Result: whether no other process has reserved it.
    static let reserve = RedisScript(
        reservations + """
            local key = KEYS[1]
            local was = redis.call('HMGET', key, 'r', 'c')
            if not was[1] then return 0 end
            if was[2] and isReserved(was[2], ARGV[1]) then return 0 end
            redis.call('HSET', key, 'c', ARGV[1] .. ' ' .. string.format('%.0f', now() + ARGV[2]))
            return 1
            """, needsRoom: false)

    /// Redis' time in milliseconds, and whether a reservation is another process' and not over.
    private static let reservations = """
        local function now()
          local time = redis.call('TIME')
          return time[1] * 1000 + math.floor(time[2] / 1000)
        end
        local function isReserved(reservation, name)
          local owner, till = string.match(reservation, '^(%w+) (%d+)$')
          return owner ~= name and tonumber(till) > now()
        end

        """

    /// Notes the use of a session. Argument: its time.
    static let touch = RedisScript(
        """
        local used = redis.call('HGET', KEYS[1], 'u')
        if used and tonumber(used) < tonumber(ARGV[1]) then redis.call('HSET', KEYS[1], 'u', ARGV[1]) end
        return 1
        """, needsRoom: false)

    /// Changes a field. Arguments: its name, its text, and the new text, which is "" to remove it, and for how many
    /// milliseconds the rest is kept if it was the last notice of a session that has ended.
    /// Result: 1, or 0 when the text is another one.
    static let swap = RedisScript(
        """
        local key = KEYS[1]
        if redis.call('HGET', key, ARGV[1]) ~= ARGV[2] then return 0 end
        if ARGV[3] ~= '' then
          redis.call('HSET', key, ARGV[1], ARGV[3])
          return 1
        end
        redis.call('HDEL', key, ARGV[1])
        if string.sub(ARGV[1], 1, 2) == 'e:' then
          local rest = redis.call('HKEYS', key)
          if #rest == 1 and rest[1] == 'f' then redis.call('PEXPIRE', key, ARGV[4]) end
        end
        return 1
        """, needsRoom: false)

    /// Says in the set of all parts when the first of a part is due. As in ``replays``, scripts use the part first, in
    /// case it is on another node for a moment.
    private static let parts = """
        local function note(name)
          local first = redis.call('ZRANGE', KEYS[1] .. ':' .. name, 0, 0, 'WITHSCORES')
          if first[2] then redis.call('ZADD', KEYS[1], first[2], name) else redis.call('ZREM', KEYS[1], name) end
        end

        """

    /// Changes an entry of the index of due times. Arguments: its part, its member, its time, which is "" to remove it,
    /// and "LT" to change it only to an earlier time.
    private static let time =
        parts + """
            local part = KEYS[1] .. ':' .. ARGV[1]
            local changed
            if ARGV[3] == '' then changed = redis.call('ZREM', part, ARGV[2])
            elseif ARGV[4] then changed = redis.call('ZADD', part, ARGV[4], 'CH', ARGV[3], ARGV[2])
            else changed = redis.call('ZADD', part, 'CH', ARGV[3], ARGV[2]) end
            if changed == 1 then note(ARGV[1]) end
            return changed
            """
    static let bringForward = RedisScript(time)
    static let insistOnTime = RedisScript(time, needsRoom: false)

    /// Takes sessions from the index of due times that are due, and gives them another time. Arguments: the time, the
    /// most sessions, and their new time.
    /// Result: their members, the part with the earliest first. Fewer than requested when there are no more.
    static let lend = RedisScript(
        parts + """
            local found = {}
            local names = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])
            for _, name in ipairs(names) do
              local rest = ARGV[2] - #found
              if rest == 0 then break end
              local part = KEYS[1] .. ':' .. name
              for _, member in ipairs(redis.call('ZRANGEBYSCORE', part, '-inf', ARGV[1], 'LIMIT', 0, rest)) do
                redis.call('ZADD', part, ARGV[3], member)
                found[#found + 1] = member
              end
              note(name)
            end
            return found
            """, needsRoom: false)

    /// Puts the journeys of a session in the place of those that the index has (``RedisKeys/places``), unless it has
    /// those of a later revision. All is read before something is written, as in ``replays``.
    ///
    /// Arguments: the session's part, its member there, its revision, and the place of each journey.
    static let place = RedisScript(
        """
        local part = KEYS[1] .. ':' .. ARGV[1]
        local was = redis.call('HGET', part, ARGV[2]) or '0'
        if tonumber(string.match(was, '^%d+')) > tonumber(ARGV[3]) then return 0 end
        local grown, new, last, text = {}, {}, redis.call('HGET', KEYS[1], '') or 0, ARGV[3]
        for number in string.gmatch(was, ' (%d+)') do grown[number] = (grown[number] or 0) - 1 end
        for i = 4, #ARGV do
          local number = new[ARGV[i]] or redis.call('HGET', KEYS[1], ARGV[i])
          if not number then
            last = last + 1
            number = tostring(last)
            new[ARGV[i]] = number
          end
          grown[number] = (grown[number] or 0) + 1
          text = text .. ' ' .. number
        end
        local counts = {}
        for number, change in pairs(grown) do
          local key = KEYS[1] .. '/' .. number
          for _, field in ipairs({ARGV[1], ''}) do
            if change ~= 0 then counts[#counts + 1] = {key, field, (redis.call('HGET', key, field) or 0) + change} end
          end
        end
        for _, count in ipairs(counts) do
          if count[3] > 0 then redis.call('HSET', count[1], count[2], count[3])
          else redis.call('HDEL', count[1], count[2]) end
        end
        for name, number in pairs(new) do redis.call('HSET', KEYS[1], name, number, '', last) end
        if #ARGV > 3 then redis.call('HSET', part, ARGV[2], text) else redis.call('HDEL', part, ARGV[2]) end
        return 1
        """, needsRoom: false)

    /// A command that is executed also when Redis has no memory left. Arguments: its name, and what stands after its
    /// key.
    static let insist = RedisScript("return redis.call(ARGV[1], KEYS[1], unpack(ARGV, 2))", needsRoom: false)

    /// Asks Redis which commands the user may not use. Arguments: a key, and commands with arguments, in which "KEY"
    /// stands for it. Result: the names of those that are refused.
    static let rights = RedisScript(
        """
        local missing = {}
        for i = 2, #ARGV do
          local words = {}
          for word in string.gmatch(ARGV[i], '%S+') do words[#words + 1] = word == 'KEY' and ARGV[1] or word end
          if not redis.acl_check_cmd(unpack(words)) then missing[#missing + 1] = words[1] end
        end
        return missing
        """, needsRoom: false)

    /// Raises a number that has more digits than Lua's. Argument: the least that it has to be.
    static let raise = RedisScript(
        """
        local was = redis.call('GET', KEYS[1]) or '0'
        if #was < #ARGV[1] or (#was == #ARGV[1] and was < ARGV[1]) then redis.call('SET', KEYS[1], ARGV[1]) end
        return 1
        """, needsRoom: false)

    /// Finds a claim, or puts one there. Arguments: the new claim, and for how many milliseconds. What is found is
    /// written again for the sake of `WAIT`, as in ``copies``.
    /// Result: the claim that was there.
    static let find = RedisScript(
        """
        local found = redis.call('GET', KEYS[1])
        if found then redis.call('SET', KEYS[1], found, 'KEEPTTL')
        else redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) end
        return found
        """)

    /// Puts a text in the place of another one. Arguments: that one, the new one, which is "" to remove it, and for how
    /// many milliseconds.
    /// Result: 1, or 0 when another one is there.
    static let exchange = RedisScript(
        """
        if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
        if ARGV[2] == '' then redis.call('DEL', KEYS[1]) else redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end
        return 1
        """, needsRoom: false)

    /// Keeps a session from being made, unless it was. Arguments: the revision from which another session in its place
    /// has to begin, and for how many milliseconds that is kept, unless the notices of one are kept for longer.
    /// Result: 1 when it was made, which is written again for the sake of `WAIT`, as in ``copies``.
    static let fence = RedisScript(
        """
        local revision = redis.call('HGET', KEYS[1], 'r')
        if revision then
          redis.call('HSET', KEYS[1], 'r', revision)
          return 1
        end
        redis.call('HSET', KEYS[1], 'f', ARGV[1])
        if #redis.call('HKEYS', KEYS[1]) == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
        return 0
        """, needsRoom: false)
}
