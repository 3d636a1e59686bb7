/**
 * The registry and the reader over a store without a disk, with neither a server nor requests. Time stands still, uids are counted, and the
 * test provides the steps between a write and the store.
 */
import type { Test } from 'tap'
import { resourceTypesOf } from '../../../src/apimachinery/crd/crd.ts'
import type { StatusReason } from '../../../src/apimachinery/errors.ts'
import type { KubeObject, ManagedFieldsEntry } from '../../../src/apimachinery/object.ts'
import type { CustomVersions, ResourceType } from '../../../src/apimachinery/resourceType.ts'
import { loadCatalog } from '../../../src/apiserver/catalog/catalog.ts'
import type { Admission, AdmissionRequest, AdmissionStage } from '../../../src/apiserver/registry/admission.ts'
import { decodeObject, ParsedCache } from '../../../src/apiserver/registry/codec.ts'
import { systemContext, type WriteContext } from '../../../src/apiserver/registry/context.ts'
import { Reader } from '../../../src/apiserver/registry/reader.ts'
import { Registry, type RegistryDeps } from '../../../src/apiserver/registry/registry.ts'
import { TypeRegistry } from '../../../src/apiserver/types/typeRegistry.ts'
import { strategyFor } from '../../../src/kinds/strategyFor.ts'
import { type Work, WorkTurns } from '../../../src/program/workTurns.ts'
import type { JournaledStoreOptions } from '../../../src/storage/journaledStore.ts'
import { openMemoryStore } from '../../../src/storage/memory/openMemoryStore.ts'
import type { Key, Stored, StoreEvent } from '../../../src/storage/store.ts'
import { endlessTurns } from '../../support/endlessTurns.ts'

export const SPACE = 'root'
export const NOW = '2026-01-02T03:04:05Z'
const CATALOG = loadCatalog().types

export interface HeartOptions {
  deps?: Partial<RegistryDeps>
  store?: JournaledStoreOptions
  /** CustomResourceDefinitions of the space. */
  definitions?: readonly KubeObject[]
  convert?: CustomVersions['convert']
}

export async function heart(t: Test, { deps, store: limits, definitions = [], convert }: HeartOptions = {}) {
  const store = await openMemoryStore(limits)
  t.teardown(() => store.close())
  const types = new TypeRegistry(CATALOG)
  for (const definition of definitions) define(types, definition, convert)
  let uids = 0
  const registry = new Registry({
    store,
    parsed: new ParsedCache(),
    strategyFor,
    storageType: (space, type) => types.in(space).find(type.group, type.storageVersion, type.resource) ?? type,
    typeAt: (space, group, version, resource) => types.in(space).find(group, version, resource),
    admission: [],
    clock: () => new Date(`${NOW.slice(0, -1)}.678Z`),
    uuid: () => `uid-${++uids}`,
    random: () => 0,
    annotateSpace: false,
    ...deps,
  })
  const keyOf = ({ group, resource }: ResourceType, namespace: string, name: string): Key => ({
    space: SPACE,
    group,
    resource,
    namespace,
    name,
  })
  return {
    store,
    types,
    registry,
    reader: new Reader({
      turns: endlessTurns(),
      store,
      parsed: registry.deps.parsed,
      ...(registry.deps.shared && { shared: registry.deps.shared }),
    }),
    /** `apps/v1/deployments`, `v1/configmaps` */
    type(name: string): ResourceType {
      const [resource, version, group = ''] = name.split('/').reverse()
      const type = types.in(SPACE).find(group, version!, resource!)
      if (type === undefined) throw new Error(`${name} is not served`)
      return type
    },
    /** Another definition of the same name in place of the old one, as of a CRD that was changed. */
    redefine: (definition: KubeObject) => define(types, definition, convert),
    /** Content of the store, without any reader's rules. */
    async stored(type: ResourceType, namespace: string, name: string): Promise<KubeObject | undefined> {
      const found = await store.get(keyOf(type, namespace, name))
      return found && decodeObject(found)
    },
    keyOf,
    /** Everything that was written since a revision. */
    async eventsSince(after: number): Promise<StoreEvent[]> {
      if (after === store.revision) return []
      const gone = new AbortController()
      const events: StoreEvent[] = []
      for await (const batch of store.watch({}, { after, signal: gone.signal })) {
        events.push(...batch)
        if (events.at(-1)!.revision >= store.revision) gone.abort()
      }
      return events
    },
  }
}

