/**
 * `kubectl ws import`: makes the objects of an export in a space. All of it is looked at first: nothing is written where one object is
 * there with another content, cannot be served or is refused. Equal objects stay as they are, so an import that broke off is typed again.
 */

import { conditionOf } from '../../../apimachinery/conditions.ts'
import { isStatusError } from '../../../apimachinery/errors.ts'
import { str } from '../../../apimachinery/fields.ts'
import { messageOf } from '../../../apimachinery/messageOf.ts'
import {
  type GroupVersionResource,
  groupResourceName,
  isRecord,
  type KubeObject,
  type OwnerReference,
  parseApiVersion,
} from '../../../apimachinery/object.ts'
import { CRDS } from '../../../apimachinery/resources.ts'
import { equalJson } from '../../../apimachinery/values.ts'
import { atMost } from '../../../client/atMost.ts'
import type { DiscoveredResource, SpaceClient } from '../../../client/client.ts'
import { listAll } from '../../../client/listWatch.ts'
import { CommandError } from '../../shell/commandError.ts'
import { currentPath, type SessionOptions, withSession } from '../../shell/session/session.ts'
import { enterable } from '../../shell/session/spaces.ts'
import type { Terminal } from '../../shell/terminal.ts'
import { waitFor } from '../../shell/waitFor.ts'
import { comparePlaces, exported, placeOf } from './exported.ts'
import { readExport } from './exportFile.ts'

export interface ImportOptions extends SessionOptions {
  dryRun?: boolean
}

/** One object of the file. */
interface Step {
  readonly object: KubeObject
  readonly id: string
  /** `ConfigMap shop/prices`, for people. */
  readonly name: string
  readonly place: readonly [number, number, number]
  readonly isThere: boolean
}

interface Plan {
  readonly steps: readonly Step[]
  readonly faults: readonly string[]
  readonly notes: readonly string[]
  /** Uids of objects that are there, by {@link idOf}. */
  readonly uids: Map<string, string>
}

const PAGE = 500
const AT_ONCE = 8
const SHOWN_FAULTS = 20
const READY_MS = 60_000
const MANAGER = { fieldManager: 'kubectl-ws' }
/** The stage in which placements come. */
const PLACEMENTS = 2

/** @returns the objects that it made, or would make @throws CommandError with all that stands in the way, or failed */
export async function importSpace(
  options: ImportOptions,
  terminal: Terminal,
  file: string,
): Promise<readonly KubeObject[]> {
  const { head, objects } = await readExport(file)
  return await withSession({ ...options, warn: terminal.err }, async session => {
    const path = await currentPath(session)
    await enterable(session.client, path)
    const space = session.client.in(path)
    const kinds = new Kinds(space)
    const plan = await planOf(space, kinds, objects)
    if (plan.faults.length > 0) {
      const from = `${head.path}${head.type && `, of type ${head.type}`}`
      throw new CommandError(
        `nothing was written into ${path}; this is in the way of the export of ${from}:\n${shortened(plan.faults)}`,
      )
    }
    for (const note of plan.notes) terminal.err(`Note: ${note}`)
    if (!head.secrets)
      terminal.err('Note: Secrets of the exported space are not in the file: "export --with-secrets" takes them along')
    const missing = plan.steps.filter(({ isThere }) => !isThere)
    const isDry = options.dryRun === true
    if (isDry) for (const { name } of missing) terminal.out(`${name} would be created`)
    const made = isDry ? missing.map(({ object }) => object) : await make(space, kinds, plan, terminal)
    const done = isDry ? 'would be created' : 'created'
    terminal.out(`${path}: ${made.length} objects ${done}, ${plan.steps.length - missing.length} are there already`)
    return made
  })
}

function shortened(faults: readonly string[]): string {
  const more = faults.length - SHOWN_FAULTS
  return [...faults.slice(0, SHOWN_FAULTS), ...(more > 0 ? [`and ${more} more`] : [])].join('\n')
}

/** Kinds that a space serves, by group and kind. */
class Kinds {
  readonly #space: SpaceClient
  #served = new Map<string, DiscoveredResource>()

  constructor(space: SpaceClient) {
    this.#space = space
  }

  async look(): Promise<void> {
    this.#served = new Map((await this.#space.discover()).map(one => [`${one.group}|${one.kind}`, one]))
  }

