/**
 * Memory of an object that a syncer carried up, of 1 KB, before and while somebody reads the view of reports: `node bench/carriedUp.ts`.
 * Options: `--objects N`, `--clusters N`, `--core N`, `--tree DIR` (a tree without the view is measured without readers).
 */
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { parseArgs } from 'node:util'
import {
  crowd,
  EVERYWHERE,
  edge,
  MAPS,
  MAPS_PATH,
  map,
  NAMESPACE,
  NAMESPACES,
  object,
  pause,
  read,
  withScene,
} from './reportedScene.ts'
import { inspectorAt, TREE } from './servers.ts'

const { values: flags } = parseArgs({
  options: {
    objects: { type: 'string', default: '20000' },
    clusters: { type: 'string', default: '4' },
    core: { type: 'string' },
    tree: { type: 'string', default: TREE },
  },
})
const OBJECTS = Number(flags.objects)
const CLUSTERS = Number(flags.clusters)
/** Objects before the first look, by which caches and code are warm. */
const WARM = 4000
const UPSYNCED = 'edge.kubestellar.io/upsynced'
const VIEW = `/services/reported/clusters/root:wmw1${MAPS_PATH}`

await withScene({ tree: flags.tree, core: flags.core, clusters: CLUSTERS }, async ({ server, client, inspectPort }) => {
  const upsync = [{ apiGroup: '', resources: ['configmaps'], namespaces: ['bench'], names: ['*'] }]
  await client
    .in('root:wmw1')
    .create(edge('edgeplacements'), object('EdgePlacement', 'bench', { ...EVERYWHERE, upsync }))
  const mailboxes = await mailboxesOf()
  for (const mailbox of mailboxes) {
    const annotations = { [UPSYNCED]: 'Namespace//bench' }
    await client.in(mailbox).create(NAMESPACES, { ...NAMESPACE, metadata: { name: 'bench', annotations } })
  }
  const inspector = await inspectorAt(inspectPort)
  const used = async (): Promise<number> => {
    // collections, and writes of the store, bring it down in a few steps
    let least = Number.POSITIVE_INFINITY
    for (let i = 0; i < 6; i++, await pause(500)) least = Math.min(least, (await inspector.memory()).used)
    return least
  }
  const carryUp = async (from: number, to: number): Promise<void> => {
    await crowd(to - from, i => {
      const name = `map-${from + i}`
      return client.in(mailboxes[i % CLUSTERS]!).create(MAPS, map(from + i, { [UPSYNCED]: `ConfigMap/bench/${name}` }))
    })
    for (const mailbox of mailboxes)
      for (let noted = 0; noted < to / CLUSTERS; await pause(500))
        noted = (await read(server, `/clusters/${mailbox}${MAPS_PATH}`, 'edge.kubestellar.io/upsynced-for')).items
  }
  await carryUp(0, WARM)
  const hasView = await read(server, VIEW).then(
    () => true,
    () => false,
  )
  const before = await used()
  const row = async (name: string): Promise<void> =>
    console.log(`${name}: ${(((await used()) - before) / OBJECTS).toFixed(0)} bytes for each object`)
  await carryUp(WARM, WARM + OBJECTS)
  await row('carried up')
  if (hasView) {
    const { items } = await read(server, VIEW)
    await row(`after a list of the view, ${items} objects`)
    const { host, port, cert, key } = server.endpoint
    const watch = request({ host, port, path: `${VIEW}?watch=1`, cert, key, rejectUnauthorized: false }).end()
    const [answer] = (await once(watch, 'response')) as [IncomingMessage]
    await new Promise<void>(resolve => {
      let events = 0
      answer.setEncoding('utf8').on('data', (piece: string) => {
        events += piece.split('\n').length - 1
        if (events === items) resolve()
      })
    })
    await row('while a watch of the view is open')
    watch.destroy()
  }
  inspector.close()

  async function mailboxesOf(): Promise<string[]> {
    for (;;) {
      const { items } = await client
        .in('root:espw')
        .list({ group: 'tenancy.kcp.io', version: 'v1alpha1', resource: 'workspaces' })
      const ready = items.filter(({ status }) => (status as { phase?: string } | undefined)?.phase === 'Ready')
      if (ready.length >= CLUSTERS) return ready.map(({ metadata }) => `root:espw:${metadata.name}`)
      await pause(100)
    }
  }
})
