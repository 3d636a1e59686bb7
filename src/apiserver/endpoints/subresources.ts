/** Sub-resources of built-in kinds, which are parts of their object or more: scale, finalize, and those of Pods. */
import { StatusError, statusError } from '../../apimachinery/errors.ts'
import { fieldError } from '../../apimachinery/fieldErrors.ts'
import { at } from '../../apimachinery/fields.ts'
import { groupResourceName, isRecord, type KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType, ScalePaths } from '../../apimachinery/resourceType.ts'
import { labelSelectorFromObject } from '../../apimachinery/selectors.ts'
import { cloneJson } from '../../apimachinery/values.ts'
import { sendObject, sendValue, tableOf } from '../exchange/answers/respond.ts'
import { readBody } from '../exchange/bodies/body.ts'
import { checkTypes } from '../exchange/bodies/checkTypes.ts'
import { requireKind } from '../exchange/bodies/otherKinds.ts'
import {
  type EndpointEntries,
  type EndpointEntry,
  type Exchange,
  type Services,
  writeContext,
  writeTarget,
} from '../exchange/exchange.ts'
import { finalize } from '../operations/finalize.ts'
import { objectOf } from '../operations/objectOf.ts'
import { patched, patchSource } from '../operations/patch.ts'
import { requireSameNamespace } from '../operations/place.ts'
import { objectFor } from '../registry/views.ts'
import { partialMetadata } from '../tables/table.ts'
import { patchFormOf } from './patch.ts'
import { bindingEndpoint, evictionEndpoint } from './podSubresources.ts'
import { SCALE_TYPE } from './scaleType.ts'

const SCALE = { apiVersion: 'autoscaling/v1', kind: 'Scale' }

async function scaleEndpoint(services: Services, exchange: Exchange): Promise<void> {
  const { type } = exchange
  const { namespace, name } = exchange.resource
  if (!type.scale) throw statusError.notFound(type, name)
  const paths = type.scale
  const scale = (object: KubeObject): KubeObject => scaleOf(object, paths)
  if (exchange.info.verb === 'get') {
    // Not `Promise.try`: the package runs on Node.js 22, too.
    const read = async () => services.reader.get(exchange.space, type, namespace, name)
    const stored = await read().catch((error: unknown) => {
      throw error instanceof StatusError && error.reason === 'NotFound' ? scaleNotFound(type, name) : error
    })
    return sendScale(services, exchange, scale(objectFor(stored, type)))
  }
  const body = readBody(services, exchange, SCALE)
  if (exchange.info.verb === 'update') requireKind(services, exchange, body, SCALE_TYPE)
  if (exchange.info.verb === 'update' && isRecord(body) && isRecord(body.metadata))
    sameName(exchange, body as KubeObject)
  // An apply by its media type is a strategic merge here.
  const form = patchFormOf(exchange) ?? 'strategic'
  const fromPatch = exchange.info.verb === 'patch' ? patchSource(form, body) : undefined
  const change = (current: KubeObject): KubeObject => {
    const before = scale(current)
    const after = fromPatch
      ? patched(SCALE_TYPE, before, form, body, { subresource: 'scale', scaled: type })
      : objectOf(cloneJson(body), SCALE_TYPE)
    checkTypes(after, SCALE_TYPE, fromPatch)
    return withScale(type, current, after, paths)
  }
  const { stored } = await services.registry.update(writeContext(exchange), type, namespace, name, change, {
    fromPatch,
    view: {
      subresource: 'scale',
      group: SCALE_TYPE.group,
      version: SCALE_TYPE.version,
      kind: SCALE_TYPE.kind,
      of: scale,
      into: (object, changed) => void withScale(type, object, changed, paths),
    },
  })
  await sendScale(services, exchange, scale(objectFor(stored, type)))
}

/** Where upstream says that the scale is missing, not the object. */
const SCALES: Readonly<Record<string, string>> = {
  'deployments.apps': 'apps',
  'replicasets.apps': 'apps',
  replicationcontrollers: 'autoscaling',
}

function scaleNotFound(type: ResourceType, name: string): StatusError {
  const group = SCALES[groupResourceName(type)]
  return statusError.notFound(group === undefined ? type : { group, resource: `${type.resource}/scale` }, name)
}

function sendScale(services: Services, exchange: Exchange, scale: KubeObject): Promise<void> {
  if (exchange.form.as === undefined) return sendValue(services, exchange, 200, scale)
  if (exchange.form.as !== 'Table')
    return sendValue(services, exchange, 200, partialMetadata(scale, exchange.form.version))
  const meta = { resourceVersion: scale.metadata.resourceVersion ?? '' }
  const { info, form, space } = exchange
  const shown = { info, space, type: SCALE_TYPE }
  return sendValue(services, exchange, 200, tableOf(services, shown, form, [scale], meta, true))
}

