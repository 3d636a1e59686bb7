/** Order in which objects come into a cluster: against real API servers in this process, with the reports meanwhile. */
import t from 'tap'
import type { GroupVersionResource, KubeObject } from '../../../src/apimachinery/object.ts'
import { systemClock } from '../../../src/client/clock.ts'
import { waveFault, waveOf } from '../../../src/placement/content/wave.ts'
import {
  CARRIES_ANNOTATION,
  CARRIES_PROJECTED,
  OWNER_ANNOTATION,
  WAVE,
} from '../../../src/placement/words/placement.ts'
import { ArrivalOrder, WAVE_PATIENCE_MS } from '../../../src/syncer/down/arrivalOrder.ts'
import { keyOf, type Mirrored } from '../../../src/syncer/mailbox/mirror.ts'
import { FakeClock } from '../../client/support/fakeClock.ts'
import { startCenter } from '../../support/center.ts'
import { ACCOUNTS, CONFIGS, CRDS, configMap, DEPLOYMENTS, MAPS, NAMESPACES, namespace } from '../support/kinds.ts'
import { type Pair, PROJECTED, pairIn } from '../support/pair.ts'
import { recordingLogger } from '../support/recordingLogger.ts'

const WEBHOOKS: GroupVersionResource = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  resource: 'validatingwebhookconfigurations',
}
const GEARS: GroupVersionResource = { group: 'group1.test', version: 'v1', resource: 'gears' }
const CLAIMS: GroupVersionResource = { group: '', version: 'v1', resource: 'persistentvolumeclaims' }
/** A real clock cannot wait as long as the tests' heartbeats take. */
const REAL = { quietMs: 60_000 }
const inApp = { namespace: 'app', labels: PROJECTED }
const definition: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gears.group1.test', labels: PROJECTED },
  spec: {
    group: 'group1.test',
    names: { plural: 'gears', singular: 'gear', kind: 'Gear', listKind: 'GearList' },
    scope: 'Namespaced',
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
}
const gear: KubeObject = { apiVersion: 'group1.test/v1', kind: 'Gear', metadata: { name: 'gear', ...inApp } }
const account: KubeObject = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'runner', ...inApp } }
const webhooks: KubeObject = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  metadata: { name: 'a-judge', labels: PROJECTED },
  webhooks: [],
}
const map = (name: string, wave?: string): KubeObject =>
  configMap(name, {}, { labels: PROJECTED, ...(wave !== undefined && { annotations: { [WAVE]: wave } }) })
const deployment = (name: string, wave?: string): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, ...inApp, ...(wave !== undefined && { annotations: { [WAVE]: wave } }) },
  spec: {
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
})

const center = await startCenter(t, { expectsTrouble: true })
/** Pair whose syncer carries all of the mailbox. */
async function pair(test: Parameters<typeof pairIn>[1]): Promise<Pair> {
  const p = await pairIn(center, test, {})
  const annotations = { [CARRIES_ANNOTATION]: CARRIES_PROJECTED }
  await p.mailbox.patch(CONFIGS, { name: 'the-one' }, 'merge', { metadata: { annotations } })
  return p
}
/** How these came into the cluster. */
function order(p: Pair, ...keys: string[]): string[] {
  const made = (key: string): number => Number(firstSeen.get(`${p.clusterId} ${key}`))
  return keys.sort((a, b) => made(a) - made(b))
}
const firstSeen = new Map<string, number>()
center.world.onChange(({ space, key, object }) => {
  if (object && !firstSeen.has(`${space} ${key}`)) firstSeen.set(`${space} ${key}`, firstSeen.size)
})
async function becomesReady(p: Pair, name: string): Promise<void> {
  const { metadata } = await p.cluster.get(DEPLOYMENTS, { namespace: 'app', name })
  const status = {
    observedGeneration: metadata.generation,
    replicas: 1,
    updatedReplicas: 1,
    readyReplicas: 1,
    availableReplicas: 1,
  }
  const options = { subresource: 'status' }
  await p.cluster.patch(DEPLOYMENTS, { namespace: 'app', name }, 'merge', { status }, options)
}
const is =
  (value: string) =>
  ({ metadata }: KubeObject): boolean =>
    metadata.annotations?.[WAVE] === value

