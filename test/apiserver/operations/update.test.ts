// A PUT uses its object as it is; its base is read again only where another write came first.
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { cloneJson } from '../../../src/apimachinery/values.ts'
import { loadCatalog } from '../../../src/apiserver/catalog/catalog.ts'
import { update } from '../../../src/apiserver/operations/update.ts'
import type { Admission } from '../../../src/apiserver/registry/admission.ts'
import { decodeObject, ParsedCache } from '../../../src/apiserver/registry/codec.ts'
import { systemContext } from '../../../src/apiserver/registry/context.ts'
import { Registry } from '../../../src/apiserver/registry/registry.ts'
import { TypeRegistry } from '../../../src/apiserver/types/typeRegistry.ts'
import { strategyFor } from '../../../src/kinds/strategyFor.ts'
import { openMemoryStore } from '../../../src/storage/memory/openMemoryStore.ts'
import { startTestServer } from '../../support/server.ts'

const CATALOG = loadCatalog().types
const SPACE = 'root'

type World = Awaited<ReturnType<typeof world>>

async function world(t: Test, ...admission: Admission[]) {
  const store = await openMemoryStore()
  t.teardown(() => store.close())
  const types = new TypeRegistry(CATALOG)
  const registry = new Registry({
    store,
    parsed: new ParsedCache(),
    strategyFor,
    storageType: (space, type) => types.in(space).find(type.group, type.storageVersion, type.resource) ?? type,
    typeAt: (space, group, version, resource) => types.in(space).find(group, version, resource),
    admission,
    clock: () => new Date(0),
    uuid: randomUUID,
    random: Math.random,
    annotateSpace: false,
  })
  const typeOf = ({ kind }: KubeObject) => types.in(SPACE).find('', 'v1', `${kind.toLowerCase()}s`)!
  const made: KubeObject[] = []
  return {
    /** Every object that an attempt got, as the attempt left it. */
    made,
    async put(object: KubeObject, manager = 'me'): Promise<KubeObject> {
      const type = typeOf(object)
      const { name = '', namespace = '' } = object.metadata
      const target = { context: systemContext(SPACE, manager), type, namespace, name, subresource: '' }
      const again = (): KubeObject => {
        const next = cloneJson(object)
        made.push(next)
        return next
      }
      return decodeObject((await update(registry, target, again(), { again })).stored)
    },
    async create(object: KubeObject): Promise<KubeObject> {
      const context = systemContext(SPACE, 'maker')
      const { stored } = await registry.create(context, typeOf(object), 'n', cloneJson(object))
      return decodeObject(stored)
    },
  }
}

const configMap = (data: object): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'c', namespace: 'n' },
  data,
})
const limitRange = (cpu: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'LimitRange',
  metadata: { name: 'l', namespace: 'n' },
  spec: { limits: [{ type: 'Container', min: { cpu } }] },
})
const managers = ({ metadata }: KubeObject) => metadata.managedFields?.map(({ manager }) => manager).sort()

t.test('what nobody disturbs is used as it is', async t => {
  const { create, put, made } = await world(t)
  const { metadata } = await create(configMap({ a: '1' }))
  const now = await put(configMap({ a: '2' }))
  t.equal(made.length, 1)
  t.match(made[0], { metadata: { uid: metadata.uid! } }, 'no copy of it was written')
  t.strictSame([now.data, managers(now)], [{ a: '2' }, ['maker', 'me']])
})

t.test('who loses a race begins anew', async t => {
  const races = [configMap({ a: 'raced', b: '1' }), configMap({ a: 'raced again', b: '1' })]
  const here: World = await world(t, {
    handles: (_type, operation) => operation === 'UPDATE',
    async admit({ context }) {
      const race = context.user.name.endsWith(':me') && races.shift()
      if (race) await here.put(race, 'racer')
    },
  })
  const { create, put, made } = here
  await create(configMap({ a: '1', b: '1' }))
  const now = await put(configMap({ a: '2', b: '1' }))
  t.equal(races.length, 0)
  t.equal(made.length, 5, 'three attempts and two racers')
  t.equal(new Set(made).size, 5)
  t.strictSame([now.data, managers(now)], [{ a: '2', b: '1' }, ['maker', 'me']], 'nothing is left of an attempt')
})

t.test('so does what turns out to need a step that takes its time', async t => {
  let admitted = 0
  const { create, put, made } = await world(t, {
    handles: (_type, operation) => operation === 'UPDATE',
    concerns: ({ object }) => (object.data as Record<string, string>).a === 'slow',
    async admit({ object }) {
      admitted++
      ;(object.data as Record<string, string>).admitted = 'yes'
    },
  })
  await create(configMap({ a: '1' }))
  await put(configMap({ a: 'fast' }))
  t.strictSame([made.length, admitted], [1, 0])
  const now = await put(configMap({ a: 'slow' }))
  t.strictSame([made.length, admitted], [3, 1])
  t.strictSame(now.data, { a: 'slow', admitted: 'yes' })
})

t.test('what is missing is made of it, and put if somebody else makes it meanwhile', async t => {
  let racing = true
  const here: World = await world(t, {
    handles: (_type, operation) => operation === 'CREATE',
    async admit({ context }) {
      if (!racing || !context.user.name.endsWith(':me')) return
      racing = false
      await here.create(limitRange('1'))
    },
  })
  const { put, made } = here
  const now = await put(limitRange('2'))
  t.equal(made.length, 2)
  t.match(now.spec, { limits: [{ min: { cpu: '2' } }] })
  t.strictSame(managers(now), ['me'])
})

t.test('a body is read once more, in whatever form it was sent', async t => {
  const { api, faults } = await startTestServer(t, { spaces: false })
  const path = '/api/v1/namespaces/default/configmaps'
  const owner = await api.ok(api.post(path, { metadata: { name: 'owner' } }))
  const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid }
  // other users are checked before a change of owners: the write gives up its first attempt
  const owned = (name: string): object => ({ metadata: { name, ownerReferences: [reference] }, data: { form: name } })
  const yaml = (name: string): string =>
    `metadata:\n  name: ${name}\n  ownerReferences: [${JSON.stringify(reference)}]\ndata:\n  form: ${name}\n`
  for (const form of ['json', 'yaml']) {
    await api.ok(api.post(path, { metadata: { name: form } }))
    const sent = form === 'json' ? owned(form) : yaml(form)
    const { metadata, data } = await api.ok(api.put(`${path}/${form}`, sent, { type: `application/${form}` }))
    t.match([metadata.ownerReferences, data], [[reference], { form }])
  }
  t.strictSame(faults, [])
})
