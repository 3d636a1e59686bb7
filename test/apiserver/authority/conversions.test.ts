/** Conversion webhooks may run in clusters only: where workload is described, and in mailboxes, nobody calls them. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { decodeObject, encodeObject } from '../../../src/apiserver/registry/codec.ts'
import type { Api } from '../../support/api.ts'
import { startConverter } from '../../support/converter.ts'
import { crdsIn } from '../../support/crds.ts'
import { createSpace, startTestServer, WEBHOOKS_HERE } from '../../support/server.ts'

const { api, server, faults } = await startTestServer(t, WEBHOOKS_HERE)
const text = { type: 'string' }
const schema = (field: string): object => ({
  openAPIV3Schema: {
    type: 'object',
    properties: { spec: { type: 'object', properties: { [field]: text, both: text } } },
  },
})
const converter = await startConverter(t, (object, apiVersion) => ({ ...object, apiVersion }))
const CRD = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'rules.engine.example.com' },
  spec: {
    group: 'engine.example.com',
    scope: 'Namespaced',
    names: { plural: 'rules', kind: 'Rule' },
    versions: [
      { name: 'v1', served: true, storage: true, schema: schema('old') },
      { name: 'v2', served: true, storage: false, schema: schema('fresh') },
    ],
    conversion: {
      strategy: 'Webhook',
      webhook: { clientConfig: converter.clientConfig, conversionReviewVersions: ['v1'] },
    },
  },
}
const at = (version: string): string => `/apis/engine.example.com/${version}/namespaces/default/rules`
const rule = (version: string, name: string, spec: object): object => ({
  apiVersion: `engine.example.com/${version}`,
  kind: 'Rule',
  metadata: { name },
  spec,
})

/** Reviews of the webhook for a read and a write of the version that is not stored. */
async function reviewsOf(space: Api): Promise<number> {
  const before = converter.reviews.length
  await api.ok(space.post(at('v1'), rule('v1', 'a', { old: 'x', both: 'y' })))
  await api.ok(space.get(`${at('v2')}/a`))
  await api.ok(space.post(at('v2'), rule('v2', 'b', { fresh: 'x', both: 'y' })))
  return converter.reviews.length - before
}

const MAILBOX = 'abc123-mb-01234567-89ab-cdef-0123-456789abcdef'
const plain = api.in(await createSpace(api, 'plain'))
const mailbox = api.in(await createSpace(api.in('root:espw'), MAILBOX))
const workload = api.in(await createSpace(api, 'described', 'workload'))
for (const space of [plain, mailbox, workload]) await crdsIn(space).define(CRD)

for (const [name, space] of [
  ['a workload space', workload],
  ['a mailbox', mailbox],
] as const) {
  t.test(`in ${name} versions differ by name alone`, async t => {
    t.equal(await reviewsOf(space), 0)
    const [a, b] = [await space.get(`${at('v2')}/a`), await space.get(`${at('v1')}/b`)]
    t.strictSame(a.body.spec, { both: 'y' }, 'a version shows what it knows')
    t.strictSame([b.body.spec, b.body.apiVersion], [{ both: 'y' }, 'engine.example.com/v1'])
    t.strictSame((await space.get(`${at('v1')}/a`)).body.spec, { old: 'x', both: 'y' })
    const crd = await space.get(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${CRD.metadata.name}`)
    t.match(crd.body.spec, { conversion: { strategy: 'Webhook' } }, 'the definition goes on as it is')
  })
}

t.test('in other spaces the webhook is asked, until the space is one that describes', async t => {
  t.ok((await reviewsOf(plain)) > 0)
  const key = { space: 'root', group: 'tenancy.kcp.io', resource: 'workspaces', namespace: '', name: 'plain' }
  await server.store.update(key, stored => {
    const object: KubeObject = decodeObject(stored!)
    object.spec = { ...(object.spec as object), type: { name: 'workload', path: 'root' } }
    return { type: 'put', text: encodeObject(object) }
  })
  const before = converter.reviews.length
  await api.ok(plain.post(at('v1'), rule('v1', 'c', { old: 'x', both: 'y' })))
  t.strictSame((await plain.get(`${at('v2')}/c`)).body.spec, { both: 'y' })
  t.equal(converter.reviews.length, before)
})

t.test('nothing of this is a fault of the server', async t => {
  t.strictSame(faults, [])
})
