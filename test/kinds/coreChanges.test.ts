import t from 'tap'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { created, messages, podSpec, strategyOf } from './samples.ts'

type Fields = Record<string, unknown>
/** Faults when `spec` replaces `before`, as the registry checks them. */
function changeErrors(kind: string, before: Fields, spec: Fields, status?: Fields): string[] {
  const old = created(kind, { spec: before })
  if (status) old.status = status
  const object: KubeObject = { ...created(kind, { spec }), metadata: old.metadata }
  const strategy = strategyOf(kind)
  strategy.prepareForUpdate?.(object, old)
  return messages([...(strategy.validate?.(object, old) ?? []), ...(strategy.validateUpdate?.(object, old) ?? [])])
}

const claim = (storage: string, more: Fields = {}): Fields => ({
  accessModes: ['ReadWriteOnce'],
  resources: { requests: { storage } },
  ...more,
})
const claims = 'v1 persistentvolumeclaims'
const bound = { phase: 'Bound', capacity: { storage: '1Gi' } }
const RULE =
  'spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims'

t.test('claims', async t => {
  t.same(changeErrors(claims, claim('1Gi'), claim('2Gi'), bound), [])
  t.same(changeErrors(claims, claim('1Gi'), claim('2Gi')), [RULE])
  t.same(changeErrors(claims, claim('3Gi'), claim('2Gi'), bound), [])
  t.same(changeErrors(claims, claim('2Gi'), claim('1Gi'), bound), [
    'spec.resources.requests.storage: Forbidden: field can not be less than status.capacity',
  ])
  t.same(changeErrors(claims, claim('1Gi'), claim('1Gi', { storageClassName: 'a' })), [])
  t.same(changeErrors(claims, claim('1Gi', { storageClassName: 'a' }), claim('1Gi', { storageClassName: 'b' })), [RULE])
  const attributes = (name?: string) => claim('1Gi', name === undefined ? {} : { volumeAttributesClassName: name })
  t.same(changeErrors(claims, attributes('a'), attributes('b'), bound), [])
  t.same(changeErrors(claims, attributes('a'), attributes(), bound), [
    RULE,
    'spec.volumeAttributesClassName: Forbidden: update from non-nil value to nil is forbidden',
  ])
})

const volume = (more: Fields): Fields => ({ capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], ...more })
const on = (key: string): Fields => ({
  required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'Exists' }] }] },
})

t.test('volumes: elder labels of nodes may be called by their newer names', async t => {
  const kind = 'v1 persistentvolumes'
  const local = (key: string) => volume({ local: { path: '/a' }, nodeAffinity: on(key) })
  t.same(changeErrors(kind, local('beta.kubernetes.io/os'), local('kubernetes.io/os')), [])
  t.match(changeErrors(kind, local('beta.kubernetes.io/os'), local('other')), [
    /^nodeAffinity: Invalid value: .*: field is immutable, except for updating from beta label to GA$/,
  ])
  const csi = (more: Fields) => volume({ csi: { driver: 'd', volumeHandle: 'h', ...more } })
  t.same(changeErrors(kind, csi({}), csi({ controllerExpandSecretRef: { name: 'a', namespace: 'b' } })), [])
})

t.test('services: what a former type needed goes with it', async t => {
  const kind = 'v1 services'
  const ports = [{ port: 80 }]
  const balanced = {
    ports: [{ port: 80, nodePort: 30080 }],
    type: 'LoadBalancer',
    loadBalancerClass: 'a/b',
    externalTrafficPolicy: 'Local',
    healthCheckNodePort: 31000,
  }
  t.same(changeErrors(kind, balanced, { ...balanced, type: 'ClusterIP' }), [])
  t.same(changeErrors(kind, balanced, { ...balanced, loadBalancerClass: 'a/c' }), [
    'spec.loadBalancerClass: Invalid value: "a/c": may not change once set',
  ])
  t.same(changeErrors(kind, balanced, { ...balanced, healthCheckNodePort: 31001 }), [
    'spec.healthCheckNodePort: Forbidden: field is immutable',
  ])
  const old = { ports, clusterIP: '10.0.0.1' }
  t.same(changeErrors(kind, old, { ports, type: 'ExternalName', externalName: 'a.b', clusterIP: '10.0.0.1' }), [])
  t.same(changeErrors(kind, old, { ports, clusterIP: '10.0.0.2' }), [
    'spec.clusterIPs[0]: Invalid value: ["10.0.0.2"]: may not change once set',
  ])
  const two = { ports, clusterIPs: ['10.0.0.1', 'fd00::1'], clusterIP: '10.0.0.1', ipFamilies: ['IPv4', 'IPv6'] }
  const one = { ports, clusterIPs: ['10.0.0.1'], clusterIP: '10.0.0.1', ipFamilies: ['IPv4'] }
  t.same(
    changeErrors(kind, { ...two, ipFamilyPolicy: 'RequireDualStack' }, { ...one, ipFamilyPolicy: 'PreferDualStack' }),
    [
      'spec.ipFamilyPolicy: Invalid value: "PreferDualStack": must be set to \'SingleStack\' when releasing the secondary clusterIP',
      'spec.ipFamilyPolicy: Invalid value: "PreferDualStack": must be set to \'SingleStack\' when releasing the secondary ipFamily',
    ],
  )
})

t.test('what pods are held to, and templates are not', async t => {
  const spec = podSpec({ containers: [{ name: 'c', image: ' i' }], volumes: [{ name: 'v', image: { reference: '' } }] })
  t.same(messages(strategyOf('v1 podtemplates').validate?.(created('v1 podtemplates', { template: { spec } }))), [])
  t.same(messages(strategyOf('v1 pods').validate?.(created('v1 pods', { spec }))), [
    'spec.volumes[0].image.reference: Required value',
    'spec.containers[0].image: Invalid value: " i": must not have leading or trailing whitespace',
  ])
})

t.test('every signal that Linux knows can stop a container, once the system is said', async t => {
  const errors = (os: object, stopSignal: string) =>
    messages(
      strategyOf('v1 pods').validate?.(
        created('v1 pods', {
          spec: podSpec({ ...os, containers: [{ name: 'c', image: 'i', lifecycle: { stopSignal } }] }),
        }),
      ),
    )
  t.same(errors({ os: { name: 'linux' } }, 'SIGRTMIN+15'), [])
  t.match(errors({ os: { name: 'windows' } }, 'SIGHUP'), [
    /stopSignal: Unsupported value: "SIGHUP": supported values: "SIGKILL", "SIGTERM"$/,
  ])
  t.match(errors({}, 'SIGTERM'), [/stopSignal: Forbidden: may not be set/])
})

t.test('a pod that has limits as a whole asks for what its containers do, else for all of it', async t => {
  const containers = ['a', 'b'].map(name => ({ name, image: 'i', resources: { requests: { cpu: '250m' } } }))
  const spec = podSpec({ containers, resources: { limits: { cpu: '1', memory: '1Gi' } } })
  const pod = created('v1 pods', { spec })
  t.match(pod.spec, { resources: { requests: { cpu: '500m', memory: '1Gi' } } })
  t.match(pod.status, { qosClass: 'Burstable' })
})
