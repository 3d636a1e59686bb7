/**
 * Whether a mailbox would take the copy of a preview: a dry run of its write applies the validation of copies. Only customized copies need
 * it: all others were judged in their own space. Clusters with equal copies share one run.
 */
import { isStatusError } from '../../../apimachinery/errors.ts'
import type { JsonDigests } from '../../../apimachinery/jsonDigests.ts'
import { jsonSizeInSteps } from '../../../apimachinery/jsonSize.ts'
import type { GroupVersionResource, KubeObject } from '../../../apimachinery/object.ts'
import { Pace } from '../../../apimachinery/pace.ts'
import { inSlices, type Rests, type Steps } from '../../../apimachinery/steps.ts'
import type { Client } from '../../../client/client.ts'
import { definitionKey, FIELD_MANAGER } from '../../../placement/words/names.ts'
import type { Reason } from '../../../placement/words/reason.ts'
import type { Mailbox } from '../mailboxes/mailbox.ts'

/** Units of work of a write beside its bytes, and bytes that are judged for a unit. */
const WRITE = 500
const JUDGED = 10
/** Every mailbox has it, and nothing in it. */
const FALLBACK_NAMESPACE = 'default'

export interface CheckedCopy {
  readonly resource: GroupVersionResource
  /** As it would be made. */
  readonly whole: KubeObject
  /** The copy as it is, and as it would be then. */
  readonly before?: KubeObject | undefined
  readonly after?: KubeObject | undefined
}

export interface PreviewChecksDeps {
  client: Client
  /** From the same preview. */
  digests: JsonDigests
  work: Rests | undefined
  /** Called with the cost of a check. */
  spend: (units: number) => void
}

/** Serves one preview. */
export class PreviewChecks {
  readonly #deps: PreviewChecksDeps
  readonly #refusals = new Map<string, Reason | undefined>()

  constructor(deps: PreviewChecksDeps) {
    this.#deps = deps
  }

  /** Why the copy would be refused; `undefined`: it would be taken. */
  async refusal(
    mailbox: Pick<Mailbox, 'name' | 'space' | 'namespaces' | 'copies'>,
    copy: CheckedCopy,
  ): Promise<Reason | undefined> {
    const { work, spend } = this.#deps
    const { resource } = copy
    // what a kind is may be another in each mailbox, where it is defined there
    const where = mailbox.copies.has(definitionKey(resource)) ? mailbox.name : ''
    const id = JSON.stringify([where, resource, ...(await inSlices(this.#contentsOf(copy), work))])
    if (this.#refusals.has(id)) return this.#refusals.get(id)
    spend(WRITE + (await inSlices(jsonSizeInSteps(copy.whole, new Pace()), work)) / JUDGED)
    const refusal = await this.#ask(mailbox, copy)
    this.#refusals.set(id, refusal)
    return refusal
  }

  *#contentsOf({ whole, before, after }: CheckedCopy): Steps<string[]> {
    const digests: string[] = []
    for (const one of after ? [content(before), content(after)] : [whole])
      digests.push((yield* this.#deps.digests.of(one)).digest)
    return digests
  }

  async #ask(
    { space, namespaces }: Pick<Mailbox, 'space' | 'namespaces'>,
    { resource, whole, after }: CheckedCopy,
  ): Promise<Reason | undefined> {
    const api = this.#deps.client.in(space)
    const options = { dryRun: true, fieldManager: FIELD_MANAGER }
    try {
      if (after) await api.update(resource, after, options)
      else {
        const { namespace } = whole.metadata
        const isMissing = namespace !== undefined && !namespaces.has(namespace)
        // its Namespace comes with it
        const metadata = { ...whole.metadata, ...(isMissing && { namespace: FALLBACK_NAMESPACE }) }
        await api.create(resource, { ...whole, metadata }, options)
      }
      return undefined
    } catch (error) {
      if (!isStatusError(error)) throw error
      if (REFUSALS.has(error.reason)) {
        return { reason: 'Refused', message: `the copy would be refused: ${error.message}` }
      }
      if (ELSEWHERE.has(error.reason)) return undefined
      throw error
    }
  }
}

/** The kind is not served there yet, the mailbox goes, or somebody was quicker: that is no word about the content. */
const ELSEWHERE: ReadonlySet<string> = new Set(['NotFound', 'Forbidden', 'AlreadyExists', 'Conflict'])
const REFUSALS: ReadonlySet<string> = new Set(['Invalid', 'BadRequest', 'RequestEntityTooLarge'])

function content(object: KubeObject | undefined): Record<string, unknown> {
  if (!object) return {}
  const { metadata, status: _, ...fields } = object
  return { ...fields, labels: metadata.labels, annotations: metadata.annotations }
}