export type Heart = Awaited<ReturnType<typeof heart>>

function define(types: TypeRegistry, definition: KubeObject, convert: CustomVersions['convert']): void {
  const made = resourceTypesOf(definition)
  types.define(
    SPACE,
    definition.metadata.name!,
    convert ? made.map(type => ({ ...type, custom: { ...type.custom!, convert } })) : made,
  )
}

/** A user's request; what it is warned of is in `warnings`. */
export function asking(more: Partial<WriteContext> = {}): WriteContext & { warnings: string[] } {
  const warnings: string[] = []
  return { ...systemContext(SPACE, 'me'), warn: text => warnings.push(text), warnings, ...more }
}

export function configMap(name: string, data: Record<string, unknown> = {}, metadata: object = {}): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata }, data }
}

export function deployment(name: string, spec: object = {}): KubeObject {
  const labels = { app: name }
  const containers = [{ name: 'main', image: 'example.com/main:1' }]
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } }, ...spec },
  }
}

/** A CRD of `widgets.example.com`, as it is stored; the first version is that of the store. */
export function widgets(
  versions: Record<string, object>,
  { generation = 1, scope = 'Namespaced', storage = Object.keys(versions)[0]!, subresources = {} } = {},
): KubeObject {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com', generation },
    spec: {
      group: 'example.com',
      scope,
      names: { plural: 'widgets', kind: 'Widget' },
      versions: Object.entries(versions).map(([name, properties]) => ({
        name,
        served: true,
        storage: name === storage,
        subresources,
        schema: { openAPIV3Schema: { type: 'object', properties } },
      })),
    },
  }
}

export function widget(version: string, name: string, fields: object = {}, metadata: object = {}): KubeObject {
  return { apiVersion: `example.com/${version}`, kind: 'Widget', metadata: { name, ...metadata }, ...fields }
}

/** A step of admission that takes its time, as those that ask others do. */
export function step(
  stage: AdmissionStage,
  admit: (request: AdmissionRequest) => void | Promise<void>,
  operation?: AdmissionRequest['operation'],
): Admission {
  return { stage, handles: (_type, asked) => operation === undefined || asked === operation, admit }
}

export function objectOf({ stored }: { stored: Stored }): KubeObject {
  return decodeObject(stored)
}

/** `manager operation version/subresource: fields`, in order; fields as paths without their prefixes. */
export function claims({ metadata }: KubeObject): string[] {
  return (metadata.managedFields ?? []).map(claimOf)
}

function claimOf({ manager, operation, apiVersion, subresource, fieldsV1 }: ManagedFieldsEntry): string {
  const paths = (fields: object, path = ''): string[] =>
    Object.entries(fields).flatMap(([name, below]) => {
      const here = name === '.' ? '' : `${path}.${name.slice(2)}`
      return Object.keys(below).length === 0 ? here || [] : paths(below, here)
    })
  const where = `${apiVersion}${subresource === undefined ? '' : `/${subresource}`}`
  return `${manager} ${operation} ${where}: ${paths(fieldsV1 ?? {})
    .sort()
    .join(' ')}`
}

/** Pattern of a refusal where its words are tested elsewhere. */
export function refused(reason: StatusReason): { name: string; reason: StatusReason } {
  return { name: 'StatusError', reason }
}

/** Turns without a time: whoever asks rests, and each rest is one of the loop's. */
export function countedTurns() {
  let rests = 0
  const turns = new WorkTurns({
    sliceMs: 0,
    clock: () => 0,
    later: turn => {
      rests++
      setImmediate(() => {
        turn()
      })
    },
  })
  return { turns, rests: () => rests, work: (): Work => turns.begin({ owner: SPACE }) }
}
