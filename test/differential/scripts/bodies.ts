/** Objects that several scripts send. */
export const NS = '/api/v1/namespaces/{ns}'
export const CM = `${NS}/configmaps`
export const PODS = `${NS}/pods`
export const APPS = '/apis/apps/v1/namespaces/{ns}'
export const DEPLOYMENTS = `${APPS}/deployments`

export const of = (
  apiVersion: string,
  kind: string,
  name: string,
  rest: object = {},
  metadata: object = {},
): object => ({
  apiVersion,
  kind,
  metadata: { name, ...metadata },
  ...rest,
})
export const configMap = (name: string, data: object = {}, metadata: object = {}): object =>
  of('v1', 'ConfigMap', name, { data }, metadata)

export const TEMPLATE = {
  metadata: { labels: { app: 'x' } },
  spec: { containers: [{ name: 'c', image: 'registry.example/i:1' }] },
}
export const SELECTOR = { matchLabels: { app: 'x' } }
export const deployment = (name: string, spec: object = {}, metadata: object = {}): object =>
  of('apps/v1', 'Deployment', name, { spec: { selector: SELECTOR, template: TEMPLATE, ...spec } }, metadata)

/** Admission plugins of kube-apiserver have nothing left to fill in here. */
export const pod = (name: string, spec: object = {}, metadata: object = {}): object =>
  of(
    'v1',
    'Pod',
    name,
    {
      spec: {
        serviceAccountName: 'default',
        automountServiceAccountToken: false,
        priority: 0,
        preemptionPolicy: 'PreemptLowerPriority',
        tolerations: [
          { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
          { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
        ],
        containers: [{ name: 'c', image: 'registry.example/i:1' }],
        ...spec,
      },
    },
    metadata,
  )
