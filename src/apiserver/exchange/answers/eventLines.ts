/**
 * The lines in which a space stream tells its events, one JSON object each. Parts that the next line repeats are not put together again:
 * events come in runs of a kind in a namespace.
 */
import { sizeOf, writeText } from '../../../storage/sharedStored.ts'
import type { Revision, Stored } from '../../../storage/store.ts'
import type { ChangeType } from '../../operations/stream.ts'
import type { StreamForms } from '../../registry/streamForms.ts'

/** The beginning of a line, up to the object's name, and what it says. */
interface Beginning {
  readonly type: ChangeType
  readonly version: string
  readonly space: string
  readonly group: string
  readonly resource: string
  readonly namespace: string
  readonly bytes: Buffer
}

/** Names that are in JSON as they are; nearly all. */
const PLAIN = /^[\w.:-]*$/

export class EventLines {
  readonly #forms: Pick<StreamForms, 'form'>
  readonly #known: Revision
  #last: Beginning | undefined

  /** `known`: the revision up to which who reads has what there was. */
  constructor(forms: Pick<StreamForms, 'form'>, known: Revision = 0) {
    this.#forms = forms
    this.#known = known
  }

  of(type: ChangeType, stored: Stored): Buffer {
    const { key, revision } = stored
    const { version, as } = this.#forms.form(stored)
    const { bytes: beginning } = this.#beginning(type, version, stored)
    const name = PLAIN.test(key.name) ? `"${key.name}"` : JSON.stringify(key.name)
    // A write after the snapshot has a later revision; a deleted object comes whole.
    const isNamed = revision <= this.#known && type === 'ADDED'
    const middle = `${name},"revision":${revision}${isNamed ? '' : ',"object":'}`
    const at = beginning.length + Buffer.byteLength(middle)
    const end = isNamed ? at : at + sizeOf(as)
    const line = Buffer.allocUnsafe(end + 2)
    beginning.copy(line)
    line.write(middle, beginning.length)
    if (!isNamed) writeText(as, line, at)
    line.write('}\n', end, 'latin1')
    return line
  }

  #beginning(type: ChangeType, version: string, { key: { space, group, resource, namespace } }: Stored): Beginning {
    const last = this.#last
    const isSame = last?.type === type && last.namespace === namespace && last.resource === resource
    if (isSame && last.version === version && last.group === group && last.space === space) return last
    const head = JSON.stringify({ type, space, group, version, resource, namespace })
    const bytes = Buffer.from(`${head.slice(0, -1)},"name":`)
    this.#last = { type, version, space, group, resource, namespace, bytes }
    return this.#last
  }
}
