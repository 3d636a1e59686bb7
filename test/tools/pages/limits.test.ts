/** Limits of docs/reference/limits.md and flags that change them are the same. */
import t from 'tap'
import { commandTree, type DescribedCommand } from '../../../tools/pages/commandTree.ts'
import { LIMIT_SECTIONS, limitsOf } from '../../../tools/pages/limits.ts'

const limits = LIMIT_SECTIONS.flatMap(limitsOf)
const optionsOf = ({ options, commands }: DescribedCommand): DescribedCommand['options'] => [
  ...options,
  ...commands.flatMap(optionsOf),
]

t.test('no two rooms have a limit of one name', async t => {
  const names = limits.map(([name]) => name)
  t.strictSame(
    names.filter((name, i) => names.indexOf(name) !== i),
    [],
  )
})

t.test('a flag that changes a limit exists, and has the default that the row shows', async t => {
  const options = commandTree().flatMap(optionsOf)
  for (const [name, [standardValue, , change]] of limits)
    for (const [flag] of change.matchAll(/--[a-z-]+/g)) {
      const option = options.find(({ flags }) => flags.startsWith(`${flag} `))
      const [, standard] = /\(default: "?(\w+)/.exec(option?.description ?? 'no such flag (default: none)') ?? []
      if (standard !== undefined)
        t.match(standardValue, new RegExp(`(?<![\\d,.])${standard}(?!\\d|,\\d)`), `${name}: ${flag}`)
    }
})
