/** Kinds are served inside of the commit of their CRD, and a CRD that nobody foresaw harms no other. */

import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { CRDS } from '../../../src/apimachinery/resources.ts'
import { loadCatalog } from '../../../src/apiserver/catalog/catalog.ts'
import { ServedDefinitions } from '../../../src/apiserver/definitions/servedDefinitions.ts'
import { encodeObject } from '../../../src/apiserver/registry/codec.ts'
import { TypeRegistry } from '../../../src/apiserver/types/typeRegistry.ts'
import { openMemoryStore } from '../../../src/storage/memory/openMemoryStore.ts'
import type { Stored } from '../../../src/storage/store.ts'

const { group, resource } = CRDS
const CATALOG = loadCatalog().types

const definition = (plural: string, kind: string, more: object = {}): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.example.com`, uid: plural, ...more },
  spec: {
    group: 'example.com',
    scope: 'Cluster',
    names: { plural, kind, singular: kind.toLowerCase(), listKind: `${kind}List` },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
})

async function world() {
  const store = await openMemoryStore()
  const types = new TypeRegistry(CATALOG)
  const wanting: string[] = []
  const failed: string[] = []
  const keyOf = (name: string) => ({ space: 's', group, resource, namespace: '', name: `${name}.example.com` })
  const serve = (): ServedDefinitions =>
    new ServedDefinitions({
      callsConversions: () => true,
      store,
      types,
      post: () => Promise.reject(new Error('nobody is there')),
      uuid: () => 'uid',
      wanting: ({ name }) => void wanting.push(name),
      failed: ({ name }, error) => void failed.push(`${name}: ${(error as Error).message}`),
    })
  return {
    store,
    types,
    wanting,
    failed,
    keyOf,
    serve,
    serves: (plural: string) => types.in('s').find('example.com', 'v1', plural)?.verbs,
    put: (name: string, object: KubeObject) =>
      store.update(keyOf(name), () => ({ type: 'put', text: encodeObject(object) })),
    spoil: (name: string) => store.update(keyOf(name), () => ({ type: 'put', text: { head: '{"v":', tail: '' } })),
    remove: (name: string) => store.update(keyOf(name), () => ({ type: 'delete' })),
  }
}

t.test('what was decoded to be served is not decoded again to be judged', async t => {
  const w = await world()
  const served = w.serve()
  await w.put('olds', definition('olds', 'Old'))
  const stored = (await w.store.get(w.keyOf('olds')))!
  const unread = { ...stored, bytes: Buffer.from('nobody reads it') }
  t.equal(served.verdictOn(unread)?.definition.metadata.uid, 'olds')
  t.equal(served.verdictOn({ ...unread, revision: stored.revision + 1 }), undefined)
})

t.test('the spec of a large one is parsed once for each generation, whatever is reported of it', async t => {
  const w = await world()
  const large = (generation: number, more: object = {}, status: object = {}): KubeObject => {
    const { spec, ...rest } = definition('larges', 'Large', { generation, ...more })
    return { ...rest, spec: { ...(spec as object), filler: 'x'.repeat(200_000) }, status }
  }
  // whoever parses it finds that it is no JSON
  const unreadable = (object: KubeObject) => {
    const { head, tail } = encodeObject(object)
    return { head, tail: tail.replace('"scope":"Cluster"', '"scope":Cluster') }
  }
  const put = (object: KubeObject) =>
    w.store.update(w.keyOf('larges'), () => ({ type: 'put', text: unreadable(object) }))
  await w.put('larges', large(1))
  const served = w.serve()
  // what is held here is not collected in between
  const held: ReturnType<typeof served.verdictOn>[] = []
  const hold = (stored: Stored): void => void held.push(served.verdictOn(stored))
  w.store.project(
    { group, resource },
    { reset: items => [...items].forEach(hold), apply: ({ stored }) => w.failed.length > 0 || hold(stored) },
  )
  t.same(w.wanting, ['larges.example.com'])
  const { acceptedNames, conditions } = held[0]!.verdict
  w.wanting.length = 0
  await put(large(1, {}, { conditions, acceptedNames, status: { status: 'x' } }))
  t.same(w.failed, [])
  t.same(w.wanting, [], 'the new status was read: there is nothing more to say')
  await put(large(1, { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['x/y'] }, { conditions, acceptedNames }))
  t.same(w.failed, [])
  t.notOk(w.serves('larges')?.includes('create'), 'and so were the metadata')
  await put(large(2, {}, { conditions, acceptedNames }))
  t.match(w.failed, [/^larges.example.com: /], 'another generation may have another spec')
  await w.store.close()
})

t.test('a large one that is made is not parsed while everybody waits for its commit', async t => {
  const w = await world()
  const served = w.serve()
  const made = (uid: string): KubeObject => {
    const { spec, ...rest } = definition('larges', 'Large', { uid, generation: 1 })
    return { ...rest, spec: { ...(spec as object), filler: 'x'.repeat(200_000) }, status: { storedVersions: ['v1'] } }
  }
  const put = (object: KubeObject) => {
    const { head, tail } = encodeObject(object)
    // whoever parses it finds that it is no JSON
    const text = { head, tail: tail.replace('"scope":"Cluster"', '"scope":Cluster') }
    return w.store.update(w.keyOf('larges'), () => ({ type: 'put', text }))
  }
  const forget = served.expect('s', made('a'))
  await put(made('a'))
  forget()
  t.same(w.failed, [])
  t.ok(w.serves('larges'))
  await w.remove('larges')
  served.expect('s', made('b'))
  await put(made('c'))
  t.match(w.failed, [/^larges.example.com: /], 'who made another of that name said something else')
  await w.remove('larges')
  w.failed.length = 0
  served.expect('s', made('d'))()
  await put(made('d'))
  t.match(w.failed, [/^larges.example.com: /], 'nothing is kept of what is over')
  await w.store.close()
})

t.test('a kind comes, ends and goes inside of the commits of its CRD', async t => {
  const w = await world()
  await w.put('olds', definition('olds', 'Old'))
  w.serve()
  t.ok(w.serves('olds'), 'with the first look at what there is')
  const seen: unknown[] = []
  const look = (): void => void seen.push(w.serves('news')?.includes('create'))
  w.store.project({ group, resource }, { reset: look, apply: look })
  await w.put('news', definition('news', 'New'))
  await w.put('news', definition('news', 'New', { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['x/y'] }))
  await w.remove('news')
  t.same(seen, [undefined, true, false, undefined])
  t.same(w.wanting, ['olds.example.com', 'news.example.com'])
  await w.store.close()
})

t.test('a CRD that waits for a name is looked at again when the name is free', async t => {
  const w = await world()
  const served = w.serve()
  await w.put('firsts', definition('firsts', 'Same'))
  await w.put('seconds', definition('seconds', 'Same'))
  t.notOk(w.serves('seconds'))
  w.wanting.length = 0
  await w.remove('firsts')
  t.same(w.wanting, ['seconds.example.com'])
  const stored = (await w.store.get(w.keyOf('seconds')))!
  t.match(served.verdictOn(stored), { verdict: { isEstablished: true } })
  t.ok(w.serves('seconds'))
  await w.put('seconds', definition('seconds', 'Same', { generation: 2 }))
  t.equal(served.verdictOn(stored), undefined, 'of an outdated version nothing is said')
  await w.store.close()
})

t.test('what cannot be understood keeps what it had, is told, and tried again', async t => {
  const w = await world()
  await w.put('goods', definition('goods', 'Good'))
  await w.spoil('bads')
  const served = w.serve()
  t.ok(w.serves('goods'))
  t.match(w.failed, [/^bads.example.com: /])
  t.throws(() => served.retry(w.keyOf('bads')), SyntaxError)
  await w.spoil('goods')
  t.equal(w.failed.length, 2)
  t.ok(w.serves('goods'))
  await w.put('bads', definition('bads', 'Bad'))
  served.retry(w.keyOf('bads'))
  t.ok(w.serves('bads'))
  const { define } = w.types
  w.types.define = () => {
    throw new Error('a bug')
  }
  await w.put('odds', definition('odds', 'Odd'))
  t.equal(w.failed.at(-1), 'odds.example.com: a bug')
  t.throws(() => served.retry(w.keyOf('odds')), { message: 'a bug' })
  w.types.define = define
  served.retry(w.keyOf('odds'))
  t.ok(w.serves('odds'))
  await w.store.close()
})
