-- The same GET again and again. TOKEN names the session.
dofile(os.getenv("BENCH_SCRIPTS") .. "/report.lua")
wrk.path = "/v1/sessions/current/services/profile"
wrk.headers["Authorization"] = "Bearer " .. os.getenv("TOKEN")
