/**
 * Mutating webhooks one after the other, validating ones all at once.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
 */
import { randomUUID } from 'node:crypto'
import { StatusError, statusError } from '../../apimachinery/errors.ts'
import { messageOf } from '../../apimachinery/messageOf.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { jsonPatchInSteps } from '../../apimachinery/patch/jsonPatch.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { inSlices } from '../../apimachinery/steps.ts'
import { equalJson } from '../../apimachinery/values.ts'
import { atMost } from '../../client/atMost.ts'
import type { CrowdLog } from '../../client/crowdLog.ts'
import { Abandoned, type Work, type WorkTurns } from '../../program/workTurns.ts'
import type { UserInfo } from '../auth/types.ts'
import type { Admission, AdmissionRequest } from '../registry/admission.ts'
import { systemUser, trustedName } from '../registry/context.ts'
import { waitApart } from '../registry/waitingApart.ts'
import { workFor } from '../registry/works.ts'
import type { TypeRegistry } from '../types/typeRegistry.ts'
import { AdmissionFacts, requestFacts } from './admissionFacts.ts'
import { admissionReview, denial, InvalidReview, type ReviewAnswer, readReview } from './admissionReview.ts'
import { asItIs, nameOf, type Shown, shownAs, takeBack } from './attributes.ts'
import { annotate, MutationNotes } from './auditAnnotations.ts'
import type { ExpressionRunner } from './expressionRunner.ts'
import { someReach } from './matchRules.ts'
import type { NamespaceReader } from './namespaces.ts'
import { remembered } from './requestMemory.ts'
import { WebhookCallError, type WebhookClient } from './webhookClient.ts'
import { isExempt, type Webhook, type WebhookConfigurations } from './webhookConfigurations.ts'

export interface WebhookDeps {
  configurations: WebhookConfigurations
  client: WebhookClient
  types: TypeRegistry
  namespaces: NamespaceReader
  expressions: ExpressionRunner
  /** A space may have thousands of webhooks. */
  turns: Pick<WorkTurns, 'begin'>
  /** One write may have thousands of webhooks that fail and are passed over. */
  log: CrowdLog
}

/** Validating webhooks that run for one request at the same time: each gets the whole object. */
export const AT_ONCE = 16

/** A webhook and its version of the request. */
interface Call {
  webhook: Webhook
  type: ResourceType
}

export function mutatingWebhooks(deps: WebhookDeps): Admission {
  const self: Admission = {
    stage: 'mutate',
    handles: type => !isExempt(type),
    reaches: someReach(deps),
    async admit(request) {
      const rounds = request.rounds
      const memory = memoryOf(request, self)
      const work = workFor(deps.turns, request.context)
      for (const [index, webhook] of deps.configurations.in(request.context.space).entries()) {
        if (work.due) await work.rest()
        if (rounds?.round === 2 && !memory.again.has(webhook.id)) continue
        const call = await callFor(deps, webhook, request)
        if (call === undefined) continue
        const notes = notesOf(request, webhook, index)
        let mutated = false
        try {
          mutated = await mutate(deps, call, { request, work, notes })
        } finally {
          notes?.called(mutated)
        }
        if (mutated) {
          // earlier ones with that wish see the object again
          for (const id of memory.called) memory.again.add(id)
          memory.called.clear()
          rounds?.runAgain()
        }
        if (webhook.reinvocable) memory.called.add(webhook.id)
      }
    },
  }
  return self
}

export function validatingWebhooks(deps: WebhookDeps): Admission {
  return {
    stage: 'validate',
    handles: type => !isExempt(type),
    reaches: someReach(deps),
    async admit(request) {
      const calls: Call[] = []
      const work = workFor(deps.turns, request.context)
      for (const webhook of deps.configurations.in(request.context.space)) {
        if (work.due) await work.rest()
        const call = await callFor(deps, webhook, request)
        if (call) calls.push(call)
      }
      const refusals: { why: unknown }[] = Array(calls.length)
      await atMost(AT_ONCE, calls.entries(), async ([index, call]) => {
        if (work.due) await work.rest()
        try {
          await validate(deps, call, request, index)
        } catch (why) {
          refusals[index] = { why }
        }
      })
      const first = refusals.find(refusal => refusal !== undefined)
      if (first) throw first.why
    },
  }
}

/** @throws StatusError when it refuses, or could not be called */
async function validate(deps: WebhookDeps, call: Call, request: AdmissionRequest, index: number): Promise<void> {
  const { webhook, type } = call
  const place = `failed-open.validating.webhook.admission.k8s.io/round_0_index_${index}`
  const answer = await ask(deps, call, request, shownAs(request, type), () =>
    annotate(request.context, place, webhook.name),
  )
  for (const warning of answer?.warnings ?? []) request.context.warn(warning)
  if (answer && !answer.allowed) throw denial(webhook.name, answer.status)
}

/** `undefined` when nobody audits. */
function notesOf(
  { context, rounds }: AdmissionRequest,
  { configuration, name }: Webhook,
  index: number,
): MutationNotes | undefined {
  if (context.annotate === undefined) return undefined
  return new MutationNotes(context, { round: (rounds?.round ?? 1) - 1, index }, { configuration, webhook: name })
}

interface Memory {
  /** Reinvocable webhooks that were called and have seen the object as it is. */
  called: Set<string>
  /** To be called once more in the second round. */
  again: Set<string>
}

