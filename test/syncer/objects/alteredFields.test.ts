// Content that counts as held by a cluster as it was sent: Kubernetes' normal forms of it do, and the cluster's additions.
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { alteredFields } from '../../../src/syncer/objects/alteredFields.ts'

const DEPLOYMENTS = { group: 'apps', resource: 'deployments' }
const object = (fields: object, kind = 'Deployment'): KubeObject => ({
  apiVersion: kind === 'Deployment' ? 'apps/v1' : 'v1',
  kind,
  metadata: { name: 'x' },
  ...fields,
})
const spec = (sent: object, live: object, resource = DEPLOYMENTS) =>
  alteredFields(resource, object({ spec: sent }), object({ spec: live }))?.differences ?? []
const paths = (sent: object, live: object) => spec(sent, live).map(({ path, change }) => `${change} ${path}`)
const pod = (container: object, more: object = {}) => ({
  template: { spec: { containers: [{ name: 'web', ...container }], ...more } },
})

t.test('forms in which a server writes the same', async t => {
  const same: [string, unknown, unknown][] = [
    ['quantities', { cpu: '1000m', memory: '1024Mi' }, { cpu: 1, memory: '1Gi' }],
    ['a port as a number or a text', { targetPort: 80 }, { targetPort: '80' }],
    ['durations', { interval: '90s' }, { interval: '1m30s' }],
    ['times', { at: '2026-01-01T00:00:00Z' }, { at: '2026-01-01T01:00:00+01:00' }],
    ['what is empty', { a: null, b: {}, c: [], d: '', e: { f: {} } }, {}],
    ['what a default fills', { clusterIP: '', selector: {} }, { clusterIP: '10.0.0.1', selector: { a: 'b' } }],
    ['what the cluster adds', { a: 1 }, { a: 1, b: 2 }],
    ['elements that it adds', { l: [{ a: 1 }, { a: 2 }] }, { l: [{ z: 1 }, { a: 2, more: 1 }, { a: 1 }] }],
    ['texts that it adds, in between', { args: ['a', 'b'] }, { args: ['x', 'a', 'y', 'b'] }],
    [
      'a key that is left to its default',
      { ports: [{ containerPort: 80 }, { containerPort: 80, protocol: 'UDP' }] },
      {
        ports: [
          { containerPort: 80, protocol: 'UDP' },
          { containerPort: 80, protocol: 'TCP' },
        ],
      },
    ],
    ['the order of what has names', { l: [{ name: 'a' }, { name: 'b' }] }, { l: [{ name: 'b' }, { name: 'a' }] }],
  ]
  for (const [what, sent, live] of same) t.same(spec({ s: sent }, { s: live }), [], what)
})

t.test('what is dropped or changed, with both values and whether it decides', async t => {
  t.same(spec({ brand: 'acme', currency: 'CHF' }, { brand: 'acme' }), [
    { path: 'spec.currency', change: 'Dropped', wanted: '"CHF"', decisive: false },
  ])
  t.same(spec({ suspend: true }, {}), [{ path: 'spec.suspend', change: 'Dropped', wanted: 'true', decisive: true }])
  t.same(spec(pod({ image: 'a' }), pod({ image: 'b' })), [
    {
      path: 'spec.template.spec.containers[name=web].image',
      change: 'Changed',
      wanted: '"a"',
      live: '"b"',
      decisive: true,
    },
  ])
  t.same(paths(pod({}, { hostUsers: false }), pod({})), ['Dropped spec.template.spec.hostUsers'], 'false is a word')
  t.same(
    paths(
      { ingress: [{ ports: [{ port: 1, endPort: 9 }] }] },
      { ingress: [{ ports: [{ port: 1, protocol: 'TCP' }] }] },
    ),
    ['Dropped spec.ingress[0].ports[port=1].endPort'],
  )
  t.same(paths({ args: ['a', 'b'] }, { args: ['b', 'a'] }), ['Changed spec.args[0]', 'Changed spec.args[1]'])
  t.same(paths({ args: ['a', 'b', 'c'] }, { args: ['a', 'c'] }), ['Dropped spec.args[1]'])
  t.same(paths({ args: ['1'] }, { args: ['1000m'] }), ['Changed spec.args[0]'], 'a text is no quantity there')
  t.same(paths(pod({ image: 'a' }), { template: { spec: { containers: [{ name: 'other' }] } } }), [
    'Dropped spec.template.spec.containers[name=web]',
  ])
  const deep = 'x'.repeat(150)
  const [long] = spec({ [deep]: { [deep]: { end: 1 } } }, { [deep]: { [deep]: {} } })
  t.match([long?.path.length, long?.path], [200, /^spec\.x+….*x\.end$/], 'of a long path both ends are told')
  t.match(spec({ wrapped: { deep: [{ image: 'a' }] } }, {}), [{ decisive: true }], 'something that decides is in it')
  t.match(spec({ labels: { image: 'a' } }, {}), [{ decisive: false }], 'a name that is anybody’s means nothing')
})

t.test('what decides is told first, and the rest is counted', async t => {
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`f${i}`, i]))
  const found = alteredFields(DEPLOYMENTS, object({ spec: { ...many, paused: true } }), object({ spec: {} }))
  t.equal(found?.count, 31)
  const one = alteredFields(DEPLOYMENTS, object({ spec: { ...many, paused: true } }), object({ spec: { f0: 0 } }))
  t.match([one?.differences[0]?.path, one?.differences.length, one?.count], ['spec.paused', 8, 30])
})

t.test('values of Secrets and of what looks like one are not told', async t => {
  const maps = { group: '', resource: 'secrets' }
  const secret = alteredFields(
    maps,
    object({ stringData: { a: 'hush' } }, 'Secret'),
    object({ data: { a: 'b3RoZXI=' } }, 'Secret'),
  )
  t.same(secret?.differences, [{ path: 'data.a', change: 'Changed', decisive: true }])
  t.equal(
    alteredFields(maps, object({ stringData: { a: 'x' } }, 'Secret'), object({ data: { a: 'eA==\n' } }, 'Secret')),
    undefined,
  )
  const told = JSON.stringify([
    spec({ dbPassword: 'hush' }, { dbPassword: 'other' }),
    spec(pod({ env: [{ name: 'A', value: 'hush' }] }), pod({ env: [{ name: 'A', value: 'other' }] })),
    spec({ args: ['--token=hush'] }, { args: ['--token=other'] }),
  ])
  t.notMatch(told, /hush|other/)
  t.match(told, /env\[name=A\]\.value/)
})

t.test('a long list in another order costs a bounded number of looks', async t => {
  const list = Array.from({ length: 3000 }, (_, i) => ({ a: { b: [{ c: i }, { d: i }] } }))
  t.ok(spec({ list }, { list: list.toReversed() }).length <= 8)
})

t.test('lists of very many elements are gone through once, and odd members throw nothing', async t => {
  const rules = Array.from({ length: 50_000 }, () => ({ from: [{ podSelector: {} }] }))
  t.same(spec({ ingress: rules }, { ingress: structuredClone(rules) }), [])
  t.same(spec({ ingress: [...rules, { from: [] }] }, { ingress: rules.slice(1) }).length, 1)
  const odd = { toString: 1, valueOf: 2 }
  t.same(spec({ args: [odd], image: odd }, { args: [odd], image: 'x' }).length, 1)
  t.same(spec({ l: [{ port: 1, protocol: odd }] }, { l: [{ port: 1, protocol: odd }] }), [])
})
