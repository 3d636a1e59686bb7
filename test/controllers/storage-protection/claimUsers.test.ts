/** Which claims Pods mount, whatever the order in which the list and the stream tell it. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import type { SpaceClient, StreamEvent } from '../../../src/client/client.ts'
import { ClaimUsers } from '../../../src/controllers/storage-protection/claimUsers.ts'
import { settle } from '../../client/support/fakeClock.ts'
import * as fc from '../../support/fastCheck.ts'

const CLAIM = { space: 's', namespace: 'n', name: 'data' }
const pod = (name: string, phase = 'Running'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'n' },
  spec: { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] },
  status: { phase },
})
const told = (type: StreamEvent['type'], revision: number, object: KubeObject): StreamEvent => ({
  type,
  space: 's',
  namespace: 'n',
  name: object.metadata.name!,
  resource: { group: '', version: 'v1', resource: 'pods' },
  revision,
  object,
  mentions: () => true,
})

/** Pods as of a revision; each list waits until it is let go. */
function pods() {
  const lists: { answer: (items: KubeObject[], revision: number) => void; fail: (error: Error) => void }[] = []
  const list = () =>
    new Promise((resolve, reject) =>
      lists.push({
        answer: (items, revision) => resolve({ items, resourceVersion: String(revision) }),
        fail: reject,
      }),
    )
  return { lists, client: { list } as unknown as SpaceClient }
}

t.test('what the stream told while the list was on its way counts once', async t => {
  const { lists, client } = pods()
  const users = new ClaimUsers()
  users.synced()
  const used = users.has(client, CLAIM, 5)
  users.change(told('ADDED', 6, pod('seen')))
  users.change(told('DELETED', 8, pod('seen')))
  lists[0]!.answer([pod('seen')], 7)
  t.equal(await used, false, 'deleted behind the list')
  users.change(told('ADDED', 9, pod('b')))
  t.equal(await users.has(client, CLAIM, 9), true)
  users.change(told('MODIFIED', 10, pod('b', 'Succeeded')))
  t.equal(await users.has(client, CLAIM, 10), false)
  t.equal(lists.length, 1)
})

t.test('what the stream has not told yet is read', async t => {
  const { lists, client } = pods()
  const users = new ClaimUsers()
  users.synced()
  const first = users.has(client, CLAIM, 5)
  lists[0]!.answer([], 5)
  t.equal(await first, false)
  const second = users.has(client, CLAIM, 20)
  await settle()
  lists[1]!.answer([pod('fresh')], 21)
  t.equal(await second, true, 'a Pod that came before the claim was deleted')
})

t.test('nothing of before a new snapshot counts, and nothing is kept during one', async t => {
  const { lists, client } = pods()
  const users = new ClaimUsers()
  users.synced()
  const first = users.has(client, CLAIM, 5)
  lists[0]!.answer([pod('a')], 5)
  t.equal(await first, true)
  users.begin()
  for (const n of [1, 2]) {
    const during = users.has(client, CLAIM, 5)
    lists[n]!.answer([], 6)
    t.equal(await during, false, 'a Pod whose deletion nobody tells')
  }
  users.synced()
  t.notOk(users.follows(CLAIM))
})

t.test('a list that fails is asked again; when no claim waits, nothing is followed', async t => {
  const { lists, client } = pods()
  const users = new ClaimUsers()
  users.synced()
  const first = users.has(client, CLAIM, 5)
  lists[0]!.fail(new Error('away'))
  await t.rejects(first, { message: 'away' })
  const second = users.has(client, CLAIM, 5)
  lists[1]!.answer([pod('a')], 5)
  t.equal(await second, true)
  t.ok(users.follows(CLAIM))
  users.release({ ...CLAIM, name: 'other' })
  t.ok(users.follows(CLAIM))
  users.release(CLAIM)
  t.notOk(users.follows(CLAIM))
})

t.test('following comes to what a list says', async () => {
  const change = fc.record({ name: fc.constantFrom('a', 'b'), phase: fc.constantFrom('Running', 'Failed', 'gone') })
  await fc.assert(
    fc.asyncProperty(fc.array(change), fc.nat(10), fc.nat(10), async (changes, listed, answered) => {
      const { lists, client } = pods()
      const users = new ClaimUsers()
      users.synced()
      const state = (upTo: number): KubeObject[] =>
        [...new Map(changes.slice(0, upTo).map(each => [each.name, each] as const)).values()]
          .filter(each => each.phase !== 'gone')
          .map(each => pod(each.name, each.phase))
      const used = users.has(client, CLAIM, 0)
      for (const [i, { name, phase }] of changes.entries()) {
        if (i === answered) {
          lists[0]!.answer(state(listed), Math.min(listed, changes.length) + 1)
          await settle()
        }
        // revisions from 2: those up to the list's are in it
        users.change(told(phase === 'gone' ? 'DELETED' : 'MODIFIED', i + 2, pod(name, phase)))
      }
      if (answered >= changes.length) lists[0]!.answer(state(listed), Math.min(listed, changes.length) + 1)
      await used
      const wanted = state(changes.length).some(each => (each.status as { phase: string }).phase === 'Running')
      const now = await users.has(client, CLAIM, 0)
      if (now !== wanted) throw new Error(`says ${now}, is ${wanted}`)
    }),
    { numRuns: 100 },
  )
})
