/**
 * Customization of a workload object for one destination: parameters of the Location first, then the replacements of the
 * object's Customizer. What cannot be done is left undone and said; the rest still happens.
 */
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { CUSTOMIZER_ANNOTATION, EXPAND_ANNOTATION } from './names.ts'
import { parseReplacementPath, ReplacementPathError, replaceAt } from './replacementPath.ts'

/** Parameter name to value. */
export type Parameters = ReadonlyMap<string, string>

export interface Customization {
  object: KubeObject
  /** In the order in which they were met; empty when all went well. */
  faults: string[]
}

export interface CustomizationInputs {
  /** `undefined` when the Location is gone. */
  location: KubeObject | undefined
  locationName: string
  /** `undefined` when the object names none, or one that does not exist. */
  customizer: KubeObject | undefined
}

/** Labels of a Location come before its annotations of the same name. */
export function parametersOf(location: KubeObject): Parameters {
  const { annotations, labels } = location.metadata
  return new Map([...Object.entries(annotations ?? {}), ...Object.entries(labels ?? {})])
}

export function wantsExpansion(object: KubeObject): boolean {
  return object.metadata.annotations?.[EXPAND_ANNOTATION] === 'true'
}

/**
 * `namespace/name` of the object's Customizer, `''` when it names none. A bare name is in the object's own Namespace;
 * for a cluster-scoped object it leads nowhere (`/name`).
 */
export function customizerOf(object: KubeObject): string {
  const reference = object.metadata.annotations?.[CUSTOMIZER_ANNOTATION] ?? ''
  if (reference === '' || reference.includes('/')) return reference
  return `${object.metadata.namespace ?? ''}/${reference}`
}

/** `source` is left as it is. */
export function customize(source: KubeObject, inputs: CustomizationInputs): Customization {
  const { location, locationName, customizer } = inputs
  const reference = customizerOf(source)
  const expands = wantsExpansion(source)
  if (!expands && reference === '') return { object: source, faults: [] }
  const faults: string[] = []
  const parameters = location && parametersOf(location)
  const missing = `Location ${JSON.stringify(locationName)} not found, its parameters are not expanded`
  let object = structuredClone(source)
  if (expands) {
    if (parameters) object = expandStrings(object, parameters)
    else faults.push(missing)
  }
  if (reference.startsWith('/')) {
    faults.push(
      `a cluster-scoped object names its Customizer as namespace/name, not ${JSON.stringify(reference.slice(1))}`,
    )
  } else if (reference !== '' && !customizer) {
    faults.push(`Customizer ${JSON.stringify(reference)} not found`)
  } else if (customizer) {
    const expanding = wantsExpansion(customizer)
    if (expanding && !parameters && !expands) faults.push(missing)
    const expand = (text: string) => (expanding && parameters ? expandText(text, parameters) : text)
    const { replacements } = customizer
    for (const [index, item] of (Array.isArray(replacements) ? replacements : []).entries()) {
      if (!isRecord(item) || typeof item.path !== 'string' || typeof item.value !== 'string') continue
      const fault = replaceOne(object, expand(item.path), expand(item.value))
      if (fault) faults.push(`Customizer ${reference} replacements[${index}]: ${fault}`)
    }
    restoreIdentity(object, source, faults)
  }
  return { object, faults }
}

/** `%(name)` becomes the parameter's value, `%%` becomes `%`; names that nothing defines stay as they are. */
export function expandText(text: string, parameters: Parameters): string {
  return text.replace(/%%|%\(([^)]*)\)/g, (found, name?: string) =>
    name === undefined ? '%' : (parameters.get(name) ?? found),
  )
}

/** A copy with every string value expanded; keys are left alone. */
export function expandStrings<T>(value: T, parameters: Parameters): T {
  return expandNode(value, parameters) as T
}

function expandNode(node: unknown, parameters: Parameters): unknown {
  if (typeof node === 'string') return expandText(node, parameters)
  if (Array.isArray(node)) return node.map(item => expandNode(item, parameters))
  if (!isRecord(node)) return node
  return Object.fromEntries(Object.entries(node).map(([key, item]) => [key, expandNode(item, parameters)]))
}

/** What was wrong, or `undefined`. */
function replaceOne(object: KubeObject, path: string, text: string): string | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return `value is not JSON: ${text}`
  }
  try {
    const count = replaceAt(object, parseReplacementPath(path), value)
    return count === 0 && !/\*|\.\.|:/.test(path) ? `path ${path} leads nowhere in this object` : undefined
  } catch (error) {
    if (error instanceof ReplacementPathError) return `path ${path}: ${error.message}`
    throw error
  }
}

/** A replacement may change what an object says, not which object it is. */
function restoreIdentity(object: KubeObject, source: KubeObject, faults: string[]): void {
  const metadata: unknown = object.metadata
  const { name, namespace } = source.metadata
  const kept =
    isRecord(metadata) &&
    (metadata.labels === undefined || isRecord(metadata.labels)) &&
    (metadata.annotations === undefined || isRecord(metadata.annotations))
  if (!kept || metadata.name !== name || metadata.namespace !== namespace) {
    faults.push('a replacement touches metadata.name, metadata.namespace or the form of metadata; metadata is kept')
    object.metadata = structuredClone(source.metadata)
  }
  if (object.apiVersion === source.apiVersion && object.kind === source.kind) return
  faults.push('a replacement touches apiVersion or kind; both are kept')
  object.apiVersion = source.apiVersion
  object.kind = source.kind
}
