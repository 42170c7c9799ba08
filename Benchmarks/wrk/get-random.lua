-- GET of a session picked at random out of the file TOKENS: lines of one length.
dofile(os.getenv("BENCH_SCRIPTS") .. "/report.lua")
local tokens, width, count, before
local after = "\r\n\r\n"

function init()
    local file = assert(io.open(os.getenv("TOKENS"), "rb"))
    tokens = file:read("*a")
    file:close()
    width = tokens:find("\n", 1, true)
    count = math.floor(#tokens / width)
    math.randomseed(tonumber(os.getenv("SEED")) or 1)
    before = "GET /v1/sessions/current/services/profile HTTP/1.1\r\nHost: " .. wrk.host .. ":" .. wrk.port
        .. "\r\nAuthorization: Bearer "
end

function request()
    local start = (math.random(count) - 1) * width
    return before .. tokens:sub(start + 1, start + width - 1) .. after
end
