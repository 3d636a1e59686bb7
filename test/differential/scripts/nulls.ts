/** Nulls in what clients send of built-in kinds: for whole structs, for lists and their items, for maps and their values. */
import { apply, get, json, merge, post, put, type Rest, type Script, strategic } from '../script.ts'
import { APPS, CM, configMap, DEPLOYMENTS, deployment, NS, of, PODS, pod, TEMPLATE } from './bodies.ts'

const SERVICES = `${NS}/services`
const SECRETS = `${NS}/secrets`
const ROLES = '/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/roles'
const role = (name: string, rules: unknown): object => of('rbac.authorization.k8s.io/v1', 'Role', name, { rules })
const secret = (name: string, rest: object): object => of('v1', 'Secret', name, { type: 'Opaque', ...rest })
const service = (name: string, spec: object | null): object => of('v1', 'Service', name, { spec })
const container = (rest: object): object => ({ containers: [{ name: 'c', image: 'registry.example/i:1', ...rest }] })
const NO_LISTS = {
  finalizers: null,
  ownerReferences: null,
  managedFields: null,
  labels: null,
  annotations: null,
  creationTimestamp: null,
  deletionTimestamp: null,
  deletionGracePeriodSeconds: null,
  generateName: null,
  selfLink: null,
  generation: null,
}

/** 1.22: who applies null owns it, also where there is a struct or a list. */
const NULLS_OWNED: Rest = { unlike120: { 'body.metadata.managedFields': 'it gives no claim to a null' } }