t.test('what others need comes first, webhooks last, whatever their names and groups', async t => {
  const p = await pair(t)
  await p.mailbox.create(CRDS, definition)
  await center.world.present(p.mailboxId, `${CRDS.resource}.${CRDS.group} gears.group1.test`, ({ status }) =>
    JSON.stringify(status ?? {}).includes('"Established"'),
  )
  await p.mailbox.create(GEARS, gear)
  await p.mailbox.create(WEBHOOKS, webhooks)
  await p.mailbox.create(DEPLOYMENTS, deployment('web'))
  await p.mailbox.create(MAPS, map('a'))
  await p.mailbox.create(ACCOUNTS, account)
  p.start()
  const keys = [
    'gears.group1.test app/gear',
    'validatingwebhookconfigurations.admissionregistration.k8s.io a-judge',
    'deployments.apps app/web',
    'configmaps app/a',
    'serviceaccounts app/runner',
    'namespaces app',
    'customresourcedefinitions.apiextensions.k8s.io gears.group1.test',
  ]
  await Promise.all(keys.map(key => center.world.present(p.clusterId, key)))
  const came = order(p, ...keys)
  const gearAt = came.indexOf('gears.group1.test app/gear')
  t.same(
    came.filter(key => !key.startsWith('gears')),
    [
      'customresourcedefinitions.apiextensions.k8s.io gears.group1.test',
      'namespaces app',
      'serviceaccounts app/runner',
      'configmaps app/a',
      'deployments.apps app/web',
      'validatingwebhookconfigurations.admissionregistration.k8s.io a-judge',
    ],
  )
  t.ok(gearAt > came.indexOf('deployments.apps app/web'), 'a custom object comes when its kind is served')
})

t.test('a later wave comes when the earlier ones do what they are there for', async t => {
  const p = await pair(t)
  const ready = (name: string): Promise<void> => becomesReady(p, name)
  await p.mailbox.create(MAPS, map('last', '2'))
  await p.mailbox.create(DEPLOYMENTS, deployment('db', '-1'))
  await p.mailbox.create(DEPLOYMENTS, deployment('web'))
  const syncer = p.start(undefined, systemClock, REAL)
  await center.world.present(p.clusterId, 'deployments.apps app/db')
  await p.settled()
  t.equal(center.world.get(p.clusterId, 'deployments.apps app/web'), undefined, 'nobody has said that db runs')
  await ready('db')
  await center.world.present(p.clusterId, 'deployments.apps app/web')
  await p.settled()
  t.equal(center.world.get(p.clusterId, 'configmaps app/last'), undefined)
  await ready('web')
  await center.world.present(p.clusterId, 'configmaps app/last', is('2'))
  await syncer.stop()

  await p.cluster.delete(DEPLOYMENTS, { namespace: 'app', name: 'db' })
  await p.cluster.patch(MAPS, { namespace: 'app', name: 'last' }, 'merge', {
    metadata: { annotations: { [WAVE]: '3' } },
  })
  p.start(undefined, systemClock, REAL)
  await center.world.present(p.clusterId, 'deployments.apps app/db')
  await center.world.present(p.clusterId, 'configmaps app/last', is('2'))
  t.pass('what is there already is kept as it is, although db does not run yet')
})

t.test('two thousand come wave by wave, and what does not run holds up the later ones alone', async t => {
  const p = await pair(t)
  const waves = [-2, 0, 1, 5]
  // not in the order of their waves
  const all = Array.from({ length: 2000 }, (_, i) => ({ name: `m${i}`, wave: waves[(i * 7) % waves.length]! }))
  const keysOf = (...wanted: number[]): string[] =>
    all.filter(({ wave }) => wanted.includes(wave)).map(({ name }) => `configmaps app/${name}`)
  const there = (keys: readonly string[]): number =>
    keys.filter(key => center.world.get(p.clusterId, key) !== undefined).length
  await p.mailbox.create(DEPLOYMENTS, deployment('gate'))
  for (let at = 0; at < all.length; at += 100)
    await Promise.all(all.slice(at, at + 100).map(({ name, wave }) => p.mailbox.create(MAPS, map(name, `${wave}`))))
  p.start(undefined, systemClock, REAL)
  await Promise.all([...keysOf(-2, 0), 'deployments.apps app/gate'].map(key => center.world.present(p.clusterId, key)))
  await p.settled()
  t.equal(there(keysOf(1, 5)), 0, 'nobody has said that the gate runs')
  await becomesReady(p, 'gate')
  await Promise.all(keysOf(1, 5).map(key => center.world.present(p.clusterId, key)))
  const waveOfKey = new Map(all.map(({ name, wave }) => [`configmaps app/${name}`, wave]))
  const came = order(p, ...keysOf(...waves)).map(key => waveOfKey.get(key)!)
  t.strictSame(
    came,
    came.toSorted((a, b) => a - b),
  )
})

