/**
 * What was last written and what the other side made of it, so that the echo of an own write costs no further write. Kept
 * as digests: two short strings for each object, however large it is.
 */
import { hash } from 'node:crypto'
import type { KubeObject } from '../apimachinery/object.ts'

export interface Echo {
  readonly sent: string
  readonly result: string
  /** The uid of the object that it was copied from. */
  readonly sourceUid: string | undefined
}

export class Echoes {
  readonly #byKey = new Map<string, Echo>()

  get(key: string): Echo | undefined {
    return this.#byKey.get(key)
  }

  /** Whether `copy` was written before and `live` is still what became of it. */
  matches(key: string, copy: Readonly<KubeObject>, live: Readonly<KubeObject>): boolean {
    const known = this.#byKey.get(key)
    return known !== undefined && known.sent === digest(copy) && known.result === digest(essence(live))
  }

  wrote(key: string, copy: Readonly<KubeObject>, result: Readonly<KubeObject>, sourceUid: string | undefined): void {
    this.#byKey.set(key, { sent: digest(copy), result: digest(essence(result)), sourceUid })
  }

  forget(key: string): void {
    this.#byKey.delete(key)
  }
}

function digest(value: unknown): string {
  return hash('sha256', JSON.stringify(value), 'base64')
}

/** Everything but the status and what changes with every write. */
function essence(object: Readonly<KubeObject>): unknown {
  const { status: _status, metadata, ...rest } = object
  const { resourceVersion: _version, managedFields: _managed, generation: _generation, ...meta } = metadata
  return [rest, meta]
}
