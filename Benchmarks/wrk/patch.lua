-- PATCH of the profile, going round the sessions in the file TOKENS. The name changes every time: a write that
-- changes nothing might be cheaper.
dofile(os.getenv("BENCH_SCRIPTS") .. "/report.lua")
local requests, next_one = {}, 0

function init()
    -- First one name for all, then the other: two connections are never at one session at the same moment.
    for _, name in ipairs({ "Ada", "Eva" }) do
        for token in io.lines(os.getenv("TOKENS")) do
            requests[#requests + 1] = wrk.format("PATCH", "/v1/sessions/current/services/profile", {
                ["Host"] = wrk.host .. ":" .. wrk.port,
                ["Authorization"] = "Bearer " .. token,
                ["Content-Type"] = "application/merge-patch+json",
            }, '{"name":"' .. name .. '"}')
        end
    end
end

function request()
    next_one = next_one % #requests + 1
    return requests[next_one]
end
