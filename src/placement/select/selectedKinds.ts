/**
 * Kinds that wide downsync tests select. A test that leaves kinds or groups open stands for all that its author may read. The server
 * judges that when the test is written, and records it in an annotation of the EdgePlacement, which it alone writes. Pure.
 *
 * A test without a record was judged whole and has no limit. A record that cannot be read limits every wide test to nothing.
 */
import { hash } from 'node:crypto'
import { at, objects, strings } from '../../apimachinery/fields.ts'
import { type GroupResource, groupResourceName, type KubeObject } from '../../apimachinery/object.ts'
import { someOf } from '../../apimachinery/someOf.ts'
import { canonicalJson } from '../../apimachinery/values.ts'
import { groupOfTest, SELECTED_KINDS_ANNOTATION } from '../words/placement.ts'

/** The record of a test. */
export interface KindLimit {
  /** `resource.group`; `*.group` is all of a group. */
  readonly kinds: readonly string[]
  /** Kinds that the author might not read, as far as the space served them. */
  readonly skipped: readonly string[]
}

type Test = Readonly<Record<string, unknown>>

/** By the text of the test, wherever it stands. */
export type KindLimits = ReadonlyMap<string, KindLimit>

const NOTHING: KindLimit = { kinds: [], skipped: [] }
const UNREADABLE = ''

/** Whether the test leaves open which kinds it selects. */
export function isWide(test: Test): boolean {
  return groupOfTest(test) === undefined || namesAll(strings(test.resources))
}

function namesAll(list: readonly string[]): boolean {
  return list.length === 0 || list.includes('*')
}

export function kindLimitsOf(placement: KubeObject): KindLimits {
  const text = at(placement, 'metadata', 'annotations', SELECTED_KINDS_ANNOTATION)
  const limits = new Map<string, KindLimit>()
  if (typeof text !== 'string') return limits
  for (const { tests, kinds, skipped } of recordsIn(text))
    for (const test of strings(tests)) limits.set(test, { kinds: strings(kinds), skipped: strings(skipped) })
  return limits.size > 0 ? limits : limits.set(UNREADABLE, NOTHING)
}

function recordsIn(text: string): Test[] {
  try {
    return objects(JSON.parse(text))
  } catch (error) {
    if (error instanceof SyntaxError) return []
    throw error
  }
}

/** `undefined`: the test selects all kinds that it names. */
export function limitOf(limits: KindLimits, test: Test): KindLimit | undefined {
  if (limits.size === 0 || !isWide(test)) return undefined
  return limits.get(keyOfTest(test)) ?? limits.get(UNREADABLE)
}

/** The same whatever StatusCollectors the test names. */
export function keyOfTest({ statusCollectors: _, ...test }: Test): string {
  return hash('sha256', canonicalJson(test), 'base64url').slice(0, 22)
}

/** The annotation's text; `undefined` where nothing is limited. */
export function recordOf(limits: KindLimits): string | undefined {
  if (limits.size === 0) return undefined
  const byLimit = new Map<string, { tests: string[] } & KindLimit>()
  for (const [test, { kinds, skipped }] of limits) {
    const key = JSON.stringify([kinds, skipped])
    const record = byLimit.get(key) ?? { tests: [], kinds, skipped }
    record.tests.push(test)
    byLimit.set(key, record)
  }
  return JSON.stringify([...byLimit.values()])
}

export function isAmong(kinds: Pick<ReadonlySet<string>, 'has'>, { group, resource }: GroupResource): boolean {
  return kinds.has(groupResourceName({ group, resource })) || kinds.has(groupResourceName({ group, resource: '*' }))
}

const SHOWN = 8

/** Words about kinds that a test leaves out. */
export function skippedText(field: string, { skipped }: KindLimit, placement: string): string {
  const kinds = someOf(skipped, SHOWN)
  return `${field} selects only kinds that its author may get and list; it skips ${kinds}. ${remedyFor(placement)}`
}

/** A way to have a test judged again. */
export function remedyFor(placement: string): string {
  const again = `kubectl annotate edgeplacement ${placement} ${SELECTED_KINDS_ANNOTATION}-`
  return `An administrator of this space grants get and list of them, or places them. The command adds what its caller may read: ${again}`
}
