/** Events of a fleet: people's changes of spaces and clusters, and failures of processes and links. */
import { setTimeout as pause } from 'node:timers/promises'
import { isStatusError } from '../../src/apimachinery/errors.ts'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import type { ObjectRef, SpaceClient } from '../../src/client/client.ts'
import type { Seeded } from '../support/seeded.ts'
import { DEPLOYMENTS, LOCATIONS, MAPS } from '../syncer/support/kinds.ts'
import { type Cluster, type Fleet, HOME, SETS } from './fleet.ts'

/** Errors of a client that was late, or whose server was not there. */
const EXPECTED = ['NotFound', 'AlreadyExists', 'Conflict', 'Timeout', 'ServiceUnavailable', 'TooManyRequests'] as const
const MAPS_AT_MOST = 16
const DEPLOYMENTS_AT_MOST = 4
/** Bound on the wait for a request to a frozen server; it may be done later all the same. */
const PATIENCE_MS = 5000

export interface Chaos {
  readonly fleet: Fleet
  readonly random: Seeded
  /** Messages that no server should have sent. */
  readonly faults: string[]
  /** By what happened. */
  readonly counts: Map<string, number>
}

/** For as long as `until` does not come. Resolves when everything runs again and all links are whole. */
export async function runChaos(chaos: Chaos, endMs: number): Promise<void> {
  await Promise.all([
    repeat(endMs, () => act(chaos, 'user', userSteps)),
    repeat(endMs, () => act(chaos, 'cluster', clusterSteps)),
    repeat(endMs, async () => {
      const [name, befall] = chaos.random.one(mishaps)
      count(chaos, name)
      await befall(chaos)
      await pause(chaos.random.number(1500))
    }),
  ])
}

async function repeat(endMs: number, step: () => Promise<void>): Promise<void> {
  while (performance.now() < endMs) await step()
}

function count({ counts }: Chaos, what: string): void {
  counts.set(what, (counts.get(what) ?? 0) + 1)
}

type Step = readonly [name: string, weight: number, run: (chaos: Chaos) => Promise<unknown>]

async function act(chaos: Chaos, who: string, steps: readonly Step[]): Promise<void> {
  const [name, , run] = chaos.random.one(steps.flatMap(step => Array.from({ length: step[1] }, () => step)))
  const done = run(chaos).then(
    () => count(chaos, name),
    (error: unknown) => {
      if (isStatusError(error) && !isStatusError(error, ...EXPECTED)) {
        chaos.faults.push(`${who}, ${name}: ${String(error)}`)
      }
    },
  )
  await Promise.race([done, pause(PATIENCE_MS)])
  await pause(chaos.random.number(150))
}

const someMap = ({ random }: Chaos): ObjectRef => ({ namespace: HOME, name: `m${random.number(MAPS_AT_MOST)}` })
const someDeployment = ({ random }: Chaos): ObjectRef => ({
  namespace: HOME,
  name: `d${random.number(DEPLOYMENTS_AT_MOST)}`,
})
const labels = ({ random }: Chaos): Record<string, string> => ({ set: random.one(SETS) })
const anything = ({ random }: Chaos): string => random.number(2 ** 32).toString(36)

const userSteps: readonly Step[] = [
  ['a ConfigMap is made', 4, chaos => chaos.fleet.wds.create(MAPS, map(chaos))],
  [
    'a ConfigMap is edited',
    6,
    chaos => chaos.fleet.wds.patch(MAPS, someMap(chaos), 'merge', { data: { v: anything(chaos) } }),
  ],
  [
    'a ConfigMap goes to another set',
    2,
    chaos => chaos.fleet.wds.patch(MAPS, someMap(chaos), 'merge', { metadata: { labels: labels(chaos) } }),
  ],
  ['a ConfigMap is deleted', 3, chaos => chaos.fleet.wds.delete(MAPS, someMap(chaos))],
  ['a ConfigMap is replaced', 1, chaos => replace(chaos)],
  ['a Deployment is made', 2, chaos => chaos.fleet.wds.create(DEPLOYMENTS, deployment(chaos))],
  [
    'a Deployment is scaled',
    3,
    chaos =>
      chaos.fleet.wds.patch(DEPLOYMENTS, someDeployment(chaos), 'merge', {
        spec: { replicas: 1 + chaos.random.number(3) },
      }),
  ],
  ['a Deployment is deleted', 1, chaos => chaos.fleet.wds.delete(DEPLOYMENTS, someDeployment(chaos))],
  ['a cluster changes sides', 1, chaos => changeSides(chaos)],
]

