/**
 * Fields that a cluster's schema does not declare: an older release refuses a server-side apply that has them, and names
 * them. Pure.
 */
import { isStatusError } from '../apimachinery/errors.ts'
import { isRecord, type KubeObject } from '../apimachinery/object.ts'
import { cloneJson } from '../apimachinery/values.ts'

/**
 * Paths such as `.spec.template.spec.containers[].resizePolicy`, where `[]` is every item; empty when the error is about
 * something else.
 */
export function undeclaredFields(error: unknown): string[] {
  if (!isStatusError(error)) return []
  const named = error.message.matchAll(
    /(\.(?:[^\s:[\]]|\[(?:"(?:[^"\\]|\\.)*"|[^\]"])*\])+): field not declared in schema/g,
  )
  return [...named].map(([, path = '']) => path.replace(/\[(?:"(?:[^"\\]|\\.)*"|[^\]"])*\]/g, '[]'))
}

/** A copy without the fields at these paths; paths that lead nowhere are ignored. */
export function withoutFields(object: Readonly<KubeObject>, paths: readonly string[]): KubeObject {
  const copy = cloneJson(object) as KubeObject
  for (const path of paths) {
    const steps = path.match(/[^.[\]]+|\[\]/g) ?? []
    const last = steps.pop()
    if (last === undefined || last === '[]') continue
    let holders: unknown[] = [copy]
    for (const step of steps) holders = holders.flatMap(holder => inside(holder, step))
    for (const holder of holders) if (isRecord(holder)) delete holder[last]
  }
  return copy
}

function inside(holder: unknown, step: string): unknown[] {
  if (step === '[]') return Array.isArray(holder) ? holder : []
  return isRecord(holder) && Object.hasOwn(holder, step) ? [holder[step]] : []
}
