/** The index of a cluster's objects by owners, on lists and watches that fail, change, and hold far too much. */
import t, { type Test } from 'tap'
import { StatusError } from '../../../src/apimachinery/errors.ts'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import type { SpaceClient, WatchEvent } from '../../../src/client/client.ts'
import { ASSOCIATED_ANNOTATION, OWNER_ANNOTATION } from '../../../src/placement/words/placement.ts'
import { type AllowLists, ClusterAllowance } from '../../../src/syncer/mailbox/clusterAllowance.ts'
import type { SyncKey } from '../../../src/syncer/mailbox/mirror.ts'
import { Associates } from '../../../src/syncer/sees/associates.ts'
import { FakeClock } from '../../client/support/fakeClock.ts'
import { PROJECTED } from '../support/pair.ts'

const WEB: SyncKey = { group: 'apps', resource: 'deployments', namespace: 'shop', name: 'web' }
const KINDS = [
  ['', 'pods', 'Pod'],
  ['', 'events', 'Event'],
  ['apps', 'replicasets', 'ReplicaSet'],
].map(([group = '', resource = '', kind = '']) => ({
  group,
  version: 'v1',
  resource,
  kind,
  namespaced: true,
  verbs: ['get', 'list', 'watch'],
  subresources: [],
}))
const FORBIDDEN = new StatusError('Forbidden', 'no')

const pod = (name: string): SyncKey => ({ group: '', resource: 'pods', namespace: 'shop', name })
const set = (name: string): SyncKey => ({ group: 'apps', resource: 'replicasets', namespace: 'shop', name })
const objectOf = ({ group, name, namespace }: SyncKey, kind: string, uid: string, more: object): KubeObject => ({
  apiVersion: group === '' ? 'v1' : `${group}/v1`,
  kind,
  metadata: { name, namespace, uid, resourceVersion: '1', ...more },
})
const setOf = (uid: string) =>
  objectOf(set('web-1'), 'ReplicaSet', uid, {
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'root' }],
  })
const podOf = (name: string, owner: string) =>
  objectOf(pod(name), 'Pod', name, {
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-1', uid: owner }],
  })
const eventOf = (i: number, about: string): KubeObject => ({
  ...objectOf({ group: '', resource: 'events', namespace: 'shop', name: `e-${i}` }, 'Event', `e-${i}`, {}),
  involvedObject: { kind: 'Pod', name: about, uid: about },
  lastTimestamp: new Date(i * 1000).toISOString(),
})

interface Lists {
  [resource: string]: KubeObject[] | Error
}

/** A placed Deployment in a cluster with these lists. */
function begin(t: Test, lists: Lists, allowed: AllowLists = {}) {
  const clock = new FakeClock()
  const queued: SyncKey[] = []
  /** Ends of the watches. */
  const ends = new Map<string, (error: Error) => void>()
  const cluster = {
    async list({ resource }: { resource: string }) {
      const items = lists[resource] ?? []
      if (items instanceof Error) throw items
      return { resourceVersion: '1', items }
    },
    async *watch(
      { resource }: { resource: string },
      { signal }: { signal: AbortSignal },
    ): AsyncGenerator<readonly WatchEvent[]> {
      const { promise, reject } = Promise.withResolvers<never>()
      signal.addEventListener('abort', () => reject(signal.reason))
      ends.set(resource, reject)
      await promise
    },
  } as unknown as SpaceClient
  const associates = new Associates({
    cluster,
    served: { all: () => KINDS, lacks: () => false } as never,
    allowance: new ClusterAllowance(allowed),
    queues: { up: { add: key => void queued.push(key) } },
    onAssociates() {},
    placed: () => ({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { uid: 'root' } }),
    arePlacedKnown: () => true,
    clock,
    random: () => 0,
  })
  t.teardown(() => associates.stop())
  const ask = (kinds: readonly string[]): void =>
    associates.mailboxChanged(WEB, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: {
        name: 'web',
        namespace: 'shop',
        labels: PROJECTED,
        annotations: {
          [OWNER_ANNOTATION]: 'wmw1',
          ...(kinds.length > 0 && {
            [ASSOCIATED_ANNOTATION]: JSON.stringify([{ placement: 'p', kinds, full: false }]),
          }),
        },
      },
    })
  /** Lets promises run, and waits of failed lists be over. */
  const pass = async (): Promise<void> => {
    for (let i = 0; i < 3; i++) {
      await clock.advance(60_000)
      await new Promise(resolve => setImmediate(resolve))
    }
  }
  const end = async (resource: string, error = new StatusError('Expired', 'too old')): Promise<void> => {
    ends.get(resource)?.(error)
    await pass()
  }
  associates.start()
  ask(['*'])
  return { associates, queued, ask, pass, end }
}

