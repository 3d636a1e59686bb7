/**
 * The round that Kubernetes' conformance suite makes with nearly every kind: discovery, create, get, list, watch, patch,
 * update, the status, delete, deletecollection.
 */
import type { Test } from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import type { Api } from '../../support/api.ts'

export interface Kind {
  /** `''` is the core group. All are served as v1 unless `version` says otherwise. */
  readonly group: string
  readonly version?: string
  readonly kind: string
  readonly resource: string
  /** Absent for kinds of cluster scope. */
  readonly namespace?: string
  /** Everything but apiVersion, kind and metadata; `n` counts the objects of the round from 0. */
  readonly body: (n: number) => object
  /** Where the name is no free choice. */
  readonly name?: (n: number) => string
  /** A status to be written by a patch and read back; absent for kinds without `/status`. */
  readonly status?: Record<string, unknown>
  /** False where `/status` takes no annotations. */
  readonly statusKeepsMetadata?: boolean
  /** Other subresources that discovery has to name. */
  readonly subresources?: readonly string[]
  /** Patches and what must be there afterwards. */
  readonly patches?: readonly object[]
}

export interface Round {
  readonly all: string
  readonly collection: string
  readonly apiVersion: string
  at(name: string): string
}

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

/** Where a kind is served. */
export function roundOf({ group, version = 'v1', resource, namespace }: Kind): Round {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  const collection = namespace ? `${root}/namespaces/${namespace}/${resource}` : `${root}/${resource}`
  return {
    all: `${root}/${resource}`,
    collection,
    apiVersion: group === '' ? version : `${group}/${version}`,
    at: name => `${collection}/${name}`,
  }
}

/** Plays the round; each step that fails says which. */
export async function playRound(t: Test, api: Api, kind: Kind): Promise<void> {
  const { all, collection, at } = roundOf(kind)
  const mark = `round=${kind.resource}`
  const names = [0, 1, 2].map(n => kind.name?.(n) ?? `round-${n}`) as [string, string, string]
  const [first, second, third] = names
  await discovers(t, api, kind)

  const { resourceVersion } = (await api.ok(api.get(`${all}?labelSelector=${mark}`))).metadata
  const made = [await api.ok(api.post(collection, objectOf(kind, 0, names)))]
  made.push(await api.ok(api.post(collection, objectOf(kind, 1, names))))
  made.push(await api.ok(api.post(collection, objectOf(kind, 2, names))))
  t.ok(
    made.every(({ metadata }) => metadata.uid && metadata.creationTimestamp && metadata.resourceVersion),
    'create: the server says uid, time and version',
  )
  t.equal((await api.post(collection, objectOf(kind, 0, names))).body.reason, 'AlreadyExists', 'create: once only')
  t.equal((await api.ok(api.get(at(first)))).metadata.uid, made[0]!.metadata.uid, 'get')
  t.same(await namesIn(api, `${collection}?labelSelector=${mark}`), names, 'list by label')
  t.same(await namesIn(api, `${all}?labelSelector=${mark}`), names, 'list of all namespaces')

  const watch = await api.watch(`${all}?watch=1&labelSelector=${mark}&resourceVersion=${resourceVersion}`)
  const added = await watch.until(({ type, object }) => type === 'ADDED' && object.metadata.name === third)
  const additions = added.filter(({ type }) => type === 'ADDED').map(told)
  t.same(
    additions,
    names.map(name => `ADDED ${name}`),
    'watch: from before they were made',
  )

  const patched = await api.ok(api.patch(at(first), 'merge', { metadata: { annotations: { patched: 'true' } } }))
  t.equal(patched.metadata.annotations?.patched, 'true', 'patch')
  for (const patch of kind.patches ?? []) {
    const answer = await api.patch(at(first), 'merge', patch)
    t.equal(answer.code, 200, `patch ${answer.text}`)
    t.match(answer.body, patch, 'patch: the field is as it says')
  }
  const updated = await edit(api, at(first), object => annotate(object, 'updated'))
  t.match(updated.metadata.annotations, { patched: 'true', updated: 'true' }, 'update')
  const old = { ...updated, metadata: { ...updated.metadata, resourceVersion: made[0]!.metadata.resourceVersion! } }
  t.equal((await api.put(at(first), annotate(old, 'late'))).body.reason, 'Conflict', 'update: not of an old version')
  const seen = await watch.until(({ object }) => object.metadata.annotations?.updated === 'true')
  const patches = seen.filter(({ object }) => object.metadata.annotations?.patched === 'true')
  t.ok(patches.length > 1 && patches.every(({ type }) => type === 'MODIFIED'), 'watch: tells the changes in order')
  if (kind.status) await playStatus(t, api, { at: at(first), status: kind.status, kind })

  // finalizers of the system may hold an object for a moment, so the watch says when it is gone
  await api.ok(api.delete(`${at(second)}?propagationPolicy=Background`))
  const ended = await watch.until(({ type }) => type === 'DELETED')
  t.equal(ended.at(-1)!.object.metadata.name, second, 'watch: tells the delete')
  t.equal((await api.get(at(second))).body.reason, 'NotFound', 'delete')
  await api.ok(api.delete(`${collection}?labelSelector=${mark}&propagationPolicy=Background`))
  const left = new Set([first, third])
  await watch.until(({ type, object }) => type === 'DELETED' && left.delete(object.metadata.name!) && left.size === 0)
  t.same(await namesIn(api, `${all}?labelSelector=${mark}`), [], 'deletecollection')
  watch.close()
}

