/**
 * Processor time of a list of what clusters report, beside that of the same list of a space: `node bench/reported.ts`. The lists have as
 * many objects, of 1 KB each. Options: `--objects N`, `--clusters N`, `--rounds N`, `--core N`, `--profile FILE`, `--tree DIR`.
 */
import { writeFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { atMost } from '../src/client/atMost.ts'
import { EDGE_PLACEMENTS } from '../src/placement/words/placement.ts'
import { figuresOf } from '../test/support/figures.ts'
import { AT_ONCE, CONFIG_MAPS, edgeObject, WORKLOAD } from './ground.ts'
import { EVERYWHERE, MAPS_PATH, map, NAMESPACE, NAMESPACES, read, withScene } from './reportedScene.ts'
import { TREE } from './servers.ts'

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

const median = (values: readonly number[]): number => figuresOf(values).p50

await withScene({ tree: flags.tree, core: flags.core, clusters: CLUSTERS }, async ({ server, client }) => {
  const spec = {
    ...EVERYWHERE,
    downsync: [{ apiGroup: '', resources: ['configmaps'], namespaces: ['bench'], objectNames: ['*'] }],
  }
  await client.in(WORKLOAD).create(EDGE_PLACEMENTS, edgeObject('EdgePlacement', 'bench', { spec }))
  for (const [space, count] of [[WORKLOAD, OBJECTS / CLUSTERS] as const, ['root:plain', OBJECTS] as const]) {
    await client.in(space).create(NAMESPACES, NAMESPACE)
    await atMost(AT_ONCE, Array(count).keys(), i => client.in(space).create(CONFIG_MAPS, map(i)))
  }
  const paths = {
    space: `/clusters/root:plain${MAPS_PATH}?labelSelector=app`,
    plain: `/clusters/root:plain${MAPS_PATH}`,
    view: `/services/reported/clusters/root:wmw1${MAPS_PATH}`,
  }
  while ((await read(server, paths.view)).items < OBJECTS) await pause(500)
  const inspector = flags.profile === undefined ? undefined : await server.inspector()
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
})
