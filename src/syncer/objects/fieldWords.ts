/** Words for fields and their values, as a syncer reports them to its center: bounded, on one line, and without secrets. Pure. */
import { oneLine } from '../../apimachinery/oneLine.ts'
import { MAX_PATH, MAX_VALUE } from '../../placement/outcome/fieldDifference.ts'

/** A member of an object, or an element of a list. */
interface Step {
  readonly member?: string
  readonly element?: string
}
export type Steps = readonly Step[]

const PLAIN = /^[\w-]+$/

/** Such as `spec.template.spec.containers[name=web].image`. */
export function pathOf(steps: Steps): string {
  let path = ''
  for (const { member, element = '' } of steps) {
    if (member === undefined) path += element
    else if (PLAIN.test(member)) path += path === '' ? member : `.${member}`
    else path += `[${member}]`
  }
  const text = oneLine(path)
  // of a long one both ends are of use
  return text.length > MAX_PATH ? `${text.slice(0, MAX_PATH / 4)}…${text.slice(1 - (MAX_PATH * 3) / 4)}` : text
}

/** An element of a list, by its keys. */
export function elementName(keys: readonly (readonly string[])[]): string {
  return `[${keys.map(pair => pair.join('=')).join(',')}]`
}

/** A stranger's object may have a `toString` of its own. */
export function textOf(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** As JSON, shortened. */
export function valueWords(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length > MAX_VALUE ? `${oneLine(text, MAX_VALUE - 1)}…` : oneLine(text)
}

const SECRET = /secret|passw|token|credential|private|api[-_]?key|access[-_]?key/i

/**
 * Secrets, what is named like one, and values of environment variables: readers of a work status need not read these.
 * @param names of the kind, and of all members on the way to the value
 */
export function isSecret(names: readonly string[], ...values: readonly unknown[]): boolean {
  if (names.some(name => SECRET.test(name)) || names.includes('env')) return true
  return values.some(value => value !== undefined && SECRET.test(JSON.stringify(value)))
}
