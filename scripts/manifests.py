"""Checks the Kubernetes and Compose files for what a schema does not ask: bounds, rights and rules of the network.

    python scripts/manifests.py docker/kubernetes/*.yaml [--compose FILE]

FILE has the output of `docker compose config --format json`. Prints a line for each thing that is wrong; exit status 1 if
there is any. Needs PyYAML.
"""

import json
import re
import sys

import yaml

BOUNDS = ["cpu", "memory", "ephemeral-storage"]
BY_DIGEST = re.compile(r"[^@]+@sha256:[0-9a-f]{64}")


def pod_of(document):
    """The pod that a document describes, with its labels; None for other kinds."""
    template = document.get("spec", {}).get("template")
    return template and (template["spec"], template["metadata"].get("labels", {}))


def check_container(container, wrong):
    name = container["name"]
    if not BY_DIGEST.fullmatch(container["image"]):
        wrong(f"{name}: the image {container['image']} is not named by its digest")
    for kind in ["requests", "limits"]:
        bounds = container.get("resources", {}).get(kind, {})
        for bound in BOUNDS:
            if bound not in bounds:
                wrong(f"{name}: no {kind} of {bound}")
    context = container.get("securityContext", {})
    if context.get("allowPrivilegeEscalation") is not False:
        wrong(f"{name}: allowPrivilegeEscalation is not false")
    if context.get("readOnlyRootFilesystem") is not True:
        wrong(f"{name}: the root is not read-only")
    if context.get("capabilities", {}).get("drop") != ["ALL"]:
        wrong(f"{name}: not all capabilities are dropped")


def check_pod(kind, pod, wrong):
    if pod.get("automountServiceAccountToken") is not False:
        wrong("automountServiceAccountToken is not false")
    context = pod.get("securityContext", {})
    if context.get("runAsNonRoot") is not True or "fsGroup" not in context:
        wrong("the pod lacks runAsNonRoot or fsGroup")
    if context.get("seccompProfile", {}).get("type") != "RuntimeDefault":
        wrong("the pod has no seccompProfile")
    containers = pod["containers"] + pod.get("initContainers", [])
    for container in containers:
        check_container(container, wrong)
    for volume in pod.get("volumes", []):
        if "emptyDir" in volume and "sizeLimit" not in (volume["emptyDir"] or {}):
            wrong(f"the volume {volume['name']} has no sizeLimit")
    if kind != "Deployment":
        return
    if "topologySpreadConstraints" not in pod:
        wrong("no topologySpreadConstraints")
    claims = {volume["name"]: volume["persistentVolumeClaim"] for volume in pod["volumes"] if "persistentVolumeClaim" in volume}
    for name, claim in claims.items():
        if claim.get("readOnly") is not True:
            wrong(f"the claim {claim['claimName']} is not read-only")
        for container in containers:
            for mount in container.get("volumeMounts", []):
                if mount["name"] == name and mount.get("readOnly") is not True:
                    wrong(f"{container['name']}: the claim {claim['claimName']} is not mounted read-only")
    for container in pod["containers"]:
        for probe in ["startupProbe", "readinessProbe", "livenessProbe"]:
            if probe not in container:
                wrong(f"{container['name']}: no {probe}")


def selects(document, labels):
    spec = document["spec"]
    selector = spec.get("podSelector", spec.get("selector", {})).get("matchLabels", {})
    return bool(selector) and selector.items() <= labels.items()


def check_kubernetes(paths, wrong):
    documents = []
    for path in paths:
        with open(path) as file:
            documents += [(path, document) for document in yaml.safe_load_all(file) if document]
    of_kind = lambda kind: [document for _, document in documents if document["kind"] == kind]
    for path, document in documents:
        pod = pod_of(document)
        if not pod:
            continue
        name = f"{path}: {document['kind']} {document['metadata']['name']}"
        spec, labels = pod
        check_pod(document["kind"], spec, lambda what: wrong(f"{name}: {what}"))
        policies = [policy for policy in of_kind("NetworkPolicy") if selects(policy, labels)]
        types = {kind for policy in policies for kind in policy["spec"].get("policyTypes", [])}
        if types != {"Ingress", "Egress"}:
            wrong(f"{name}: no NetworkPolicy for both directions")
        if document["kind"] == "Deployment" and not any(selects(b, labels) for b in of_kind("PodDisruptionBudget")):
            wrong(f"{name}: no PodDisruptionBudget")


def check_compose(path, wrong):
    with open(path) as file:
        services = json.load(file)["services"]
    for name, service in services.items():
        for key in ["mem_limit", "cpus", "pids_limit"]:
            if not service.get(key):
                wrong(f"{path}: {name}: no {key}")
        if service.get("read_only") is not True or service.get("cap_drop") != ["ALL"]:
            wrong(f"{path}: {name}: read_only or cap_drop is missing")
        if "no-new-privileges:true" not in service.get("security_opt", []):
            wrong(f"{path}: {name}: no no-new-privileges")


def main(arguments):
    compose = None
    if "--compose" in arguments:
        at = arguments.index("--compose")
        compose = arguments[at + 1]
        arguments = arguments[:at] + arguments[at + 2 :]
    found = []
    check_kubernetes(arguments, found.append)
    if compose:
        check_compose(compose, found.append)
    print("\n".join(found) or "manifests: bounds, rights and network rules are there")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