/** Deleted, and made anew under its name at once. */
async function replace(chaos: Chaos): Promise<void> {
  const ref = someMap(chaos)
  await chaos.fleet.wds.delete(MAPS, ref)
  await chaos.fleet.wds.create(MAPS, { ...map(chaos), metadata: { ...ref, labels: labels(chaos) } })
}

async function changeSides({ fleet, random }: Chaos): Promise<void> {
  const sides = Object.fromEntries(SETS.map(set => [set, random.one(['yes', 'no'])]))
  await fleet.inventory.patch(LOCATIONS, { name: random.one(fleet.clusters).name }, 'merge', {
    metadata: { labels: sides },
  })
}

function map(chaos: Chaos): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { ...someMap(chaos), labels: labels(chaos) },
    data: { v: anything(chaos) },
  }
}

function deployment(chaos: Chaos): KubeObject {
  const app = { app: anything(chaos) }
  const containers = [{ name: 'c', image: 'example.com/c:1' }]
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { ...someDeployment(chaos), labels: labels(chaos) },
    spec: {
      replicas: 1,
      selector: { matchLabels: app },
      template: { metadata: { labels: app }, spec: { containers } },
    },
  }
}

/** By whoever works in a cluster, on what was placed there. */
const clusterSteps: readonly Step[] = [
  [
    'a copy is changed in its cluster',
    3,
    chaos => inSome(chaos, api => api.patch(MAPS, someMap(chaos), 'merge', DRIFT)),
  ],
  ['a copy is deleted in its cluster', 2, chaos => inSome(chaos, api => api.delete(MAPS, someMap(chaos)))],
  [
    'a label is put on a copy in its cluster',
    1,
    chaos => inSome(chaos, api => api.patch(MAPS, someMap(chaos), 'merge', { metadata: { labels: { local: 'yes' } } })),
  ],
]
const DRIFT = { data: { v: 'drifted' } }

function inSome({ fleet, random }: Chaos, run: (api: SpaceClient) => Promise<unknown>): Promise<unknown> {
  return run(random.one(fleet.clusters).api)
}

const upTo = ({ random }: Chaos, ms: number): Promise<void> => pause(random.number(ms))
const someCluster = ({ fleet, random }: Chaos): Cluster => random.one(fleet.clusters)

/** Each ends whole. */
const mishaps: readonly (readonly [name: string, befall: (chaos: Chaos) => Promise<void>])[] = [
  [
    'the server is killed',
    async chaos => {
      await chaos.fleet.center.kill()
      await upTo(chaos, 2000)
      await chaos.fleet.center.start()
    },
  ],
  ['the server is frozen', chaos => frozen(chaos, chaos.fleet.center)],
  [
    'a syncer is killed',
    async chaos => {
      const { syncer } = someCluster(chaos)
      await syncer.stop()
      await upTo(chaos, 2000)
      syncer.start()
    },
  ],
  ['a syncer is frozen', chaos => frozen(chaos, someCluster(chaos).syncer)],
  [
    'a cluster is killed',
    async chaos => {
      const cluster = someCluster(chaos)
      await cluster.stop()
      await upTo(chaos, 2000)
      await cluster.start()
    },
  ],
  ['a cluster is frozen', chaos => frozen(chaos, someCluster(chaos))],
  [
    'a link is cut',
    async chaos => {
      const link = chaos.random.one(Object.values(someCluster(chaos).links))
      link.cut()
      await upTo(chaos, 4000)
      link.heal()
    },
  ],
  [
    'a link is silent',
    async chaos => {
      const link = chaos.random.one(Object.values(someCluster(chaos).links))
      link.silence()
      await upTo(chaos, 8000)
      link.heal()
    },
  ],
]

async function frozen(chaos: Chaos, process: { freeze(): void; thaw(): void }): Promise<void> {
  process.freeze()
  await upTo(chaos, 4000)
  process.thaw()
}
