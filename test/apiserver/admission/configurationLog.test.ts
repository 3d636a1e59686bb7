/** The commit of a setting of admission makes it known: no request sees the earlier one. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { ConfigurationLog } from '../../../src/apiserver/admission/configurationLog.ts'
import { LabelledNamespaces } from '../../../src/apiserver/admission/podSecurity/labelledNamespaces.ts'
import { encodeObject } from '../../../src/apiserver/registry/codec.ts'
import { EVERYTHING_ACTS } from '../../../src/placement/spaces/nature.ts'
import { openMemoryStore } from '../../../src/storage/memory/openMemoryStore.ts'

const QUOTAS = { group: '', resource: 'resourcequotas' }
const NAMESPACES = { group: '', resource: 'namespaces' }

async function world() {
  const store = await openMemoryStore()
  const keyOf = (type: typeof QUOTAS, name: string, namespace: string) => ({ space: 's', ...type, namespace, name })
  return {
    store,
    put: (type: typeof QUOTAS, name: string, labels: Record<string, string>, namespace = '') => {
      const object: KubeObject = { apiVersion: 'v1', kind: 'Any', metadata: { name, namespace, labels } }
      return store.update(keyOf(type, name, namespace), () => ({ type: 'put', text: encodeObject(object) }))
    },
    remove: (type: typeof QUOTAS, name: string, namespace = '') =>
      store.update(keyOf(type, name, namespace), () => ({ type: 'delete' })),
  }
}

t.test('settings are known inside of their commit, and who compiles them is told', async t => {
  const { store, put, remove } = await world()
  await put(QUOTAS, 'b', { n: 'before' }, 'ns')
  const log = new ConfigurationLog({
    store,
    resources: [QUOTAS],
    ignores: ({ metadata }) => metadata.labels?.n === 'copy',
  })
  const told: string[] = []
  log.onChange([QUOTAS], space => void told.push(space))
  const seen: (string | undefined)[][] = []
  const look = (): void => void seen.push(log.list('s', QUOTAS, 'ns').map(({ metadata }) => metadata.labels?.n))
  store.project(QUOTAS, { reset: look, apply: look })
  await put(QUOTAS, 'a', { n: 'first' }, 'ns')
  await put(QUOTAS, 'b', { n: 'copy' }, 'ns')
  await put(QUOTAS, 'c', { n: 'copy' }, 'ns')
  await remove(QUOTAS, 'a', 'ns')
  t.same(seen, [['before'], ['first', 'before'], ['first'], ['first'], []])
  t.same(told, ['s', 's', 's'], 'what acts nowhere is no news')
  t.same(log.spaces(QUOTAS), [])
  t.notOk(log.has('s', QUOTAS))
  await store.close()
})

t.test('what does not act in its space is kept aside, until what acts there becomes another', async t => {
  const { store, put, remove } = await world()
  let acting = 'natured'
  const nature = { acts: (_space: string, _kind: object, { metadata }: KubeObject) => metadata.labels?.n === acting }
  const log = new ConfigurationLog({ store, resources: [QUOTAS], nature })
  const told: string[] = []
  log.onChange([QUOTAS], space => void told.push(space))
  const names = (): unknown[] => log.list('s', QUOTAS, 'ns').map(({ metadata }) => metadata.name)
  await put(QUOTAS, 'a', { n: 'plain' }, 'ns')
  t.notOk(log.has('s', QUOTAS))
  t.same(told, [])
  await put(QUOTAS, 'b', { n: 'natured' }, 'ns')
  t.same(names(), ['b'])
  await put(QUOTAS, 'a', { n: 'natured' }, 'ns')
  t.same(names(), ['a', 'b'])
  await put(QUOTAS, 'b', { n: 'plain' }, 'ns')
  t.same(names(), ['a'])
  acting = 'plain'
  log.rethink('s')
  t.same(names(), ['b'])
  await remove(QUOTAS, 'a', 'ns')
  t.same(told, ['s', 's', 's', 's'])
  await store.close()
})

t.test('namespaces count when their labels speak of pods', async t => {
  const { store, put, remove } = await world()
  await put(NAMESPACES, 'old', { 'pod-security.kubernetes.io/enforce': 'restricted' })
  const labelled = new LabelledNamespaces({ store, nature: EVERYTHING_ACTS })
  const enforced = (name: string) => labelled.labels('s', name)?.['pod-security.kubernetes.io/enforce']
  t.equal(enforced('old'), 'restricted')
  await put(NAMESPACES, 'new', { 'pod-security.kubernetes.io/enforce': 'baseline' })
  t.equal(enforced('new'), 'baseline')
  await put(NAMESPACES, 'new', { other: 'label' })
  await remove(NAMESPACES, 'old')
  for (const name of ['old', 'new']) t.equal(enforced(name), undefined)
  await store.close()
})
