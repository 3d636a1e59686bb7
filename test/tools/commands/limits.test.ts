/** Limits of docs/reference/limits.md and of the code are the same. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { commandTree, type DescribedCommand } from '../../../tools/commands/commandTree.ts'
import { LIMITS, limitRows, withLimits } from '../../../tools/commands/limits.ts'

const PAGE = readFileSync(join(import.meta.dirname, '../../../docs/reference/limits.md'), 'utf8')
const rows = limitRows(PAGE)
const optionsOf = ({ options, commands }: DescribedCommand): DescribedCommand['options'] => [
  ...options,
  ...commands.flatMap(optionsOf),
]

t.test('each limit of a room has its row, and each row a limit', async t => {
  t.strictSame(rows.map(([limit]) => limit).sort(), LIMITS.map(([limit]) => limit).sort())
  t.strictSame(
    rows.filter(cells => cells.length !== 4),
    [],
    'rows of four cells',
  )
})

t.test('the tables have the defaults of the code; "npm run pages" writes them anew', async t => {
  t.strictSame(rows, limitRows(withLimits(PAGE)))
  const [limit = '', value = ''] = rows[0]!
  const stale = PAGE.replace(`| ${limit} | ${value} |`, `| ${limit} | 1 MiB |`)
  t.not(stale, PAGE)
  t.equal(withLimits(stale), PAGE)
})

t.test('a flag that changes a limit exists, and has the default that the row shows', async t => {
  const options = commandTree().flatMap(optionsOf)
  for (const [limit, value = '', , change = ''] of rows)
    for (const [flag] of change.matchAll(/--[a-z-]+/g)) {
      const option = options.find(({ flags }) => flags.startsWith(`${flag} `))
      const [, standard] = /\(default: "?(\w+)/.exec(option?.description ?? 'no such flag (default: none)') ?? []
      if (standard !== undefined) t.match(value, new RegExp(`(?<![\\d,.])${standard}(?!\\d|,\\d)`), `${limit}: ${flag}`)
    }
})
