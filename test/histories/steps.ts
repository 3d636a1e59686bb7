/** Events of a history, one after the other, chosen by a seed. */
import { isStatusError } from '../../src/apimachinery/errors.ts'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import type { Seeded } from '../support/seeded.ts'
import { DEPLOYMENTS, MAPS, PLACEMENTS } from '../syncer/support/kinds.ts'
import { type Cluster, PLACEMENT, type Stage, selectorsOf } from './stage.ts'
import { SHOP } from './truth.ts'

export interface Step {
  readonly name: string
  readonly weight: number
  /** Whether it takes long enough to be left out of a short history. */
  readonly isLong?: true
  /** Its action, in words; `undefined`: there was nothing to do. */
  run(stage: Stage, random: Seeded): Promise<string | undefined>
}

const NAMES = ['a', 'b', 'c', 'd'] as const
const SLOW_LOOKS = 20
const POLICIES = { group: 'admissionregistration.k8s.io', version: 'v1', resource: 'validatingadmissionpolicies' }
const BINDINGS = { ...POLICIES, resource: 'validatingadmissionpolicybindings' }

export const STEPS: readonly Step[] = [
  { name: 'put', weight: 20, run: async (stage, random) => await put(stage, random.one(NAMES), random.chance(40)) },
  {
    name: 'slow',
    weight: 6,
    async run(stage, random) {
      const cluster = random.one(stage.clusters)
      const { promise, resolve } = Promise.withResolvers<void>()
      for (const syncer of cluster.syncers) syncer.slow = promise
      try {
        const said = await put(stage, random.one(NAMES), random.chance(40))
        if (said === undefined) return undefined
        // a present report cannot have arrived, however often it is read
        for (let look = 0; look < SLOW_LOOKS; look++) {
          const lie = await stage.lie()
          if (lie !== undefined) throw new Error(`while ${cluster.name} is slow and ${said}: ${lie}`)
        }
        return `while ${cluster.name} is slow: ${said}`
      } finally {
        for (const syncer of cluster.syncers) syncer.slow = undefined
        resolve()
      }
    },
  },
  {
    name: 'remove',
    weight: 6,
    async run(stage, random) {
      const [resource, name] = [random.chance(40) ? DEPLOYMENTS : MAPS, random.one(NAMES)]
      const done = await onCenter(stage, () => stage.wds.delete(resource, { namespace: SHOP, name }))
      return done && `${resource.resource}/${name} is deleted at the source`
    },
  },
  {
    name: 'replace',
    weight: 4,
    async run(stage, random) {
      const name = random.one(NAMES)
      if (!(await onCenter(stage, () => stage.wds.delete(MAPS, { namespace: SHOP, name })))) return undefined
      return `deleted, and at once: ${await put(stage, name, false)}`
    },
  },
  {
    name: 'place',
    weight: 5,
    async run(stage, random) {
      const chosen = stage.clusters.map(({ name }) => name).filter(() => random.chance(70))
      const body = { spec: { locationSelectors: selectorsOf(chosen) } }
      const done = await onCenter(stage, () => stage.wds.patch(PLACEMENTS, PLACEMENT, 'merge', body))
      return done && `placed on ${chosen.join(' and ') || 'nothing'}`
    },
  },
  {
    name: 'restart center',
    weight: 3,
    async run(stage) {
      await stage.endCenter()
      await stage.startCenter()
      return 'the center is started again'
    },
  },
  {
    name: 'center away',
    weight: 2,
    async run(stage) {
      if (!stage.center.isRunning) {
        await stage.startCenter()
        return 'the center is back'
      }
      await stage.endCenter()
      return 'the center is away'
    },
  },
  {
    name: 'keep center',
    weight: 1,
    async run(stage) {
      await stage.endCenter()
      await stage.center.keep()
      await stage.startCenter()
      return 'a backup of the center is made'
    },
  },
  {
    name: 'restore center',
    weight: 2,
    async run(stage) {
      await stage.endCenter()
      await stage.center.bringBack()
      await stage.startCenter()
      return 'the center is brought back from its backup'
    },
  },
  {
    name: 'syncer',
    weight: 12,
    async run(stage, random) {
      const cluster = random.one(stage.clusters)
      const which = random.number(2)
      if (!cluster.syncers[which]!.isRunning) {
        await stage.startSyncer(cluster, which)
        return `syncer ${which} of ${cluster.name} is started`
      }
      const how = random.one(['kill', 'stop'] as const)
      await stage.endSyncer(cluster, which, how)
      return `syncer ${which} of ${cluster.name} is ended (${how})`
    },
  },
  {
    name: 'silence',
    weight: 1,
    isLong: true,
    async run(stage, random) {
      const cluster = random.one(stage.clusters)
      if (!(await stage.speaksOf(cluster))) return undefined
      for (const which of [0, 1]) await stage.endSyncer(cluster, which, random.one(['kill', 'stop'] as const))
      await stage.until(() => stage.claims(cluster, 'Stale'))
      cluster.mayBeTold = false
      return `no syncer of ${cluster.name} runs, and the center has noticed`
    },
  },
  {
    name: 'syncer of old',
    weight: 3,
    async run(stage, random) {
      const cluster = random.one(stage.clusters)
      const which = random.number(2)
      const syncer = cluster.syncers[which]!
      await stage.endSyncer(cluster, which, 'kill')
      const isKept = random.chance(50) || !(await syncer.isKept())
      if (isKept) await syncer.keep()
      else await syncer.bringBack()
      await stage.startSyncer(cluster, which)
      return `syncer ${which} of ${cluster.name} is started ${isKept ? 'again' : 'with a state of before'}`
    },
  },
  {
    name: 'restart cluster',
    weight: 3,
    async run(stage, random) {
      const cluster = random.one(stage.clusters)
      await stage.endCluster(cluster)
      await stage.startCluster(cluster)
      return `the servers of ${cluster.name} are started again`
    },
  },
  {
    name: 'keep cluster',
    weight: 2,
    async run(stage, random) {
      const cluster = random.one(stage.clusters)
      await stage.endCluster(cluster)
      await cluster.server.keep()
      await stage.startCluster(cluster)
      return `a snapshot of ${cluster.name} is made`
    },
  },
  {
    name: 'roll back cluster',
    weight: 4,
    async run(stage, random) {
      const cluster = random.one(stage.clusters)
      await stage.endCluster(cluster)
      await cluster.server.bringBack()
      await stage.startCluster(cluster)
      cluster.refuses = await refusedIn(cluster)
      return `${cluster.name} is rolled back`
    },
  },
  {
    name: 'outage of a cluster',
    weight: 3,
    async run(stage, random) {
      const cluster = random.one(stage.clusters)
      if (!cluster.syncers.some(({ isHeard }) => isHeard) || !(await stage.speaksOf(cluster))) return undefined
      await stage.endCluster(cluster)
      await stage.until(() => stage.claims(cluster, 'ClusterUnreachable'))
      const isOld = random.chance(60)
      if (isOld) await cluster.server.bringBack()
      cluster.since = stage.moments.next()
      await stage.startCluster(cluster)
      cluster.refuses = await refusedIn(cluster)
      return `${cluster.name} was away, the center noticed, and it is back${isOld ? ' as of before' : ''}`
    },
  },
  {
    name: 'loss',
    weight: 8,
    async run(stage, random) {
      const cluster = random.one(stage.clusters)
      const [resource, name] = [random.chance(40) ? DEPLOYMENTS : MAPS, random.one(NAMES)]
      const done = await quietly(() => cluster.client.delete(resource, { namespace: SHOP, name }))
      return done && `${cluster.name} loses ${resource.resource}/${name}`
    },
  },
  {
    name: 'drift',
    weight: 4,
    async run(stage, random) {
      const cluster = random.one(stage.clusters)
      const name = random.one(NAMES)
      const body = { data: { v: `drift-${stage.newContent()}-` } }
      const done = await quietly(() => cluster.client.patch(MAPS, { namespace: SHOP, name }, 'merge', body))
      return done && `somebody in ${cluster.name} changes configmaps/${name}`
    },
  },
  {
    name: 'refuse',
    weight: 4,
    async run(stage, random) {
      const cluster = random.one(stage.clusters)
      if (cluster.refuses !== undefined) return await accept(stage, cluster)
      cluster.refuses = String(random.number(10))
      await refuse(cluster, cluster.refuses)
      return `${cluster.name} takes no ConfigMap that ends in ${cluster.refuses}`
    },
  },
]

