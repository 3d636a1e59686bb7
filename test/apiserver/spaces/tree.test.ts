/** The tree of spaces is what the Workspaces say, in each commit, in whatever order they were written. */
import t from 'tap'
import { WORKSPACES } from '../../../src/apimachinery/resources.ts'
import { encodeObject } from '../../../src/apiserver/registry/codec.ts'
import { SpaceBudgets } from '../../../src/apiserver/spaces/spaceBudgets.ts'
import { SpaceTree } from '../../../src/apiserver/spaces/tree.ts'
import { openMemoryStore } from '../../../src/storage/memory/openMemoryStore.ts'
import type { Store } from '../../../src/storage/store.ts'
import * as fc from '../../support/fastCheck.ts'

const { group, resource } = WORKSPACES

function writer(store: Store) {
  const keyOf = (parent: string, name: string) => ({ space: parent, group, resource, namespace: '', name })
  return {
    /** Its id is its name in capitals. */
    put: (parent: string, name: string, deleting = false) =>
      store.update(keyOf(parent, name), () => ({
        type: 'put',
        text: encodeObject({
          apiVersion: 'tenancy.kcp.io/v1alpha1',
          kind: 'Workspace',
          metadata: { name, ...(deleting && { deletionTimestamp: '2026-01-01T00:00:00Z' }) },
          spec: { cluster: name.toUpperCase() },
        }),
      })),
    remove: (parent: string, name: string) => store.update(keyOf(parent, name), () => ({ type: 'delete' })),
    spoil: (parent: string, name: string) =>
      store.update(keyOf(parent, name), () => ({ type: 'put', text: { head: '{"v":', tail: '' } })),
  }
}

const IDS = ['root', 'A', 'B', 'C', 'D']
const shown = (tree: SpaceTree) =>
  IDS.map(id => [
    tree.get(id) && { ...tree.get(id), deleting: undefined },
    tree.isDeleting(id),
    tree
      .children(id)
      .map(({ name }) => name)
      .sort(),
  ])

t.test('whose a space is: of the one directly below the root; mailboxes are their own', async t => {
  const store = await openMemoryStore()
  const { put } = writer(store)
  const tree = new SpaceTree(store)
  await put('root', 'a')
  await put('A', 'b')
  await put('B', 'c')
  t.same(
    ['A', 'B', 'C', 'root', 'nowhere'].map(id => tree.tenantOf(id)),
    ['A', 'A', 'A', 'root', 'nowhere'],
  )
  const type = { name: 'mailbox', path: 'root' }
  const text = encodeObject({
    apiVersion: 'tenancy.kcp.io/v1alpha1',
    kind: 'Workspace',
    metadata: { name: 'd' },
    spec: { cluster: 'D', type },
  })
  await store.update({ space: 'A', group, resource, namespace: '', name: 'd' }, () => ({ type: 'put', text }))
  t.equal(tree.tenantOf('D'), 'D')
  await store.close()
})

t.test('a space is found inside of the commit of its Workspace, and is gone inside of that of its end', async t => {
  const store = await openMemoryStore()
  const { put, remove } = writer(store)
  const tree = new SpaceTree(store)
  const seen: unknown[] = []
  const look = (): void => void seen.push(tree.pathOf('B'))
  store.project({ group, resource }, { reset: look, apply: look })
  const known: string[] = []
  const gone: string[] = []
  tree.onKnown(id => known.push(`${tree.pathOf(id)}`))
  tree.onGone(id => gone.push(id))
  await put('root', 'a')
  await put('A', 'b')
  t.match(tree.resolve('root:a:b'), { found: true, space: { id: 'B', parent: 'A' } })
  t.match(tree.resolve('A:b'), { found: true, space: { id: 'B' } })
  t.match(tree.resolve('root:a:x'), { found: false, ancestor: { id: 'A' } })
  await remove('A', 'b')
  await remove('root', 'a')
  t.same(seen, [undefined, undefined, 'root:a:b', undefined, undefined])
  t.same(known, ['root:a', 'root:a:b'])
  t.same(gone, ['B', 'A'])
  await store.close()
})

t.test('with a space everything below it ends', async t => {
  const store = await openMemoryStore()
  const { put } = writer(store)
  const tree = new SpaceTree(store)
  await put('root', 'a')
  await put('A', 'b')
  await put('root', 'c')
  t.notOk(tree.isDeleting('B'))
  await put('root', 'a', true)
  t.same(
    IDS.map(id => tree.isDeleting(id)),
    [false, true, true, false, false],
  )
  await store.close()
})

t.test('a Workspace that cannot be read keeps its space where it is', async t => {
  const store = await openMemoryStore()
  const { put, spoil } = writer(store)
  const tree = new SpaceTree(store)
  await put('root', 'a')
  await put('A', 'b')
  await spoil('root', 'a')
  t.equal(tree.pathOf('B'), 'root:a:b')
  await put('root', 'a', true)
  t.ok(tree.isDeleting('B'))
  await store.close()
})

t.test('spaces that stand very deep within one another are taken in, and go', async t => {
  const store = await openMemoryStore()
  const { put, remove } = writer(store)
  // deeper than any recursion gets on a stack of a megabyte
  const DEEP = 8000
  const writes: Promise<unknown>[] = []
  for (let level = 0; level < DEEP; level++) writes.push(put(level === 0 ? 'root' : `S${level - 1}`, `s${level}`))
  await Promise.all(writes)
  const tree = new SpaceTree(store)
  t.equal(tree.below('root').length, DEEP + 1)
  t.equal(tree.below('root').at(-1)?.id, `S${DEEP - 1}`)
  const gone: string[] = []
  tree.onGone(id => gone.push(id))
  await remove('root', 's0')
  t.equal(gone.length, DEEP)
  t.equal(gone[0], `S${DEEP - 1}`, 'what is below goes first')
  t.equal(tree.size, 1)
  await put('root', 's0')
  t.equal(tree.size, DEEP + 1, 'and all of it comes back')
  const budgets = new SpaceBudgets()
  budgets.follow(tree, store)
  t.ok(budgets.useOf('S0'))
  await store.close()
})

t.test('whatever is written, the tree is that which begins with what there is then', async t => {
  const names = fc.constantFrom('a', 'b', 'c', 'd')
  const step = fc.record({ parent: fc.constantFrom(...IDS), name: names, act: fc.constantFrom('put', 'end', 'remove') })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async steps => {
      const store = await openMemoryStore()
      const { put, remove } = writer(store)
      const tree = new SpaceTree(store)
      const members = new Set<string>()
      tree.onKnown(id => {
        if (members.has(id)) throw new Error(`${id} is known`)
        members.add(id)
      })
      tree.onGone(id => {
        if (!members.delete(id)) throw new Error(`${id} was not there`)
      })
      const homes = new Map<string, string>()
      for (const { parent, name, act } of steps) {
        // an id is one Workspace's, and none is below itself
        const home = homes.get(name) ?? parent
        if (home !== parent || parent === name.toUpperCase() || isBelow(homes, parent, name)) continue
        homes.set(name, parent)
        if (act === 'remove') await remove(parent, name)
        else await put(parent, name, act === 'end')
      }
      t.same(shown(tree), shown(new SpaceTree(store)))
      t.same(
        [...members].sort(),
        IDS.slice(1).filter(id => tree.get(id)),
      )
      await store.close()
    }),
    { numRuns: 200 },
  )
})

function isBelow(homes: ReadonlyMap<string, string>, space: string, name: string): boolean {
  for (let at: string | undefined = space; at !== undefined; at = homes.get(at.toLowerCase()))
    if (at === name.toUpperCase()) return true
  return false
}
