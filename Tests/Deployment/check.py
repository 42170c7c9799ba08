"""Checks the files for Compose and the manifests for Kubernetes, against schemas and against each other.

check.py COMPOSE BACKEND FOLDER SINGLE: COMPOSE and BACKEND are what `docker-compose config` has made of compose.yaml and of
deploy/compose/backend.yaml, the others are the folders of manifests. Prints one JSON object: `problems`, and what a test
compares with the program: the `environments` of servers, the `metrics` and the `paths` that are asked for."""

import json
import pathlib
import re
import sys

import kubernetes_validate
import yaml

# The oldest that knows all that is used, and the newest there is.
VERSIONS = ("1.27", "1.37")
# The part of the stop that the server itself limits, beyond drain_timeout.
OVERDUE = 5
# The program's own drain_timeout.
USUAL_DRAIN = 8
# The most that the server waits for a change, and may take then.
WAIT = 60 + 30

problems = []


def expect(condition, sentence):
    if not condition:
        problems.append(sentence)


def seconds(text):
    number, unit = re.fullmatch(r"(\d+)(ms|s|m|h)", text).groups()
    return int(number) * {"ms": 0.001, "s": 1, "m": 60, "h": 3600}[unit]


def matches(selector, labels):
    return bool(selector) and selector.items() <= labels.items()


def check_drain(name, environment, grace, noticed):
    """`noticed`: seconds after which nobody sends requests any more."""
    delay, timeout = (seconds(environment[f"CONCIERGE_DRAIN_{key}"]) for key in ("DELAY", "TIMEOUT"))
    expect(noticed < delay < timeout, f"{name}: noticed after {noticed} s, drain_delay {delay}, drain_timeout {timeout}")
    expect(grace > timeout + OVERDUE, f"{name}: it is killed after {grace} s, drain_timeout is {timeout}")


def check_compose(path):
    services = yaml.safe_load(path.read_text())["services"]
    cluster = {name: service for name, service in services.items() if "cluster" in service.get("profiles", [])}
    expect(set(cluster) == {"concierge-1", "concierge-2", "balancer", "redis"}, f"profile cluster: {sorted(cluster)}")
    for name, service in cluster.items():
        expect(name == "balancer" or not service.get("ports"), f"{name} is published")
        expect(service.get("read_only") and service.get("cap_drop") == ["ALL"], f"{name} may write, or has capabilities")
        expect("no-new-privileges:true" in service.get("security_opt", []), f"{name} may gain privileges")
    expect("front" not in cluster["redis"]["networks"], "redis is in the network of the balancer")
    haproxy = pathlib.Path("deploy/compose/haproxy.cfg").read_text()
    for side, limit in re.findall(r"timeout (client|server) (\d+)s", haproxy):
        expect(int(limit) > WAIT, f"haproxy.cfg: a {side} that waits is cut after {limit} s")
    inter, fall = re.search(r"inter (\d+)ms fall (\d+)", haproxy).groups()
    noticed = (int(inter) * (int(fall) + 1)) / 1000
    for name in ("concierge-1", "concierge-2"):
        expect(re.search(rf"server {name} .*-{name}:8080", haproxy), f"haproxy.cfg does not know {name}")
        check_drain(name, cluster[name]["environment"], seconds(cluster[name]["stop_grace_period"]), noticed)
    for line in ("appendonly yes", "appendfsync always", "maxmemory-policy noeviction"):
        expect(line in pathlib.Path("deploy/compose/redis.conf").read_text().splitlines(), f"redis.conf lacks {line}")
    return [cluster[name]["environment"] for name in ("concierge-1", "concierge-2")]


