/**
 * `orrery store get` and `orrery store delete`: one object of the store of a server that does not run. For the day on which the
 * server does not come up because of what is stored.
 */
import { groupResourceName, isRecord, type KubeObject } from '../../../apimachinery/object.ts'
import { CRDS, LOGICAL_CLUSTERS, NAMESPACES, PATH_ANNOTATION, WORKSPACES } from '../../../apimachinery/resources.ts'
import { readStore } from '../../../storage/level/storeFolder.ts'
import { openEngine } from '../../../storage/openEngine.ts'
import type { Key, Stored } from '../../../storage/store.ts'
import { apart } from '../../../storage/texts.ts'
import { type Host, printFound } from '../host.ts'
import { folderOf } from './store.ts'

/** Prints the object, JSON unless `-o` says YAML. */
export async function getStored(settings: Record<string, unknown>, host: Host): Promise<number> {
  const { object } = await find(settings)
  await printFound(settings, [JSON.stringify(object, undefined, 2)], object, host)
  return 0
}

/**
 * Deletes the object as the server would at last: with a revision and an entry of the log, which watchers and syncers get. Finalizers are
 * not waited for, and what the object holds stays.
 */
export async function deleteStored(settings: Record<string, unknown>, host: Host): Promise<number> {
  const { key, revision, name, object } = await find(settings)
  const store = await openEngine('disk', { dataDir: settings.dataDir as string })
  try {
    const result = await store.write({ key, expect: revision, mutation: { type: 'delete' } })
    if (!result.ok) throw new Error(`${name} was changed meanwhile; try again`)
    const line = `deleted ${name}: it was of revision ${revision}, and is gone with ${result.stored.revision}`
    if (settings.output !== undefined) host.err(line)
    await printFound(settings, [line], object, host)
  } finally {
    await store.close()
  }
  const left = LEFT_BEHIND.find(({ resource }) => resource.group === key.group && resource.resource === key.resource)
  if (left) host.err(`note: ${left.what}`)
  return 0
}

const LEFT_BEHIND = [
  { resource: NAMESPACES, what: 'what is in the Namespace stays; make it again and delete it once the server runs' },
  { resource: CRDS, what: 'its objects stay, and are served again when the kind is defined again' },
  { resource: WORKSPACES, what: 'what is in its space stays, and nobody reaches it' },
  { resource: LOGICAL_CLUSTERS, what: 'what is in the space stays' },
]

interface Found {
  readonly key: Key
  readonly revision: number
  readonly object: KubeObject
  /** For people. */
  readonly name: string
}

/** Requested parts; an absent part may be anything. */
interface Wanted {
  /** Id or path. */
  readonly space: string | undefined
  readonly group: string | undefined
  readonly resource: string
  readonly namespace: string | undefined
  readonly name: string
}

/** @throws Error when there is none, or more than one */
async function find(settings: Record<string, unknown>): Promise<Found> {
  const wanted = wantedBy(settings)
  const folder = folderOf(settings.dataDir as string)
  const candidates: Stored[] = []
  const spaces = new Spaces()
  const read = await readStore(folder, stored => {
    spaces.note(stored)
    const { group, resource, namespace, name } = stored.key
    const fits =
      name === wanted.name &&
      resource === wanted.resource &&
      (wanted.group ?? group) === group &&
      (wanted.namespace ?? namespace) === namespace
    // its bytes are a part of what was read, and would keep all of that
    if (fits) candidates.push(apart(stored))
  })
  if (read === undefined) throw new Error(`there is no store in ${folder.path} yet`)
  const space = wanted.space === undefined ? undefined : spaces.idOf(wanted.space)
  const found = candidates.filter(({ key }) => (space ?? key.space) === key.space)
  const described = ({ key }: Stored): string => `${describe(key)} of space ${spaces.nameOf(key.space)}`
  const [one] = found
  if (one === undefined) {
    const elsewhere = candidates.length > 0 ? `; there is ${listed(candidates.map(described))}` : ''
    throw new Error(`there is no ${describeWanted(wanted)}${elsewhere}`)
  }
  if (found.length > 1)
    throw new Error(
      `${describeWanted(wanted)} is ambiguous, say which with --space, --namespace and the group in --resource: ${listed(found.map(described))}`,
    )
  return {
    key: one.key,
    revision: one.revision,
    object: JSON.parse(one.bytes.toString()) as KubeObject,
    name: described(one),
  }
}

function wantedBy(settings: Record<string, unknown>): Wanted {
  const text = (name: string) => settings[name] as string | undefined
  const [space, resource, namespace, name, key] = ['space', 'resource', 'namespace', 'name', 'key'].map(text)
  if (key !== undefined) {
    if (space ?? resource ?? namespace ?? name)
      throw new Error('--key says all, leave out --space, --resource, --namespace and --name')
    const parts = key.split('/')
    if (parts.length !== 5)
      throw new Error(`--key ${JSON.stringify(key)} is not <space>/<group>/<resource>/<namespace>/<name>`)
    const [of, group, kind, within, called] = parts as [string, string, string, string, string]
    return { space: of, group, resource: kind, namespace: within, name: called }
  }
  if (resource === undefined || name === undefined)
    throw new Error('--resource and --name are required, or --key, which says all')
  const dot = resource.indexOf('.')
  const [plural, group] = dot < 0 ? [resource, undefined] : [resource.slice(0, dot), resource.slice(dot + 1)]
  return { space, group, resource: plural, namespace, name }
}

/** Ids and paths of the spaces of a store. */
class Spaces {
  readonly #paths = new Map<string, string>()
  readonly #ids = new Set<string>()

  note({ key, bytes }: Stored): void {
    this.#ids.add(key.space)
    if (key.group !== LOGICAL_CLUSTERS.group || key.resource !== LOGICAL_CLUSTERS.resource) return
    const { metadata }: KubeObject = JSON.parse(bytes.toString())
    const path = isRecord(metadata.annotations) && metadata.annotations[PATH_ANNOTATION]
    if (typeof path === 'string') this.#paths.set(key.space, path)
  }

  /** @throws Error when there is none, or several were given one path (a space that is deleted, and its successor) */
  idOf(space: string): string {
    const ids = [...this.#paths].filter(([id, path]) => path === space && id !== space).map(([id]) => id)
    if (this.#ids.has(space)) return space
    const [id] = ids
    if (id === undefined)
      throw new Error(`there is no space ${JSON.stringify(space)}; give its path from the root, or its id`)
    if (ids.length > 1) throw new Error(`several spaces have had the path ${space}, give one's id: ${listed(ids)}`)
    return id
  }

  nameOf(id: string): string {
    const path = this.#paths.get(id)
    return path === undefined || path === id ? id : `${path} (${id})`
  }
}

function describe({ group, resource, namespace, name }: Omit<Key, 'space'>): string {
  return `${groupResourceName({ group, resource })} ${namespace === '' ? '' : `${namespace}/`}${name}`
}

function describeWanted({ space, group = '', resource, namespace = '', name }: Wanted): string {
  return `${describe({ group, resource, namespace, name })}${space === undefined ? '' : ` in space ${space}`}`
}

const LISTED = 10

function listed(all: readonly string[]): string {
  const more = all.length - LISTED
  return `${all.slice(0, LISTED).join('; ')}${more > 0 ? `; and ${more} more` : ''}`
}
