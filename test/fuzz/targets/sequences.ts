/**
 * Valid calls at random by several clients at a time, while watches look on. Afterwards every watch must have delivered the whole story in
 * order: its events, applied to its first list, give the list of now.
 */
import fc from 'fast-check'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import type { Watch, WatchEvent } from '../../support/api.ts'
import { configMap } from '../../support/server.ts'
import type { Target } from '../target.ts'
import type { Reply, World } from '../world.ts'

const KINDS = {
  configmaps: {
    path: '/api/v1/namespaces/default/configmaps',
    object: (name: string, n: number) => configMap(name, { n: `${n}` }),
  },
  deployments: {
    path: '/apis/apps/v1/namespaces/default/deployments',
    object: (name: string, n: number) => ({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name },
      spec: {
        replicas: n,
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    }),
  },
} as const

const call = fc.record({
  verb: fc.constantFrom(
    'create',
    'create',
    'update',
    'merge',
    'label',
    'apply',
    'status',
    'finalizer',
    'unfinalize',
    'delete',
    'empty',
  ),
  space: fc.constantFrom('one' as const, 'two' as const),
  kind: fc.constantFrom('configmaps' as const, 'deployments' as const),
  name: fc.constantFrom('s-a', 's-b', 's-c'),
  n: fc.integer({ min: 0, max: 3 }),
})
type Call = typeof call extends fc.Arbitrary<infer T> ? T : never
const cases = fc.array(fc.array(call, { maxLength: 15 }), { minLength: 2, maxLength: 5 })

interface Observer {
  where: string
  /** Ids of the spaces whose events it may get. */
  spaces: readonly string[]
  path: string
  initial: Map<string, KubeObject>
  watch: Watch
}

const spaceOf = (object: KubeObject): string => object.metadata.annotations?.['kcp.io/cluster'] ?? ''
const idOf = (object: KubeObject): string => `${spaceOf(object)}/${object.metadata.namespace}/${object.metadata.name}`

async function listed(world: World, path: string): Promise<{ items: Map<string, KubeObject>; version: string }> {
  const { body } = await world.ask({ method: 'GET', path })
  const list = body as unknown as { items: KubeObject[]; metadata: { resourceVersion: string } }
  const items = list.items.filter(item => spaceOf(item) !== world.spaces.neighbour)
  return { items: new Map(items.map(item => [idOf(item), item])), version: list.metadata.resourceVersion }
}

async function observe(world: World, kind: keyof typeof KINDS, space: 'one' | 'two' | '*'): Promise<Observer> {
  const { one, two } = world.spaces
  const path = `/clusters/${space === '*' ? '*' : world.spaces[space]}${KINDS[kind].path}`
  const { items, version } = await listed(world, path)
  const watch = await world.api.watch(`${path}?watch=1&resourceVersion=${version}`)
  return {
    where: `${kind} in ${space}`,
    spaces: space === '*' ? [one, two] : [world.spaces[space]],
    path,
    initial: items,
    watch,
  }
}

async function act(world: World, { verb, space, kind, name, n }: Call): Promise<void> {
  const collection = `/clusters/${world.spaces[space]}${KINDS[kind].path}`
  const path = `${collection}/${name}`
  const object = KINDS[kind].object(name, n)
  const json = (method: string, at: string, body: object, type = 'application/json'): Promise<Reply> =>
    world.ask({ method, path: at, type, body: JSON.stringify(body) })
  const merge = 'application/merge-patch+json'
  if (verb === 'create') await json('POST', collection, object)
  else if (verb === 'update') await json('PUT', path, object)
  else if (verb === 'merge')
    await json('PATCH', path, kind === 'configmaps' ? { data: { n: `${n}` } } : { spec: { replicas: n } }, merge)
  else if (verb === 'label') await json('PATCH', path, { metadata: { labels: { l: `${n}` } } }, merge)
  else if (verb === 'apply')
    await json('PATCH', `${path}?fieldManager=m${n}&force=true`, object, 'application/apply-patch+yaml')
  else if (verb === 'status') await json('PATCH', `${path}/status`, { status: { replicas: n } }, merge)
  else if (verb === 'finalizer') await json('PATCH', path, { metadata: { finalizers: ['a.b/c'] } }, merge)
  else if (verb === 'unfinalize') await json('PATCH', path, { metadata: { finalizers: null } }, merge)
  else if (verb === 'delete') await world.ask({ method: 'DELETE', path })
  else await world.ask({ method: 'DELETE', path: `${collection}?labelSelector=l%3D${n}` })
}

