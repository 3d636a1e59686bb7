/** Whether two objects report the same, however their servers order the members. */
import type { KubeObject } from '../apimachinery/object.ts'
import { equalJson } from '../apimachinery/values.ts'

export function sameStatus(a: Readonly<KubeObject>, b: Readonly<KubeObject> | undefined): boolean {
  return equalJson(a.status, b?.status)
}
