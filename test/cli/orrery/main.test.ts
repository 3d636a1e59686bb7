/** The command line as a whole: what somebody reads who mistypes. */
import { execFile } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { CONTROLLER_NAMES } from '../../../src/controllers/controllerNames.ts'
import { Command } from '../../support/command.ts'
import { orreryHere } from '../../support/runHere.ts'

const ORRERY = join(import.meta.dirname, '../../../bin/orrery')

/** A process, where a mistake ends it. */
function run(...args: string[]): Promise<{ code: unknown; err: string }> {
  return new Promise(resolve => execFile(ORRERY, args, (error, _out, err) => resolve({ code: error?.code ?? 0, err })))
}

t.test('a misspelt sub-command is named, with those that there are', async t => {
  t.strictSame(await run('syncer', 'adapt', '--from-kubeconfig', 'nowhere'), {
    code: 1,
    err: 'orrery syncer: there is no sub-command "adapt"; there is: status, adopt\n',
  })
  t.match(await orreryHere('syncer', 'adopt'), { code: 1, err: /^orrery syncer adopt: --from-kubeconfig is required/ })
  t.match(await run('store', 'verfy'), { code: 1, err: /unknown command 'verfy'\n\(Did you mean verify\?\)/ })
})

t.test('a mistyped flag beside --dry-run is not the code that says that there is something to do', async t => {
  for (const [args, code] of [
    [['--typo'], 1],
    [['--dry-run', '--typo'], 3],
    [['--typo', '--dry-run'], 3],
  ] as const)
    t.match(await run('syncer', ...args), { code, err: /unknown option '--typo'/ }, args.join(' '))
})

t.test('which controllers run is chosen by name, and the help has the names', async t => {
  const help = await new Promise<string>(resolve =>
    execFile(ORRERY, ['start', '--help'], (_error, out) => resolve(out)),
  )
  for (const name of CONTROLLER_NAMES) t.match(help.replace(/\s+/g, ' '), name)
  const dataDir = t.testdir()
  t.match(await orreryHere('start', '--data-dir', dataDir, '--controllers=*,-nodeipam'), {
    code: 1,
    err: /^orrery start: --controllers: "nodeipam" is not in the list of known controllers: certificatesigning/,
  })
  t.strictSame(readdirSync(dataDir), [], 'before anything was touched')
  const environment = { ...process.env, ORRERY_CONTROLLERS: 'garbage-collector-controller,-wherever' }
  const told = await new Promise<string>(resolve =>
    execFile(ORRERY, ['start', '--data-dir', dataDir], { env: environment }, (_error, _out, err) => resolve(err)),
  )
  t.match(told, '"wherever" is not in the list of known controllers')
})

t.test('what is not to run does not run, and the log says so', async t => {
  const config = join(t.testdir(), 'orrery.yaml')
  const dataDir = t.testdir()
  writeFileSync(
    config,
    `data-dir: ${dataDir}\nsecure-port: 0\nlog-level: debug\ncontrollers: ["*", -garbage-collector-controller]\n`,
  )
  const server = new Command(t, ['start', '--config', config])
  const left = JSON.parse(await server.said('controllers that do not run')) as { controllers: string[] }
  t.strictSame(left.controllers, ['garbage-collector-controller'])
  for (const name of ['placement-translator', 'namespace-controller', 'serviceaccount-controller', 'where-resolver'])
    await server.said(`"controller":"${name}"`)
  await server.end()
  t.notOk(server.lines.some(line => line.includes('"controller":"garbage-collector-controller"')))
})

t.test('a kubeconfig of the syncer that is not there is told with its flag and what to give', async t => {
  const missing = join(t.testdir(), 'nowhere.kubeconfig')
  const there = join(t.testdir({ kubeconfig: KUBECONFIG }), 'kubeconfig')
  for (const command of [['syncer'], ['syncer', 'adopt']]) {
    const name = `orrery ${command.join(' ')}`
    t.strictSame(await orreryHere(...command, '--from-kubeconfig', missing, '--to-kubeconfig', missing), {
      code: 1,
      out: '',
      err: `${name}: --from-kubeconfig: ${missing} does not exist; give it the kubeconfig of the mailbox, which "kubectl kubestellar prep-for-syncer" or "prep-for-cluster" makes\n`,
    })
    t.strictSame(await orreryHere(...command, '--from-kubeconfig', there, '--to-kubeconfig', missing), {
      code: 1,
      out: '',
      err: `${name}: --to-kubeconfig: ${missing} does not exist; give it a kubeconfig of the cluster that the syncer shall serve\n`,
    })
  }
})

const KUBECONFIG = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1/clusters/root:x' } }],
  users: [{ name: 'u', user: { token: 't' } }],
  contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
  'current-context': 'x',
})
