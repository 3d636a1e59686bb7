/**
 * An object as its authors described it: without what the server of its space gave it for itself. Each cluster gives its own,
 * out of ranges of its own. Pure; what it is given stays as it is.
 */
import { withoutUnchanged } from '../../apimachinery/apply/looseFields.ts'
import { defaultedFields } from '../../apimachinery/defaultedFields.ts'
import { objects } from '../../apimachinery/fields.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { LAST_APPLIED_ANNOTATION } from '../../apimachinery/resources.ts'
import { isTokenSecret, withoutToken } from '../../apimachinery/tokenSecret.ts'
import { isTokenVolume, TOKEN_MOUNT_PATH } from '../../apimachinery/tokenVolume.ts'
import { NOTES } from '../words/marks.ts'

type Fields = Readonly<Record<string, unknown>>

/** Taken before an object is customized: what a Customizer says is meant. */
export function asDescribed(object: KubeObject): KubeObject {
  if (object.apiVersion === 'v1' && object.kind === 'Service' && isRecord(object.spec)) {
    return { ...object, spec: withoutGiven(object.spec, claimsOnSpec(object)) }
  }
  if (object.apiVersion === 'v1' && object.kind === 'Pod' && isRecord(object.spec)) {
    const spec = withoutTokenVolume(object.spec)
    return spec === object.spec ? object : { ...object, spec }
  }
  if (isTokenSecret(object)) return withoutToken(object)
  return object
}

/**
 * The same of what is to be customized, without three things. The server's records may be as large as the object. The
 * configuration that kubectl applied last may name parameters that the object names no more. Our notes for its authors would change
 * what they say.
 */
export function asAuthored(source: KubeObject): KubeObject {
  const object = asDescribed(source)
  const { managedFields: _records, resourceVersion: _version, annotations, ...metadata } = object.metadata
  if (!annotations) return { ...object, metadata }
  const own = Object.entries(annotations).filter(([key]) => !NOTES.includes(key) && key !== LAST_APPLIED_ANNOTATION)
  return { ...object, metadata: { ...metadata, annotations: Object.fromEntries(own) } }
}

/** Values of the server belong to no field manager; requested values do. */
function withoutGiven(spec: Fields, claims: readonly Fields[]): Fields {
  const claimed = (field: string): boolean => claims.some(claim => `f:${field}` in claim)
  const { ports } = spec
  const kept = Object.entries(spec).filter(
    ([field, value]) =>
      !GIVEN.has(field) || claimed(field) || isHeadless(value) || (isAddress(field) && claims.some(ownsAddress)),
  )
  return {
    ...Object.fromEntries(kept),
    ...(Array.isArray(ports) && {
      ports: ports.map((port: unknown) => (isRecord(port) ? withoutGivenPort(port, claims) : port)),
    }),
  }
}

const GIVEN: ReadonlySet<string> = new Set([
  'clusterIP',
  'clusterIPs',
  'healthCheckNodePort',
  'ipFamilies',
  'ipFamilyPolicy',
])

const isAddress = (field: string): boolean => field === 'clusterIP' || field === 'clusterIPs'

/** Both fields say the same: who claims one means both. */
const ownsAddress = (claim: Fields): boolean => 'f:clusterIP' in claim || 'f:clusterIPs' in claim

/** No server gives that. */
function isHeadless(value: unknown): boolean {
  return value === 'None' || (Array.isArray(value) && value.length === 1 && value[0] === 'None')
}

function withoutGivenPort(port: Fields, claims: readonly Fields[]): Fields {
  if (port.nodePort === undefined || claims.some(claim => claimsNodePort(claim['f:ports'], port))) return port
  const { nodePort: _given, ...rest } = port
  return rest
}

/** Whether a claim on ports covers the node port of this one. */
function claimsNodePort(claim: unknown, port: Fields): boolean {
  if (!isRecord(claim)) return false
  // a claim without parts is one on the whole list
  if (Object.keys(claim).length === 0) return true
  return Object.entries(claim).some(
    ([key, fields]) => key.startsWith('k:') && isRecord(fields) && 'f:nodePort' in fields && isKeyOf(key, port),
  )
}

/** `k:{"port":80,"protocol":"TCP"}` */
function isKeyOf(key: string, port: Fields): boolean {
  const parts: unknown = JSON.parse(key.slice(2))
  return isRecord(parts) && Object.entries(parts).every(([field, value]) => port[field] === value)
}

/** Fields of the spec that managers of the object itself, not of its sub-resources, set. */
function claimsOnSpec({ metadata }: KubeObject): Fields[] {
  return (metadata.managedFields ?? []).flatMap(({ fieldsV1, subresource }) => {
    const spec = isRecord(fieldsV1) ? fieldsV1['f:spec'] : undefined
    return isRecord(spec) && !subresource ? [spec] : []
  })
}

/** The volume of the Pod's own server, and its mounts. One that was changed, or is mounted elsewhere too, is the author's. */
function withoutTokenVolume(spec: Fields): Fields {
  const volumes: readonly unknown[] = Array.isArray(spec.volumes) ? spec.volumes : []
  const names = new Set(volumes.filter(isTokenVolume).map(({ name }) => name))
  if (names.size === 0) return spec
  for (const { name, mountPath } of CONTAINERS.flatMap(kind => objects(spec[kind])).flatMap(mountsOf)) {
    if (mountPath !== TOKEN_MOUNT_PATH) names.delete(String(name))
  }
  const isIts = (value: unknown): boolean => isRecord(value) && names.has(String(value.name))
  const bare = (container: unknown): unknown =>
    isRecord(container) && Array.isArray(container.volumeMounts)
      ? withList(
          container,
          'volumeMounts',
          container.volumeMounts.filter(mount => !isIts(mount)),
        )
      : container
  const containers = CONTAINERS.flatMap(kind => {
    const those = spec[kind]
    return Array.isArray(those) ? [[kind, those.map(bare)] as const] : []
  })
  return withList(
    { ...spec, ...Object.fromEntries(containers) },
    'volumes',
    volumes.filter(volume => !isIts(volume)),
  )
}
const CONTAINERS = ['initContainers', 'containers', 'ephemeralContainers']

/** An empty list is left out, as by authors. */
function withList(owner: Fields, field: string, items: readonly unknown[]): Fields {
  const { [field]: _before, ...rest } = owner
  return items.length === 0 ? rest : { ...rest, [field]: items }
}

function mountsOf(container: Fields): Fields[] {
  return objects(container.volumeMounts)
}

/**
 * An object without the fields that its author left open: each cluster fills in its own defaults, and values set there stay. `source` is
 * the object as its space's server gave it, `object` its adaptation to a destination: values of a Customizer count as set. Without a known
 * source, every field counts as set.
 */
export function withoutDefaults(object: KubeObject, source: KubeObject): KubeObject {
  const defaulted = defaultedFields(source)
  return defaulted === undefined ? object : (withoutUnchanged(object, defaulted, source) as KubeObject)
}
