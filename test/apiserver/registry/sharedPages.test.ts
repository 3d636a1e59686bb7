/** Pages of kinds with shared objects: whatever a space has of its own, they are the whole list in parts. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { loadCatalog } from '../../../src/apiserver/catalog/catalog.ts'
import { encodeObject, ParsedCache } from '../../../src/apiserver/registry/codec.ts'
import { type ListQuery, Reader } from '../../../src/apiserver/registry/reader.ts'
import { selectionFor } from '../../../src/apiserver/registry/selection.ts'
import { SharedObjects, sharedConstants } from '../../../src/apiserver/registry/sharedObjects.ts'
import { openMemoryStore } from '../../../src/storage/memory/openMemoryStore.ts'
import type { Store } from '../../../src/storage/store.ts'
import { endlessTurns } from '../../support/endlessTurns.ts'
import * as fc from '../../support/fastCheck.ts'
import { createSpace, startTestServer } from '../../support/server.ts'

const type = loadCatalog().types.find(({ resource }) => resource === 'priorityclasses')!

const priorityClass = (name: string, labels: Record<string, string>): KubeObject => ({
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  metadata: { name, labels },
  value: 1,
})

interface Item {
  space: string
  name: string
  labels: Record<string, string>
}

async function write(store: Store, { space, name, labels }: Item, type_: 'put' | 'delete' = 'put'): Promise<void> {
  const key = { space, group: type.group, resource: type.resource, namespace: '', name }
  await store.update(key, () => ({ type: type_, text: encodeObject(priorityClass(name, labels)) }))
}

const name = fc.stringMatching(/^[a-c]{1,2}(:[ab])?$/)
const labels = fc.constantFrom<Record<string, string>>({ l: 'x' }, { l: 'y' }, {})
const item = fc.record({ space: fc.constantFrom('one', 'one', 'two'), name, labels })
const query = fc.record({
  space: fc.constantFrom('one', 'one', '*'),
  labelSelector: fc.constantFrom(undefined, undefined, 'l=x', 'l!=x', '!l', 'l=z'),
  fieldSelector: fc.oneof(
    fc.constant(undefined),
    name.map(each => `metadata.name=${each}`),
    name.map(each => `metadata.name!=${each}`),
  ),
  limit: fc.integer({ min: 1, max: 12 }),
})

t.test('pages are the whole list in parts, in order of names, no page longer than asked for', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.record({ name, labels }), { selector: each => each.name }),
      fc.array(item, { maxLength: 15 }),
      query,
      fc.array(fc.record({ item, type: fc.constantFrom('put' as const, 'delete' as const) }), { maxLength: 20 }),
      async (shared, own, { space, limit, ...selectors }, meanwhile) => {
        const store = await openMemoryStore()
        const objects = shared.map(each => priorityClass(each.name, each.labels))
        const layers = new SharedObjects(sharedConstants(type, objects, { changeable: true }))
        const reader = new Reader({ store, parsed: new ParsedCache(), shared: layers, turns: endlessTurns() })
        for (const each of [{ space: 'three', name: 'a', labels: {} }, ...own]) await write(store, each)
        const selection = selectionFor(type, undefined, selectors)
        const list = (more: Partial<ListQuery>) => reader.list(type, { space, selection, ...more })
        const whole = await list({})
        const texts = (items: readonly { bytes: Buffer }[]): string[] => items.map(({ bytes }) => bytes.toString())

        const everywhere =
          space === '*' ? [['three a', {}] as const] : shared.map(each => [`one ${each.name}`, each.labels] as const)
        const expected = new Map<string, Record<string, string>>(everywhere)
        for (const each of own)
          if (space === '*' || each.space === 'one') expected.set(`${each.space} ${each.name}`, each.labels)
        const matching = [...expected].filter(([id, its]) => {
          const [, itsName = ''] = id.split(' ')
          return selection.matches(priorityClass(itsName, its))
        })
        const ids = whole.items.map(({ key }) => `${key.space} ${key.name}`)
        same(ids, matching.map(([id]) => id).sort(), 'the whole list')

        const seen: string[] = []
        let page = await list({ limit })
        for (let i = 0; ; i++) {
          if (page.items.length > limit) throw new Error(`${page.items.length} of ${limit}`)
          if (page.revision !== whole.revision) throw new Error('a page of another revision')
          seen.push(...texts(page.items))
          const remaining = whole.items.length - seen.length
          if (page.continue === undefined) break
          if (selection.everything && page.remaining !== remaining)
            throw new Error(`${remaining} remain, it says ${page.remaining}`)
          if (!selection.everything && page.remaining !== undefined) throw new Error('nobody knows how many remain')
          for (const each of meanwhile.slice(i * 3, i * 3 + 3)) await write(store, each.item, each.type)
          page = await list({ limit, continue: page.continue })
        }
        same(seen, texts(whole.items), 'the pages')
        const again = await list({ resourceVersion: String(whole.revision), resourceVersionMatch: 'Exact' })
        same(texts(again.items), texts(whole.items), 'the list of the past')
        await store.close()
      },
    ),
    { numRuns: 120 },
  )
})

t.test('how many remain is told without reading what is behind the page', async t => {
  const store = await openMemoryStore()
  t.teardown(() => store.close())
  for (let i = 0; i < 300; i++) await write(store, { space: 'one', name: `b${i}`, labels: {} })
  let read = 0
  const counting = new Proxy(store, {
    get(target, member) {
      if (member === 'list')
        return async (...args: Parameters<Store['list']>) => {
          const page = await target.list(...args)
          read += page.items.length
          return page
        }
      const value: unknown = Reflect.get(target, member, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const shared = ['a', 'b7', 'c', 'd', 'e'].map(each => priorityClass(each, {}))
  const layers = new SharedObjects(sharedConstants(type, shared, { changeable: true }))
  const reader = new Reader({ store: counting, parsed: new ParsedCache(), shared: layers, turns: endlessTurns() })
  const page = await reader.list(type, { space: 'one', limit: 2 })
  t.equal(page.remaining, 302)
  t.ok(read < 15, `${read} were read`)
})

function same(found: readonly string[], wanted: readonly string[], what: string): void {
  if (JSON.stringify(found) !== JSON.stringify(wanted))
    throw new Error(`${what}: ${found.join()} is not ${wanted.join()}`)
}

const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const KINDS: Record<string, string> = {
  clusterroles: `${RBAC}/clusterroles`,
  clusterrolebindings: `${RBAC}/clusterrolebindings`,
  apiservices: '/apis/apiregistration.k8s.io/v1/apiservices',
  flowschemas: '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas',
  prioritylevelconfigurations: '/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations',
  priorityclasses: '/apis/scheduling.k8s.io/v1/priorityclasses',
}

interface Listed {
  items: KubeObject[]
  metadata: { continue?: string; remainingItemCount?: number; resourceVersion?: string }
}

t.test('of a server', async t => {
  const { api, server, faults } = await startTestServer(t)
  const one = api.in(await createSpace(api, 'one'))
  const pages = async (path: string, between?: (page: number) => Promise<unknown>): Promise<Listed[]> => {
    const all: Listed[] = []
    let token = ''
    do {
      const listed: Listed = await one.ok(one.get(`${path}&continue=${encodeURIComponent(token)}`))
      all.push(listed)
      token = listed.metadata.continue ?? ''
      await between?.(all.length)
    } while (token)
    return all
  }

  for (const [kind, path] of Object.entries(KINDS)) {
    await t.test(kind, async t => {
      const whole: Listed = await one.ok(one.get(path))
      const names = whole.items.map(({ metadata }) => metadata.name!)
      t.strictSame(names, [...names].sort(), 'in order of names')
      const [first, ...others] = await pages(`${path}?limit=1`)
      t.equal(first!.items.length, 1)
      t.equal(first!.metadata.remainingItemCount, names.length > 1 ? names.length - 1 : undefined)
      t.equal(others.length, names.length - 1)
      t.strictSame(
        [first!, ...others].flatMap(({ items }) => items),
        whole.items,
      )
      t.strictSame((await pages(`${path}?limit=${names.length}`)).length, 1, 'a page that has all has none behind it')
      const table = await one.get(`${path}?limit=1`, { Accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' })
      t.match(table.body, { rows: { length: 1 }, metadata: first!.metadata })
    })
  }

  await t.test('all pages show one moment, whatever becomes of roles meanwhile', async t => {
    const path = KINDS.clusterroles!
    const labels = { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' }
    const role = (name: string, group: string): object => ({
      metadata: { name, labels },
      rules: [{ apiGroups: [group], resources: ['shops'], verbs: ['get'] }],
    })
    await one.ok(one.post(path, role('m-mine', 'one.example.com')))
    const whole: Listed = await one.ok(one.get(path))
    const changed = await pages(`${path}?limit=3`, async page => {
      if (page === 1) await one.ok(one.patch(`${path}/view`, 'merge', { metadata: { labels: { changed: 'yes' } } }))
      if (page === 2) await one.ok(one.delete(`${path}/m-mine`))
      if (page === 3) await one.ok(one.post(path, role('zz-later', 'two.example.com')))
    })
    t.strictSame(
      changed.flatMap(({ items }) => items),
      whole.items,
    )
    t.ok(changed.every(({ items }) => items.length <= 3))
    const view = whole.items.find(({ metadata }) => metadata.name === 'view')
    t.match(JSON.stringify(view), 'one.example.com', 'it holds what the deleted role added')
  })

  await t.test('and whatever becomes of custom resources', async t => {
    const path = KINDS.apiservices!
    const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    const define = async (group: string): Promise<void> => {
      const schema = { openAPIV3Schema: { type: 'object' } }
      const made = await one.ok(
        one.post(crds, {
          metadata: { name: `widgets.${group}` },
          spec: {
            group,
            scope: 'Namespaced',
            names: { plural: 'widgets', kind: 'Widget' },
            versions: [{ name: 'v1', served: true, storage: true, schema }],
          },
        }),
      )
      const watch = await one.watch(`${crds}?watch=1&resourceVersion=${made.metadata.resourceVersion}`)
      await watch.until(({ object }) => JSON.stringify(object.status ?? {}).includes('"Established"'))
      watch.close()
    }
    await define('x.example.com')
    const whole: Listed = await one.ok(one.get(path))
    const named = (lists: Listed[]): unknown[] =>
      lists.flatMap(({ items }) => items.map(({ metadata }) => metadata.name))
    const seen = await pages(`${path}?limit=7`, async page => {
      if (page === 1) await define('y.example.com')
      if (page === 2) {
        const watch = await one.watch(`${crds}?watch=1&resourceVersion=${server.store.revision}`)
        await one.ok(one.delete(`${crds}/widgets.x.example.com`))
        await watch.until(({ type }) => type === 'DELETED')
        watch.close()
      }
    })
    t.strictSame(named(seen), named([whole]))
    t.ok(named(seen).includes('v1.x.example.com') && !named(seen).includes('v1.y.example.com'))
  })

  await t.test('selectors and versions', async t => {
    const path = KINDS.clusterroles!
    const own: Listed = await one.ok(one.get(`${path}?limit=2&fieldSelector=metadata.name=edit`))
    t.match(own, { items: [{ metadata: { name: 'edit' } }], metadata: { continue: undefined } })
    const [labelled] = await pages(`${path}?limit=3&labelSelector=kubernetes.io/bootstrapping=rbac-defaults`)
    t.match(labelled, { items: { length: 3 }, metadata: { remainingItemCount: undefined } })
    const { resourceVersion } = labelled!.metadata
    for (const version of ['resourceVersion=0', `resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`]) {
      const listed: Listed = await one.ok(one.get(`${path}?limit=5&${version}`))
      t.equal(listed.items.length, 5, version)
    }
    const all: Listed = await api.ok(api.in('*').get(`${path}?limit=1`))
    t.ok(all.items.length <= 1, 'all spaces at once show what they have of their own')
  })
  t.strictSame(faults, [])
})

t.test('a shared object in a namespace has its place among those of all namespaces', async t => {
  const { api } = await startTestServer(t)
  const one = api.in(await createSpace(api, 'placed'))
  for (const name of ['aaa', 'zzz']) await one.ok(one.post('/api/v1/namespaces', { metadata: { name } }))
  for (const place of ['aaa/x', 'default/a', 'default/z', 'zzz/a']) {
    const [namespace, name] = place.split('/')
    const service = { metadata: { name }, spec: { ports: [{ port: 80 }] } }
    await one.ok(one.post(`/api/v1/namespaces/${namespace}/services`, service))
  }
  const wanted = ['aaa/x', 'default/a', 'default/kubernetes', 'default/z', 'zzz/a']
  const pagesOf = async (path: string, limit: number): Promise<string[]> => {
    const seen: string[] = []
    for (let token = ''; ; ) {
      const listed: Listed = await one.ok(one.get(`${path}?limit=${limit}&continue=${encodeURIComponent(token)}`))
      for (const { metadata } of listed.items) seen.push(`${metadata.namespace}/${metadata.name}`)
      t.ok(listed.items.length <= limit)
      token = listed.metadata.continue ?? ''
      if (!token) return seen
      const { length } = path.includes('default') ? wanted.slice(1, 4) : wanted
      t.equal(listed.metadata.remainingItemCount, length - seen.length)
    }
  }
  const all = '/api/v1/services'
  for (const limit of [1, 2, 3, 4, 10]) t.strictSame(await pagesOf(all, limit), wanted)
  t.strictSame(await pagesOf('/api/v1/namespaces/default/services', 1), wanted.slice(1, 4))
  t.strictSame(await pagesOf('/api/v1/namespaces/zzz/services', 1), ['zzz/a'])
  await one.ok(
    one.patch('/api/v1/namespaces/default/services/kubernetes', 'merge', { metadata: { labels: { own: 'x' } } }),
  )
  for (const limit of [1, 2, 10]) t.strictSame(await pagesOf(all, limit), wanted)
})
