/**
 * Some structs allow one member only. When the center chooses a new one, the old one may still be in the cluster: a default without an
 * owner. An apply leaves it alone (also a null), and the cluster refuses it beside the new one. Pure.
 */
import type { FieldSet } from '../../apimachinery/apply/fieldSet.ts'
import { isStatusError } from '../../apimachinery/errors.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'

interface Operation {
  readonly op: 'test' | 'add' | 'remove'
  readonly path: string
  readonly value?: unknown
}

/**
 * A JSON patch that makes the choice of `body` in `live`. Where the cluster refuses a field, it removes the structs there without a
 * manager, and sets those of the body. `undefined` when the fault is a different one. `others`: fields of other managers.
 */
export function choiceOf(
  error: unknown,
  body: Readonly<KubeObject>,
  live: Readonly<KubeObject>,
  others: FieldSet,
): Operation[] | undefined {
  if (!isStatusError(error, 'Invalid')) return undefined
  const removed = new Map<string, Operation>()
  const added = new Map<string, Operation>()
  const tested = new Map<string, Operation>()
  for (const { field = '' } of error.details?.causes ?? []) {
    const steps = field.match(/[^.[\]]+/g) ?? []
    const at = holders(body, live, others, steps.slice(0, -1))
    if (at === undefined) continue
    const stale = Object.entries(at.live).filter(
      ([name, value]) => !(name in at.body) && isRecord(value) && !at.others?.children?.has(`f:${name}`),
    )
    if (stale.length === 0) continue
    for (const test of at.tests) tested.set(test.path, test)
    for (const [name] of stale) removed.set(at.path + pointer(name), { op: 'remove', path: at.path + pointer(name) })
    for (const [name, value] of Object.entries(at.body))
      added.set(at.path + pointer(name), { op: 'add', path: at.path + pointer(name), value })
  }
  if (removed.size === 0) return undefined
  return [
    { op: 'test', path: '/metadata/uid', value: live.metadata.uid },
    ...tested.values(),
    ...removed.values(),
    ...added.values(),
  ]
}

interface Holders {
  body: Readonly<Record<string, unknown>>
  live: Readonly<Record<string, unknown>>
  others: FieldSet | undefined
  /** In `live`, as a JSON pointer. */
  path: string
  /** That the list items on the way are still where they were. */
  tests: readonly Operation[]
}

/** The same struct in all three. Items of a list are the same when they have one name; lists without names have no members. */
function holders(body: KubeObject, live: KubeObject, others: FieldSet, steps: readonly string[]): Holders | undefined {
  let at: { body: unknown; live: unknown; others: FieldSet | undefined; path: string } = {
    body,
    live,
    others,
    path: '',
  }
  const tests: Operation[] = []
  for (const step of steps) {
    if (Array.isArray(at.body)) {
      const item: unknown = at.body[Number(step)]
      const name = isRecord(item) ? item.name : undefined
      if (typeof name !== 'string' || !Array.isArray(at.live)) return undefined
      const index = at.live.findIndex(other => isRecord(other) && other.name === name)
      const below = at.others?.children?.get(`k:${JSON.stringify({ name })}`)
      at = { body: item, live: at.live[index], others: below, path: `${at.path}/${index}` }
      tests.push({ op: 'test', path: `${at.path}/name`, value: name })
    } else if (isRecord(at.body) && isRecord(at.live)) {
      const below = at.others?.children?.get(`f:${step}`)
      at = { body: at.body[step], live: at.live[step], others: below, path: at.path + pointer(step) }
    } else return undefined
  }
  const { path } = at
  return isRecord(at.body) && isRecord(at.live) && path !== ''
    ? { body: at.body, live: at.live, others: at.others, path, tests }
    : undefined
}

function pointer(name: string): string {
  return `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
}