def check_backend(path):
    """The server whose admin listener another container reaches, with the key that both read from one secret."""
    read = yaml.safe_load(path.read_text())
    services = {name: service for name, service in read["services"].items() if not service.get("profiles")}
    expect(set(services) == {"concierge", "backend"}, f"backend.yaml: {sorted(services)}")
    server, backend = services["concierge"], services["backend"]
    environment = server["environment"]
    secrets = [{secret["source"] for secret in service["secrets"]} for service in (server, backend)]
    expect(secrets == [{"admin_key"}] * 2 and environment["CONCIERGE_ADMIN_KEY_FILE"] == "/run/secrets/admin_key",
           "the key of the admin listener is not the secret of both")
    inside, = backend["networks"]
    expect(inside in server["networks"] and read["networks"][inside].get("internal") and not backend.get("ports"),
           "the back end is not in the network inside")
    expect([re.sub("/tcp$", "", port) for port in server["ports"]] == ["127.0.0.1:8080:8080"],
           "more than the public listener is published")
    expect("http://concierge:8081/" in " ".join(backend["command"]), "the back end asks another listener")
    return environment


def read_manifests(folder, aside=()):
    """The manifests by kind, those of the files `aside`, and the kustomization."""
    documents = {path.name: list(yaml.safe_load_all(path.read_text())) for path in sorted(folder.glob("*.yaml"))}
    kustomization, = documents.pop("kustomization.yaml")
    listed = kustomization["resources"]
    others = [documents.pop(name)[0] for name in aside]
    expect(sorted(listed) == sorted(documents), f"kustomization.yaml has {listed}, the folder {sorted(documents)}")
    found = {}
    for name, objects in documents.items():
        for item in objects:
            found.setdefault(item["kind"], []).append(item)
            for version in VERSIONS:
                try:
                    kubernetes_validate.validate(item, version, strict=True)
                except kubernetes_validate.ValidationError as error:
                    problems.append(f"{name}, {version}: {error.message}")
    return found, others, kustomization


def check_pods(found, kustomization, selectors, named):
    """What both kinds of installation have. Gives the settings, the pod, its container and the ports."""
    deployment, = found["Deployment"]
    template = deployment["spec"]["template"]
    pod, labels = template["spec"], template["metadata"]["labels"]
    container, = pod["containers"]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    settings, secret = found["ConfigMap"][0], found["Secret"][0]
    environment = settings["data"]

    # What is named is there.
    expect(container["envFrom"] == [{"configMapRef": {"name": settings["metadata"]["name"]}}], "envFrom names another")
    image, = kustomization["images"]
    expect(container["image"] == f"{image['name']}:{image['newTag']}", "kustomization.yaml names another image")
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    expect(volumes["secrets"]["secret"]["secretName"] == secret["metadata"]["name"], "the volume names another secret")
    expect(volumes.keys() == mounts.keys(), "the mounts name other volumes")
    files = {f"{mounts['secrets']}/{key}" for key in secret["stringData"]}
    used = {value for name, value in environment.items() if name.endswith("_FILE")}
    expect(files == used, f"secrets {files}, used {used}")
    selectors = selectors + [deployment["spec"]["selector"]["matchLabels"]]
    selectors += [item["spec"]["selector"] for item in found["Service"]]
    selectors += [item["spec"]["podSelector"]["matchLabels"] for item in found["NetworkPolicy"]]
    for selector in selectors:
        expect(matches(selector, labels), f"{selector} selects no pod")
    probes = [container[f"{kind}Probe"]["httpGet"] for kind in ("startup", "readiness", "liveness")]
    named = named + [probe["port"] for probe in probes]
    named += [port["targetPort"] for item in found["Service"] for port in item["spec"]["ports"]]
    policy, = found["NetworkPolicy"]
    named += [port["port"] for rule in policy["spec"]["ingress"] for port in rule["ports"]]
    for port in named:
        expect(port in ports, f"there is no port {port}")
    for rule in policy["spec"]["ingress"]:
        expect(rule["ports"] == [{"port": "http"}] or rule.get("from"), "the admin listener is open to everybody")

    # It may do nothing that it need not.
    expect(pod["securityContext"]["runAsNonRoot"] and pod["securityContext"]["runAsUser"] == 65532, "it is another user")
    context = container["securityContext"]
    expect(context["readOnlyRootFilesystem"] and not context["allowPrivilegeEscalation"]
           and context["capabilities"] == {"drop": ["ALL"]}, "it has privileges")
    expect(pod["enableServiceLinks"] is False and pod["automountServiceAccountToken"] is False, "the pod is told too much")
    cores = int(container["resources"]["requests"]["cpu"])
    expect(int(environment["CONCIERGE_WORKERS"]) == cores, "workers and cores differ")
    return environment, pod, container, ports, mounts, [probe["path"] for probe in probes]


