/**
 * Random events in mailbox and cluster, and in the connections and the syncer between them. In the end the cluster holds the mailbox's
 * content, the mailbox knows the cluster's state, and foreign objects of the cluster are still there.
 */
import { randomUUID } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { isStatusError } from '../../src/apimachinery/errors.ts'
import { isRecord, type KubeObject } from '../../src/apimachinery/object.ts'
import type { SpaceClient } from '../../src/client/client.ts'
import { silentLogger } from '../../src/client/logger.ts'
import { DOWNSYNCED, UPSYNCED } from '../../src/placement/words/placement.ts'
import { isOurs } from '../../src/syncer/objects/marks.ts'
import { type Syncer, startSyncer } from '../../src/syncer/syncer.ts'
import { type Center, startCenter } from '../support/center.ts'
import * as fc from '../support/fastCheck.ts'
import { temporaryDir } from '../support/server.ts'
import { timeBy } from '../support/time.ts'
import { Faults } from './support/faults.ts'
import {
  asCluster,
  CONFIGS,
  configMap,
  DEPLOYMENTS,
  MAPS,
  NAMESPACES,
  namespace,
  syncerConfig,
} from './support/kinds.ts'
import { virtualClock } from './support/virtualClock.ts'

const NAMES = ['a', 'b', 'c'] as const
const PROJECTED = { 'edge.kubestellar.io/projected': 'yes' }

type Name = (typeof NAMES)[number]
type Step =
  | { do: 'put' | 'drift' | 'foreign' | 'bear'; name: Name; value: string }
  | { do: 'remove' | 'localDelete' | 'die'; name: Name }
  | { do: 'status'; name: Name; count: number }
  | { do: 'want'; names: Name[]; upsync: boolean }
  | {
      do:
        | 'cut'
        | 'expire'
        | 'centerDown'
        | 'clusterDown'
        | 'up'
        | 'restart'
        | 'forget'
        | 'keepState'
        | 'oldState'
        | 'breathe'
    }
  | { do: 'trouble'; where: 'center' | 'cluster'; fates: ('fails' | 'lost' | 'fine')[] }

const name = fc.constantFrom(...NAMES)
const value = fc.constantFrom('1', '2', '3')
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom('put', 'put', 'drift', 'foreign', 'bear'), name, value }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('remove', 'localDelete', 'die'), name }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('status'), name, count: fc.nat(9) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('want'), names: fc.subarray([...NAMES]), upsync: fc.boolean() }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'cut',
        'expire',
        'centerDown',
        'clusterDown',
        'up',
        'restart',
        'forget',
        'keepState',
        'oldState',
        'breathe',
        'breathe',
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('trouble'),
      where: fc.constantFrom('center', 'cluster'),
      fates: fc.array(fc.constantFrom('fails', 'lost', 'fine'), { minLength: 1, maxLength: 6 }),
    }),
  },
) as fc.Arbitrary<Step>

const deployment = (of: Name, content: string): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: of, namespace: 'app', labels: { ...PROJECTED } },
  spec: {
    selector: { matchLabels: { app: of } },
    template: { metadata: { labels: { app: of } }, spec: { containers: [{ name: 'c', image: `image:${content}` }] } },
  },
})
const map = (of: Name, content: string, labels: Record<string, string> = {}): KubeObject =>
  configMap(of, { value: content }, { labels })

/** One mailbox, one cluster, one syncer that comes and goes. */
class Stage {
  readonly center: Center
  readonly mailboxId: string
  readonly clusterId: string
  readonly mailbox: SpaceClient
  readonly cluster: SpaceClient
  readonly dir: string
  /** Whether its syncer takes over what somebody else made. */
  readonly adopts: boolean
  readonly toCenter = new Faults()
  readonly toCluster = new Faults()
  /** Names of ConfigMaps of the cluster that somebody else made. */
  readonly foreign = new Set<Name>()
  wanted: readonly Name[] = []
  upsync = false
  #syncer: Syncer | undefined
  #starts = 0

  constructor(center: Center, o: { mailboxId: string; clusterId: string; dir: string; adopts: boolean }) {
    this.center = center
    this.mailboxId = o.mailboxId
    this.clusterId = o.clusterId
    this.adopts = o.adopts
    this.dir = o.dir
    this.mailbox = center.client.in(o.mailboxId)
    this.cluster = asCluster(center.client.in(o.clusterId))
  }