/** The group, its version and the resource are where clients look for them. */
async function discovers(t: Test, api: Api, { group, version = 'v1', resource, kind, ...more }: Kind): Promise<void> {
  interface Resources {
    resources: { name: string; kind: string; namespaced: boolean; verbs: string[] }[]
  }
  interface Group {
    name: string
    versions: { version: string; groupVersion: string }[]
  }
  if (group !== '') {
    const { groups } = (await api.ok(api.get('/apis'))) as unknown as { groups: Group[] }
    t.match(groups.find(({ name }) => name === group)?.versions, [{ version }], `/apis names ${group}/${version}`)
    const alone = (await api.ok(api.get(`/apis/${group}`))) as unknown as Group
    t.ok(alone.versions.some(one => one.groupVersion === `${group}/${version}`))
  }
  const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  const { resources } = (await api.ok(api.get(path))) as unknown as Resources
  const found = resources.find(({ name }) => name === resource)
  t.match(found, { kind, namespaced: more.namespace !== undefined }, `${path} names ${resource}`)
  t.same(
    VERBS.filter(verb => !found?.verbs.includes(verb)),
    [],
    `${resource} can do everything`,
  )
  for (const sub of [...(more.status ? ['status'] : []), ...(more.subresources ?? [])]) {
    const verbs = resources.find(({ name }) => name === `${resource}/${sub}`)?.verbs
    t.same(verbs, ['get', 'patch', 'update'], `${resource}/${sub} is served`)
  }
}

/** `/status` can be read, patched and replaced; each write is there for the next reader, and the spec stays. */
async function playStatus(
  t: Test,
  api: Api,
  { at, status, kind }: { at: string; status: Record<string, unknown>; kind: Kind },
): Promise<void> {
  const before = await api.ok(api.get(at))
  const body = { metadata: { annotations: { patchedstatus: 'true' } }, status }
  const patched = await api.ok(api.patch(`${at}/status`, 'merge', body))
  t.match(patched.status, status, 'status: patch')
  const kept = kind.statusKeepsMetadata === false ? undefined : 'true'
  t.equal(patched.metadata.annotations?.patchedstatus, kept, 'status: annotations come along')
  t.same(patched.spec, before.spec, 'status: the spec stays')
  const current = await api.ok(api.get(`${at}/status`))
  t.match(current.status, status, 'status: get')
  const put = await edit(api, `${at}/status`, object => annotate(object, 'updatedstatus'))
  t.match(put.status, status, 'status: update')
  const spec = await edit(api, at, object => ({ ...object, status: {} }))
  t.match(spec.status, status, 'status: an update of the object leaves it alone')
}

/** Reads, changes and replaces, again when somebody else was faster; as a careful client does. */
export async function edit(api: Api, path: string, change: (object: KubeObject) => KubeObject): Promise<KubeObject> {
  for (;;) {
    const { items: _, ...object } = await api.ok(api.get(path))
    const answer = await api.put(path, change(object as KubeObject))
    if (answer.code !== 409) return api.ok(Promise.resolve(answer))
  }
}

export function annotate(object: KubeObject, key: string): KubeObject {
  return { ...object, metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, [key]: 'true' } } }
}

function objectOf(kind: Kind, n: number, names: readonly string[]): object {
  const metadata = { name: names[n], labels: { round: kind.resource } }
  return { apiVersion: roundOf(kind).apiVersion, kind: kind.kind, metadata, ...kind.body(n) }
}

async function namesIn(api: Api, path: string): Promise<(string | undefined)[]> {
  return (await api.ok(api.get(path))).items.map(({ metadata }) => metadata.name)
}

function told({ type, object }: { type: string; object: KubeObject }): string {
  return `${type} ${object.metadata.name}`
}
