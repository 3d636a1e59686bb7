/**
 * Conversion of custom resources by a webhook: one ConversionReview for all objects of a request.
 * @see https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#webhook-conversion
 */
import { statusError } from '../../apimachinery/errors.ts'
import { formatFieldError } from '../../apimachinery/fieldErrors.ts'
import { goType } from '../../apimachinery/go/goPrint.ts'
import { validateAnnotations, validateLabels } from '../../apimachinery/names.ts'
import { isRecord, type KubeObject, type ObjectMeta, parseApiVersion } from '../../apimachinery/object.ts'
import { cloneJson } from '../../apimachinery/values.ts'
import { WebhookCallError, type WebhookTarget } from '../admission/webhookClient.ts'
import type { SilentFailure } from './silentFailures.ts'

interface ConversionWebhook {
  target: WebhookTarget
  /** In order of preference: the first one that we know is used. */
  reviewVersions: readonly string[]
  /** The group and kind that it converts, for messages. */
  kind: { group: string; kind: string }
}

export interface ConversionDeps {
  post(target: WebhookTarget, body: unknown): Promise<unknown>
  /** Gets, for the log, details beyond the client's error. */
  silent?(failure: SilentFailure): void
  uuid(): string
}

const KNOWN_REVIEWS = ['v1', 'v1beta1']
const REVIEW_GROUP = 'apiextensions.k8s.io'

/** @throws StatusError InternalError in upstream's words */
export async function convertThroughWebhook(
  deps: ConversionDeps,
  { target, reviewVersions, kind }: ConversionWebhook,
  objects: readonly KubeObject[],
  apiVersion: string,
): Promise<KubeObject[]> {
  const waiting = objects.filter(object => object.apiVersion !== apiVersion)
  if (waiting.length === 0) return [...objects]
  const from = parseApiVersion(waiting[0]!.apiVersion)
  const shown = `${kind.group}/${from?.version ?? ''}, Kind=${kind.kind}`
  const fail = (why: string, cause?: unknown): Error =>
    statusError.internal(new Error(`conversion webhook for ${shown} ${why}`, { cause }))
  const review = reviewVersions.find(version => KNOWN_REVIEWS.includes(version))
  if (review === undefined) throw statusError.internal(new Error('no supported conversion review versions'))
  const uid = deps.uuid()
  let answer: unknown
  try {
    answer = await deps.post(target, {
      kind: 'ConversionReview',
      apiVersion: `${REVIEW_GROUP}/${review}`,
      request: { uid, desiredAPIVersion: apiVersion, objects: waiting },
    })
  } catch (error) {
    if (!(error instanceof WebhookCallError)) throw error
    // The client is unknown here, so the answer goes to the log alone.
    deps.silent?.({ space: target.space, ...kind, why: error.message })
    throw fail(`failed: ${error.openly}`, error)
  }
  const results = readAnswer(answer, review, uid, why => fail(`failed: ${why}`))
  if (results.length !== waiting.length) {
    throw fail(`returned ${results.length} objects, expected ${waiting.length}`)
  }
  const single = objects.length === 1
  const converted = waiting.map((object, i) => accept(object, results[i], apiVersion, single ? -1 : i, fail))
  let next = 0
  return objects.map(object => (object.apiVersion === apiVersion ? object : converted[next++]!))
}

function readAnswer(answer: unknown, review: string, uid: string, fail: (why: string) => Error): unknown[] {
  const { response, apiVersion, kind }: Record<string, unknown> = isRecord(answer) ? answer : {}
  // v1beta1 never required these two, and its webhooks leave them out
  if (review === 'v1' && (apiVersion !== `${REVIEW_GROUP}/v1` || kind !== 'ConversionReview')) {
    throw fail(`expected webhook response of ${REVIEW_GROUP}/v1, Kind=ConversionReview`)
  }
  if (!isRecord(response)) throw fail('no response provided')
  if (review === 'v1' && response.uid !== uid) {
    throw fail(`expected response.uid=${JSON.stringify(uid)}, got another`)
  }
  const result = isRecord(response.result) ? response.result : {}
  if (result.status !== 'Success') {
    const { message, status } = result
    const hasMessage = typeof message === 'string' && message !== ''
    throw fail(hasMessage ? message : `response.result.status was '${status ?? ''}', not 'Success'`)
  }
  return Array.isArray(response.convertedObjects) ? response.convertedObjects : []
}

/** The converted object with the metadata that a webhook may not change. `index` is negative for an object alone. */
function accept(
  original: KubeObject,
  converted: unknown,
  apiVersion: string,
  index: number,
  fail: (why: string) => Error,
): KubeObject {
  const at = index < 0 ? '' : ` at index ${index}`
  const what = index < 0 ? 'object at index 0' : `converted object${at}`
  const invalid = (why: string): Error => fail(`returned invalid ${what}: ${why}`)
  if (!isRecord(converted)) throw invalid('it is not a JSON object')
  if (converted.apiVersion !== apiVersion) {
    throw invalid(`invalid groupVersion (expected ${apiVersion}, received ${String(converted.apiVersion ?? '')})`)
  }
  if (converted.kind !== original.kind) {
    throw invalid(`invalid kind (expected ${original.kind}, received ${String(converted.kind ?? '')})`)
  }
  const badMetadata = (why: string): Error =>
    fail(`returned invalid metadata${index < 0 ? '' : ` in object${at}`}: ${why}`)
  const given = isRecord(converted.metadata) ? converted.metadata : {}
  const sameAs = index < 0 ? 'object' : what
  for (const [field, label] of [
    ['name', 'name'],
    ['namespace', 'namespace'],
    ['uid', 'UID'],
  ] as const) {
    const before = original.metadata[field] ?? ''
    const after = typeof given[field] === 'string' ? given[field] : ''
    if (before !== after) {
      throw fail(`returned invalid ${sameAs}: must have the same ${label}: ${before} != ${after}`)
    }
  }
  const metadata = cloneJson(original.metadata)
  for (const field of ['labels', 'annotations'] as const) takeTexts(metadata, field, given[field], badMetadata)
  return { ...converted, apiVersion, kind: original.kind, metadata }
}

function takeTexts(
  metadata: ObjectMeta,
  field: 'labels' | 'annotations',
  given: unknown,
  bad: (why: string) => Error,
): void {
  if (given === undefined || given === null) {
    delete metadata[field]
    return
  }
  if (!isRecord(given)) throw bad(`invalid metadata.${field} of type ${goType(given)} in converted object`)
  for (const [key, value] of Object.entries(given)) {
    if (typeof value === 'string') continue
    throw bad(`metadata.${field}[${key}] must be a string, but is ${goType(value)} in converted object`)
  }
  const texts = given as Record<string, string>
  const errors =
    field === 'labels' ? validateLabels(texts, 'metadata.labels') : validateAnnotations(texts, 'metadata.annotation')
  if (errors.length > 0) throw bad(errors.map(formatFieldError).join(', '))
  metadata[field] = texts
}
