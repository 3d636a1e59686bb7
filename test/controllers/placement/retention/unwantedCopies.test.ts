// Histories at random: no copy is left that nobody wants and nobody reports, and without placements and pauses none is left at all.

import t, { type Test } from 'tap'
import type { KubeObject } from '../../../../src/apimachinery/object.ts'
import { NAMESPACES } from '../../../../src/apimachinery/resources.ts'
import {
  CONFIRM_DELETION_ANNOTATION,
  EDGE_PLACEMENTS,
  LOCATIONS,
  OWNER_ANNOTATION,
  PAUSED_ANNOTATION,
  PLACEMENT_GRANTS,
  SLICES,
} from '../../../../src/placement/words/placement.ts'
import { FakeClock } from '../../../client/support/fakeClock.ts'
import * as fc from '../../../support/fastCheck.ts'
import { namespace } from '../fakeServer.ts'
import { configMap, consent, grant, MAPS, placement, slice, world } from '../translatorWorld.ts'

const SPACES = ['wds1', 'wds2'] as const
const NAMES = ['p', 'q'] as const
const TARGETS = ['florin', 'guilder'] as const
const OBJECTS = ['m0', 'm1', 'm2', 'm3'] as const
const NS = 'commonstuff'

const spaces = fc.constantFrom(...SPACES)
const placements = fc.record({ space: spaces, name: fc.constantFrom(...NAMES) })
const objects = fc.record({ space: spaces, name: fc.constantFrom(...OBJECTS) })
const step = fc.oneof(
  fc.record({
    type: fc.constant('select' as const),
    at: placements,
    app: fc.constantFrom('x', 'y', 'none'),
    andNamespace: fc.boolean(),
  }),
  fc.record({ type: fc.constant('lead' as const), at: placements, targets: fc.subarray([...TARGETS]) }),
  fc.record({ type: fc.constant('delete placement' as const), at: placements }),
  fc.record({ type: fc.constant('pause placement' as const), at: placements }),
  fc.record({ type: fc.constant('pause object' as const), at: objects }),
  fc.record({ type: fc.constant('pause Location' as const), at: fc.constantFrom(...TARGETS) }),
  fc.record({ type: fc.constant('label' as const), at: objects, app: fc.constantFrom('x', 'y', 'z') }),
  fc.record({ type: fc.constant('delete object' as const), at: objects }),
  fc.record({ type: fc.constant('delete Namespace' as const), at: spaces }),
  fc.record({ type: fc.constant('grant' as const), at: spaces }),
  fc.record({ type: fc.constant('confirm' as const), at: spaces }),
  fc.record({ type: fc.constant('wait' as const), ms: fc.constantFrom(1000, 12_000) }),
  fc.record({ type: fc.constant('restart' as const) }),
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never
/** Whether all that follows from a step is over before the next one. */
const history = fc.array(fc.tuple(step, fc.boolean()), { minLength: 6, maxLength: 22 })

async function scene(t: Test) {
  const clock = new FakeClock()
  const all = await world(t, clock)
  const { server, restart } = all
  await consent(server, 'wds2')
  await server.in('wds2').create(NAMESPACES, namespace(NS))
  for (const space of SPACES) {
    await server.in(space).create(NAMESPACES, namespace('default'))
    for (const [i, name] of OBJECTS.entries()) await make(space, name, i % 2 === 0 ? 'x' : 'y')
    // a beginning in which much is placed already
    for (const [i, name] of NAMES.entries()) {
      await server
        .in(space)
        .create(EDGE_PLACEMENTS, placement(name, { downsync: testsOf(i === 0 ? 'x' : 'y', i === 0) }))
      await server.in(space).create(SLICES, slice(name, ...(i === 0 ? TARGETS : (['florin'] as const))))
    }
  }
  await server.quiet()

  async function make(space: string, name: string, app: string): Promise<void> {
    const object = configMap(name, { from: space }, { labels: { app } })
    if (!server.peek(space, NAMESPACES, NS)) await server.in(space).create(NAMESPACES, namespace(NS))
    if (server.peek(space, MAPS, name, NS)) await server.in(space).update(MAPS, object)
    else await server.in(space).create(MAPS, object)
  }
  function testsOf(app: string, andNamespace: boolean): object[] {
    const maps = { apiGroup: '', resources: ['configmaps'], labelSelectors: [{ matchLabels: { app } }] }
    return [maps, ...(andNamespace ? [{ apiGroup: '', resources: ['namespaces'], objectNames: [NS] }] : [])]
  }
  const annotate = ({ metadata, ...object }: KubeObject, key: string, value: string | undefined): KubeObject => {
    const { [key]: _, ...annotations } = metadata.annotations ?? {}
    return { ...object, metadata: { ...metadata, annotations: { ...annotations, ...(value && { [key]: value }) } } }
  }
  const isPaused = (object: KubeObject | undefined) => object?.metadata.annotations?.[PAUSED_ANNOTATION] === 'true'
  const find = (space: string, name: string) => server.peek(space, EDGE_PLACEMENTS, name)
  const specOf = (space: string, name: string) => find(space, name)?.spec as { paused?: boolean } | undefined
  const pausePlacement = async (space: string, name: string, paused: boolean) => {
    const object = find(space, name)
    if (object) await server.in(space).update(EDGE_PLACEMENTS, { ...object, spec: { ...specOf(space, name), paused } })
  }
  const pauseObject = async (space: string, name: string, paused: boolean) => {
    const object = server.peek(space, MAPS, name, NS)
    const value = paused ? 'true' : undefined
    if (object) await server.in(space).update(MAPS, annotate(object, PAUSED_ANNOTATION, value))
  }
  const pauseLocation = async (name: string, paused: boolean) => {
    const { metadata, ...object } = server.peek('inv1', LOCATIONS, name)!
    const spec = { instanceSelector: { matchLabels: { 'loc-name': name } } }
    const value = paused ? 'true' : undefined
    await server.in('inv1').update(LOCATIONS, annotate({ ...object, metadata, spec }, PAUSED_ANNOTATION, value))
  }
  const deletePlacement = async (space: string, name: string) => {
    if (find(space, name)) await server.in(space).delete(EDGE_PLACEMENTS, { name })
    if (server.peek(space, SLICES, name)) await server.in(space).delete(SLICES, { name })
  }
  const deleteNamespace = async (space: string) => {
    const source = server.peek(space, NAMESPACES, NS)
    if (!source) return
    const api = server.in(space)
    await api.update(NAMESPACES, { ...source, metadata: { ...source.metadata, finalizers: ['kubernetes'] } })
    await api.delete(NAMESPACES, { name: NS })
    for (const name of OBJECTS) if (server.peek(space, MAPS, name, NS)) await api.delete(MAPS, { namespace: NS, name })
    const { finalizers: _, ...metadata } = server.peek(space, NAMESPACES, NS)!.metadata
    await api.update(NAMESPACES, { ...source, metadata })
  }
  const confirm = async (space: string) => {
    for (const name of NAMES) {
      const object = find(space, name)
      const hash = /confirm-deletion=(\w+)/.exec(JSON.stringify(object?.status ?? {}))?.[1]
      if (object && hash)
        await server.in(space).update(EDGE_PLACEMENTS, annotate(object, CONFIRM_DELETION_ANNOTATION, hash))
    }
  }
  const settle = async () => {
    for (let i = 0; i < 4; i++) {
      await server.quiet()
      await clock.advance(1500)
    }
    await server.quiet()
  }
  const take = async (one: Step): Promise<unknown> => {
    switch (one.type) {
      case 'select': {
        const { space, name } = one.at
        const object = find(space, name)
        const spec = { ...specOf(space, name), downsync: testsOf(one.app, one.andNamespace) }
        if (object) return await server.in(space).update(EDGE_PLACEMENTS, { ...object, spec })
        return await server.in(space).create(EDGE_PLACEMENTS, placement(name, spec))
      }
      case 'lead': {
        const { space, name } = one.at
        // what is paused leads where it did
        if (!find(space, name) || specOf(space, name)?.paused) return
        const object = slice(name, ...one.targets)
        const known = server.peek(space, SLICES, name)
        if (known) return await server.in(space).update(SLICES, { ...known, destinations: object.destinations })
        return await server.in(space).create(SLICES, object)
      }
      case 'delete placement':
        return await deletePlacement(one.at.space, one.at.name)
      case 'pause placement':
        return await pausePlacement(one.at.space, one.at.name, !specOf(one.at.space, one.at.name)?.paused)
      case 'pause object': {
        const { space, name } = one.at
        return await pauseObject(space, name, !isPaused(server.peek(space, MAPS, name, NS)))
      }
      case 'pause Location':
        return await pauseLocation(one.at, !isPaused(server.peek('inv1', LOCATIONS, one.at)))
      case 'label':
        return await make(one.at.space, one.at.name, one.app)
      case 'delete object': {
        const { space, name } = one.at
        return server.peek(space, MAPS, name, NS) && (await server.in(space).delete(MAPS, { namespace: NS, name }))
      }
      case 'delete Namespace':
        return await deleteNamespace(one.at)
      case 'grant': {
        const api = server.in('inv1')
        if (server.peek('inv1', PLACEMENT_GRANTS, one.at)) return await api.delete(PLACEMENT_GRANTS, { name: one.at })
        return await api.create(PLACEMENT_GRANTS, grant(one.at, one.at))
      }
      case 'confirm':
        await settle()
        return await confirm(one.at)
      case 'wait':
        return await clock.advance(one.ms)
      case 'restart':
        return await restart(async () => {})
    }
  }

  const isWanted = (space: string, target: (typeof TARGETS)[number], resource: typeof MAPS, name: string): boolean => {
    const source = server.peek(space, resource, name, resource === MAPS ? NS : '')
    if (!source || source.metadata.deletionTimestamp || !server.peek('inv1', PLACEMENT_GRANTS, space)) return false
    return NAMES.some(by => {
      const tests = (find(space, by)?.spec as { downsync?: object[] } | undefined)?.downsync ?? []
      const { destinations = [] } = (server.peek(space, SLICES, by) ?? {}) as {
        destinations?: { locationName: string }[]
      }
      if (!destinations.some(({ locationName }) => locationName === target)) return false
      const app = source.metadata.labels?.app
      return JSON.stringify(tests).includes(resource === MAPS ? `"app":"${app}"` : '"namespaces"')
    })
  }
  const isTrue = (space: string | undefined, type: string) =>
    NAMES.some(name => {
      const { conditions = [] } = ((space && find(space, name)?.status) || {}) as {
        conditions?: { type: string; status: string }[]
      }
      return conditions.some(one => one.type === type && one.status === 'True')
    })
  const isHeldIn = (space: string | undefined) => isTrue(space, 'DeletionHeld')
  const isPausedIn = (space: string | undefined) => isTrue(space, 'Paused')
  /** Copies that their owner does not want, and without a report. */
  const forgotten = async (): Promise<string[]> => {
    const found: string[] = []
    for (const target of TARGETS) {
      const box = all[target]
      const maps = server.names(box, MAPS).map(name => name.slice(NS.length + 1))
      for (const [resource, names] of [
        [MAPS, maps],
        [NAMESPACES, server.names(box, NAMESPACES).filter(name => name !== 'default')],
      ] as const) {
        for (const name of names) {
          const copy = server.peek(box, resource, name, resource === MAPS ? NS : '')!
          const owner = copy.metadata.annotations?.[OWNER_ANNOTATION]
          if (resource === NAMESPACES && maps.length > 0) continue
          // another's that waits for it reports it, too
          if (SPACES.some(space => isWanted(space, target, resource, name))) continue
          const rows = owner === undefined ? [] : await all.workStatuses(owner, resource === MAPS ? 0 : 1)
          const id = `inv1.${target}:${resource.resource}:${name} `
          const row = rows.find(row => row.startsWith(id))
          if (
            row &&
            (/ (Held|Paused) /.test(row) || (/ NotPlaced /.test(row) && (isHeldIn(owner) || isPausedIn(owner))))
          )
            continue
          found.push(`${id}of ${owner}, ${row ?? 'not reported'}`)
        }
      }
    }
    return found
  }
  const endAll = async () => {
    for (const target of TARGETS) await pauseLocation(target, false)
    for (const space of SPACES) {
      for (const name of OBJECTS) await pauseObject(space, name, false)
      for (const name of NAMES) await deletePlacement(space, name)
    }
  }
  const left = () =>
    TARGETS.flatMap(target => [
      ...server.names(all[target], MAPS),
      ...server.names(all[target], NAMESPACES).filter(name => name !== 'default'),
    ])
  return { take, settle, forgotten, endAll, left }
}

const runs = 5 * fc.CASES
const given = process.env.ORRERY_TEST_STEPS
const seed = Number(process.env.SEED ?? 20_261_129)
t.setTimeout(Math.max(60_000, runs * 10_000))
for (const [i, steps] of (given
  ? [JSON.parse(given) as [Step, boolean][]]
  : fc.sample(history, { numRuns: runs, seed })
).entries()) {
  t.test(`history ${i} of ${seed}`, async t => {
    const { take, settle, forgotten, endAll, left } = await scene(t)
    for (const [one, isCalm] of steps) {
      await take(one)
      if (isCalm) await settle()
    }
    await settle()
    const told = JSON.stringify(steps)
    t.same(await forgotten(), [], told)
    await endAll()
    await settle()
    t.same(left(), [], told)
  })
}
