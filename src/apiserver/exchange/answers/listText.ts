/**
 * A list as text, entry by entry: the same bytes as if the whole value were written at once, without the whole value. Parts are made on
 * demand, so work and memory follow the client that reads.
 */
import { YamlWriter, yamlText } from '../../../apimachinery/yamlWriter.ts'

export type TextForm = 'json' | 'pretty' | 'yaml'

interface ListParts {
  /** The members before the list. In JSON they stand in this order, in YAML in that of their names. */
  head: object
  /** The member that is the list. */
  member: string
  entries: Iterable<unknown>
}

/** Bound on an entry in YAML that is made at once, in characters. */
const PIECE = 16 * 1024

export function listText(parts: ListParts, form: TextForm): Iterable<string> {
  return form === 'yaml' ? yamlPieces(parts) : form === 'pretty' ? prettyPieces(parts) : jsonPieces(parts)
}

/** Any value as YAML, in pieces. */
export function* yamlValuePieces(value: unknown): Generator<string> {
  yield* piecesOf(new YamlWriter(value))
  yield '\n'
}

function* piecesOf(writer: YamlWriter): Generator<string> {
  for (let piece = writer.next(PIECE); piece !== undefined; piece = writer.next(PIECE)) yield piece
}

function* jsonPieces({ head, member, entries }: ListParts): Generator<string> {
  let before = `${JSON.stringify(head).slice(0, -1)},${JSON.stringify(member)}:[`
  for (const entry of entries) {
    yield before + JSON.stringify(entry)
    before = ','
  }
  yield before === ',' ? ']}\n' : `${before}]}\n`
}

function* prettyPieces({ head, member, entries }: ListParts): Generator<string> {
  const start = `${JSON.stringify(head, undefined, 2).slice(0, -2)},\n  ${JSON.stringify(member)}: [`
  let before = `${start}\n    `
  for (const entry of entries) {
    yield before + JSON.stringify(entry, undefined, 2).replaceAll('\n', '\n    ')
    before = ',\n    '
  }
  yield before === ',\n    ' ? '\n  ]\n}\n' : `${start}]\n}\n`
}

function* yamlPieces({ head, member, entries }: ListParts): Generator<string> {
  const members = Object.entries(head)
  const some = (chosen: [string, unknown][]): string => (chosen.length > 0 ? yamlText(Object.fromEntries(chosen)) : '')
  const start = `${some(members.filter(([name]) => name < member))}${member}:`
  let before = `${start}\n  - `
  for (const entry of entries) {
    yield before
    yield* piecesOf(new YamlWriter(entry, '    '))
    before = '\n  - '
  }
  yield before === '\n  - ' ? '\n' : `${start} []\n`
  yield some(members.filter(([name]) => name > member))
}
