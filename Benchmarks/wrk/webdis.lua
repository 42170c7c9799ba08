-- What a session service of one's own would do at least for a PATCH of the profile: one SET of the whole state,
-- through webdis, going round as many keys as the other side has sessions. The state is as long as ours, and changes
-- every time.
dofile(os.getenv("BENCH_SCRIPTS") .. "/report.lua")
local requests, next_one = {}, 0

function init()
    for _, name in ipairs({ "Ada", "Eva" }) do
        local state = os.getenv("STATE"):gsub("%*", name)
        for key = 1, tonumber(os.getenv("KEYS")) do
            requests[#requests + 1] = wrk.format("PUT", string.format("/SET/session:%032x:profile", key), {
                ["Host"] = wrk.host .. ":" .. wrk.port,
            }, state)
        end
    end
end

function request()
    next_one = next_one % #requests + 1
    return requests[next_one]
end