async function play(world: World, clients: Call[][]): Promise<void> {
  const observers: Observer[] = []
  for (const kind of ['configmaps', 'deployments'] as const)
    for (const space of ['one', 'two', '*'] as const) observers.push(await observe(world, kind, space))
  try {
    await Promise.all(
      clients.map(async calls => {
        for (const one of calls) await act(world, one)
      }),
    )
    // the end of the story, in every watch
    const marks = new Set<string>()
    for (const space of ['one', 'two'] as const) {
      for (const kind of ['configmaps', 'deployments'] as const) {
        const collection = `/clusters/${world.spaces[space]}${KINDS[kind].path}`
        const body = JSON.stringify(KINDS[kind].object('s-end', 0))
        const made = await world.ask({ method: 'POST', path: collection, type: 'application/json', body })
        if (made.code !== 201) throw new Error(`no mark: ${made.text}`)
        marks.add(`${world.spaces[space]} ${kind}`)
      }
    }
    for (const observer of observers) await check(world, observer)
  } finally {
    for (const { watch } of observers) watch.close()
    for (const space of ['one', 'two'] as const)
      for (const { path } of Object.values(KINDS))
        for (const name of ['s-a', 's-b', 's-c', 's-end']) {
          const at = `/clusters/${world.spaces[space]}${path}/${name}`
          await world.ask({
            method: 'PATCH',
            path: at,
            type: 'application/merge-patch+json',
            body: '{"metadata":{"finalizers":null}}',
          })
          await world.ask({ method: 'DELETE', path: at })
        }
  }
}

async function check(world: World, { where, spaces, path, initial, watch }: Observer): Promise<void> {
  const now = await listed(world, path)
  const seen = new Map(initial)
  const story: string[] = []
  let version = 0
  let ends = 0
  const fail = (why: string): never => {
    throw new Error(`${where}: ${why}\n${story.join('\n')}`)
  }
  while (ends < spaces.length) {
    const event = await watch.next()
    if (event === undefined) return fail('the watch ended')
    story.push(`${event.type} ${idOf(event.object)} ${event.object.metadata.resourceVersion}`)
    const next = Number(event.object.metadata.resourceVersion)
    if (next <= version) fail('resourceVersions do not grow')
    version = next
    const space = spaceOf(event.object)
    // goes on working beside this, and is seen where all spaces are
    if (spaces.length > 1 && space === world.spaces.neighbour) continue
    if (!spaces.includes(space)) fail('an event for another space')
    follow(event, seen, fail)
    if (event.object.metadata.name === 's-end' && event.type === 'ADDED') ends++
  }
  const flat = (objects: Map<string, KubeObject>): string =>
    [...objects]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      // items of a list do not say what they are
      .map(([, { apiVersion: _version, kind: _kind, ...rest }]) => JSON.stringify(rest))
      .join('\n')
  const [told, real] = [flat(seen), flat(now.items)]
  if (told !== real) fail(`what the watch told is not what is there:\n${told}\n---\n${real}`)
}

function follow({ type, object }: WatchEvent, seen: Map<string, KubeObject>, fail: (why: string) => never): void {
  const id = idOf(object)
  const before = seen.get(id)
  if (type === 'ADDED' && before !== undefined) fail('ADDED twice')
  if (type !== 'ADDED' && before === undefined) fail(`${type} of what is not there`)
  if (type === 'DELETED') {
    seen.delete(id)
    return
  }
  if (before !== undefined) {
    if (before.metadata.uid !== object.metadata.uid) fail('another uid')
    const [old, current] = [before.metadata.generation ?? 0, object.metadata.generation ?? 0]
    const changed = JSON.stringify(before.spec) !== JSON.stringify(object.spec)
    const deleted = before.metadata.deletionTimestamp === undefined && object.metadata.deletionTimestamp !== undefined
    if (object.kind === 'Deployment' && !deleted && current !== old + (changed ? 1 : 0)) {
      // annotations are part of what a Deployment's generation counts
      if (JSON.stringify(before.metadata.annotations) === JSON.stringify(object.metadata.annotations))
        fail(`generation ${old} became ${current}: ${JSON.stringify(before)} ${JSON.stringify(object)}`)
    }
  }
  seen.set(id, object)
}

export const sequences: Target = {
  name: 'sequences',
  runs: 12,
  property: world => fc.asyncProperty(cases, one => play(world, one)) as ReturnType<Target['property']>,
}
