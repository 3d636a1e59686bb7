/**
 * The CEL library names the type of every list and map that it meets, `list<map<string, list<int>>>`. It keeps each for as long as the
 * process lives. Values with ever new nesting would fill the memory, so types have a bounded depth: further inside, anything goes.
 */
import type { Environment } from '@marcbachmann/cel-js'

/** Levels of lists and maps: more than functions ask for. */
const MAX_DEPTH = 4

/** The part of the library's registry of types that is used here. */
interface Type {
  readonly kind: string
  readonly keyType?: Type
  readonly valueType?: Type
}
interface Registry {
  getType(name: string): Type
  getListType(value: Type): Type
  getMapType(key: Type, value: Type): Type
  getOptionalType(value: Type): Type
}

const bounded = new WeakSet<Environment>()

/** Once for each environment, before it checks or evaluates anything. */
export function boundTypeDepth(environment: Environment): void {
  if (bounded.has(environment)) return
  bounded.add(environment)
  const registry = registryOf(environment)
  const list = registry.getListType.bind(registry)
  const map = registry.getMapType.bind(registry)
  const optional = registry.getOptionalType.bind(registry)
  const dyn = registry.getType('dyn')
  const shallow = (type: Type): Type => (depthOf(type) < MAX_DEPTH ? type : dyn)
  registry.getListType = value => list(shallow(value))
  registry.getMapType = (key, value) => map(shallow(key), shallow(value))
  registry.getOptionalType = value => optional(shallow(value))
}

function depthOf(type: Type): number {
  const inner = Math.max(
    type.keyType === undefined ? 0 : depthOf(type.keyType),
    type.valueType === undefined ? 0 : depthOf(type.valueType),
  )
  return type.kind === 'list' || type.kind === 'map' || type.kind === 'optional' ? inner + 1 : inner
}

/** The environment keeps its registry to itself, but shows it to the parts of an expression that it checks. */
function registryOf(environment: Environment): Registry {
  const probe = environment.parse('true')
  let registry: Registry | undefined
  Object.defineProperty(probe.ast, 'check', {
    value: (checker: { registry: Registry }) => {
      ;({ registry } = checker)
      return registry.getType('bool')
    },
  })
  probe.check()
  if (registry === undefined) throw new Error('the CEL library no longer shows its types')
  return registry
}
