-- An event of the journey `main`, going round the sessions in the file TOKENS: forward in all of them, then back in
-- all, so that each is a step, and two connections are never at one session at the same moment.
dofile(os.getenv("BENCH_SCRIPTS") .. "/report.lua")
local requests, next_one = {}, 0

function init()
    for _, event in ipairs({ "next", "back" }) do
        for token in io.lines(os.getenv("TOKENS")) do
            requests[#requests + 1] = wrk.format("POST", "/v1/sessions/current/journeys/main/events", {
                ["Host"] = wrk.host .. ":" .. wrk.port,
                ["Authorization"] = "Bearer " .. token,
                ["Content-Type"] = "application/json",
            }, '{"event":"' .. event .. '"}')
        end
    end
end

function request()
    next_one = next_one % #requests + 1
    return requests[next_one]
end