export const nulls: Script = {
  name: 'nulls',
  managedFields: true,
  steps: [
    // metadata
    post(CM, configMap('meta', { k: 'v' }, NO_LISTS)),
    put(`${CM}/meta`, configMap('meta', { k: 'v' }, { ...NO_LISTS, labels: { a: 'b' } })),
    put(
      `${CM}/meta`,
      configMap('meta', { k: 'v' }, { ...NO_LISTS, resourceVersion: null, uid: null, namespace: null }),
    ),
    post(CM, configMap('meta-items', {}, { labels: { a: null }, annotations: { b: null } })),
    post(CM, configMap('meta-finalizers', {}, { finalizers: [null] })),
    post(CM, configMap('meta-owners', {}, { ownerReferences: [null] }), { unlike120: { body: 'another wording' } }),
    post(CM, configMap('meta-managers', {}, { managedFields: [null] })),
    post(CM, { ...configMap('no-meta'), metadata: null }),
    // maps
    post(CM, { ...configMap('map'), data: null, binaryData: null, immutable: null }),
    post(CM, configMap('map-items', { a: null, b: '' })),
    post(CM, { ...configMap('map-binary'), binaryData: { a: null } }),
    post(SECRETS, secret('s', { data: { a: null }, stringData: { b: null } })),
    post(SECRETS, secret('s2', { data: null, stringData: null })),
    merge(`${CM}/map-items`, { data: { b: null } }),
    merge(`${CM}/map-items`, { data: null }),
    json(`${CM}/map-items`, [{ op: 'add', path: '/data', value: { x: null } }]),
    json(`${CM}/map-items`, [{ op: 'add', path: '/metadata/finalizers', value: null }]),
    json(`${CM}/map-items`, [{ op: 'replace', path: '/data', value: null }]),
    strategic(`${CM}/map-items`, { data: null, metadata: { labels: null, finalizers: null } }),
    // lists of a spec
    post(DEPLOYMENTS, deployment('no-containers', { template: { ...TEMPLATE, spec: { containers: null } } })),
    post(DEPLOYMENTS, deployment('no-item', { template: { ...TEMPLATE, spec: { containers: [null] } } })),
    post(DEPLOYMENTS, deployment('no-template', { template: null })),
    post(DEPLOYMENTS, deployment('no-selector', { selector: null })),
    post(DEPLOYMENTS, deployment('no-labels', { selector: { matchLabels: null, matchExpressions: null } })),
    post(DEPLOYMENTS, { ...deployment('no-spec'), spec: null }),
    post(
      DEPLOYMENTS,
      deployment('d', {
        replicas: null,
        strategy: null,
        minReadySeconds: null,
        paused: null,
        revisionHistoryLimit: null,
      }),
    ),
    put(`${DEPLOYMENTS}/d`, deployment('d', { replicas: 0, strategy: { type: null, rollingUpdate: null } })),
    put(`${DEPLOYMENTS}/d`, deployment('d', { template: { ...TEMPLATE, spec: { containers: null } } })),
    merge(`${DEPLOYMENTS}/d`, { spec: { template: { spec: { containers: null } } } }),
    merge(`${DEPLOYMENTS}/d`, { spec: { replicas: null, strategy: null } }),
    merge(`${DEPLOYMENTS}/d`, { status: null }),
    json(`${DEPLOYMENTS}/d`, [{ op: 'replace', path: '/spec/template/spec/containers', value: null }]),
    json(`${DEPLOYMENTS}/d`, [{ op: 'replace', path: '/spec/replicas', value: null }]),
    json(`${DEPLOYMENTS}/d`, [{ op: 'add', path: '/spec/template/spec/initContainers', value: [null] }]),
    strategic(`${DEPLOYMENTS}/d`, { spec: { template: { spec: { containers: null } } } }),
    strategic(`${DEPLOYMENTS}/d`, { spec: { template: { spec: { volumes: null, nodeSelector: null } } } }),
    strategic(`${DEPLOYMENTS}/d`, {
      spec: { template: { spec: { containers: [{ name: 'c', env: null, ports: null }] } } },
    }),
    get(`${DEPLOYMENTS}/d`),
    post(
      PODS,
      pod('p', container({ args: null, env: null, ports: null, resources: null, livenessProbe: null, command: [] })),
    ),
    post(PODS, pod('p-args', container({ args: [null, 'x'], command: [null] }))),
    post(PODS, pod('p-env', container({ env: [{ name: 'a', value: null, valueFrom: null }] }))),
    post(PODS, pod('p-env2', container({ env: [null] }))),
    post(PODS, pod('p-port', container({ ports: [{ containerPort: null, protocol: null }] }))),
    post(PODS, pod('p-limits', container({ resources: { limits: { cpu: null }, requests: null } }))),
    post(PODS, pod('p-probe', container({ livenessProbe: { httpGet: { port: null, path: null } } }))),
    post(PODS, pod('p-volumes', { volumes: null, nodeSelector: { a: null }, tolerations: null, hostAliases: [null] }), {
      unlike120: { body: 'another wording' },
    }),
    post(
      PODS,
      { ...pod('p-spec'), spec: null },
      { unlike120: { '': 'its admission wants a token for the account first' } },
    ),
    post(SERVICES, service('svc', { clusterIP: 'None', ports: null, selector: { a: 'b' }, externalIPs: null })),
    post(SERVICES, service('svc-none', { ports: null })),
    post(SERVICES, service('svc-item', { clusterIP: 'None', ports: [null] })),
    post(SERVICES, service('svc-target', { clusterIP: 'None', ports: [{ port: 80, targetPort: null, name: null }] })),
    post(SERVICES, service('svc-spec', null)),
    merge(`${SERVICES}/svc`, { spec: { selector: null } }),
    post(ROLES, role('r', null)),
    post(ROLES, role('r-item', [null])),
    post(ROLES, role('r-verbs', [{ verbs: null, apiGroups: null, resources: null }])),
    post(ROLES, role('r-verb', [{ verbs: [null], apiGroups: [''], resources: ['pods'] }])),
    merge(`${ROLES}/r`, { rules: null }),
    post(
      `${APPS}/statefulsets`,
      of('apps/v1', 'StatefulSet', 'sts', {
        spec: {
          serviceName: null,
          selector: { matchLabels: { app: 'x' } },
          template: TEMPLATE,
          volumeClaimTemplates: null,
        },
      }),
    ),
    // server-side apply
    apply(`${CM}/applied?fieldManager=m`, configMap('applied', { a: null, b: 'c' })),
    apply(`${CM}/applied?fieldManager=m`, { ...configMap('applied'), data: null }, NULLS_OWNED),
    apply(
      `${CM}/applied?fieldManager=m`,
      configMap('applied', { a: 'b' }, { labels: null, finalizers: null, annotations: { x: null } }),
      NULLS_OWNED,
    ),
    apply(
      `${DEPLOYMENTS}/applied?fieldManager=m`,
      deployment('applied', { replicas: null, strategy: null }),
      NULLS_OWNED,
    ),
    apply(
      `${DEPLOYMENTS}/applied?fieldManager=m`,
      deployment('applied', { template: { ...TEMPLATE, spec: { containers: null } } }),
    ),
    apply(
      `${DEPLOYMENTS}/applied?fieldManager=m`,
      deployment('applied', { template: { ...TEMPLATE, spec: { ...TEMPLATE.spec, volumes: null } } }),
      NULLS_OWNED,
    ),
    get(`${DEPLOYMENTS}/applied`, NULLS_OWNED),
  ],
}