function memoryOf(request: AdmissionRequest, step: Admission): Memory {
  const known = request.rounds?.memory.get(step) as Memory | undefined
  if (known !== undefined) return known
  const made: Memory = { called: new Set(), again: new Set() }
  request.rounds?.memory.set(step, made)
  return made
}

/** @throws StatusError Forbidden when a match condition fails */
async function callFor(deps: WebhookDeps, webhook: Webhook, request: AdmissionRequest): Promise<Call | undefined> {
  const { requestType, subresource, operation, context } = request
  const versions = deps.types.in(context.space).versions(requestType.group, requestType.resource)
  const type = webhook.match.rules({ operation, type: requestType, subresource }, versions)
  if (type === undefined) return undefined
  if (!(await webhook.match.labels(request, () => deps.namespaces.labels(request)))) return undefined
  if (webhook.conditions.length === 0) return { webhook, type }
  const facts = remembered(request, type, () => new AdmissionFacts(requestFacts(request, type, shownAs(request, type))))
  const { conditions } = webhook
  const outcome = await deps.expressions.evaluate('conditions', { conditions, variables: [] }, { request, facts })
  if (outcome.matches) return { webhook, type }
  if (outcome.error === undefined) return undefined
  if (webhook.failsOpen) {
    deps.log.log(
      'warn',
      { space: context.space, webhook: webhook.name, why: outcome.error },
      'match conditions failed, webhook left out',
    )
    return undefined
  }
  throw statusError.forbidden(requestType, nameOf(request), outcome.error)
}

interface Mutating {
  request: AdmissionRequest
  work: Work
  notes: MutationNotes | undefined
}

/** Whether the object is another now. */
async function mutate(deps: WebhookDeps, call: Call, { request, work, notes }: Mutating): Promise<boolean> {
  const { webhook, type } = call
  const shown = shownAs(request, type)
  const answer = await ask(deps, call, request, shown, () => notes?.failedOpen())
  if (answer === undefined) return false
  for (const warning of answer.warnings) request.context.warn(warning)
  if (!answer.allowed) throw denial(webhook.name, answer.status)
  if (answer.patch === undefined) return false
  if (shown.object === null) {
    const why = 'attempted to modify the object, which is not supported for this operation'
    throw statusError.internal(new Error(`admission webhook ${JSON.stringify(webhook.name)} ${why}`))
  }
  const before = asItIs(request)
  try {
    if (work.due) await work.rest()
    const patched = await inSlices(jsonPatchInSteps(shown.object, answer.patch), work)
    if (!isRecord(patched)) throw new Error('the patched object is no JSON object')
    if (work.due) await work.rest()
    takeBack(request, type, patched as KubeObject)
    notes?.patched(answer.patch)
  } catch (error) {
    if (error instanceof Abandoned) throw error
    const why = error instanceof StatusError && error.cause instanceof Error ? error.cause.message : messageOf(error)
    throw statusError.internal(new Error(why))
  }
  if (work.due) await work.rest()
  return !equalJson(before, request.object)
}

/** `undefined`: the call failed, and its failure policy lets that pass, which `passed` records. @throws StatusError */
async function ask(
  deps: WebhookDeps,
  { webhook, type }: Call,
  request: AdmissionRequest,
  shown: Shown,
  passed: () => void,
): Promise<ReviewAnswer | undefined> {
  const { context } = request
  if (context.dryRun && !webhook.harmless) {
    throw statusError.badRequest(`admission webhook ${JSON.stringify(webhook.name)} does not support dry run`)
  }
  const uid = randomUUID()
  try {
    const version = webhook.version
    if (version === undefined)
      throw new WebhookCallError('webhook does not accept known AdmissionReview versions (v1, v1beta1)')
    const { client, timeoutSeconds, caPem } = webhook
    const target = { client, space: context.space, timeoutSeconds, ...(caPem && { caPem }) }
    const review = admissionReview(request, { type, version, uid, shown })
    const answer = await waitApart(context.request, () =>
      deps.client.post(target, review).catch(error => {
        throw callError('failed to call webhook: ', error)
      }),
    )
    try {
      const read = readReview(answer, version, uid)
      for (const [key, value] of Object.entries(read.auditAnnotations)) {
        annotate(context, `${webhook.name}/${key}`, value)
      }
      return read
    } catch (error) {
      throw callError('received invalid webhook response: ', error)
    }
  } catch (error) {
    if (!(error instanceof WebhookCallError)) throw error
    const why = mayReadAnswers(context.user) ? error.message : error.openly
    const failed = `failed calling webhook ${JSON.stringify(webhook.name)}: ${why}`
    if (!webhook.failsOpen) throw statusError.internal(new Error(failed, { cause: error }))
    deps.log.log(
      'warn',
      { space: context.space, webhook: webhook.name, why: error.message },
      'webhook failed, request goes on without it',
    )
    passed()
    return undefined
  }
}

/** The error with words before it. An error of another origin is thrown unchanged: it is the program's own. */
function callError(before: string, cause: unknown): WebhookCallError {
  const hides = cause instanceof WebhookCallError || cause instanceof InvalidReview
  const openly = hides ? cause.openly : messageOf(cause)
  return new WebhookCallError(before + messageOf(cause), { cause, openly: before + openly })
}

/**
 * Users who may read a webhook's answer. Controllers may not, though they are the server itself: conditions would show it to all.
 */
function mayReadAnswers(user: UserInfo): boolean {
  const name = trustedName(user)
  return name !== '' && !name.startsWith(systemUser(''))
}
