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
  readonly #ofBodies = new WeakMap<Body, Content>()

  /** `undefined` for a text that is its object's alone. */
  of(stored: Stored): Likeness | undefined {
    if (!(stored instanceof SharedStored)) return undefined
    const { body, uid } = stored
    let content = this.#ofBodies.get(body)
    if (content === undefined) {
      content = contentOf(body)
      this.#ofBodies.set(body, content)
    }
    return { ...content, uid }
  }
}

function contentOf(body: Body): Content {
  const bytes = body.blank
  const { metadata, status, ...rest } = decodeObject({ bytes })
  const { managedFields: _, annotations: { [CLUSTER_ANNOTATION]: _space, ...annotations } = {}, ...meta } = metadata
  // a status that is no object is content of its author
  const said = isRecord(status) || status === undefined ? rest : { ...rest, status }
  return {
    content: hash('sha256', JSON.stringify({ ...said, metadata: { ...meta, annotations } }), 'base64'),
    bytes: bytes.length,
    hasStatus: status !== undefined,
  }
}
