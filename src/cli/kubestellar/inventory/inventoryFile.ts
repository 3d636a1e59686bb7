/**
 * The file of `ensure location -f`: many locations, as CSV (RFC 4180) with a heading or as YAML. All of it is checked before
 * anything is made, by the rules of a single `ensure location`; each problem names its row.
 */
import { open, stat } from 'node:fs/promises'
import { messageOf } from '../../../apimachinery/messageOf.ts'
import { didYouMean } from '../../../apimachinery/nearest.ts'
import { isRecord } from '../../../apimachinery/object.ts'
import { validateAnnotations } from '../../../apimachinery/objectMeta.ts'
import { yaml } from '../../../apimachinery/yaml.ts'
import { CommandError } from '../../shell/commandError.ts'
import { checkObjectName, labelsOf } from '../arguments.ts'
import { csvRows } from './csvRows.ts'
import { DEFAULT_REFUSED, type InventoryEntry } from './inventory.ts'

export const FILE_LIMIT_BYTES = 4 * 1024 * 1024
export const ROWS_LIMIT = 10_000
/** Problems that are shown. */
const SHOWN = 20
const COLUMNS = ['name', 'labels', 'label:', 'annotation:'] as const
const FIELDS = ['name', 'labels', 'annotations'] as const

export interface InventoryRow extends InventoryEntry {
  /** As a spreadsheet counts it, the heading first; in YAML the number of the item. */
  readonly row: number
}

/** @param path `-` is standard input. @throws CommandError with all that is wrong in the file, up to a bound */
export async function inventoryFile(path: string): Promise<InventoryRow[]> {
  const name = path === '-' ? 'standard input' : path
  const text = (await textOf(path, name)).replace(/^\uFEFF/, '')
  const problems: string[] = []
  // in another encoding a parameter would go to clusters as something else
  const unread = text.split('\n').findIndex(line => line.includes('\uFFFD'))
  if (unread !== -1) problems.push(`line ${unread + 1}: its bytes are no UTF-8; save the file as "CSV UTF-8"`)
  const rows = unread === -1 ? read(path, text, problems) : []
  const first = new Map<string, number>()
  for (const { row, name } of rows) {
    const before = first.get(name)
    if (before !== undefined) problems.push(`row ${row}: "${name}" is there already, in row ${before}`)
    else first.set(name, row)
  }
  if (problems.length === 0 && rows.length === 0) problems.push('it names no location')
  if (problems.length === 0) return rows
  const more = problems.length > SHOWN ? [`and ${problems.length - SHOWN} more`] : []
  const all = [...problems.slice(0, SHOWN), ...more].map(problem => `\n  ${problem}`).join('')
  throw new CommandError(`${name} has mistakes, and nothing was made:${all}`)
}

function read(path: string, text: string, problems: string[]): InventoryRow[] {
  try {
    return isCsv(path, text) ? fromCsv(text, problems) : fromYaml(text, problems)
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    problems.push(error.message)
    return []
  }
}

async function textOf(path: string, name: string): Promise<string> {
  const tooLong = new CommandError(`${name} is longer than ${FILE_LIMIT_BYTES / 1024 ** 2} MiB; split it`)
  if (path === '-') {
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of process.stdin) {
      size += chunk.length
      if (size > FILE_LIMIT_BYTES) throw tooLong
      chunks.push(chunk)
    }
    return Buffer.concat(chunks).toString()
  }
  try {
    if ((await stat(path)).isDirectory()) throw new CommandError(`${path} is a folder; name a file`)
    const file = await open(path)
    try {
      const buffer = Buffer.alloc(FILE_LIMIT_BYTES + 1)
      let size = 0
      for (;;) {
        const { bytesRead } = await file.read(buffer, size, buffer.length - size)
        size += bytesRead
        if (size > FILE_LIMIT_BYTES) throw tooLong
        if (bytesRead === 0) return buffer.toString('utf8', 0, size)
      }
    } finally {
      await file.close()
    }
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError(`${path} cannot be read: ${messageOf(error)}`, 1, { cause: error })
  }
}

/** By the name of the file, else by its heading. */
function isCsv(path: string, text: string): boolean {
  if (/\.csv$/i.test(path)) return true
  if (/\.(ya?ml|json)$/i.test(path)) return false
  const heading = text.trimStart().split('\n', 1)[0]!.split(/[,;]/)
  return heading.some(cell => cell.trim().toLowerCase() === 'name')
}

