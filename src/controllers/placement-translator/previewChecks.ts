/**
 * Whether a mailbox would take the copy that a preview makes: by a dry run of its write, so that it is judged by the validation that
 * copies get. What is customized alone has to be asked: all else is as it was judged in its own space. Clusters whose copies say
 * the same are asked once.
 */
import { createHash } from 'node:crypto'
import { isStatusError } from '../../apimachinery/errors.ts'
import { jsonSize } from '../../apimachinery/jsonSize.ts'
import type { GroupVersionResource, KubeObject } from '../../apimachinery/object.ts'
import type { Client } from '../../client/client.ts'
import type { Told } from './allowance.ts'
import { definitionKey } from './definitions.ts'
import type { Mailbox } from './mailbox.ts'
import { FIELD_MANAGER } from './names.ts'

/** Units of work of a write beside its bytes, and bytes that are judged for a unit. */
const WRITE = 500
const JUDGED = 10
/** Every mailbox has it, and nothing in it. */
const FALLBACK_NAMESPACE = 'default'

export interface CheckedCopy {
  readonly resource: GroupVersionResource
  /** As it would be made. */
  readonly whole: KubeObject
  /** What is there, and what it would be then. */
  readonly before?: KubeObject | undefined
  readonly after?: KubeObject | undefined
}

/** Of one preview. */
export class PreviewChecks {
  readonly #client: Client
  readonly #spend: (units: number) => void
  readonly #told = new Map<string, Told | undefined>()

  constructor(client: Client, spend: (units: number) => void) {
    this.#client = client
    this.#spend = spend
  }

  /** Why the copy would be refused; `undefined`: it would be taken. */
  async refusal(
    mailbox: Pick<Mailbox, 'name' | 'space' | 'namespaces' | 'copies'>,
    copy: CheckedCopy,
  ): Promise<Told | undefined> {
    const { resource, before, after } = copy
    // what a kind is may be another in each mailbox, where it is defined there
    const where = mailbox.copies.has(definitionKey(resource)) ? mailbox.name : ''
    const said = [where, resource, after ? [content(before), content(after)] : copy.whole]
    const id = createHash('sha256').update(JSON.stringify(said)).digest('base64')
    if (this.#told.has(id)) return this.#told.get(id)
    this.#spend(WRITE + jsonSize(copy.whole) / JUDGED)
    const told = await this.#ask(mailbox, copy)
    this.#told.set(id, told)
    return told
  }

  async #ask(
    { space, namespaces }: Pick<Mailbox, 'space' | 'namespaces'>,
    { resource, whole, after }: CheckedCopy,
  ): Promise<Told | undefined> {
    const api = this.#client.in(space)
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

function content(object: KubeObject | undefined): unknown {
  if (!object) return undefined
  const { metadata, status: _, ...fields } = object
  return { ...fields, labels: metadata.labels, annotations: metadata.annotations }
}
