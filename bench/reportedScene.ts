/** A server with clusters whose reports are measured, beside a space without any. */
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type GroupVersionResource, isRecord, type KubeObject } from '../src/apimachinery/object.ts'
import type { Client } from '../src/client/client.ts'
import { httpClient } from '../src/client/http/httpClient.ts'
import { freePort, orreryOf, type RunningServer } from './servers.ts'

const VERSION = 'edge.kubestellar.io/v2alpha1'
export const edge = (resource: string): GroupVersionResource => ({
  group: 'edge.kubestellar.io',
  version: 'v2alpha1',
  resource,
})
const WORKSPACES = { group: 'tenancy.kcp.io', version: 'v1alpha1', resource: 'workspaces' }
export const MAPS = { group: '', version: 'v1', resource: 'configmaps' }
export const NAMESPACES = { group: '', version: 'v1', resource: 'namespaces' }
export const MAPS_PATH = '/api/v1/namespaces/bench/configmaps'

export const pause = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms))

export async function crowd(count: number, each: (i: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < count) await each(next++)
  }
  await Promise.all(Array.from({ length: 16 }, worker))
}

export const object = (kind: string, name: string, spec: object, labels = {}): KubeObject => ({
  apiVersion: VERSION,
  kind,
  metadata: { name, labels },
  spec,
})
export const map = (i: number, annotations = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: `map-${i}`, namespace: 'bench', labels: { app: 'bench', tier: `${i % 10}` }, annotations },
  data: { text: `${i}`.padEnd(700, 'x') },
})

/** Bytes of an answer, all of which are read and forgotten. `items`: how often it has the mark, which each object has once. */
export async function read(
  { endpoint }: RunningServer,
  path: string,
  mark = '"uid":',
): Promise<{ bytes: number; items: number }> {
  const { host, port, cert, key } = endpoint
  const asking = request({ host, port, path, cert, key, rejectUnauthorized: false }).end()
  const [answer] = await once(asking, 'response')
  const body = await text(answer)
  if (answer.statusCode !== 200) throw new Error(`${path} answers ${answer.statusCode}`)
  return { bytes: body.length, items: body.split(mark).length - 1 }
}

export const NAMESPACE: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'bench' } }
/** Leads to all clusters. */
export const EVERYWHERE = { locationSelectors: [{ matchLabels: { env: 'bench' } }] }

export interface Scene {
  readonly server: RunningServer
  readonly client: Client
  readonly inspectPort: number
}

/** The placing space is `root:wmw1`. */
export async function withScene(
  { tree, core, clusters }: { tree: string; core: string | undefined; clusters: number },
  measure: (scene: Scene) => Promise<void>,
): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'orrery-reported-'))
  const inspectPort = await freePort()
  const server = await orreryOf(tree, core, inspectPort).start(dir)
  try {
    const { host, port, cert = '', key = '' } = server.endpoint
    const client = httpClient({ server: `https://${host}:${port}`, certPem: cert, keyPem: key, insecure: true })
    const inventory = client.in('root:imw1')
    for (let i = 0; i < clusters; i++) {
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
    await measure({ server, client, inspectPort })
    await client.close()
  } finally {
    await server.stop()
    await rm(dir, { recursive: true, force: true })
  }
}