t.test('an object that is gone is known to be gone, though another kind may not be read', async t => {
  const lists: Lists = { pods: [podOf('a', 'set')], replicasets: [setOf('set')], events: FORBIDDEN }
  const { associates, pass } = begin(t, lists)
  await pass()
  t.strictSame(associates.notAllowed, ['events'])
  t.equal(associates.isKnown(pod('gone'), WEB), true)
  t.equal(associates.isKnown(pod('a'), WEB), false, 'an Event might own it')
  lists.events = []
  await pass()
  t.strictSame(associates.notAllowed, [])
})

t.test('a kind is allowed again as soon as it can be listed again', async t => {
  const { associates, pass, end } = begin(t, {})
  await pass()
  await end('pods', FORBIDDEN)
  t.strictSame(associates.notAllowed, [])
})

t.test('kinds that only lead to others are read and not reported', async t => {
  const lists = { namespaces: ['shop'], kinds: ['deployments.apps'], associated: ['pods'] }
  const { associates, pass } = begin(t, { pods: [podOf('a', 'set')], replicasets: [setOf('set')] }, lists)
  await pass()
  t.equal(associates.of(pod('a'))?.uid, 'a')
  t.equal(associates.of(set('web-1')), undefined)
  t.strictSame(associates.notAllowed, ['events', 'replicasets.apps'])
})

t.test('an object of a list under an old name is another one, and nothing of the old one belongs to it', async t => {
  const lists: Lists = { pods: [podOf('a', 'old')], replicasets: [setOf('old')] }
  const { associates, pass, end, queued } = begin(t, lists)
  await pass()
  t.equal(associates.of(pod('a'))?.uid, 'a')
  lists.replicasets = [setOf('new')]
  queued.length = 0
  await end('replicasets')
  t.equal(associates.of(pod('a')), undefined)
  t.ok(queued.some(({ name }) => name === 'a'))
})

t.test('objects of kinds that no copy asks for any more are forgotten', async t => {
  const lists: Lists = { pods: [podOf('a', 'set')], replicasets: [setOf('set')] }
  const { associates, pass, ask, queued } = begin(t, lists)
  await pass()
  queued.length = 0
  ask([])
  t.ok(queued.some(({ name }) => name === 'a'))
  lists.replicasets = []
  ask(['pods'])
  await pass()
  t.equal(associates.holds(pod('a')), true)
  t.equal(associates.of(pod('a')), undefined)
})

t.test('Events by the thousand queue the newest ones once, and those of strangers nothing', async t => {
  const about = (name: string) => Array.from({ length: 5000 }, (_, i) => eventOf(i, name))
  const ofStranger = begin(t, { pods: [podOf('a', 'elsewhere')], events: about('a') })
  await ofStranger.pass()
  t.equal(ofStranger.queued.filter(({ resource }) => resource === 'events').length, 0)
  const { associates, queued, pass } = begin(t, {
    replicasets: [setOf('set')],
    pods: [podOf('a', 'set')],
    events: about('a'),
  })
  await pass()
  const events = queued.filter(({ resource }) => resource === 'events')
  t.ok(events.length < 20_000, `${events.length}`)
  const shown = events.filter(key => associates.of(key)?.isOld === false).map(({ name }) => name)
  t.equal(new Set(shown).size, 20)
})
