"""The rows of the store that several servers share: Redis."""

from concurrent.futures import ThreadPoolExecutor

from durable import against, note_disk
from load import PROFILE, request
from measuring import sides
from spread import RANDOM, loading, patching, token_file
from webdis import Webdis


class WithRedis:
    """A server of ours and the Redis that it uses; to a load they are one server."""

    def __init__(self, server, redis):
        self.server, self.redis = server, redis
        self.core, self.port = server.core, server.port

    def cpu(self):
        return self.server.cpu() + self.redis.cpu()

    def trim_log(self):
        self.server.trim_log()


def row_shared(bench):
    """GET and PATCH profile through Redis over 1,000 sessions, against webdis on the same Redis"""
    note_disk(bench)
    with Webdis(bench.server_core, bench.folder) as webdis, \
            bench.ours(store=f"redis://127.0.0.1:{webdis.redis_port}") as server:
        ours, tokens = WithRedis(server, webdis.programs[0]), bench.tokens(server, 1000, "shared.tokens")
        with open(tokens) as file:
            state = server.ask(request("GET", PROFILE, file.readline().strip()))[2].decode()
        keys = token_file(bench, "shared.keys", webdis.fill(1000, state))
        key = f"session:{RANDOM}:profile"
        runs = bench.take_turns([
            loading(bench, ours, request("GET", PROFILE, RANDOM), tokens),
            loading(bench, webdis, request("GET", f"/GET/{key}"), keys),
            loading(bench, ours, patching(RANDOM), tokens),
            loading(bench, webdis, request("PUT", f"/SET/{key}", body=state), keys)])
    got, webdis_got, patched, webdis_set = sides(runs)
    against(bench, "GET profile through Redis, over GET of webdis: requests/s", got, webdis_got, 2)
    against(bench, "PATCH profile through Redis, over SET of webdis: requests/s", patched, webdis_set, 1.2)


def row_servers(bench):
    """GET and PATCH profile by two servers on one Redis, against one server: processor time of the servers"""
    with Webdis(bench.load_core, bench.folder) as webdis, \
            bench.ours(store=f"redis://127.0.0.1:{webdis.redis_port}") as one, \
            bench.ours(store=f"redis://127.0.0.1:{webdis.redis_port}") as other:
        tokens = bench.tokens(one, 1000, "servers.tokens")
        messages = {"GET": request("GET", PROFILE, RANDOM), "PATCH": patching(RANDOM)}
        runs = bench.take_turns([together(bench, servers, message, tokens)
                                 for message in messages.values() for servers in ([one], [one, other])])
    results = sides(runs)
    for place, name in enumerate(messages):
        alone, both = results[2 * place : 2 * place + 2]
        factor = 2 / both.over(alone, "cpu")
        bench.add(f"{name} profile by two servers over one, as their CPU allows", "", "", factor, "≥ 1.80",
                  factor >= 1.8)
        bench.add("  server CPU per request, µs", f"{both['cpu']:.2f}", f"{alone['cpu']:.2f}", both.over(alone, "cpu"))


def together(bench, servers, message, tokens):
    """The load on all of these at once, all of it of the same sessions, as a function of seconds."""
    loads = [loading(bench, server, message, tokens) for server in servers]

    def run(seconds):
        before = sum(server.cpu() for server in servers)
        with ThreadPoolExecutor() as threads:
            results = list(threads.map(lambda load: load(seconds), loads))
        requests = sum(result["requests"] for result in results)
        # Each takes the other for somebody else.
        return {"cpu": (sum(server.cpu() for server in servers) - before) / requests * 1e6, "requests": requests,
                "foreign": results[0]["foreign"] if len(servers) == 1 else 0}

    return run
