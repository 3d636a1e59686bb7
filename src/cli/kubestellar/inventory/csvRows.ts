/** Cells of CSV, RFC 4180: quoted ones may hold separators, quotes (doubled) and line ends. Pure. */
import { CommandError } from '../../shell/commandError.ts'

/**
 * Each line of the text, empty ones too. The separator is a semicolon where the heading has one and no comma, as spreadsheets of some
 * languages write it.
 * @throws CommandError for more than `limit` rows, and for a quote without an end
 */
export function csvRows(text: string, limit: number): string[][] {
  const heading = text.split('\n', 1)[0]!
  const separator = heading.includes(';') && !heading.includes(',') ? ';' : ','
  const rows: string[][] = []
  let cells: string[] = []
  let at = 0
  while (at < text.length) {
    const { cell, next } = text[at] === '"' ? quoted(text, at, rows.length + 1) : plain(text, at, separator)
    cells.push(cell)
    at = next
    if (text[at] === separator) {
      at += 1
      if (at < text.length) continue
      cells.push('')
    }
    if (text[at] === '\r') at += 1
    if (at < text.length && text[at] !== '\n')
      throw new CommandError(`row ${rows.length + 1}: something follows the closing quote of a cell`)
    at += 1
    rows.push(cells)
    if (rows.length > limit) throw new CommandError(`more than ${limit} rows; split the file`)
    cells = []
  }
  return rows
}

function plain(text: string, start: number, separator: string): { cell: string; next: number } {
  let next = start
  while (next < text.length && text[next] !== separator && text[next] !== '\n' && text[next] !== '\r') next += 1
  return { cell: text.slice(start, next), next }
}

function quoted(text: string, start: number, row: number): { cell: string; next: number } {
  let cell = ''
  let from = start + 1
  for (;;) {
    const end = text.indexOf('"', from)
    if (end === -1) throw new CommandError(`row ${row}: a quote has no end`)
    cell += text.slice(from, end)
    if (text[end + 1] !== '"') return { cell, next: end + 1 }
    cell += '"'
    from = end + 2
  }
}
