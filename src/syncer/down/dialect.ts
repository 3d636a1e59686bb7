/**
 * Applies in the words that a cluster's release knows. An older one refuses an apply with a field that its schema does not declare, and
 * names one such field at a time. Known ones are left out of later applies of the kind from the start.
 */
import { isStatusError } from '../../apimachinery/errors.ts'
import { type GroupVersionResource, groupResourceName, isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { cloneJson } from '../../apimachinery/values.ts'
import type { Clock } from '../../client/clock.ts'
import type { Logger } from '../../client/logger.ts'

/** More unknown fields than any two releases differ by in one kind: then something else is wrong. */
const ATTEMPTS = 40
/** A cluster may be upgraded, or its definition of a kind: long enough for what is written in a row. */
const FORGET_MS = 60_000

export class Dialect {
  readonly #logger: Logger
  readonly #clock: Clock
  readonly #unknown = new Map<string, { paths: Set<string>; sinceMs: number }>()

  constructor({ logger, clock }: { logger: Logger; clock: Clock }) {
    this.#logger = logger
    this.#clock = clock
  }

  /** @throws what `apply` throws, when that is not about undeclared fields */
  async speak(
    resource: GroupVersionResource,
    copy: Readonly<KubeObject>,
    apply: (body: KubeObject) => Promise<KubeObject>,
  ): Promise<KubeObject> {
    const unknown = this.#unknownOf(resource)
    for (let attempt = 1; ; attempt++) {
      try {
        return await apply(withoutFields(copy, [...unknown]))
      } catch (error) {
        const news = undeclaredFields(error).filter(path => !unknown.has(path))
        if (news.length === 0 || attempt === ATTEMPTS) throw error
        for (const path of news) unknown.add(path)
        const fields = news.join(', ')
        this.#logger.warn({ resource: groupResourceName(resource) }, `the cluster does not know ${fields}: left out`)
      }
    }
  }

  #unknownOf(resource: GroupVersionResource): Set<string> {
    const name = `${groupResourceName(resource)}/${resource.version}`
    const nowMs = this.#clock.now()
    const known = this.#unknown.get(name)
    if (known !== undefined && nowMs - known.sinceMs < FORGET_MS) return known.paths
    const paths = new Set<string>()
    this.#unknown.set(name, { paths, sinceMs: nowMs })
    return paths
  }
}

const UNDECLARED = ': field not declared in schema'
/** Bound on a cluster's answer; with fewer it names thousands of fields. */
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
