/** The limits that docs/operations.md tells are those of the code: each row of its tables is held to what the sources say. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { sourceNumber } from '../support/sourceNumber.ts'
import { ROWS } from './support/limitRows.ts'

const ROOT = join(import.meta.dirname, '../..')
const PAGE = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8')
const OPTIONS = ['src/cli/commandSettings.ts', 'src/cli/accessFlags.ts']
  .map(file => readFileSync(join(ROOT, file), 'utf8'))
  .join('')

interface Row {
  limit: string
  said: string
  told: string
  change: string
}

const [, section = ''] = PAGE.split('\n## Limits\n')
const [tables = ''] = section.split('\n### ')
const rows: Row[] = [...tables.matchAll(/^\| (.*?) \| (.*?) \| (.*?) ?\| (.*?) ?\|$/gm)]
  .map(([, limit = '', said = '', told = '', change = '']) => ({ limit, said, told, change }))
  .filter(({ limit }) => limit !== 'limit')

t.test('each row says what the code says, and each limit has its row', async t => {
  t.strictSame(rows.map(({ limit }) => limit).sort(), Object.keys(ROWS).sort())
  for (const { limit, said } of rows) {
    let from = 0
    for (const [file, name, unit, times = 1] of ROWS[limit] ?? []) {
      const wanted = unit(sourceNumber(file, name) * times)
      const at = indexOfWhole(said, wanted, from)
      t.ok(at >= 0, `${limit}: "${said}" says ${wanted}, which is ${name} of ${file}`)
      from = at + wanted.length
    }
  }
})

t.test('each line of the tables is a row of four cells', async t => {
  for (const line of tables.split('\n').filter(line => line.startsWith('|')))
    t.equal(line.replaceAll('\\|', '').split('|').length, 6, line)
})

t.test('who changes a limit does it with a flag that there is, and whose default is the one that is told', async t => {
  for (const { limit, said, change } of rows)
    for (const [flag] of change.matchAll(/--[a-z-]+/g)) {
      const [, setting] = new RegExp(`'${flag} <([^{}]*)}`).exec(OPTIONS) ?? []
      t.ok(setting, `${limit}: ${flag}`)
      const [, value] = /default: '?([\w]+)/.exec(setting ?? '') ?? []
      if (value !== undefined) t.ok(indexOfWhole(said, value, 0) >= 0, `${limit}: ${flag} has the default ${value}`)
    }
})

t.test('a limit that the code does not have any more is missed', async t => {
  t.throws(() => sourceNumber('src/apimachinery/values.ts', 'NO_SUCH_LIMIT'), /says no number NO_SUCH_LIMIT/)
  t.throws(() => sourceNumber('src/apimachinery/values.ts', 'isTooDeep'), /says no number/)
})

/** Not as a part of another number. */
function indexOfWhole(text: string, part: string, from: number): number {
  const escaped = part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const found = new RegExp(`(?<![\\d,.])${escaped}(?![\\d]|,\\d)`).exec(text.slice(from))
  return found === null ? -1 : from + found.index
}
