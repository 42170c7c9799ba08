-- Every script loads this: one line of JSON at the end, times in microseconds, so that nothing has to be read out of
-- wrk's prose.
function done(summary, latency)
    local e = summary.errors
    io.write(string.format(
        'RESULT {"requests": %d, "duration": %d, "p50": %d, "p99": %d, "failed": %d}\n',
        summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
        e.connect + e.read + e.write + e.status + e.timeout))
end
