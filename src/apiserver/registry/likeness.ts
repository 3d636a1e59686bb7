/**
 * The content of stored objects that share a body: all but identity, times, managed fields and status. It is read once for each body, so
 * that a thousand copies of an object are compared as one.
 */
import { hash } from 'node:crypto'
import { isRecord } from '../../apimachinery/object.ts'
import { CLUSTER_ANNOTATION } from '../../apimachinery/resources.ts'
import type { Likeness } from '../../client/client.ts'
import type { Body } from '../../storage/body.ts'
import { SharedStored } from '../../storage/sharedStored.ts'
import type { Stored } from '../../storage/store.ts'
import { decodeObject } from './codec.ts'

type Content = Omit<Likeness, 'uid'>

export class StoredLikeness {
  readonly #ofBodies = new WeakMap<Body, Content | undefined>()

  /** `undefined` for a text that is its object's alone, or whose status is no object. */
  of(stored: Stored): Likeness | undefined {
    if (!(stored instanceof SharedStored)) return undefined
    const { body, uid } = stored
    if (!this.#ofBodies.has(body)) this.#ofBodies.set(body, contentOf(body))
    const content = this.#ofBodies.get(body)
    return content && { ...content, uid }
  }
}

function contentOf(body: Body): Content | undefined {
  const bytes = body.blank
  const { metadata, status, ...rest } = decodeObject({ bytes })
  const { managedFields: _, annotations: { [CLUSTER_ANNOTATION]: _space, ...annotations } = {}, ...meta } = metadata
  // a status that is no object is content of its author, and its times stand in gaps
  if (status !== undefined && !isRecord(status)) return undefined
  return {
    content: hash('sha256', JSON.stringify({ ...rest, metadata: { ...meta, annotations } }), 'base64'),
    bytes: bytes.length,
    hasStatus: status !== undefined,
  }
}
