/** Counts of budgets equal a recount of the store, however Workspaces come, go, move and change their types. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { WORKSPACES } from '../../../src/apimachinery/resources.ts'
import { encodeObject } from '../../../src/apiserver/registry/codec.ts'
import { SpaceBudgets } from '../../../src/apiserver/spaces/spaceBudgets.ts'
import { ROOT, SpaceTree } from '../../../src/apiserver/spaces/tree.ts'
import { WORKSPACE_OVERHEAD_BYTES } from '../../../src/placement/spaces/spaceBudget.ts'
import { openMemoryStore } from '../../../src/storage/memory/openMemoryStore.ts'
import type { Key, Store } from '../../../src/storage/store.ts'
import * as fc from '../../support/fastCheck.ts'

const IDS = ['a', 'b', 'c', 'd']
const CARRIED = '"carried":"yes"'

const space = fc.constantFrom(ROOT, ...IDS)
const name = fc.constantFrom('x', 'y')
const step = fc.oneof(
  fc.record({ space, name, id: fc.constantFrom(...IDS), type: fc.constantFrom('universal', 'mailbox') }),
  fc.record({ space, name, carried: fc.constantFrom('yes', 'no') }),
  fc.record({ space, name, deletes: fc.constantFrom('workspaces', 'configmaps') }),
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

const workspaceKey = ({ space, name }: Step): Key => {
  const { group, resource } = WORKSPACES
  return { space, group, resource, namespace: '', name }
}
const configMapKey = ({ space, name }: Step): Key => {
  return { space, group: '', resource: 'configmaps', namespace: 'default', name }
}

async function put(store: Store, key: Key, object: KubeObject): Promise<void> {
  await store.update(key, () => ({ type: 'put', text: encodeObject(object) }))
}

async function take(store: Store, each: Step): Promise<void> {
  const metadata = { name: each.name }
  if ('deletes' in each) {
    const key = each.deletes === 'workspaces' ? workspaceKey(each) : configMapKey(each)
    await store.update(key, current => current && { type: 'delete' })
  } else if ('carried' in each) {
    const annotations = { carried: each.carried }
    await put(store, configMapKey(each), {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { ...metadata, annotations },
    })
  } else if (each.id !== each.space) {
    const spec = { cluster: each.id, type: { name: each.type } }
    await put(store, workspaceKey(each), { apiVersion: 'v1', kind: 'Workspace', metadata, spec })
  }
}

async function recount(store: Store, tree: SpaceTree, id: string) {
  const found = { all: { objects: 0, bytes: 0 }, own: { carriedObjects: 0, carriedBytes: 0 } }
  for (const { key, bytes } of (await store.list({})).items) {
    if (!tree.lineageOf(key.space).includes(id)) continue
    found.all.objects++
    found.all.bytes += bytes.length + (key.resource === WORKSPACES.resource ? WORKSPACE_OVERHEAD_BYTES : 0)
    if (key.space !== id || tree.typeOf(id).name !== 'mailbox' || !bytes.includes(CARRIED)) continue
    found.own.carriedObjects++
    found.own.carriedBytes += bytes.length
  }
  return found
}

t.test('sums with all that is below, and what was carried up into mailboxes', async t => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async steps => {
      const budgets = new SpaceBudgets({ isCarried: head => head.includes(CARRIED), carriedMark: CARRIED })
      const store = await openMemoryStore({ budget: budgets })
      const tree = new SpaceTree(store)
      budgets.follow(tree, store)
      for (const each of steps) {
        await take(store, each)
        for (const id of [ROOT, ...IDS].filter(id => tree.get(id))) {
          const { all, own } = budgets.useOf(id)!
          const { objects, bytes } = all
          const { carriedObjects, carriedBytes } = own
          t.strictSame(
            { all: { objects, bytes }, own: { carriedObjects, carriedBytes } },
            await recount(store, tree, id),
          )
        }
      }
      await store.close()
    }),
    {
      numRuns: 120,
      examples: [
        [
          [
            { space: 'a', name: 'x', carried: 'yes' },
            { space: ROOT, name: 'x', id: 'a', type: 'mailbox' },
          ],
        ],
      ],
    },
  )
})
