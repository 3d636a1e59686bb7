/**
 * Annotations of admission in the audit event of a request. Unaudited requests cost nothing.
 * @see https://kubernetes.io/docs/reference/labels-annotations-taints/audit-annotations/
 */
import { escapedAsGo } from '../../apimachinery/go/goJson.ts'
import { qualifiedName } from '../../apimachinery/nameRules.ts'
import { isRecord } from '../../apimachinery/object.ts'
import type { WriteContext } from '../registry/context.ts'

/** A value given for a key stays; keys that are not `PREFIX/NAME` are left out. */
export function annotate({ annotate: take }: WriteContext, key: string, value: string, level?: 'Request'): void {
  if (take === undefined || key.split('/').length !== 2 || qualifiedName(key).length > 0) return
  take(key, value, level)
}

/** Action of one mutating webhook, under its round (from 0) and its place among the webhooks of the space. */
export class MutationNotes {
  readonly #context: WriteContext
  readonly #place: string
  readonly #who: { configuration: string; webhook: string }

  constructor(
    context: WriteContext,
    place: { round: number; index: number },
    who: { configuration: string; webhook: string },
  ) {
    this.#context = context
    this.#place = `round_${place.round}_index_${place.index}`
    this.#who = who
  }

  called(mutated: boolean): void {
    this.#note('mutation.webhook.admission.k8s.io', json({ ...this.#who, mutated }))
  }

  /** It shows parts of the object, so it is written only where the object is. */
  patched(patch: unknown): void {
    const operations = Array.isArray(patch) ? patch.map(sorted) : patch
    const value = json({ ...this.#who, patch: operations, patchType: 'JSONPatch' })
    this.#note('patch.webhook.admission.k8s.io', value, 'Request')
  }

  failedOpen(): void {
    this.#note('failed-open.mutation.webhook.admission.k8s.io', this.#who.webhook)
  }

  #note(prefix: string, value: string, level?: 'Request'): void {
    annotate(this.#context, `${prefix}/${this.#place}`, value, level)
  }
}

export function json(value: object): string {
  return escapedAsGo(JSON.stringify(value))
}

function sorted(operation: unknown): unknown {
  if (!isRecord(operation)) return operation
  return Object.fromEntries(Object.entries(operation).sort(([a], [b]) => (a < b ? -1 : 1)))
}
