/** Whether two objects report the same, however their servers order the members. */
import { isDeepStrictEqual } from 'node:util'
import type { KubeObject } from '../apimachinery/object.ts'

export function sameStatus(a: Readonly<KubeObject>, b: Readonly<KubeObject> | undefined): boolean {
  return isDeepStrictEqual(a.status, b?.status)
}