  start(): void {
    mkdirSync(this.dir, { recursive: true })
    this.#syncer = startSyncer({
      center: this.toCenter.center(this.center.client),
      space: this.mailboxId,
      cluster: this.toCluster.cluster(this.cluster),
      stateDir: this.dir,
      quietMs: 1e9,
      adoptExisting: this.adopts,
      logger: silentLogger,
      ...timeBy(virtualClock(Date.parse('2026-01-01T00:00:00Z') + ++this.#starts * 1e7)),
    })
  }

  async stop(): Promise<void> {
    await this.#syncer?.stop()
  }

  async take(step: Step): Promise<void> {
    switch (step.do) {
      case 'put':
        await putOrUpdate(this.mailbox, MAPS, map(step.name, step.value, PROJECTED))
        await putOrUpdate(this.mailbox, DEPLOYMENTS, deployment(step.name, step.value))
        return
      case 'remove':
        await gone(this.mailbox.delete(MAPS, { namespace: 'app', name: step.name }))
        await gone(this.mailbox.delete(DEPLOYMENTS, { namespace: 'app', name: step.name }))
        return
      case 'drift':
        await gone(
          this.cluster.patch(MAPS, { namespace: 'app', name: step.name }, 'merge', {
            data: { value: step.value, local: 'x' },
          }),
        )
        return
      case 'foreign': {
        const made = await gone(this.cluster.create(MAPS, map(step.name, step.value)))
        if (made) this.foreign.add(step.name)
        return
      }
      case 'localDelete':
        // Forgotten first: the syncer may make it again before its end is known.
        this.foreign.delete(step.name)
        await gone(this.cluster.delete(MAPS, { namespace: 'app', name: step.name }))
        await gone(this.cluster.delete(DEPLOYMENTS, { namespace: 'app', name: step.name }))
        return
      case 'status': {
        const patch = { status: { replicas: step.count } }
        await gone(
          this.cluster.patch(DEPLOYMENTS, { namespace: 'app', name: step.name }, 'merge', patch, {
            subresource: 'status',
          }),
        )
        return
      }
      case 'bear':
        await putOrUpdate(this.cluster, MAPS, configMap(step.name, { value: step.value }, { namespace: 'orbital' }))
        return
      case 'die':
        await gone(this.cluster.delete(MAPS, { namespace: 'orbital', name: step.name }))
        return
      case 'want':
        this.wanted = step.names
        this.upsync = step.upsync
        await this.mailbox.patch(CONFIGS, { name: 'the-one' }, 'merge', { spec: this.#spec() })
        return
      case 'cut':
        this.toCenter.cut()
        this.toCluster.cut()
        return
      case 'expire':
        this.toCenter.expired = true
        this.toCenter.cut()
        return
      case 'centerDown':
        this.toCenter.down = true
        this.toCenter.cut()
        return
      case 'clusterDown':
        this.toCluster.down = true
        this.toCluster.cut()
        return
      case 'up':
        this.toCenter.down = false
        this.toCluster.down = false
        return
      case 'trouble':
        this[step.where === 'center' ? 'toCenter' : 'toCluster'].coming.push(...step.fates)
        return
      case 'keepState':
        await this.stop()
        replaceFolder(this.#state, this.#kept)
        this.start()
        return
      case 'restart':
      case 'forget':
      case 'oldState':
        await this.stop()
        if (step.do === 'forget') rmSync(this.#state, { recursive: true, force: true })
        if (step.do === 'oldState') replaceFolder(this.#kept, this.#state)
        this.start()
        return
      case 'breathe':
        for (let turn = 0; turn < 40; turn++) await new Promise(resolve => setImmediate(resolve))
    }
  }

  get #state(): string {
    return join(this.dir, 'mailbox')
  }

  get #kept(): string {
    return join(this.dir, 'kept')
  }

  #spec(): object {
    const objectsByNamespace = [{ namespace: 'app', names: this.wanted }]
    return {
      namespacedObjects: [
        { group: '', resource: 'configmaps', apiVersion: 'v1', objectsByNamespace },
        { group: 'apps', resource: 'deployments', apiVersion: 'v1', objectsByNamespace },
      ],
      upsync: this.upsync ? [{ apiGroup: '', resources: ['configmaps'], namespaces: ['orbital'], names: ['*'] }] : [],
    }
  }

  /** Part that is not yet as it should be. */
  missing(): string | undefined {
    const { world } = this.center
    for (const of of NAMES) {
      for (const kind of ['configmaps', 'deployments.apps']) {
        const key = `${kind} app/${of}`
        const inMailbox = world.get(this.mailboxId, key)
        const inCluster = world.get(this.clusterId, key)
        if (inMailbox && this.wanted.includes(of)) {
          if (!inCluster) return `${key} is not in the cluster`
          const foreign = kind === 'configmaps' && this.foreign.has(of)
          const differs = contentOf(inMailbox) !== contentOf(inCluster)
          if (differs && (this.adopts || !foreign)) return `${key} differs`
          if (isOurs(inCluster, DOWNSYNCED) === foreign) return `${key}: the mark says the wrong thing`
          if (kind !== 'configmaps' && JSON.stringify(inMailbox.status) !== JSON.stringify(inCluster.status))
            return `${key}: status ${JSON.stringify(inMailbox.status)} is not ${JSON.stringify(inCluster.status)}`
        } else if (inCluster && isOurs(inCluster, DOWNSYNCED)) return `${key} is still in the cluster`
      }
      if (this.foreign.has(of) && !world.get(this.clusterId, `configmaps app/${of}`))
        return `${of} was not ours to delete`
      const born = world.get(this.clusterId, `configmaps orbital/${of}`)
      const carried = world.get(this.mailboxId, `configmaps orbital/${of}`)
      if (!this.upsync || !born) {
        if (carried) return `orbital/${of} is still in the mailbox`
      } else if (!carried || !isOurs(carried, UPSYNCED)) return `orbital/${of} is not in the mailbox`
      else if (contentOf(born) !== contentOf(carried)) return `orbital/${of} differs in the mailbox`
    }
    return undefined
  }
}

/** Nothing where there is nothing to copy. */
function replaceFolder(from: string, to: string): void {
  if (!existsSync(from)) return
  rmSync(to, { recursive: true, force: true })
  cpSync(from, to, { recursive: true })
}

function contentOf(object: Readonly<KubeObject>): string {
  const { data, spec } = object
  return JSON.stringify(isRecord(data) ? data.value : isRecord(spec) && isRecord(spec.template) && spec.template.spec)
}

async function putOrUpdate(client: SpaceClient, resource: typeof MAPS, object: KubeObject): Promise<void> {
  const { namespace: within, name = '' } = object.metadata
  const { apiVersion: _version, kind: _kind, metadata: _metadata, ...content } = object
  if (await gone(client.create(resource, object))) return
  await client.patch(resource, { ...(within && { namespace: within }), name }, 'merge', content)
}

/** False when the object is not there (or there already): the syncer may have been faster. */
async function gone(call: Promise<unknown>): Promise<boolean> {
  try {
    await call
    return true
  } catch (error) {
    if (isStatusError(error, 'NotFound', 'AlreadyExists')) return false
    throw error
  }
}

t.test('it always converges', async t => {
  const dir = temporaryDir(t)
  const center = await startCenter(t, { expectsTrouble: true })
  let round = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async steps => {
      const id = ++round
      const [mailboxId, clusterId] = await Promise.all([
        center.space(`x-mb-${randomUUID()}`),
        center.space(`cluster-${id}`),
      ])
      const stage = new Stage(center, { mailboxId, clusterId, dir: join(dir, String(id)), adopts: id % 2 === 0 })
      await stage.mailbox.create(NAMESPACES, namespace('app', PROJECTED))
      await stage.cluster.create(NAMESPACES, namespace('orbital'))
      await stage.mailbox.create(CONFIGS, syncerConfig({}))
      stage.start()
      try {
        for (const each of steps) await stage.take(each)
        await stage.take({ do: 'up' })
        await center.world.until('converged', () => stage.missing())
      } finally {
        await stage.stop()
      }
    }),
    { numRuns: 8, endOnFailure: true },
  )
})
