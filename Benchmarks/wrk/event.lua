-- An event of the journey `main`, going round the sessions in the file TOKENS: forward in all of them, then back in
-- all, so that each is a step, and two connections are never at one session at the same moment. With KEYS each has an
-- Idempotency-Key of its own; PREFER is sent as `Prefer`.
dofile(os.getenv("BENCH_SCRIPTS") .. "/report.lua")
local requests, next_one, count = {}, 0, 0
local keys, began = os.getenv("KEYS"), os.time()

function init()
    for _, event in ipairs({ "next", "back" }) do
        for token in io.lines(os.getenv("TOKENS")) do
            requests[#requests + 1] = wrk.format("POST", "/v1/sessions/current/journeys/main/events", {
                ["Host"] = wrk.host .. ":" .. wrk.port,
                ["Authorization"] = "Bearer " .. token,
                ["Content-Type"] = "application/json",
                ["Prefer"] = os.getenv("PREFER"),
                ["Idempotency-Key"] = keys and "@",
            }, '{"event":"' .. event .. '"}')
        end
    end
end

function request()
    next_one = next_one % #requests + 1
    if not keys then return requests[next_one] end
    count = count + 1
    return (requests[next_one]:gsub("@", began .. "-" .. count, 1))
end
