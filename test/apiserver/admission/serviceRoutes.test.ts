/** The way to a webhook is found without reading a namespace's slices for each call, and is never an old one. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { ServiceRoutes } from '../../../src/apiserver/admission/serviceRoutes.ts'
import { encodeObject, ParsedCache } from '../../../src/apiserver/registry/codec.ts'
import { openMemoryStore } from '../../../src/storage/memory/openMemoryStore.ts'

const SLICES = { group: 'discovery.k8s.io', resource: 'endpointslices' }
const PORTS = [{ port: 443, targetPort: 8443 }]

async function world() {
  const counted = { lists: 0, whileListing: undefined as (() => Promise<unknown>) | undefined }
  const store = await openMemoryStore()
  const routes = new ServiceRoutes({
    store: {
      get: key => store.get(key),
      project: (range, projection) => store.project(range, projection),
      async list(range, options) {
        counted.lists++
        const page = await store.list(range, options)
        await counted.whileListing?.()
        return page
      },
    },
    parsed: new ParsedCache(),
    random: () => 0,
  })
  const put = (namespace: string, type: { group: string; resource: string }, object: KubeObject): Promise<unknown> => {
    const key = { space: 's', ...type, namespace, name: object.metadata.name! }
    return store.update(key, () => ({ type: 'put', text: encodeObject(object) }))
  }
  const service = (namespace: string): Promise<unknown> =>
    put(
      namespace,
      { group: '', resource: 'services' },
      { apiVersion: 'v1', kind: 'Service', metadata: { name: 'hooks', namespace }, spec: { ports: PORTS } },
    )
  const slice = (namespace: string, address: string, of = 'hooks'): Promise<unknown> =>
    put(namespace, SLICES, {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: `${of}-1`, namespace, labels: { 'kubernetes.io/service-name': of } },
      ports: [{ port: 8443 }],
      endpoints: [{ addresses: [address] }],
    })
  const host = async (namespace: string): Promise<string> =>
    (await routes.to('s', { namespace, name: 'hooks', path: '', port: 443 })).host
  return { counted, service, slice, host }
}

t.test('calls read the slices once, until one of the namespace is written', async t => {
  const { counted, service, slice, host } = await world()
  await service('one')
  await slice('one', '10.0.0.1')
  await slice('one', '10.9.9.9', 'other')
  for (let call = 0; call < 5; call++) t.equal(await host('one'), '10.0.0.1')
  t.equal(counted.lists, 1)
  await slice('two', '10.0.0.2')
  t.equal(await host('one'), '10.0.0.1')
  t.equal(counted.lists, 1, 'other namespaces are of no concern')
  await slice('one', '10.0.0.3')
  t.equal(await host('one'), '10.0.0.3')
  t.equal(counted.lists, 2)
})

t.test('what is written while the slices are being read counts with the next call', async t => {
  const { counted, service, slice, host } = await world()
  await service('one')
  await slice('one', '10.0.0.1')
  counted.whileListing = () => slice('one', '10.0.0.2')
  await host('one')
  counted.whileListing = undefined
  t.equal(await host('one'), '10.0.0.2')
})

t.test('the namespaces that are remembered are bounded', async t => {
  const { counted, service, slice, host } = await world()
  for (let i = 0; i < 100; i++) {
    await service(`n${i}`)
    await slice(`n${i}`, `10.0.0.${i}`)
    t.equal(await host(`n${i}`), `10.0.0.${i}`)
  }
  t.equal(await host('n0'), '10.0.0.0')
  t.equal(counted.lists, 101, 'the first was forgotten')
})