function fromCsv(text: string, problems: string[]): InventoryRow[] {
  const [heading = [], ...lines] = csvRows(text, ROWS_LIMIT + 1)
  const columns = heading.map(cell => cell.trim())
  for (const [at, column] of columns.entries()) {
    const problem = columnProblem(column, columns.indexOf(column) < at)
    if (problem !== undefined) problems.push(`row 1: ${problem}`)
  }
  if (problems.length === 0 && !columns.includes('name')) problems.push('row 1: there is no column "name"')
  if (problems.length > 0) return []
  const rows: InventoryRow[] = []
  for (const [at, cells] of lines.entries()) {
    const row = at + 2
    if (cells.every(cell => cell.trim() === '')) continue
    if (cells.length > columns.length) {
      problems.push(`row ${row}: ${cells.length} cells, and the heading has ${columns.length}; quote what holds commas`)
      continue
    }
    let name = ''
    const labels: string[] = []
    const annotations: Record<string, string> = {}
    for (const [index, column] of columns.entries()) {
      const cell = cells[index] ?? ''
      if (cell.trim() === '') continue
      if (column === 'name') name = cell.trim()
      else if (column === 'labels') labels.push(...cell.trim().split(/[\s,;]+/))
      else if (column.startsWith('label:')) labels.push(`${column.slice('label:'.length)}=${cell.trim()}`)
      else annotations[column.slice('annotation:'.length)] = cell
    }
    add(rows, problems, { row, name, labels, annotations })
  }
  return rows
}

function columnProblem(column: string, isRepeated: boolean): string | undefined {
  if (isRepeated) return `the column "${column}" is there twice`
  if (column === 'name' || column === 'labels') return undefined
  if (/^(label|annotation):./.test(column)) return undefined
  const meant = didYouMean(column, ['name', 'labels']) || `; for a label write "label:${column}"`
  return `there is no column "${column}": they are ${COLUMNS.map(each => (each.endsWith(':') ? `${each}KEY` : each)).join(', ')}${meant}`
}

function fromYaml(text: string, problems: string[]): InventoryRow[] {
  const { parseAllDocuments } = yaml()
  const items: unknown[] = []
  try {
    for (const document of [parseAllDocuments(text)].flat()) {
      const [fault] = document.errors
      if (fault !== undefined) throw fault
      const value: unknown = document.toJS({ maxAliasCount: 100 })
      if (value !== null) items.push(...(Array.isArray(value) ? value : [value]))
    }
  } catch (error) {
    problems.push(messageOf(error).split('\n', 1)[0]!)
    return []
  }
  if (items.length > ROWS_LIMIT) throw tooMany()
  const rows: InventoryRow[] = []
  for (const [at, item] of items.entries()) {
    const row = at + 1
    if (!isRecord(item)) {
      problems.push(`row ${row}: it is no location; write "- name: NAME", or CSV with a column "name"`)
      continue
    }
    const known: readonly string[] = FIELDS
    const foreign = Object.keys(item).filter(field => !known.includes(field))
    for (const field of foreign)
      problems.push(
        `row ${row}: there is no field "${field}": they are ${FIELDS.join(', ')}${didYouMean(field, FIELDS)}`,
      )
    const maps = { labels: mapOf(item.labels), annotations: mapOf(item.annotations) }
    for (const field of ['labels', 'annotations'] as const)
      if (maps[field] === undefined)
        problems.push(`row ${row}: ${field} is no map of texts; write ${field}: { KEY: "VALUE" }, quoted`)
    const { labels = {}, annotations = {} } = maps
    const name = typeof item.name === 'string' ? item.name : item.name === undefined ? '' : `${item.name}`
    const words = Object.entries(labels).map(([key, value]) => (value === null ? `${key}-` : `${key}=${value}`))
    add(rows, problems, { row, name, labels: words, annotations })
  }
  return rows
}

/** `undefined`: it is none. */
function mapOf(value: unknown): Record<string, string | null> | undefined {
  if (value === undefined || value === null) return {}
  if (!isRecord(value)) return undefined
  const map = value as Record<string, string | null>
  return Object.values(value).every(each => typeof each === 'string' || each === null) ? map : undefined
}

interface Read {
  row: number
  name: string
  labels: readonly string[]
  annotations: Readonly<Record<string, string | null>>
}

function add(rows: InventoryRow[], problems: string[], { row, name, labels, annotations }: Read): void {
  if (rows.length >= ROWS_LIMIT) throw tooMany()
  const problem = (): string | undefined => {
    if (name === '') return 'there is no name'
    checkObjectName(name)
    if (name === 'default') return DEFAULT_REFUSED
    const texts = Object.fromEntries(Object.entries(annotations).map(([key, value]) => [key, value ?? '']))
    const [fault] = validateAnnotations(texts, 'annotations')
    if (fault !== undefined) return `${name}: annotation ${JSON.stringify(fault.value ?? '')}: ${fault.detail}`
    rows.push({ row, name, ...labelsOf(labels), annotations })
    return undefined
  }
  try {
    const found = problem()
    if (found !== undefined) problems.push(`row ${row}: ${found}`)
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    const { message } = error
    problems.push(`row ${row}: ${message.includes(JSON.stringify(name)) ? message : `${name}: ${message}`}`)
  }
}

function tooMany(): CommandError {
  return new CommandError(`more than ${ROWS_LIMIT} locations; split the file`)
}
