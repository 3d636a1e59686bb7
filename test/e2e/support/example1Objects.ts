/** The manifests of KubeStellar's extended example. */
import type { KubeObject } from '../../../src/apimachinery/object.ts'

const EDGE = 'edge.kubestellar.io/v2alpha1'
const EXPAND = { 'edge.kubestellar.io/expand-parameters': 'true' }

const podSpec = (env: string) => ({
  containers: [
    {
      name: 'httpd',
      image: 'library/httpd:2.4',
      env: [{ name: 'EXAMPLE_VAR', value: env }],
      volumeMounts: [{ name: 'htdocs', readOnly: true, mountPath: '/usr/local/apache2/htdocs/' }],
    },
  ],
  volumes: [{ name: 'htdocs', configMap: { name: 'httpd-htdocs', optional: false } }],
})
const workload = (kind: string, namespace: string, name: string, app: string): KubeObject => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { namespace, name, annotations: { 'edge.kubestellar.io/customizer': 'example-customizer' } },
  spec: {
    selector: { matchLabels: { app } },
    template: { metadata: { labels: { app } }, spec: podSpec('example value') },
  },
})
const page = (namespace: string, text: string, annotations: Record<string, string> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace, name: 'httpd-htdocs', annotations },
  data: { 'index.html': `<!DOCTYPE html>\n<html><body>${text}</body></html>\n` },
})
const customizer = (namespace: string, value: string): KubeObject => ({
  apiVersion: EDGE,
  kind: 'Customizer',
  metadata: { namespace, name: 'example-customizer', annotations: EXPAND },
  replacements: [{ path: '$.spec.template.spec.containers.0.env.0.value', value }],
})
const GROUP_1 = {
  apiGroup: 'group1.test',
  resources: ['sprockets', 'flanges'],
  namespaces: ['orbital'],
  names: ['george', 'cosmo'],
}
const placement = (name: string, labels: Record<string, string>, downsync: object[], upsync: object[]): KubeObject => ({
  apiVersion: EDGE,
  kind: 'EdgePlacement',
  metadata: { name },
  spec: { locationSelectors: [{ matchLabels: labels }], downsync, wantSingletonReportedState: true, upsync },
})

export const COMMON: KubeObject[] = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'commonstuff' } },
  page('commonstuff', 'This web site is hosted in %(loc-name).', EXPAND),
  customizer('commonstuff', '"env is %(env)"'),
  workload('ReplicaSet', 'commonstuff', 'commond', 'common'),
]
export const PLACE_COMMON = placement(
  'edge-placement-c',
  { env: 'prod' },
  [
    { apiGroup: '', resources: ['configmaps'], namespaces: ['commonstuff'], objectNames: ['httpd-htdocs'] },
    { apiGroup: 'apps', resources: ['replicasets'], namespaces: ['commonstuff'] },
  ],
  [GROUP_1, { apiGroup: 'group2.test', resources: ['cogs'], names: ['william'] }],
)
export const CRD: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'crontabs.stable.example.com' },
  spec: {
    group: 'stable.example.com',
    scope: 'Namespaced',
    names: { plural: 'crontabs', singular: 'crontab', kind: 'CronTab', shortNames: ['ct'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  cronSpec: { type: 'string' },
                  image: { type: 'string' },
                  replicas: { type: 'integer' },
                },
              },
            },
          },
        },
      },
    ],
  },
}
export const SPECIAL: KubeObject[] = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'specialstuff', labels: { special: 'yes' } } },
  {
    apiVersion: 'stable.example.com/v1',
    kind: 'CronTab',
    metadata: { namespace: 'specialstuff', name: 'my-new-cron-object' },
    spec: { cronSpec: '* * * * */5', image: 'my-awesome-cron-image' },
  },
  page('specialstuff', 'This is a special web site. Customized for %(loc-name).', EXPAND),
  customizer('specialstuff', '"in %(env) env"'),
  workload('Deployment', 'specialstuff', 'speciald', 'special'),
  {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: 'v1090.example.my' },
    spec: {
      group: 'example.my',
      version: 'v1090',
      groupPriorityMinimum: 360,
      versionPriority: 42,
      service: { name: 'my-service', namespace: 'my-example' },
    },
  },
]
export const PLACE_SPECIAL = placement(
  'edge-placement-s',
  { env: 'prod', extended: 'yes' },
  [
    { apiGroup: '', resources: ['configmaps'], namespaceSelectors: [{ matchLabels: { special: 'yes' } }] },
    {
      apiGroup: 'apps',
      resources: ['deployments'],
      namespaceSelectors: [{ matchLabels: { special: 'yes' } }],
      objectNames: ['speciald'],
    },
    { apiGroup: 'apiregistration.k8s.io', resources: ['apiservices'], objectNames: ['v1090.example.my'] },
    {
      apiGroup: 'stable.example.com',
      resources: ['crontabs'],
      namespaces: ['specialstuff'],
      objectNames: ['my-new-cron-object'],
    },
    { apiGroup: '', resources: ['namespaces'], objectNames: ['specialstuff'] },
  ],
  [GROUP_1, { apiGroup: 'group3.test', resources: ['widgets'], names: ['*'] }],
)
