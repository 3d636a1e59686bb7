/** A server with clusters whose reports are measured, beside a space without any. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KubeObject } from '../src/apimachinery/object.ts'
import type { Client } from '../src/client/client.ts'
import { addCluster, addSpace } from './ground.ts'
import { answerTo, clientOf, orreryOf, type RunningServer } from './servers.ts'

export const NAMESPACES = { group: '', version: 'v1', resource: 'namespaces' }
export const MAPS_PATH = '/api/v1/namespaces/bench/configmaps'

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
  const body = String(await answerTo(endpoint, { path }))
  return { bytes: body.length, items: body.split(mark).length - 1 }
}

export const NAMESPACE: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'bench' } }
/** Leads to all clusters. */
export const EVERYWHERE = { locationSelectors: [{ matchLabels: { env: 'bench' } }] }

interface Scene {
  readonly server: RunningServer
  readonly client: Client
}

/** The placing space is `root:wmw1`. */
export async function withScene(
  { tree, core, clusters }: { tree: string; core: string | undefined; clusters: number },
  measure: (scene: Scene) => Promise<void>,
): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'orrery-reported-'))
  const server = await orreryOf(tree, { cores: core, inspected: true }).start(dir)
  try {
    const client = clientOf(server.endpoint)
    for (let i = 0; i < clusters; i++) await addCluster(client, `c-${i}`, 'bench')
    await addSpace(client, 'plain')
    await measure({ server, client })
    await client.close()
  } finally {
    await server.stop()
    await rm(dir, { recursive: true, force: true })
  }
}
