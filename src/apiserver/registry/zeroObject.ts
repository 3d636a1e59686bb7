/**
 * What upstream's empty object of a built-in kind looks like when it is written down: Go structs are always there, and so are
 * members without `omitempty`. Whoever creates an object does not come to own those structs themselves.
 */
import type { Schema } from '../../apimachinery/schema.ts'

/** Members that are structs, not pointers, although the API calls them optional. */
const STRUCTS: ReadonlySet<string> = new Set([
  'deprecatedSource',
  'jobTemplate',
  'loadBalancer',
  'metadata',
  'nodeInfo',
  'daemonEndpoints',
  'kubeletEndpoint',
  'podSelector',
  'regarding',
  'resources',
  'source',
  'spec',
  'status',
  'strategy',
  'template',
  'updateStrategy',
])

/** The pointers among them. */
const POINTERS: ReadonlySet<string> = new Set(['ReplicationController template'])

export function zeroObject(kind: string, schema: Schema): Record<string, unknown> {
  const zero: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    if (name === 'apiVersion' || name === 'kind') continue
    const isStruct = STRUCTS.has(name) && !POINTERS.has(`${kind} ${name}`)
    if (isStruct) zero[name] = zeroObject(kind, member)
    else if (schema.required?.includes(name)) zero[name] = zeroValue(kind, member)
  }
  return zero
}

function zeroValue(kind: string, schema: Schema): unknown {
  switch (schema.type) {
    case 'string':
      return ''
    case 'boolean':
      return false
    case 'integer':
    case 'number':
      return 0
    default: {
      const isStruct = schema.properties !== undefined && schema['x-kubernetes-map-type'] !== 'atomic'
      return isStruct ? zeroObject(kind, schema) : null
    }
  }
}
