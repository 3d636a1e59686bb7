/**
 * Empty members of built-in kinds: upstream's servers read objects into structs and write them without what is empty (Go's
 * `omitempty`), so a manifest's `labels: {}` or `paused: false` is gone when it comes back.
 */
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { memberSchema, type Schema } from '../../apimachinery/schema.ts'

/** Collections that upstream writes even when they are empty, by kind and path. */
const KEPT: ReadonlySet<string> = new Set([
  'ClusterRole rules',
  'Role rules',
  'EndpointSlice ports',
  'CustomResourceDefinition status',
])

/** Texts that are pointers upstream: there, empty is not absent. */
const POINTERS: ReadonlySet<string> = new Set(
  [
    ['apiGroup', 'appProtocol', 'conditionType', 'default', 'deletionTimestamp', 'exact', 'failurePolicy', 'fsType'],
    ['gmsaCredentialSpec', 'gmsaCredentialSpecName', 'holderIdentity', 'inlineVolumeSpec'],
    ['ingressClassName', 'internalTrafficPolicy', 'ipFamilyPolicy', 'loadBalancerClass', 'localhostProfile'],
    ['matchPolicy', 'mountPropagation', 'namespace', 'path', 'pathType', 'persistentVolumeName', 'policy'],
    ['preemptionPolicy', 'preferredHolder', 'procMount', 'recursiveReadOnly', 'reinvocationPolicy'],
    ['resizePolicy', 'restartPolicy', 'runAsUserName', 'runtimeClassName', 'scope', 'selectPolicy', 'service'],
    ['sideEffects', 'storageClassName', 'strategy', 'type', 'unhealthyPodEvictionPolicy', 'url'],
    ['volumeAttributesClassName', 'volumeBindingMode', 'volumeMode', 'x-kubernetes-map-type'],
    ['x-kubernetes-list-type'],
  ].flat(),
)

/** Truth values that are no pointers upstream. */
const PLAIN_BOOLEANS: ReadonlySet<string> = new Set([
  'hostIPC',
  'hostNetwork',
  'hostPID',
  'paused',
  'publishNotReadyAddresses',
  'readOnly',
  'stdin',
  'stdinOnce',
  'tty',
  'unschedulable',
])

/** Numbers that are no pointers upstream. */
const PLAIN_NUMBERS: ReadonlySet<string> = new Set([
  'healthCheckNodePort',
  'hostPort',
  'initialDelaySeconds',
  'minReadySeconds',
  'nodePort',
  'observedGeneration',
])

/** Removes what upstream would not write of a built-in kind, in place; the values must be of the types of `schema`. */
export function dropEmpty(object: KubeObject, schema: Schema): void {
  dropMembers(object, schema, object.kind)
}

/** The same for metadata, which is a struct for every kind. */
export function dropEmptyMetadata(metadata: KubeObject['metadata']): void {
  const members = metadata as Record<string, unknown>
  for (const [name, value] of Object.entries(members))
    if (value === '' || isEmptyCollection(value)) delete members[name]
}

function dropMembers(object: Record<string, unknown>, schema: Schema, kind?: string): void {
  if (schema['x-kubernetes-preserve-unknown-fields']) return
  const isStruct = schema.properties !== undefined
  for (const name of Object.keys(object)) {
    const value = object[name]
    const member = memberSchema(schema, name)
    if (member === undefined || (kind !== undefined && KEPT.has(`${kind} ${name}`))) continue
    if (isStruct && !schema.required?.includes(name) && isEmpty(name, value, member)) delete object[name]
    else drop(value, member)
  }
}

function drop(value: unknown, schema: Schema): void {
  if (Array.isArray(value)) {
    if (schema.items !== undefined) for (const item of value) drop(item, schema.items)
  } else if (isRecord(value)) dropMembers(value, schema)
}

function isEmpty(name: string, value: unknown, schema: Schema): boolean {
  switch (typeof value) {
    case 'string':
      return value === '' && schema.type === 'string' && !POINTERS.has(name)
    case 'boolean':
      return !value && PLAIN_BOOLEANS.has(name)
    case 'number':
      return value === 0 && PLAIN_NUMBERS.has(name)
    default:
      return isEmptyCollection(value) && (Array.isArray(value) || isMap(schema))
  }
}

/** A map, not a struct that has no member yet: `emptyDir: {}` says something. */
function isMap(schema: Schema): boolean {
  return schema.additionalProperties !== undefined && schema.additionalProperties !== false && !schema.properties
}

function isEmptyCollection(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0
  return isRecord(value) && Object.keys(value).length === 0
}