function scaleOf(object: KubeObject, paths: ScalePaths): KubeObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata
  const selector = paths.labelSelectorPath ? at(object, ...stepsOf(paths.labelSelectorPath)) : undefined
  const wanted = numberAt(object, paths.specReplicasPath)
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: {
      ...(name && { name }),
      ...(namespace && { namespace }),
      ...(uid && { uid }),
      ...(resourceVersion && { resourceVersion }),
      ...(creationTimestamp && { creationTimestamp }),
    },
    // upstream leaves out a zero here, and says it below
    spec: wanted === 0 ? {} : { replicas: wanted },
    status: {
      replicas: numberAt(object, paths.statusReplicasPath),
      ...(selector !== undefined && { selector: selectorText(selector) }),
    },
  }
}

function withScale(type: ResourceType, object: KubeObject, scale: KubeObject, paths: ScalePaths): KubeObject {
  const replicas = isRecord(scale.spec) ? (scale.spec.replicas ?? 0) : 0
  if (typeof replicas !== 'number' || !Number.isInteger(replicas) || replicas < 0) {
    const error = fieldError.invalid('spec.replicas', replicas, 'must be greater than or equal to 0')
    throw statusError.invalid(SCALE_TYPE, object.metadata.name ?? '', [error])
  }
  const { resourceVersion, uid } = scale.metadata
  if (resourceVersion && resourceVersion !== object.metadata.resourceVersion)
    object.metadata.resourceVersion = resourceVersion
  if (uid && uid !== object.metadata.uid) object.metadata.uid = uid
  const steps = stepsOf(paths.specReplicasPath)
  let node: Record<string, unknown> = object
  for (const step of steps.slice(0, -1)) {
    if (!isRecord(node[step])) node[step] = {}
    node = node[step] as Record<string, unknown>
  }
  const last = steps.at(-1)
  if (last === undefined) throw statusError.internal(new Error(`${type.kind} has an empty specReplicasPath`))
  node[last] = replicas
  return object
}

function numberAt(object: KubeObject, path: string): number {
  const value = at(object, ...stepsOf(path))
  return typeof value === 'number' ? value : 0
}

/** Paths of a scale are names of fields with dots, and nothing else of a JSONPath, as upstream reads them. */
function stepsOf(path: string): string[] {
  return path.split('.').filter(step => step !== '')
}

/** A selector as the text that clients of `/scale` put into list requests. */
function selectorText(selector: unknown): string {
  if (typeof selector === 'string') return selector
  if (!isRecord(selector)) return ''
  if (!('matchLabels' in selector) && !('matchExpressions' in selector)) {
    return Object.entries(selector)
      .map(([key, value]) => `${key}=${value}`)
      .sort()
      .join(',')
  }
  return labelSelectorFromObject(selector).toString()
}

function sameName(exchange: Exchange, body: KubeObject): void {
  requireSameNamespace(body.metadata, exchange.type.namespaced ? exchange.resource.namespace : '')
  const { name } = body.metadata
  if (!name || name === exchange.resource.name) return
  throw statusError.badRequest(
    `the name of the object (${name}) does not match the name on the URL (${exchange.resource.name})`,
  )
}

async function finalizeEndpoint(services: Services, exchange: Exchange): Promise<void> {
  const object = objectOf(readBody(services, exchange), exchange.type)
  const { stored } = await finalize(services.registry, writeTarget(exchange, writeContext(exchange)), object)
  await sendObject(services, exchange, stored)
}

const PART: EndpointEntry = { verbs: ['get', 'update', 'patch'] }
const BINDING: EndpointEntry = { verbs: ['create'], endpoint: bindingEndpoint }

export const SUBRESOURCES: EndpointEntries = {
  status: PART,
  scale: { verbs: ['get', 'update', 'patch'], isOwnKind: true, endpoint: scaleEndpoint },
  '/bindings': BINDING,
  '/namespaces/finalize': { verbs: ['update'], endpoint: finalizeEndpoint },
  '/pods/binding': BINDING,
  '/pods/ephemeralcontainers': PART,
  '/pods/eviction': { verbs: ['create'], isOwnKind: true, endpoint: evictionEndpoint },
  '/pods/resize': PART,
  'certificates.k8s.io/certificatesigningrequests/approval': PART,
}
