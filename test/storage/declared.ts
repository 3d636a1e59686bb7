/** Texts whose gaps are declared, for tests: wherever a value of the object stands, all of a JSON string. */
import type { Encoded, Gap } from '../../src/storage/store.ts'

export interface OwnValues {
  readonly uid: string
  readonly space: string
  readonly times?: readonly string[]
}

export function declared(text: Encoded, { uid, space, times = [] }: OwnValues): Encoded {
  const bytes = Buffer.from(text.head + text.tail)
  const gaps: Gap[] = []
  const find = (kind: Gap['kind'], value: string): void => {
    for (let at = bytes.indexOf(`"${value}"`); at !== -1; at = bytes.indexOf(`"${value}"`, at + 1))
      gaps.push({ at: at + 1, length: value.length, kind })
  }
  find('uid', uid)
  find('space', space)
  for (const time of new Set(times)) find('time', time)
  return { ...text, gaps: gaps.sort((a, b) => a.at - b.at) }
}
