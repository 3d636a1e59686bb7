/**
 * Processor time of a list of what clusters report, beside that of the same list of a space: `node bench/reported.ts`. The lists have as
 * many objects, of 1 KB each. Options: `--objects N`, `--clusters N`, `--rounds N`, `--core N`, `--profile FILE`, `--tree DIR`.
 */
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { type GroupVersionResource, isRecord, type KubeObject } from '../src/apimachinery/object.ts'
import { httpClient } from '../src/client/http/httpClient.ts'
import { freePort, inspectorAt, orreryOf, type RunningServer, TREE } from './servers.ts'

const { values: flags } = parseArgs({
  options: {
    objects: { type: 'string', default: '10000' },
    clusters: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '15' },
    core: { type: 'string' },
    profile: { type: 'string' },
    tree: { type: 'string', default: TREE },
  },
})
const CLUSTERS = Number(flags.clusters)
const OBJECTS = Number(flags.objects)
const ROUNDS = Number(flags.rounds)
const VERSION = 'edge.kubestellar.io/v2alpha1'
const edge = (resource: string): GroupVersionResource => ({
  group: 'edge.kubestellar.io',
  version: 'v2alpha1',
  resource,
})
const WORKSPACES = { group: 'tenancy.kcp.io', version: 'v1alpha1', resource: 'workspaces' }
const MAPS = { group: '', version: 'v1', resource: 'configmaps' }
const NAMESPACES = { group: '', version: 'v1', resource: 'namespaces' }
const MAPS_PATH = '/api/v1/namespaces/bench/configmaps'

const pause = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms))
const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!

async function crowd(count: number, each: (i: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < count) await each(next++)
  }
  await Promise.all(Array.from({ length: 16 }, worker))
}

const object = (kind: string, name: string, spec: object, labels = {}): KubeObject => ({
  apiVersion: VERSION,
  kind,
  metadata: { name, labels },
  spec,
})
const map = (i: number): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: `map-${i}`, namespace: 'bench', labels: { app: 'bench', tier: `${i % 10}` } },
  data: { text: `${i}`.padEnd(700, 'x') },
})

/** Bytes of an answer, all of which are read and forgotten. */
async function read({ endpoint }: RunningServer, path: string): Promise<{ bytes: number; items: number }> {
  const { host, port, cert, key } = endpoint
  const asking = request({ host, port, path, cert, key, rejectUnauthorized: false }).end()
  const [answer] = await once(asking, 'response')
  const body = await text(answer)
  if (answer.statusCode !== 200) throw new Error(`${path} answers ${answer.statusCode}`)
  return { bytes: body.length, items: body.split('"uid":').length - 1 }
}

const dir = await mkdtemp(join(tmpdir(), 'orrery-reported-'))
const inspectPort = await freePort()
const server = await orreryOf(flags.tree, flags.core, inspectPort).start(dir)
try {
  const { host, port, cert = '', key = '' } = server.endpoint
  const client = httpClient({ server: `https://${host}:${port}`, certPem: cert, keyPem: key, insecure: true })
  const inventory = client.in('root:imw1')
  for (let i = 0; i < CLUSTERS; i++) {
    const name = `c-${i}`
    await inventory.create(edge('synctargets'), object('SyncTarget', name, {}, { id: name }))
    const spec = { resource: edge('synctargets'), instanceSelector: { matchLabels: { id: name } } }
    await inventory.create(edge('locations'), object('Location', name, spec, { env: 'bench' }))
  }
  await client.in('root').create(WORKSPACES, {
    apiVersion: 'tenancy.kcp.io/v1alpha1',
    kind: 'Workspace',
    metadata: { name: 'plain' },
    spec: {},
  })
  for (let isReady = false; !isReady; await pause(100)) {
    const { status } = await client.in('root').get(WORKSPACES, { name: 'plain' })
    isReady = isRecord(status) && status.phase === 'Ready'
  }
  const namespace: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'bench' } }
  const spec = {
    locationSelectors: [{ matchLabels: { env: 'bench' } }],
    downsync: [{ apiGroup: '', resources: ['configmaps'], namespaces: ['bench'], objectNames: ['*'] }],
  }
  await client.in('root:wmw1').create(edge('edgeplacements'), object('EdgePlacement', 'bench', spec))
  for (const [space, count] of [['root:wmw1', OBJECTS / CLUSTERS] as const, ['root:plain', OBJECTS] as const]) {
    await client.in(space).create(NAMESPACES, namespace)
    await crowd(count, i => client.in(space).create(MAPS, map(i)))
  }
  const paths = {
    space: `/clusters/root:plain${MAPS_PATH}?labelSelector=app`,
    plain: `/clusters/root:plain${MAPS_PATH}`,
    view: `/services/reported/clusters/root:wmw1${MAPS_PATH}`,
  }
  while ((await read(server, paths.view)).items < OBJECTS) await pause(500)
  const inspector = flags.profile === undefined ? undefined : await inspectorAt(inspectPort)
  const found: Record<string, number[]> = { space: [], plain: [], view: [] }
  for (let round = -3; round < ROUNDS; round++) {
    if (round === 0) await inspector?.startProfile()
    for (const [name, path] of Object.entries(paths)) {
      const before = await server.cpuSeconds()
      const { bytes } = await read(server, path)
      const after = await server.cpuSeconds()
      if (round === -1) console.log(`${name}: ${bytes} bytes`)
      if (round >= 0) found[name]!.push(1000 * (after! - before!))
    }
  }
  if (inspector && flags.profile) {
    await writeFile(flags.profile, JSON.stringify(await inspector.stopProfile()))
    inspector.close()
  }
  for (const [name, values] of Object.entries(found))
    console.log(`${name}: ${median(values).toFixed(0)} ms (${values.map(value => value.toFixed(0)).join(' ')})`)
  console.log(`view to plain list of a space: ${(median(found.view!) / median(found.plain!)).toFixed(2)}`)
  await client.close()
} finally {
  await server.stop()
  await rm(dir, { recursive: true, force: true })
}
