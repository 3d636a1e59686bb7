/**
 * POST …/placementpreviews: what would change in which clusters if objects were written. Each is written as a dry run, in the name
 * of whoever asks, so that rights, defaults and refusals are those of the write itself. Then who places says where that would go.
 * A question about revisions of a placement is answered with their difference, to whoever may get the objects.
 */
import { resourceTypesOf } from '../../apimachinery/crd/crd.ts'
import { isStatusError, StatusError } from '../../apimachinery/errors.ts'
import { apiVersionOf, type GroupVersionResource, type KubeObject, parseApiVersion } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { inSlices } from '../../apimachinery/steps.ts'
import { cloneJson, equalJson } from '../../apimachinery/values.ts'
import { isCustomizer } from '../../placement/content/customizerRules.ts'
import { namedIn, readRevisionsWish } from '../../placement/desks/comparedRevisions.ts'
import {
  type PreviewedObject,
  type RevisionsRequest,
  readLiveWish,
  readPreviewed,
} from '../../placement/desks/placementPreview.ts'
import type { Stored } from '../../storage/store.ts'
import { forbidden } from '../auth/forbidden.ts'
import type { Attributes, Decision } from '../auth/types.ts'
import { effectiveUser } from '../auth/users.ts'
import { customizerOf, type PreviewInbox } from '../authority/previewInbox.ts'
import { sendValue } from '../exchange/answers/respond.ts'
import { readBody } from '../exchange/bodies/body.ts'
import { checkTypes } from '../exchange/bodies/checkTypes.ts'
import { requireKind } from '../exchange/bodies/otherKinds.ts'
import {
  type Endpoint,
  type EndpointEntries,
  type Exchange,
  type Services,
  workOf,
  writeContext,
} from '../exchange/exchange.ts'
import { goneSignal } from '../http/answer.ts'
import { create } from '../operations/create.ts'
import { objectOf } from '../operations/objectOf.ts'
import { update } from '../operations/update.ts'
import { decodeInSteps } from '../registry/decodeInSteps.ts'

export function previewEndpoint(inbox: Pick<PreviewInbox, 'during'>): EndpointEntries {
  const endpoint: Endpoint = async (services, exchange) => {
    const sent = readBody(services, exchange)
    requireKind(services, exchange, sent)
    const body = objectOf(sent, exchange.type)
    checkTypes(body, exchange.type)
    const { space } = exchange
    const mayGet: RevisionsRequest['mayGet'] = async (resource, place) =>
      (await decide(services, exchange, resource, { ...place, verb: 'get' })).allowed
    const revisions = readRevisionsWish(body.spec)
    for (const { namespace, name, ...kind } of revisions ? namedIn(revisions) : [])
      await requireRight(services, exchange, { ...kind, version: '' }, { namespace, name, verb: 'get' })
    const requested = revisions ? [] : readPreviewed(body.spec)
    const live = readLiveWish(body.spec)
    const status = await inbox.during(space, async receiver => {
      // contents and clusters take time: who has gone keeps nobody else from asking
      const gone = revisions || live ? goneSignal(exchange.answer) : undefined
      if (revisions)
        return await receiver.compare({ ...revisions, space, mayGet, gone, work: workOf(services, exchange) })
      const { objects, warnings } = await imagineAll(services, exchange, requested)
      const previews = await receiver.preview({ space, objects, live, gone, mayGet, work: workOf(services, exchange) })
      return {
        objects: previews.objects.map((one, i) => ({
          ...one,
          ...(warnings[i]?.length && { warnings: warnings[i] }),
        })),
        ...(previews.rollouts.length > 0 && { rollouts: previews.rollouts }),
      }
    })
    const { apiVersion, kind } = body
    // the answer omits the question: it may hold secrets, and the client has it
    await sendValue(services, exchange, 201, { apiVersion, kind, metadata: {}, spec: { objects: [] }, status })
  }
  return { 'edge.kubestellar.io/placementpreviews': { verbs: ['create'], endpoint } }
}

/** In the order of the question. Definitions come first, for others may be of their kinds, then Namespaces and Customizers. */
async function imagineAll(
  services: Services,
  exchange: Exchange,
  requested: readonly KubeObject[],
): Promise<{ objects: PreviewedObject[]; warnings: string[][] }> {
  const objects: PreviewedObject[] = []
  const warnings: string[][] = []
  const defined: ResourceType[] = []
  const work = workOf(services, exchange)
  const order = [...requested.entries()].sort(([, a], [, b]) => rankOf(a) - rankOf(b))
  for (const [i, object] of order) {
    const found = new Set<string>()
    // as it would be stored it has labels that the server gives
    const beside = requested.flatMap((other, j) =>
      j === i ? [] : [(isNamespace(other) && objects[j]?.object) || other],
    )
    const one = await imagine(services, exchange, { object, index: i, defined, beside, warn: text => found.add(text) })
    if (isDefinition(object) && one.operation !== 'unchanged') defined.push(...resourceTypesOf(one.object))
    objects[i] = one
    warnings[i] = [...found]
    if (work?.due) await work.rest()
  }
  return { objects, warnings }
}

function isDefinition({ apiVersion, kind }: KubeObject): boolean {
  return kind === 'CustomResourceDefinition' && apiVersion === 'apiextensions.k8s.io/v1'
}

