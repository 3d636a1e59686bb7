/**
 * Fields that a cluster's schema does not declare: an older release refuses a server-side apply that has them, and names
 * them. Pure.
 */
import { isStatusError } from '../../apimachinery/errors.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { cloneJson } from '../../apimachinery/values.ts'

const UNDECLARED = ': field not declared in schema'
/** Of what a cluster says; with fewer it names thousands of fields. */
const MOST_CHARACTERS = 256 * 1024
const MEMBERS = /[^\s:[\]]+/y
/** `[name="a"]`: quotes may hold brackets. */
const ELEMENT = /\[(?:"(?:[^"\\]|\\.){0,256}"|[^\]"]){0,256}\]/y

/**
 * Paths such as `.spec.template.spec.containers[].resizePolicy`, where `[]` is every item; empty when the error is about
 * something else.
 */
export function undeclaredFields(error: unknown): string[] {
  if (!isStatusError(error)) return []
  const text = error.message.slice(0, MOST_CHARACTERS)
  const paths: string[] = []
  // Each path is read once, from its first dot: what a cluster says is as long as it likes.
  for (let at = text.indexOf('.'); at >= 0; at = text.indexOf('.', at)) {
    const { path, end } = pathAt(text, at)
    if (path.length > 1 && text.startsWith(UNDECLARED, end)) paths.push(path)
    at = Math.max(end, at + 1)
  }
  return paths
}

function pathAt(text: string, start: number): { path: string; end: number } {
  let path = ''
  for (let end = start; ; ) {
    const members = matchAt(MEMBERS, text, end)
    const element = members === '' ? matchAt(ELEMENT, text, end) : ''
    if (members === '' && element === '') return { path, end }
    path += members || '[]'
    end += members.length + element.length
  }
}

function matchAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0] ?? ''
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
