import t from 'tap'
import { NAMESPACES } from '../../../src/apimachinery/resources.ts'
import { namespaceLifecycle, namespaceState } from '../../../src/apiserver/admission/namespaceLifecycle.ts'
import { loadCatalog } from '../../../src/apiserver/catalog/catalog.ts'
import type { AdmissionRequest } from '../../../src/apiserver/registry/admission.ts'
import { encodeObject, ParsedCache } from '../../../src/apiserver/registry/codec.ts'
import { systemContext } from '../../../src/apiserver/registry/context.ts'
import { keyOf } from '../../../src/apiserver/registry/keys.ts'
import { openMemoryStore } from '../../../src/storage/memory/openMemoryStore.ts'

t.test('a namespace is not parsed for what is created in it, unless it may be on its way out', async t => {
  const store = await openMemoryStore()
  t.teardown(() => store.close())
  const parsed = new ParsedCache()
  const step = namespaceLifecycle(namespaceState({ store, parsed }))
  const type = loadCatalog().types.find(({ resource }) => resource === 'configmaps')!
  const add = async (name: string, metadata: object): Promise<() => Promise<void>> => {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name, ...metadata } }
    const key = keyOf('root', NAMESPACES, '', name)
    await store.write({ key, mutation: { type: 'put', text: encodeObject(namespace) }, expect: 0 })
    const request = {
      operation: 'CREATE',
      context: systemContext('root', 'test'),
      type,
      object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c', namespace: name } },
    }
    return async () => void (await step.admit(request as unknown as AdmissionRequest))
  }
  const isParsed = async (name: string): Promise<boolean> =>
    parsed.known((await store.get(keyOf('root', NAMESPACES, '', name)))!) !== undefined
  await (await add('plain', {}))()
  t.notOk(await isParsed('plain'))
  await (await add('said', { annotations: { '"deletionTimestamp"': 'no', deletionTimestamp: 'no' } }))()
  t.ok(await isParsed('said'))
  const create = await add('going', { deletionTimestamp: '2026-01-01T00:00:00Z' })
  await t.rejects(create(), { name: 'StatusError', message: /being terminated/ })
})
