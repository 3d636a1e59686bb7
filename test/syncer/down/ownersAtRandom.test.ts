/**
 * Owners and dependents come, go, change hands and are recreated at random. The cluster has a garbage collector, and syncers end and start.
 * An object that stays in the mailbox is never recreated in the cluster, and refers to its owners in the end.
 */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { OWNER_REFERENCES_ANNOTATION } from '../../../src/placement/words/placement.ts'
import type { Syncer } from '../../../src/syncer/syncer.ts'
import { startCenter } from '../../support/center.ts'
import * as fc from '../../support/fastCheck.ts'
import { MAPS } from '../support/kinds.ts'
import { type Pair, PROJECTED, pairIn } from '../support/pair.ts'

const NAMES = ['a', 'b', 'c', 'd', 'e']
const center = await startCenter(t, { expectsTrouble: true })
const at = (name: string) => ({ namespace: 'app', name })
const wants = {
  namespacedObjects: [
    { group: '', resource: 'configmaps', apiVersion: 'v1', objectsByNamespace: [{ namespace: 'app', names: NAMES }] },
  ],
}

const SIZE = { minLength: 5, maxLength: 25 }

type Step =
  | { readonly do: 'put'; readonly name: string; readonly owners: readonly string[] }
  | { readonly do: 'delete' | 'renew'; readonly name: string }
  | { readonly do: 'restart' | 'settle' }

const name = fc.constantFrom(...NAMES)
const put = fc.record({ do: fc.constant('put' as const), name, owners: fc.uniqueArray(name, { maxLength: 3 }) })
const change = (...kinds: ('delete' | 'renew')[]) => fc.record({ do: fc.constantFrom(...kinds), name })
const pause = (...kinds: ('restart' | 'settle')[]) => fc.record({ do: fc.constantFrom(...kinds) })
/** Only a syncer that saw what was there before makes anew what cannot be changed. */
const histories = fc.oneof(
  fc.record({
    immutable: fc.constant(true),
    steps: fc.array(fc.oneof(put, put, change('delete', 'renew'), change('delete', 'renew'), pause('settle')), SIZE),
  }),
  fc.record({
    immutable: fc.constant(false),
    steps: fc.array(fc.oneof(put, put, change('delete'), pause('restart', 'settle')), SIZE),
  }),
)

class Run {
  readonly #pair: Pair
  /** Content of the mailbox: owners, and the number of its creations there. */
  readonly wanted = new Map<string, { owners: readonly string[]; version: number }>()
  readonly #immutable: boolean
  #syncer: Syncer
  #versions = 0

  constructor(pair: Pair, immutable: boolean) {
    this.#pair = pair
    this.#immutable = immutable
    this.#syncer = pair.start()
  }

  async do(step: Step): Promise<void> {
    const { mailbox } = this.#pair
    switch (step.do) {
      case 'put': {
        const known = this.wanted.get(step.name)
        const owners = step.owners.filter(owner => owner !== step.name)
        const version = known?.version ?? ++this.#versions
        this.wanted.set(step.name, { owners, version })
        if (!known) await mailbox.create(MAPS, copyOf(step.name, owners, version, this.#immutable))
        else await mailbox.patch(MAPS, at(step.name), 'merge', { metadata: { annotations: saying(owners) } })
        return
      }
      case 'delete':
        if (this.wanted.delete(step.name)) await mailbox.delete(MAPS, at(step.name))
        return
      case 'renew': {
        const known = this.wanted.get(step.name)
        if (!known) return
        const version = ++this.#versions
        this.wanted.set(step.name, { ...known, version })
        await mailbox.delete(MAPS, at(step.name))
        await mailbox.create(MAPS, copyOf(step.name, known.owners, version, this.#immutable))
        return
      }
      case 'restart':
        await this.#syncer.stop()
        this.#syncer = this.#pair.start()
        return
      case 'settle':
        await this.settle()
    }
  }

  async settle(): Promise<void> {
    await center.world.until('the cluster holds what the mailbox does', () => this.missing())
  }

  missing(): string | undefined {
    for (const name of NAMES) {
      const live = center.world.get(this.#pair.clusterId, `configmaps app/${name}`)
      const said = this.wanted.get(name)
      if (!said && live) return `${name} is there`
      if (!said) continue
      if (!live) return `${name} is not there`
      if (versionOf(live) !== said.version) return `${name} is of version ${versionOf(live)}, not ${said.version}`
      const uids = said.owners.filter(one => this.wanted.has(one)).map(one => this.#uidOf(one))
      const refers = (live.metadata.ownerReferences ?? []).map(({ uid }) => uid)
      if (refers.sort().join() !== uids.sort().join()) return `${name} refers to ${refers.join()}, not ${uids.join()}`
    }
    return undefined
  }

  async stop(): Promise<void> {
    await this.#syncer.stop()
  }

  #uidOf(name: string): string {
    return center.world.get(this.#pair.clusterId, `configmaps app/${name}`)?.metadata.uid ?? ''
  }
}

/** An immutable object has to be recreated. */
function copyOf(name: string, owners: readonly string[], version: number, immutable: boolean): KubeObject {
  const metadata = { ...at(name), labels: PROJECTED, annotations: saying(owners) }
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata,
    immutable,
    data: { version: `${version}` },
  } as KubeObject
}
function saying(owners: readonly string[]): Record<string, string> {
  const carried = owners.map(one => ({ group: '', resource: 'configmaps', kind: 'ConfigMap', ...at(one) }))
  return { [OWNER_REFERENCES_ANNOTATION]: JSON.stringify(carried) }
}
const versionOf = (object: KubeObject): number => Number((object.data as { version?: string }).version)

t.test('nothing that stays is ever taken along', { timeout: 100_000 }, async t => {
  await fc.assert(
    fc.asyncProperty(histories, async ({ immutable, steps }) => {
      const pair = await pairIn(center, t, wants)
      const made = new Map<string, string[]>()
      const create = pair.cluster.create
      const cluster = {
        ...pair.cluster,
        create: async (...args: Parameters<typeof create>) => {
          const object = await create(...args)
          const id = `${object.metadata.name} ${versionOf(object)}`
          if (object.kind === 'ConfigMap') made.set(id, [...(made.get(id) ?? []), object.metadata.uid ?? ''])
          return object
        },
      }
      const run = new Run({ ...pair, start: () => pair.start(undefined, undefined, { cluster }) }, immutable)
      try {
        for (const one of steps) await run.do(one)
        await run.settle()
        const twice = [...made].filter(([, uids]) => uids.length > 1).map(([id]) => id)
        if (twice.length > 0) throw new Error(`made more than once: ${twice.join(', ')}`)
      } finally {
        await run.stop()
      }
    }),
    // a failure takes as long as waiting has patience: it is not made smaller
    { numRuns: 5, endOnFailure: true },
  )
})
