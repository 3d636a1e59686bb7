/**
 * Memory of an object that a syncer carried up, of 1 KB, before and while somebody reads the view of reports: `node bench/carriedUp.ts`.
 * Options: `--objects N`, `--clusters N`, `--core N`, `--tree DIR` (a tree without the view is measured without readers).
 */
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { atMost } from '../src/client/atMost.ts'
import { EDGE_PLACEMENTS } from '../src/placement/words/placement.ts'
import { AT_ONCE, CONFIG_MAPS, edgeObject, mailboxesOf, WORKLOAD } from './ground.ts'
import { EVERYWHERE, MAPS_PATH, map, NAMESPACE, NAMESPACES, read, withScene } from './reportedScene.ts'
import { TREE } from './servers.ts'

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

await withScene({ tree: flags.tree, core: flags.core, clusters: CLUSTERS }, async ({ server, client }) => {
  const upsync = [{ apiGroup: '', resources: ['configmaps'], namespaces: ['bench'], names: ['*'] }]
  const spec = { ...EVERYWHERE, upsync }
  await client.in(WORKLOAD).create(EDGE_PLACEMENTS, edgeObject('EdgePlacement', 'bench', { spec }))
  const mailboxes = (await mailboxesOf(client, CLUSTERS)).map(({ metadata }) => `root:espw:${metadata.name}`)
  for (const mailbox of mailboxes) {
    const annotations = { [UPSYNCED]: 'Namespace//bench' }
    await client.in(mailbox).create(NAMESPACES, { ...NAMESPACE, metadata: { name: 'bench', annotations } })
  }
  const inspector = await server.inspector()
  const used = async (): Promise<number> => {
    // collections, and writes of the store, bring it down in a few steps
    let least = Number.POSITIVE_INFINITY
    for (let i = 0; i < 6; i++, await pause(500)) least = Math.min(least, (await inspector.memory()).used)
    return least
  }
  const carryUp = async (from: number, to: number): Promise<void> => {
    await atMost(AT_ONCE, Array(to - from).keys(), i => {
      const name = `map-${from + i}`
      return client
        .in(mailboxes[i % CLUSTERS]!)
        .create(CONFIG_MAPS, map(from + i, { [UPSYNCED]: `ConfigMap/bench/${name}` }))
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
})
