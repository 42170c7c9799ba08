-- A new session with every request.
dofile(os.getenv("BENCH_SCRIPTS") .. "/report.lua")
wrk.method = "POST"
wrk.path = "/v1/sessions"