t.test(
  'what is in the cluster already is waited for when the first of a later wave comes, until it is well or gone',
  async t => {
    const p = await pair(t)
    p.start(undefined, systemClock, REAL)
    const disk = { namespace: 'app', name: 'disk' }
    await p.mailbox.create(MAPS, map('page'))
    await p.mailbox.create(CLAIMS, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { ...disk, labels: PROJECTED },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    })
    await center.world.present(p.clusterId, 'persistentvolumeclaims app/disk')
    await p.cluster.patch(CLAIMS, disk, 'merge', { status: { phase: 'Lost' } }, { subresource: 'status' })
    await p.settled()
    await p.mailbox.create(MAPS, map('later', '1'))
    await p.settled()
    t.equal(center.world.get(p.clusterId, 'configmaps app/later'), undefined)
    await p.mailbox.delete(CLAIMS, disk)
    await center.world.present(p.clusterId, 'configmaps app/later')
  },
)

t.test('what nobody serves holds up nobody, and a wave that is none is told by name', async t => {
  const p = await pair(t)
  const { logger, lines } = recordingLogger()
  await p.mailbox.create(NAMESPACES, namespace('other', PROJECTED))
  await p.mailbox.create(CRDS, { ...definition, metadata: { name: 'gears.group1.test' } })
  await center.world.present(p.mailboxId, `${CRDS.resource}.${CRDS.group} gears.group1.test`, ({ status }) =>
    JSON.stringify(status ?? {}).includes('"Established"'),
  )
  await p.mailbox.create(GEARS, gear)
  await p.mailbox.create(MAPS, map('later', '1'))
  await p.mailbox.create(MAPS, map('typo', 'first'))
  p.start(logger, systemClock, REAL)
  await center.world.present(p.mailboxId, 'syncerconfigs.edge.kubestellar.io the-one', ({ status }) =>
    JSON.stringify(status ?? {}).includes('InvalidWave'),
  )
  t.match(
    lines.map(({ message }) => message).find(message => message.startsWith('refused:')),
    'refused: configmaps app/typo is not applied: annotation edge.kubestellar.io/wave: "first" is no wave; ' +
      'write a whole number from -1000 to 1000, or take it away',
  )
  t.equal(center.world.get(p.clusterId, 'configmaps app/later'), undefined, 'it waits for the one that may be earlier')
  await p.mailbox.patch(MAPS, { namespace: 'app', name: 'typo' }, 'merge', {
    metadata: { annotations: { [WAVE]: '1' } },
  })
  await center.world.present(p.clusterId, 'configmaps app/typo')
  await center.world.present(p.clusterId, 'configmaps app/later')
})

t.test('waves are whole numbers', async t => {
  const of = (value?: string) => waveOf(map('a', value))
  for (const [value, wave] of [
    [undefined, 0],
    ['', 0],
    ['7', 7],
    ['-3', -3],
    ['+3', 3],
    ['1000', 1000],
  ] as const)
    t.equal(of(value), wave, `${value}`)
  for (const value of ['1.5', '1e3', ' 1', '1001', '-1001', 'one', '0x1', '１', '9'.repeat(400)])
    t.equal(of(value), undefined, value)
  t.ok(waveFault(map('a', '"'.repeat(1e5))).length < 300)
})