/** Before anything else happens: what there is to go back to. */
export async function prepare(stage: Stage): Promise<void> {
  for (const name of NAMES) await put(stage, name, name === 'a')
  await stage.atRest()
  for (const cluster of stage.clusters) {
    await stage.endCluster(cluster)
    await cluster.server.keep()
    await stage.startCluster(cluster)
  }
  await stage.endCenter()
  await stage.center.keep()
  await stage.startCenter()
}

/** All programs run again, and all is reported as it is. */
export async function settle(stage: Stage, random: Seeded): Promise<void> {
  if (!stage.center.isRunning) await stage.startCenter()
  for (const cluster of stage.clusters) {
    if (!cluster.isServed) await stage.startSyncer(cluster, random.number(2))
    if (cluster.refuses !== undefined) await accept(stage, cluster)
  }
  await stage.atRest()
}

/** All that runs runs again, and there is something everywhere that may happen to something. */
export async function refill(stage: Stage, random: Seeded): Promise<void> {
  await settle(stage, random)
  const body = { spec: { locationSelectors: selectorsOf(stage.clusters.map(({ name }) => name)) } }
  await stage.wds.patch(PLACEMENTS, PLACEMENT, 'merge', body)
  for (const name of NAMES) await put(stage, name, name === 'a')
  await stage.atRest()
}

