/** Settings from flags, environment, config file and defaults, and the messages for a wrong one. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import t from 'tap'
import { addSettings, type Setting, settingsOf } from '../../../src/cli/shell/settings.ts'

const SETTINGS: readonly Setting[] = [
  { flags: '--config <file>', description: '' },
  { flags: '--secure-port <port>', description: '', default: 6443, number: true, maximum: 65_535 },
  { flags: '--minutes <n>', description: '', default: 10, number: true, minimum: 1 },
  { flags: '--external-hostname <host...>', description: '', list: true },
  { flags: '--storage <engine>', description: '', default: 'level', choices: ['level', 'etcd'] },
  { flags: '--name <name>', description: '', required: true },
]

/** The settings of a command line; throws what a user would be shown. */
async function read(...args: string[]): Promise<Record<string, unknown>> {
  const command = new Command('test').exitOverride().configureOutput({ writeErr: () => {} })
  addSettings(command, SETTINGS)
  command.parse(args, { from: 'user' })
  return settingsOf(command, SETTINGS)
}

t.test('a flag wins over the config file, and that over the default', async t => {
  const config = join(t.testdir({}), 'config.yaml')
  writeFileSync(config, 'secure-port: 7000\nname: file\n')
  t.match(await read('--config', config, '--name', 'flag'), { securePort: 7000, name: 'flag', storage: 'level' })
})

t.test('a list in the config file is a YAML list or a text with commas', async t => {
  const file = (text: string): string => {
    const path = join(t.testdir({}), 'config.yaml')
    writeFileSync(path, `name: x\nexternal-hostname: ${text}\n`)
    return path
  }
  t.same((await read('--config', file('a.example'))).externalHostname, ['a.example'])
  t.same((await read('--config', file('"a.example,10.0.0.7"'))).externalHostname, ['a.example', '10.0.0.7'])
  t.same((await read('--config', file('[a.example, b.example]'))).externalHostname, ['a.example', 'b.example'])
})

t.test('what is wrong in the config file is said with the names of file and setting', async t => {
  const faults: [text: string, message: RegExp][] = [
    ['storge: level', /config\.yaml: the config file: unknown field "storge"; did you mean "storage"\?$/],
    ['paint: blue', /config\.yaml: the config file: unknown field "paint"; known are config, secure-port/],
    ['storage: paper', /config\.yaml: storage: "paper" is not one of level, etcd/],
    ['secure-port: many', /config\.yaml: secure-port: "many" is not a whole number/],
    ['name: [a, b]', /config\.yaml: name must be a text or a number/],
    ['name: { a: b }', /config\.yaml: name must be a text or a number/],
    ['secure-port: -5', /config\.yaml: secure-port must be >= 0/],
    ['name: {', /config\.yaml: /],
    ['- name', /config\.yaml: the config file must be a mapping/],
    ['{}', /--name is required \(or ORRERY_NAME, or "name" in the config file\)/],
  ]
  for (const [text, message] of faults) {
    const config = join(t.testdir({}), 'config.yaml')
    writeFileSync(config, text)
    await t.rejects(read('--config', config), { message })
  }
})

t.test('a flag that is no number ends with a usage error instead of a stack', async t => {
  await t.rejects(read('--name', 'x', '--secure-port', 'abc'), {
    code: 'commander.invalidArgument',
    message: /'--secure-port <port>' argument 'abc' is invalid\. "abc" is not a whole number/,
  })
})

t.test('a number below the smallest that will do is refused with the name of the flag', async t => {
  await t.rejects(read('--name', 'x', '--minutes', '0'), { message: '--minutes: 0 is less than 1' })
})

t.test('a port above 65535 is refused with the name of the flag, wherever it comes from', async t => {
  const dir = t.testdir({ 'config.yaml': 'secure-port: 65536\n', 'text.yaml': 'secure-port: "99999"\n' })
  const refused = async (port: number, ...args: string[]): Promise<void> => {
    await t.rejects(read('--name', 'x', ...args), { message: `--secure-port: ${port} is more than 65535` })
  }
  await refused(99_999, '--secure-port', '99999')
  await refused(65_536, '--config', join(dir, 'config.yaml'))
  await refused(99_999, '--config', join(dir, 'text.yaml'))
  t.match(await read('--name', 'x', '--secure-port', '65535'), { securePort: 65_535 })
})

t.test("another program's variable counts where the own one is not set, and empty ones do not", async t => {
  const setting: Setting = { flags: '--external-port <port>', description: '', number: true, alias: 'EXTERNAL_PORT' }
  const read = async (environment: Record<string, string>): Promise<unknown> => {
    const command = new Command('test').exitOverride().configureOutput({ writeErr: () => {} })
    const before = { ...process.env }
    Object.assign(process.env, environment)
    try {
      addSettings(command, [setting])
      command.parse([], { from: 'user' })
    } finally {
      for (const name of Object.keys(environment)) if (before[name] === undefined) delete process.env[name]
    }
    return (await settingsOf(command, [setting])).externalPort
  }
  t.equal(await read({ EXTERNAL_PORT: '443' }), 443)
  t.equal(await read({ EXTERNAL_PORT: '443', ORRERY_EXTERNAL_PORT: '8443' }), 8443)
  t.equal(await read({ EXTERNAL_PORT: '' }), undefined)
  await t.rejects(read({ EXTERNAL_PORT: 'tcp://10.0.0.1:443' }), /is not a whole number/)
})
