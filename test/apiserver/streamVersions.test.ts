/** The space stream sends each object in one version: the one that its line names, and that can be requested. */
import { type AddressInfo, createServer, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { embeddedClient } from '../../src/apiserver/embedded/embeddedClient.ts'
import { startConverter } from '../support/converter.ts'
import { crdsIn } from '../support/crds.ts'
import { CONFIGMAPS, configMap, createSpace, startTestServer, WEBHOOKS_HERE } from '../support/server.ts'

const GROUP = 'streamed.example.com'
const GAUGES = { group: GROUP, resource: 'gauges' }
const schema = {
  openAPIV3Schema: { type: 'object', properties: { size: { type: 'integer' }, by: { type: 'string' } } },
}

const definition = (stored: string, served: readonly string[], rest: object = {}) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `gauges.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Cluster',
    names: { plural: 'gauges', singular: 'gauge', kind: 'Gauge', listKind: 'GaugeList' },
    versions: ['v1', 'v2'].map(name => ({ name, served: served.includes(name), storage: name === stored, schema })),
    ...rest,
  },
})
const gauge = (version: string, name: string): object => ({
  apiVersion: `${GROUP}/${version}`,
  kind: 'Gauge',
  metadata: { name },
  size: 1,
})

/** Objects in both streams, one of them stored in v1 before its kind came to be defined as `later`. */
async function toldAfter(t: Test, later: ReturnType<typeof definition>): Promise<string[]> {
  const { api, server, faults } = await startTestServer(t, WEBHOOKS_HERE)
  const space = await createSpace(api, 'one')
  const at = api.in(space)
  const crds = crdsIn(at)
  await crds.define(definition('v1', ['v1', 'v2']))
  await api.ok(at.post(`/apis/${GROUP}/v1/gauges`, gauge('v1', 'old')))
  await crds.change(later)
  const fresh = later.spec.versions.find(each => each.served)!.name
  await api.ok(at.post(`/apis/${GROUP}/${fresh}/gauges`, gauge(fresh, 'new')))

  const line = (version: unknown, object: KubeObject): string =>
    `${object.metadata.name} ${version} ${object.apiVersion} ${object.by ?? ''}`.trim()
  const stream = await api.watch(`/services/stream/clusters/${space}?resources=gauges.${GROUP}`)
  const snapshot = (await stream.until(event => event.synced === true)).slice(0, -1)
  await api.ok(at.delete(`/apis/${GROUP}/${fresh}/gauges/old`))
  const gone = await stream.take(1)
  stream.close()
  const lines = [...snapshot, ...gone].map(event => line(event.version, event.object))

  const stop = new AbortController()
  const own: string[] = []
  const client = embeddedClient({ ...server, component: 'test' })
  const after = Number(snapshot[1]!.object.metadata.resourceVersion) - 1
  for await (const batch of client.stream({ space, resources: [GAUGES], after, signal: stop.signal })) {
    for (const event of batch.events) own.push(line(event.resource.version, event.object))
    if (own.length >= lines.length) break
  }
  stop.abort()
  t.strictSame(new Set(own), new Set(lines), 'over HTTP and in process')
  t.strictSame(faults, [])
  return lines
}

t.test('an object that is stored in an older version is told in the one of today', async t => {
  const told = await toldAfter(t, definition('v2', ['v1', 'v2']))
  t.strictSame(told, [`new v2 ${GROUP}/v2`, `old v2 ${GROUP}/v2`, `old v2 ${GROUP}/v2`])
})

t.test('a storage version that is not served is no version to tell', async t => {
  const told = await toldAfter(t, definition('v2', ['v1']))
  t.strictSame(told, [`new v1 ${GROUP}/v1`, `old v1 ${GROUP}/v1`, `old v1 ${GROUP}/v1`])
})

t.test('a webhook converts it', async t => {
  const { clientConfig } = await startConverter(t, (object, apiVersion) => ({ ...object, apiVersion, by: 'webhook' }))
  const conversion = { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } }
  const told = await toldAfter(t, definition('v2', ['v1', 'v2'], { conversion }))
  const old = `old v2 ${GROUP}/v2 webhook`
  t.strictSame(told, [`new v2 ${GROUP}/v2 webhook`, old, old], 'the new one when it was written')
})

t.test('what its webhook does not convert is told as it is stored, and the others go on', async t => {
  let broken = true
  const { clientConfig } = await startConverter(t, (object, apiVersion) => {
    if (broken) throw new Error('not today')
    return { ...object, apiVersion }
  })
  const conversion = { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } }
  const { api } = await startTestServer(t, WEBHOOKS_HERE)
  const space = await createSpace(api, 'one')
  const at = api.in(space)
  const crds = crdsIn(at)
  await crds.define(definition('v1', ['v1', 'v2']))
  await api.ok(at.post(`/apis/${GROUP}/v1/gauges`, gauge('v1', 'old')))
  await crds.change(definition('v2', ['v1', 'v2'], { conversion }))
  await api.ok(at.post(`/apis/${GROUP}/v2/gauges`, gauge('v2', 'new')))
  const told = async (): Promise<unknown[]> => {
    const stream = await api.watch(`/services/stream/clusters/${space}?resources=gauges.${GROUP}`)
    const events = await stream.until(event => event.synced === true)
    stream.close()
    return events.slice(0, -1).map(({ version, object }) => [version, object.apiVersion])
  }
  const v2 = ['v2', `${GROUP}/v2`]
  t.strictSame(await told(), [v2, ['v1', `${GROUP}/v1`]])
  broken = false
  t.strictSame(await told(), [v2, v2], 'it is tried again')
})

t.test('no webhook of one space keeps a stream of all spaces waiting', async t => {
  const { clientConfig } = await startSilence(t)
  const conversion = { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } }
  const { api, server } = await startTestServer(t, WEBHOOKS_HERE)
  const at = api.in(await createSpace(api, 'one'))
  const crds = crdsIn(at)
  await crds.define(definition('v1', ['v1']))
  await api.ok(at.post(`/apis/${GROUP}/v1/gauges`, gauge('v1', 'old')))
  await crds.change(definition('v2', ['v2'], { conversion }))
  await api.ok(api.post(CONFIGMAPS, configMap('last')))

  const stream = await api.watch(`/services/stream/clusters/*?resources=configmaps,gauges.${GROUP}`)
  const told = await stream.until(event => event.synced === true)
  stream.close()
  const old = told.find(({ name }) => name === 'old')
  t.match(old, { version: 'v1', object: { apiVersion: `${GROUP}/v1` } }, 'it is told as it is stored')

  const stop = new AbortController()
  const client = embeddedClient({ ...server, component: 'test' })
  const asked: string[] = []
  for await (const { events, synced } of client.stream({ space: '*', signal: stop.signal })) {
    for (const { name, resource } of events) if (name === 'old') asked.push(resource.version)
    if (synced) break
  }
  stop.abort()
  t.strictSame(asked, ['v2'], 'under a version that can be asked for')
})

/** Takes connections and says nothing. */
async function startSilence(t: Test): Promise<{ clientConfig: { url: string } }> {
  const open = new Set<Socket>()
  const server = createServer(socket => void open.add(socket))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  return { clientConfig: { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/convert` } }
}