  /** In the version of the object; `undefined` where that is not served. */
  of({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): GroupVersionResource | undefined {
    const { group, version } = parseApiVersion(apiVersion) ?? { group: '', version: '' }
    const served = this.#served.get(`${group}|${kind}`)
    if (served === undefined || !(served.versions ?? [served.version]).includes(version)) return undefined
    return { group, version, resource: served.resource }
  }
}

function idOf(apiVersion: string, kind: string, namespace: string | undefined, name: string | undefined): string {
  return [parseApiVersion(apiVersion)?.group ?? '', kind, namespace ?? '', name ?? ''].join('|')
}

const idOfObject = ({ apiVersion, kind, metadata }: KubeObject): string =>
  idOf(apiVersion, kind, metadata.namespace, metadata.name)

async function planOf(space: SpaceClient, kinds: Kinds, objects: readonly KubeObject[]): Promise<Plan> {
  await kinds.look()
  const there = await standing(space, kinds, objects)
  const defined = new Set(objects.flatMap(definedKinds))
  const inFile = new Set(objects.map(idOfObject))
  const [faults, notes]: [string[], string[]] = [[], []]
  const additions: Step[] = []
  const differing: Step[] = []
  const ids = new Set<string>()
  const steps = objects.map((described): Step => {
    const { namespace, name = '' } = described.metadata
    const id = idOfObject(described)
    const shownName = `${described.kind} ${namespace === undefined ? name : `${namespace}/${name}`}`
    const isNowhere = (owner: OwnerReference): boolean =>
      !ownerIds(described, owner).some(ownerId => inFile.has(ownerId) || there.has(ownerId))
    const lacking = described.metadata.ownerReferences?.filter(isNowhere) ?? []
    for (const { kind, name } of lacking)
      notes.push(`${shownName} comes without its owner, ${kind} ${name}, which is not there`)
    const object = withoutOwners(described, lacking)
    const resource = kinds.of(object)
    const group = parseApiVersion(object.apiVersion)?.group ?? ''
    const before = there.get(id)
    const place = placeOf(resource ?? { group, resource: '' }, object)
    const step = { object, id, name: shownName, place, isThere: before !== undefined }
    if (ids.has(id)) faults.push(`${shownName}: the file has it twice`)
    else if (before?.metadata.deletionTimestamp !== undefined)
      faults.push(`${shownName}: it is being deleted; wait until it is gone`)
    else if (before !== undefined && !equalJson(exported(before), object)) differing.push(step)
    else if (resource === undefined && !defined.has(`${group}|${object.kind}`))
      faults.push(
        `${shownName}: the space serves no ${object.apiVersion} ${object.kind}; make a space of the type of the exported one`,
      )
    else if (before === undefined && resource !== undefined) additions.push(step)
    ids.add(id)
    return step
  })
  await atMost(AT_ONCE, differing, async ({ object, id, name }) => {
    if (await saysTheSame(space, kinds.of(object)!, { object, before: there.get(id)! })) return
    faults.push(`${name}: it is there with another content; delete one of the two, or import into an empty space`)
  })
  if (faults.length === 0)
    await atMost(
      AT_ONCE,
      additions.filter(step => isAskable(step, there, inFile)),
      async ({ object, name }) => {
        const { ownerReferences: _later, ...metadata } = object.metadata
        try {
          await space.create(kinds.of(object)!, { ...object, metadata }, { ...MANAGER, dryRun: true })
        } catch (error) {
          if (!isStatusError(error)) throw error
          faults.push(`${name}: ${messageOf(error)}`)
        }
      },
    )
  const uids = new Map([...there].map(([id, { metadata }]) => [id, metadata.uid ?? '']))
  return { steps: steps.sort((a, b) => comparePlaces(a.place, b.place)), faults, notes, uids }
}

/** Whether the server would make of an object what is there. It fills in what an edited file, or one of an older server, leaves out. */
async function saysTheSame(
  space: SpaceClient,
  resource: GroupVersionResource,
  { object, before }: { object: KubeObject; before: KubeObject },
): Promise<boolean> {
  const standing = exported(before)
  if (!equalJson(standing.metadata.ownerReferences, object.metadata.ownerReferences)) return false
  const { ownerReferences, uid } = before.metadata
  const metadata = {
    ...object.metadata,
    ...(uid !== undefined && { uid }),
    ...(ownerReferences && { ownerReferences }),
  }
  try {
    const after = await space.update(resource, { ...object, metadata }, { ...MANAGER, dryRun: true })
    return equalJson(exported(after), standing)
  } catch (error) {
    if (isStatusError(error)) return false
    throw error
  }
}

function withoutOwners(object: KubeObject, lacking: readonly OwnerReference[]): KubeObject {
  if (lacking.length === 0) return object
  const { ownerReferences = [], ...metadata } = object.metadata
  const left = ownerReferences.filter(owner => !lacking.includes(owner))
  return { ...object, metadata: { ...metadata, ...(left.length > 0 && { ownerReferences: left }) } }
}

/**
 * Whether the server can judge it before the others are made: not without its Namespace, a Pod not without its account and class. A binding
 * waits for the role that comes with it.
 */
function isAskable({ object }: Step, there: ReadonlyMap<string, KubeObject>, inFile: ReadonlySet<string>): boolean {
  const { namespace } = object.metadata
  const role = isRecord(object.roleRef) ? object.roleRef : undefined
  const roleId = idOf(
    object.apiVersion,
    str(role, 'kind'),
    str(role, 'kind') === 'Role' ? namespace : '',
    str(role, 'name'),
  )
  if (inFile.has(roleId) && !there.has(roleId)) return false
  if (object.kind === 'Pod' && object.apiVersion === 'v1') return false
  return namespace === undefined || there.has(idOf('v1', 'Namespace', undefined, namespace))
}

/** Objects of the space that the file names, Namespaces and owners too. */
async function standing(
  space: SpaceClient,
  kinds: Kinds,
  objects: readonly KubeObject[],
): Promise<Map<string, KubeObject>> {
  const named = new Set<string>()
  const listed = new Map<string, GroupVersionResource>()
  const look = (apiVersion: string, kind: string, id: string): void => {
    named.add(id)
    const resource = kinds.of({ apiVersion, kind })
    if (resource !== undefined) listed.set(`${groupResourceName(resource)}/${resource.version}`, resource)
  }
  for (const object of objects) {
    const { namespace, ownerReferences = [] } = object.metadata
    look(object.apiVersion, object.kind, idOfObject(object))
    if (namespace !== undefined) look('v1', 'Namespace', idOf('v1', 'Namespace', undefined, namespace))
    for (const owner of ownerReferences)
      for (const id of ownerIds(object, owner)) look(owner.apiVersion, owner.kind, id)
  }
  const there = new Map<string, KubeObject>()
  for (const resource of listed.values())
    await listAll(space, resource, { limit: PAGE }, object => {
      if (named.has(idOfObject(object))) there.set(idOfObject(object), object)
    })
  return there
}

/** An owner is in the same namespace, or in none. */
function ownerIds({ metadata }: KubeObject, { apiVersion, kind, name }: OwnerReference): string[] {
  return [idOf(apiVersion, kind, metadata.namespace, name), idOf(apiVersion, kind, undefined, name)]
}

function definedKinds(object: KubeObject): string[] {
  if (object.kind !== 'CustomResourceDefinition') return []
  return [`${str(object.spec, 'group')}|${str(object.spec, 'names', 'kind')}`]
}

async function make(
  space: SpaceClient,
  kinds: Kinds,
  { steps, uids }: Plan,
  terminal: Terminal,
): Promise<KubeObject[]> {
  const byId = new Map(steps.map(step => [step.id, step]))
  const tried = new Set<Step>()
  const failures: string[] = []
  const all: KubeObject[] = []
  const makeOne = async (step: Step): Promise<void> => {
    if (tried.has(step)) return
    tried.add(step)
    const owners = step.object.metadata.ownerReferences ?? []
    const idsOf = (owner: OwnerReference): string[] => ownerIds(step.object, owner)
    for (const id of owners.flatMap(idsOf)) {
      const owner = byId.get(id)
      if (owner !== undefined) await makeOne(owner)
    }
    if (step.isThere) return
    const ownerReferences = owners.map(owner => ({
      ...owner,
      uid: idsOf(owner).flatMap(id => uids.get(id) ?? [])[0] ?? '',
    }))
    const lacking = ownerReferences.find(({ uid }) => uid === '')
    if (lacking !== undefined) {
      failures.push(`${step.name}: its owner, ${lacking.kind} ${lacking.name}, was not made`)
      return
    }
    const { ownerReferences: _named, ...metadata } = step.object.metadata
    const object = { ...step.object, metadata: { ...metadata, ...(ownerReferences.length > 0 && { ownerReferences }) } }
    try {
      const resource = kinds.of(object)
      if (resource === undefined) throw new CommandError(`the space serves no ${object.apiVersion} ${object.kind} yet`)
      const made = await space.create(resource, object, MANAGER)
      all.push(made)
      uids.set(step.id, made.metadata.uid ?? '')
      terminal.out(`${step.name} created`)
    } catch (error) {
      failures.push(`${step.name}: ${messageOf(error)}`)
    }
  }
  for (const step of steps.filter(({ object }) => object.kind === 'CustomResourceDefinition')) {
    await makeOne(step)
    if (uids.has(step.id)) await established(space, step.object.metadata.name ?? '', terminal)
  }
  await kinds.look()
  for (const step of steps.filter(({ place: [stage] }) => stage < PLACEMENTS)) await makeOne(step)
  if (failures.length > 0)
    throw new CommandError(
      `these objects were not made, and so no placement was; type the import again:\n${shortened(failures)}`,
    )
  for (const step of steps) await makeOne(step)
  if (failures.length > 0) throw new CommandError(`these placements were not made:\n${shortened(failures)}`)
  return all
}

async function established(space: SpaceClient, name: string, terminal: Terminal): Promise<void> {
  const { reached } = await waitFor({
    client: space,
    resource: CRDS,
    ref: { name },
    signal: AbortSignal.timeout(READY_MS),
    done: object => object !== undefined && conditionOf(object, 'Established')?.status === 'True',
  })
  if (!reached) terminal.err(`Note: CustomResourceDefinition ${name} is not established`)
}