t.test('an order tells what it waits for, not for ever, and forgets what is over', async t => {
  const clock = new FakeClock()
  const { logger, lines } = recordingLogger()
  const again: string[] = []
  const mailbox = new Map<string, Mirrored>()
  const order = new ArrivalOrder({
    mirror: mailbox,
    isReading: () => false,
    again: ({ name }) => again.push(name),
    logger,
    clock,
  })
  const put = (name: string, wave?: string, owner = 'one'): Mirrored => {
    const object = map(name, wave)
    object.metadata.annotations = { ...object.metadata.annotations, [OWNER_ANNOTATION]: owner }
    const previous = mailbox.get(name)?.object
    const mirrored = { resource: MAPS, object }
    mailbox.set(name, mirrored)
    order.changed(keyOf(MAPS, object), object, previous)
    return mirrored
  }
  const hold = ({ object }: Mirrored, isNews = true) => order.hold(keyOf(MAPS, object), { isNews: () => isNews })
  const looked = ({ object }: Mirrored, why?: string) => {
    order.looked(keyOf(MAPS, object), object, why)
    order.ended(keyOf(MAPS, object), object)
  }
  const first = put('first')
  const second = put('second', '1')
  const theirs = put('theirs', '5', 'two')
  await clock.advance(1000)
  t.equal(hold(first), undefined)
  t.equal(hold(theirs), undefined, 'another space is another order')
  t.match(hold(second), {
    trouble: {
      state: 'waiting',
      reason: 'EarlierWave',
      message: 'wave 1 waits for configmaps app/first of wave 0: it is on its way',
    },
  })
  looked(first, 'no room')
  t.match(hold(second), { trouble: { message: 'wave 1 waits for configmaps app/first of wave 0: no room' } })
  t.equal(hold(second, false), undefined, 'what is there as it was asked for does not wait')
  hold(second)
  looked(first)
  t.same(again, ['second'], 'it is woken')
  t.equal(hold(second), undefined)
  looked(second)

  const anew = put('first')
  const next = put('second', '1')
  looked(anew, 'it is broken')
  t.ok(hold(next)?.trouble)
  await clock.advance(WAVE_PATIENCE_MS)
  t.equal(hold(next), undefined)
  t.match(lines.at(-1)?.message, /^comes without an earlier wave, after 15 minutes: wave 1 waits for .*: it is broken$/)
  looked(next)

  // the first of a wave makes all that is there an earlier one
  const third = put('third', '2')
  again.length = 0
  await clock.advance(1000)
  t.ok(hold(third)?.trouble)
  order.changed(keyOf(MAPS, anew.object), undefined, anew.object)
  mailbox.delete('first')
  looked(next)
  t.same(again, ['third'])
  t.equal(hold(third), undefined)
})

t.test('who is to be last waits until nothing more is heard for a moment', async t => {
  const clock = new FakeClock()
  const { logger } = recordingLogger()
  const order = new ArrivalOrder({
    ...{ mirror: new Map<string, Mirrored>(), isReading: () => false, again() {}, logger, clock },
  })
  const late = map('late', '1')
  order.changed(keyOf(MAPS, late), late)
  t.same(order.hold(keyOf(MAPS, late), { isNews: () => true }), { requeueAfterMs: 200 })
  let held = 0
  for (let n = 0; n < 60; n++) {
    await clock.advance(150)
    const object = map(`early-${n}`)
    order.changed(keyOf(MAPS, object), object)
    order.looked(keyOf(MAPS, object), object)
    if (order.hold(keyOf(MAPS, late), { isNews: () => true })) held++
  }
  t.equal(held, 60)
  await clock.advance(200)
  t.equal(order.hold(keyOf(MAPS, late), { isNews: () => true }), undefined)
})

t.test('nobody comes while the mailbox is being told as a whole: who has to come first may be told last', async t => {
  let isBeingTold = true
  const mailbox = new Map<string, Mirrored>()
  const { logger } = recordingLogger()
  const clock = new FakeClock()
  const order = new ArrivalOrder({ mirror: mailbox, isReading: () => isBeingTold, again() {}, logger, clock })
  const put = (name: string, wave: string): KubeObject => {
    const object = map(name, wave)
    mailbox.set(name, { resource: MAPS, object })
    order.changed(keyOf(MAPS, object), object)
    return object
  }
  const hold = (object: KubeObject, isNews = true) => order.hold(keyOf(MAPS, object), { isNews: () => isNews })
  const later = put('later', '2')
  // looked at before its request was known
  order.ended(keyOf(MAPS, later), later)
  await clock.advance(60_000)
  t.same(hold(later), {})
  t.equal(hold(later, false), undefined, 'what is there already is kept as it is')
  const sooner = put('sooner', '-1')
  t.same(hold(sooner), {})
  isBeingTold = false
  order.whole()
  t.ok(hold(later)?.trouble)
  t.equal(hold(sooner), undefined)

  order.looked(keyOf(MAPS, sooner), sooner)
  isBeingTold = true
  t.equal(hold(sooner), undefined, 'what came before is put right, also while the mailbox is told once more')
  t.same(hold(put('new', '-2')), {})
})
