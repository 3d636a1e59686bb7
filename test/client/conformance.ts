/**
 * The contract of `Client` and `SpaceClient` as one table of statements, for the real clients and for the fakes that tests use.
 * A fake offers a feature as the statements say, or refuses it with an error that is no Status: it never answers wrongly.
 */
import type { Test } from 'tap'
import type { Client } from '../../src/client/client.ts'
import { creations } from './conformance/creations.ts'
import { deletions } from './conformance/deletions.ts'
import { patches } from './conformance/patches.ts'
import { reads } from './conformance/reads.ts'
import {
  at,
  type Feature,
  MAPS,
  map,
  NAMESPACES,
  SETS,
  type Statement,
  set,
  take,
  type World,
} from './conformance/statement.ts'
import { together } from './conformance/together.ts'
import { updates } from './conformance/updates.ts'
import { watches } from './conformance/watches.ts'

export interface Implementation {
  readonly client: Client
  /** Id of a space that there is. */
  readonly space: string
  /** Features that it refuses. */
  readonly refuses: readonly Feature[]
  /** The message of these refusals, which no answer of a server has. */
  readonly refusal?: RegExp
  /** Statements that do not hold of it, with the reason. */
  readonly deviations?: Readonly<Record<string, string>>
  forget(): Promise<void>
}

const STATEMENTS: readonly Statement[] = [
  ...reads,
  ...creations,
  ...updates,
  ...patches,
  ...deletions,
  ...watches,
  ...together,
]

/** A use of each feature, in a world with the ConfigMap and the ReplicaSet `a`. */
const USES: Record<Feature, (world: World) => Promise<unknown>> = {
  list: async ({ api, namespace }) => await api.list(MAPS, { namespace }),
  watch: world => take(signal => world.api.watch(MAPS, { resourceVersion: '1', signal }), 1),
  selectors: async ({ api }) => await api.list(MAPS, { labelSelector: 'x=1' }),
  fields: async ({ api }) => await api.list(MAPS, { fieldSelector: 'metadata.name=a' }),
  json: async world => await world.api.patch(MAPS, at(world, 'a'), 'json', []),
  strategic: async world => await world.api.patch(MAPS, at(world, 'a'), 'strategic', {}),
  apply: async world => await world.api.patch(MAPS, at(world, 'a'), 'apply', map(world, 'a'), { fieldManager: 'm' }),
  dryRun: async world => await world.api.create(MAPS, map(world, 'b'), { dryRun: true }),
  resume: async ({ client, space }) => {
    const signal = AbortSignal.abort()
    for await (const _ of client.stream({ space, after: 1, signal }));
  },
  withStatus: async world => await world.api.update(SETS, set(world, 'a'), { withStatus: true }),
  finalize: async ({ api, namespace }) =>
    await api.update(
      NAMESPACES,
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
      { subresource: 'finalize' },
    ),
}

let worlds = 0

/** Each statement in a Namespace of its own. */
export function clientConformance(t: Test, implementation: Implementation): void {
  const { client, space, refuses, refusal, deviations = {}, forget } = implementation
  const api = client.in(space)
  const world = async (): Promise<World> => {
    const namespace = `conformance-${++worlds}`
    await api.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
    return { client, api, space, namespace, forget }
  }
  for (const { says, needs = [], run } of STATEMENTS) {
    const refused = needs.filter(feature => refuses.includes(feature))
    const skip = deviations[says] ?? (refused.length > 0 && `refused: ${refused.join()}`)
    t.test(says, { skip }, async t => run(t, await world()))
  }
  for (const feature of refuses)
    t.test(`it refuses ${feature} loudly`, async t => {
      const there = await world()
      await api.create(MAPS, map(there, 'a'))
      await api.create(SETS, set(there, 'a'))
      await t.rejects(USES[feature](there), { message: refusal!, code: undefined })
    })
}
