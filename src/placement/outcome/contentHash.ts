/** Hash of the content that the health of an object is about: all of the object but metadata and status. */
import { hash } from 'node:crypto'
import type { KubeObject } from '../../apimachinery/object.ts'
import { canonicalJson } from '../../apimachinery/values.ts'

/** Equal for equal content, whatever the order of members. */
export function contentHash({ metadata: _metadata, status: _status, ...content }: Readonly<KubeObject>): string {
  return hash('sha256', canonicalJson(content), 'base64')
}