function isNamespace({ apiVersion, kind }: KubeObject): boolean {
  return kind === 'Namespace' && apiVersion === 'v1'
}

function rankOf(object: KubeObject): number {
  return isDefinition(object) ? 0 : isNamespace(object) ? 1 : isCustomizer(object) ? 2 : 3
}

interface Imagining {
  readonly object: KubeObject
  readonly index: number
  /** Kinds that definitions of the question make. */
  readonly defined: readonly ResourceType[]
  readonly beside: readonly KubeObject[]
  warn(text: string): void
}

/** The object as it would be stored. @throws StatusError as the write would, with the place in the question */
async function imagine(services: Services, exchange: Exchange, imagining: Imagining): Promise<PreviewedObject> {
  const { object } = imagining
  const type = typeOf(services, exchange, imagining)
  const { name = '' } = object.metadata
  const namespace = type.namespaced ? (object.metadata.namespace ?? '') : ''
  if (type.namespaced && namespace === '') {
    throw new StatusError(
      'BadRequest',
      `spec.objects[${imagining.index}].metadata.namespace: must be there for a ${type.kind}`,
    )
  }
  const place = { namespace, name }
  // what comes of an object shows it, and the refusals of its write whether it is there
  await requireRight(services, exchange, type, { ...place, verb: 'get' })
  const before = await present(services, exchange, type, place)
  const isAsItIs = before !== undefined && (await saysTheSame(services, exchange, before, object))
  if (!isAsItIs) await requireRight(services, exchange, type, { ...place, verb: before ? 'update' : 'create' })
  // what comes of an object shows its Customizer
  const customizer = customizerOf(object)
  if (customizer) await requireRight(services, exchange, customizer, { ...customizer, verb: 'get' })
  const { forms } = services
  const stored = isAsItIs ? before : await written(services, exchange, { ...imagining, type, ...place, before })
  const parsed = await inSlices(decodeInSteps(stored), workOf(services, exchange))
  const found = forms.withProvenance(stored, parsed)
  const version = parseApiVersion(parsed.apiVersion)?.version ?? type.version
  return {
    resource: { group: type.group, version, resource: type.resource },
    object: found,
    operation: !before
      ? 'create'
      : before.revision === stored.revision && before.bytes.equals(stored.bytes)
        ? 'unchanged'
        : 'update',
  }
}

interface Imagined extends Place, Imagining {
  type: ResourceType
  before: Stored | undefined
}

/** @throws StatusError as the write */
async function written(
  { registry }: Services,
  exchange: Exchange,
  { type, namespace, name, object, before, beside, warn }: Imagined,
): Promise<Stored> {
  const context = { ...writeContext(exchange), dryRun: true, beside, warn }
  const again = (): KubeObject => cloneJson(object)
  const { stored } = before
    ? await update(registry, { context, type, namespace, name, subresource: '' }, again(), { again })
    : await create(registry, { context, type, namespace }, again())
  return stored
}

/** Whether somebody sends back what they read: that is no write. */
async function saysTheSame(
  services: Services,
  exchange: Exchange,
  stored: Stored,
  object: KubeObject,
): Promise<boolean> {
  if (object.metadata.resourceVersion !== String(stored.revision)) return false
  const { bytes } = services.forms.of(stored)
  const there = await inSlices(decodeInSteps({ bytes, headBytes: 0 }), workOf(services, exchange))
  return equalJson(there, object)
}

function typeOf(
  { types }: Services,
  { space }: Exchange,
  { object: { apiVersion, kind }, index, defined }: Imagining,
): ResourceType {
  const isIt = (one: ResourceType): boolean => one.kind === kind && apiVersionOf(one) === apiVersion
  const type = types.in(space).types.find(isIt) ?? defined.find(isIt)
  if (!type) {
    const message = `spec.objects[${index}]: no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`
    throw new StatusError('BadRequest', message)
  }
  if (!type.verbs.includes('create') || !type.verbs.includes('get')) {
    throw new StatusError('BadRequest', `spec.objects[${index}]: objects of kind ${kind} are not written`)
  }
  return type
}

interface Place {
  namespace: string
  name: string
}

async function present(
  { reader }: Services,
  { space }: Exchange,
  type: ResourceType,
  { namespace, name }: Place,
): Promise<Stored | undefined> {
  try {
    return await reader.get(space, type, namespace, name)
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return undefined
    throw error
  }
}

/** @throws StatusError Forbidden */
async function requireRight(...requested: Parameters<typeof decide>): Promise<void> {
  const { allowed, reason, attributes } = await decide(...requested)
  if (!allowed) throw forbidden(attributes, reason)
}

async function decide(
  { authorizer }: Services,
  exchange: Exchange,
  { group, version, resource }: GroupVersionResource,
  { namespace, name, verb }: Place & { verb: string },
): Promise<Decision & { attributes: Attributes }> {
  const { space, info } = exchange
  // names of what is created are not part of the question
  const requested = { group, version, resource, subresource: '', namespace, name: verb === 'create' ? '' : name }
  const attributes = { user: effectiveUser(exchange.user, space), space, verb, path: info.path, resource: requested }
  return { ...(await authorizer.authorize(attributes)), attributes }
}
