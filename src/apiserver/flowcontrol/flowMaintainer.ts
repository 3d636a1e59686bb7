/**
 * Keeps the FlowSchemas and PriorityLevelConfigurations of the root space as a kube-apiserver keeps its own. The server's own are created,
 * and recreated after a deletion. They are updated while their annotation allows it, and others that bear the annotation are deleted. The
 * status of each FlowSchema reports whether its level exists.
 * @see https://kubernetes.io/docs/concepts/cluster-administration/flow-control/
 */
import { conditionsOf, mergeConditions } from '../../apimachinery/conditions.ts'
import { isStatusError } from '../../apimachinery/errors.ts'
import { str } from '../../apimachinery/fields.ts'
import type { GroupResource, KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { timestamp } from '../../apimachinery/timestamp.ts'
import { cloneJson, sameMeaning } from '../../apimachinery/values.ts'
import type { Key, Store } from '../../storage/store.ts'
import { type FollowerDeps, followLog } from '../following/followLog.ts'
import { KeyWorker } from '../following/keyWorker.ts'
import { decodeObject } from '../registry/codec.ts'
import { systemContext, type WriteContext } from '../registry/context.ts'
import type { Registry } from '../registry/registry.ts'
import type { TypeRegistry } from '../types/typeRegistry.ts'
import {
  AUTOUPDATE,
  bootstrapLevels,
  bootstrapSchemas,
  MANDATORY_LEVELS,
  MANDATORY_SCHEMAS,
} from './bootstrapConfiguration.ts'
import { danglingCondition, FLOW_GROUP, FLOW_SCHEMAS, PRIORITY_LEVELS } from './flowConfiguration.ts'

interface FlowMaintainerDeps extends FollowerDeps {
  store: Pick<Store, 'get' | 'list' | 'slices' | 'watch'>
  registry: Pick<Registry, 'create' | 'update'>
  types: TypeRegistry
  /** Id of the root space. */
  root: string
  /** Deletes an object if it is still the one with this uid. */
  remove(context: WriteContext, type: ResourceType, name: string, uid: string): Promise<unknown>
}

const COMPONENT = 'flow-control'

interface Builtin {
  readonly object: KubeObject
  readonly mandatory: boolean
}

export class FlowMaintainer {
  readonly #deps: FlowMaintainerDeps
  readonly #builtins: ReadonlyMap<string, Builtin>
  readonly #worker: KeyWorker<Key>

  constructor(deps: FlowMaintainerDeps) {
    this.#deps = deps
    const work = {
      id: ({ space, resource, name }: Key) => `${space} ${resource} ${name}`,
      concurrency: 32,
      reconcile: (key: Key) => this.#reconcile(key),
      // Somebody else was faster; the log tells what they did.
      isEnd: (error: unknown) => isStatusError(error, 'AlreadyExists', 'NotFound'),
      failed: ({ resource, name }: Key, error: unknown) =>
        deps.log.warn({ err: error, resource, name }, 'flow control could not be brought to its wanted state'),
    }
    this.#worker = new KeyWorker(work, deps)
    const builtin = (objects: KubeObject[], resource: GroupResource, mandatory: readonly string[]) =>
      objects.map((object): [string, Builtin] => {
        const name = object.metadata.name ?? ''
        return [keyText(this.#key(resource, name)), { object, mandatory: mandatory.includes(name) }]
      })
    this.#builtins = new Map([
      ...builtin(bootstrapLevels(), PRIORITY_LEVELS, MANDATORY_LEVELS),
      ...builtin(bootstrapSchemas(), FLOW_SCHEMAS, MANDATORY_SCHEMAS),
    ])
  }

  /** Resolves when all is as it has to be, or has to be tried again. */
  async start(): Promise<void> {
    for (const { object } of this.#builtins.values()) this.#worker.add(this.#keyOf(object))
    const note = (key: Key, error: unknown): void => void this.#worker.note(key, error)
    const follow = (resource: GroupResource) =>
      followLog(
        {
          ...this.#deps,
          range: { space: this.#deps.root, ...resource },
          what: resource.resource,
          wants: () => true,
          add: key => void this.#changed(key).catch(error => note(key, error)),
          note,
        },
        this.#worker.signal,
      )
    this.#worker.start(follow(FLOW_SCHEMAS), follow(PRIORITY_LEVELS))
    await this.#worker.idle()
  }

  stop(): Promise<void> {
    return this.#worker.stop()
  }

  /** Schemas tell about their levels. */
  async #changed(key: Key): Promise<void> {
    this.#worker.add(key)
    if (key.resource !== PRIORITY_LEVELS.resource) return
    const { items } = await this.#deps.store.list({ space: key.space, ...FLOW_SCHEMAS })
    for (const stored of items) this.#worker.add(stored.key)
  }

  async #reconcile(key: Key): Promise<void> {
    const { store, registry, types, root } = this.#deps
    const type = types.in(root).find(FLOW_GROUP, 'v1', key.resource)
    if (type === undefined) return
    const context = systemContext(root, COMPONENT)
    const builtin = this.#builtins.get(keyText(key))
    const stored = await store.get(key)
    if (stored === undefined) {
      if (builtin) await registry.create(context, type, '', cloneJson(builtin.object))
      return
    }
    const object = decodeObject(stored)
    if (object.metadata.deletionTimestamp !== undefined) return
    if (builtin === undefined) {
      if (object.metadata.annotations?.[AUTOUPDATE] === 'true') {
        return void (await this.#deps.remove(context, type, key.name, object.metadata.uid ?? ''))
      }
    } else if (isOff(object, builtin)) {
      await registry.update(context, type, '', key.name, current => upToDate(current, builtin))
    }
    if (key.resource === FLOW_SCHEMAS.resource) await this.#reportLevel(context, type, key.name, object)
  }

  async #reportLevel(context: WriteContext, type: ResourceType, name: string, schema: KubeObject): Promise<void> {
    const { store, registry, clock } = this.#deps
    const level = str(schema.spec, 'priorityLevelConfiguration', 'name')
    const isThere = (await store.get(this.#key(PRIORITY_LEVELS, level))) !== undefined
    const condition = danglingCondition(level, isThere)
    const now = timestamp(new Date(clock.now()))
    if (!mergeConditions(conditionsOf(schema), [condition], now).isChanged) return
    const change = (current: KubeObject): KubeObject => {
      const { conditions } = mergeConditions(conditionsOf(current), [condition], now)
      current.status = { conditions }
      return current
    }
    await registry.update(context, type, '', name, change, { subresource: 'status' })
  }

  #keyOf({ kind, metadata }: KubeObject): Key {
    return this.#key(kind === 'FlowSchema' ? FLOW_SCHEMAS : PRIORITY_LEVELS, metadata.name ?? '')
  }

  #key({ group, resource }: GroupResource, name: string): Key {
    return { space: this.#deps.root, group, resource, namespace: '', name }
  }
}

function keyText({ resource, name }: Key): string {
  return `${resource}/${name}`
}

/** Whether the server decides what an object says: as its annotation says, and without one while nobody has changed it. */
function isKeptByServer({ metadata }: KubeObject): boolean {
  const annotation = metadata.annotations?.[AUTOUPDATE]
  return annotation === 'true' || (annotation !== 'false' && metadata.generation === 1)
}

function isOff(object: KubeObject, builtin: Builtin): boolean {
  const wanted = upToDate(cloneJson(object), builtin)
  return !sameMeaning(wanted.spec, object.spec) || !sameMeaning(wanted.metadata, object.metadata)
}

/** `object`, changed. */
function upToDate(object: KubeObject, { object: builtin, mandatory }: Builtin): KubeObject {
  const kept = isKeptByServer(object)
  object.metadata.annotations = { ...object.metadata.annotations, [AUTOUPDATE]: String(kept) }
  if (kept) object.spec = cloneJson(builtin.spec)
  else if (mandatory) {
    // How much of the exempt level others may use stays the administrator's.
    const { exempt } = (object.spec ?? {}) as { exempt?: unknown }
    object.spec = { ...(cloneJson(builtin.spec) as object), ...(exempt !== undefined && { exempt }) }
  }
  return object
}
