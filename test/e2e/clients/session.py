"""The story of session.ts, told with python3-kubernetes. Argument: a kubeconfig."""
import json
import sys

from kubernetes import client, config, dynamic, watch

config.load_kube_config(sys.argv[1])
core = client.CoreV1Api()
NAMESPACE = "default"


def say(*words):
    print(*words, flush=True)


body = client.V1ConfigMap(metadata=client.V1ObjectMeta(name="one"), data={"n": "1"})
say("created", core.create_namespaced_config_map(NAMESPACE, body).metadata.name)
say("read", core.read_namespaced_config_map("one", NAMESPACE).data["n"])
resources = dynamic.DynamicClient(client.ApiClient())


def apply(resource, wanted):
    return resource.patch(
        body=json.dumps(wanted),
        name=wanted["metadata"]["name"],
        namespace=NAMESPACE,
        content_type="application/apply-patch+yaml",
        query_params=[("fieldManager", "story"), ("force", "true")],
    )


def apply_all():
    maps = resources.resources.get(api_version="v1", kind="ConfigMap")
    applied = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}, "data": {"n": "4", "how": "applied"}}
    apply(maps, applied)
    deployments = resources.resources.get(api_version="apps/v1", kind="Deployment")
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "nginx:1"}]}}
    web = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {"replicas": 2, "selector": {"matchLabels": labels}, "template": template},
    }
    return apply(deployments, web).spec


stream = watch.Watch()
for event in stream.stream(core.list_namespaced_config_map, NAMESPACE, field_selector="metadata.name=one"):
    now = event["object"]
    say(event["type"], now.data["n"], *([now.data["how"]] if event["type"] == "MODIFIED" else []))
    if event["type"] == "DELETED":
        stream.stop()
    elif now.data["n"] == "1":
        core.patch_namespaced_config_map("one", NAMESPACE, {"data": {"n": "2", "how": "patched"}})
    elif now.data["n"] == "2":
        now.data = {"n": "3", "how": "replaced"}
        core.replace_namespaced_config_map("one", NAMESPACE, now)
        stale = now
    elif now.data["n"] == "3":
        try:
            core.replace_namespaced_config_map("one", NAMESPACE, stale)
        except client.ApiException as error:
            say("conflict", error.status, error.reason)
        spec = apply_all()
    else:
        say("deployment", spec.template.spec.containers[0].image, "x%d" % spec.replicas)
        listed = core.list_namespaced_config_map(NAMESPACE, label_selector="!none")
        say("list", *[item.metadata.name for item in listed.items])
        core.delete_namespaced_config_map("one", NAMESPACE)
try:
    core.read_namespaced_config_map("one", NAMESPACE)
except client.ApiException as error:
    say("missing", error.status, "NotFound" if '"reason":"NotFound"' in error.body else error.body)
