/** Flags with durations: each has a bound, and its default is read as what a user types. */
import t from 'tap'
import { KUBESTELLAR } from '../../../src/cli/kubestellar/program.ts'
import type { PluginCommand } from '../../../src/cli/shell/plugin.ts'
import type { Setting } from '../../../src/cli/shell/settings.ts'

/** Flags of all commands, by the words of a command. */
function flagsNamed(name: string): [command: string, flag: Setting][] {
  const found: [string, Setting][] = []
  const look = (commands: readonly PluginCommand[], above: string): void => {
    for (const { line, flags = [], commands: below = [] } of commands) {
      const words = `${above}${line.split(' ')[0]}`
      for (const flag of flags) if (flag.flags.startsWith(`--${name} `)) found.push([words, flag])
      look(below, `${words} `)
    }
  }
  look(KUBESTELLAR.commands, '')
  return found
}

t.test('a credential lives no longer than its command says', async t => {
  const most: Record<string, number> = {}
  for (const [command, { description, parse }] of flagsNamed('lifetime')) {
    const hours = Number(/at most (\d+)h/.exec(description)?.[1])
    most[command] = hours
    t.equal(parse?.(`${hours}h`), hours * 3600, command)
    for (const text of [`${hours}h1s`, '9m', 'soon'])
      t.throws(() => parse?.(text), { message: /^It is no duration between 10m and/ }, `${command} ${text}`)
  }
  t.strictSame(most, {
    ...{ 'prep-for-syncer': 2160, 'prep-for-cluster': 2160, 'syncer rotate': 2160, 'bootstrap create': 2160 },
    kubeconfig: 8760,
  })
})

t.test('each wait has a bound', async t => {
  const found = flagsNamed('timeout')
  for (const [command, { parse, default: wait }] of found) {
    t.throws(() => parse?.('soon'), { message: /^It is no duration/ }, command)
    if (wait !== undefined) t.type(parse?.(String(wait)), 'number', command)
  }
  t.ok(found.length >= 6)
})