def check_single(folder):
    found, _, kustomization = read_manifests(folder)
    if problems:
        return {}
    environment, pod, _, _, mounts, _ = check_pods(found, kustomization, [], [])
    deployment = found["Deployment"][0]["spec"]
    expect(deployment["replicas"] == 1 and deployment["strategy"] == {"type": "Recreate"}, "two servers may write")
    claims = {volume["persistentVolumeClaim"]["claimName"] for volume in pod["volumes"] if "persistentVolumeClaim" in volume}
    expect(claims == {claim["metadata"]["name"] for claim in found["PersistentVolumeClaim"]}, f"the pod claims {claims}")
    expect(environment["CONCIERGE_STORE"].startswith(f"sqlite:{mounts['data']}/"), "the store is on no volume")
    expect(environment["CONCIERGE_BACKUP_DIRECTORY"] == mounts["backups"], "the backups are on no volume")
    expect(pod["securityContext"]["fsGroup"] == 65532, "the server may not write to its volumes")
    expect(pod["terminationGracePeriodSeconds"] > USUAL_DRAIN + OVERDUE, "single: it is killed before it has ended")
    return environment


def check_kubernetes(folder):
    found, (adapter, monitor), kustomization = read_manifests(folder, ("prometheus-adapter.yaml", "monitoring.yaml"))
    if problems:
        return {}, {}, [], []
    adapter = adapter["rules"]["custom"]
    deployment, = found["Deployment"]
    selectors = [monitor["spec"]["selector"]["matchLabels"]]
    selectors += [item["spec"]["selector"]["matchLabels"] for item in found["PodDisruptionBudget"]]
    selectors += [item["labelSelector"]["matchLabels"]
                  for item in deployment["spec"]["template"]["spec"]["topologySpreadConstraints"]]
    environment, pod, container, ports, _, paths = check_pods(
        found, kustomization, selectors, [end["port"] for end in monitor["spec"]["podMetricsEndpoints"]])
    scaler, = found["HorizontalPodAutoscaler"]
    target = {key: scaler["spec"]["scaleTargetRef"][key] for key in ("apiVersion", "kind", "name")}
    expect(target == {"apiVersion": deployment["apiVersion"], "kind": "Deployment",
                      "name": deployment["metadata"]["name"]}, "the autoscaler scales something else")
    wanted = {metric["pods"]["metric"]["name"] for metric in scaler["spec"]["metrics"] if metric["type"] == "Pods"}
    expect(wanted == {rule["name"]["as"] for rule in adapter}, "prometheus-adapter.yaml has other metrics")

    readiness = container["readinessProbe"]
    check_drain("pod", environment, pod["terminationGracePeriodSeconds"],
                readiness["periodSeconds"] * readiness["failureThreshold"] + readiness["timeoutSeconds"])
    rollout = deployment["spec"]["strategy"]["rollingUpdate"]
    expect(rollout["maxUnavailable"] == 0 and rollout["maxSurge"] > 0, "an upgrade leaves fewer pods")
    metrics = sorted({name for rule in adapter for name in re.findall(r"^concierge_\w+", rule["seriesQuery"])})
    return environment, ports, metrics, paths


if __name__ == "__main__":
    compose, backend, folder, single = map(pathlib.Path, sys.argv[1:])
    environments = check_compose(compose) + [check_backend(backend)]
    environment, ports, metrics, paths = check_kubernetes(folder)
    print(json.dumps({"problems": problems, "environments": environments + [environment, check_single(single)],
                      "ports": ports, "metrics": metrics, "paths": paths}))