async function put(stage: Stage, name: string, isDeployment: boolean): Promise<string | undefined> {
  const content = stage.newContent()
  const resource = isDeployment ? DEPLOYMENTS : MAPS
  const object = isDeployment ? deployment(name, content) : map(name, content)
  const done = await onCenter(stage, () =>
    stage.wds.patch(resource, { namespace: SHOP, name }, 'apply', object, { fieldManager: 'author', force: true }),
  )
  return done && `${resource.resource}/${name} says ${content}`
}

/** Accepts everything again; a refused object is written anew, so that its syncer need not wait before it tries. */
async function accept(stage: Stage, cluster: Cluster): Promise<string> {
  cluster.refuses = undefined
  for (const resource of [BINDINGS, POLICIES]) await quietly(() => cluster.client.delete(resource, { name: 'refuse' }))
  for (const [key] of (await stage.sources()) ?? []) {
    const [resource, name = ''] = key.split('/')
    if (resource === 'configmaps') await put(stage, name, false)
  }
  return `${cluster.name} takes everything again, and all ConfigMaps are said anew`
}

async function refuse(cluster: Cluster, digit: string): Promise<void> {
  const apiVersion = 'admissionregistration.k8s.io/v1'
  const metadata = { name: 'refuse' }
  await cluster.client.create(POLICIES, {
    apiVersion,
    kind: 'ValidatingAdmissionPolicy',
    metadata,
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        resourceRules: [
          { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['configmaps'] },
        ],
      },
      validations: [
        { expression: `!has(object.data) || !('v' in object.data) || !object.data.v.endsWith('${digit}')` },
      ],
    },
  })
  await cluster.client.create(BINDINGS, {
    apiVersion,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata,
    spec: { policyName: 'refuse', validationActions: ['Deny'] },
  })
}

async function refusedIn(cluster: Cluster): Promise<string | undefined> {
  const { items } = await cluster.client.list(POLICIES)
  return /endsWith\('(\d)'\)/.exec(JSON.stringify(items))?.[1]
}

/** Nothing is done while the center is away. */
async function onCenter(stage: Stage, work: () => Promise<unknown>): Promise<true | undefined> {
  return stage.center.isRunning ? await quietly(work) : undefined
}

/** Errors of an absent object, or of one that exists already, are ignored. */
async function quietly(work: () => Promise<unknown>): Promise<true | undefined> {
  try {
    await work()
    return true
  } catch (error) {
    if (isStatusError(error, 'NotFound', 'AlreadyExists', 'Conflict')) return undefined
    throw error
  }
}

function map(name: string, content: string): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: SHOP }, data: { v: content } }
}

function deployment(name: string, content: string): KubeObject {
  const labels = { app: name }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: SHOP },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: content }] } },
    },
  }
}
