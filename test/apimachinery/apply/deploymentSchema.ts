/** A Deployment and as much of its schema as decides ownership. */
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import type { Schema } from '../../../src/apimachinery/schema.ts'

const string: Schema = { type: 'string' }
const integer: Schema = { type: 'integer' }
const boolean: Schema = { type: 'boolean' }
const strings: Schema = { type: 'object', additionalProperties: string }
const object = (properties: Record<string, Schema>, rest: Schema = {}): Schema => ({
  type: 'object',
  properties,
  ...rest,
})
const keyed = (keys: string[], items: Schema): Schema => ({
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': keys,
  'x-kubernetes-patch-strategy': 'merge',
  'x-kubernetes-patch-merge-key': keys[0]!,
  items,
})

const container = object({
  name: string,
  image: string,
  imagePullPolicy: string,
  args: { type: 'array', items: string },
  env: keyed(['name'], object({ name: string, value: string })),
  ports: keyed(
    ['containerPort', 'protocol'],
    object({ containerPort: integer, name: string, protocol: { type: 'string', default: 'TCP' } }),
  ),
  resources: object({ limits: strings, requests: strings }),
  terminationMessagePath: string,
  terminationMessagePolicy: string,
})

export const deploymentSchema: Schema = object({
  apiVersion: string,
  kind: string,
  metadata: { type: 'object' },
  spec: object({
    replicas: integer,
    paused: boolean,
    minReadySeconds: integer,
    progressDeadlineSeconds: integer,
    revisionHistoryLimit: integer,
    selector: object({ matchLabels: strings }, { 'x-kubernetes-map-type': 'atomic' }),
    strategy: object(
      {
        type: string,
        rollingUpdate: object({
          maxSurge: { 'x-kubernetes-int-or-string': true },
          maxUnavailable: { 'x-kubernetes-int-or-string': true },
        }),
      },
      { 'x-kubernetes-patch-strategy': 'retainKeys' },
    ),
    template: object({
      metadata: object({ labels: strings, annotations: strings }),
      spec: object({
        containers: keyed(['name'], container),
        nodeSelector: strings,
        dnsPolicy: string,
        restartPolicy: string,
        schedulerName: string,
        securityContext: object({}),
        terminationGracePeriodSeconds: integer,
        tolerations: { type: 'array', items: object({ key: string, operator: string }) },
      }),
    }),
  }),
  status: object({
    observedGeneration: integer,
    replicas: integer,
    conditions: keyed(['type'], object({ type: string, status: string, message: string })),
  }),
})

/** A minimal Deployment of `kubectl create`, with defaults filled in. */
export function deployment(spec: Record<string, unknown> = {}): KubeObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: 'web',
      namespace: 'default',
      uid: '8b7aea7e',
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: { app: 'web' },
      annotations: { 'kcp.io/cluster': 'root' },
    },
    spec: {
      replicas: 2,
      progressDeadlineSeconds: 600,
      revisionHistoryLimit: 10,
      selector: { matchLabels: { app: 'web' } },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: {
          containers: [
            {
              name: 'web',
              image: 'nginx:1',
              imagePullPolicy: 'IfNotPresent',
              env: [{ name: 'A', value: 'b' }],
              ports: [{ containerPort: 80, protocol: 'TCP' }],
              resources: {},
              terminationMessagePath: '/dev/termination-log',
              terminationMessagePolicy: 'File',
            },
          ],
          dnsPolicy: 'ClusterFirst',
          restartPolicy: 'Always',
          schedulerName: 'default-scheduler',
          securityContext: {},
          terminationGracePeriodSeconds: 30,
        },
      },
      ...spec,
    },
  }
}

/** The structs that a Deployment always has. */
export const zeroDeployment = {
  spec: { selector: null, strategy: {}, template: { metadata: {}, spec: { containers: null } } },
  status: {},
}
