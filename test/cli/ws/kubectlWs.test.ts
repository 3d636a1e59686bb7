import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { kubectlWs } from '../../../src/cli/ws/program.ts'
import { FILE_LIMIT_MS } from '../../support/patience.ts'
import { pluginHere } from '../../support/runHere.ts'
import { startHarness } from '../support.ts'

t.test('kubectl ws against a server, as a process and in that of the test', { timeout: FILE_LIMIT_MS }, async t => {
  const harness = await startHarness(t)
  const main = harness.kubeconfig('main')
  const process = (args: string, kubeconfig = main) => harness.run('kubectl-ws', args.split(' '), kubeconfig)
  const ws = (args: string, kubeconfig = main) => pluginHere('ws', ...args.split(' '), '--kubeconfig', kubeconfig)
  const ok = (out: string) => ({ code: 0, out: `${out}\n` })
  const fails = (message: string, code = 1) => ({ code, out: '', err: `Error: ${message}\n` })

  t.match(await process('.'), ok("Current workspace is 'root'."))
  t.match(
    await ws('create team --enter'),
    ok(
      [
        'Workspace "team" (type root:universal) created. Waiting for it to be ready...',
        'Workspace "team" (type root:universal) is ready to use.',
        "Current workspace is 'root:team' (type root:universal).",
      ].join('\n'),
    ),
  )
  t.match(await process('ensure a:b --enter'), ok("Current workspace is 'root:team:a:b' (type root:universal)."))
  t.match(await ws('..:..'), ok("Current workspace is 'root:team' (type root:universal)."))
  t.match(await ws('-'), ok("Current workspace is 'root:team:a:b'."))
  t.match(await ws('. --short'), ok('root:team:a:b'))

  const budget = await ws('budget --context root')
  t.match(budget, {
    code: 0,
    out: /^NAME +OBJECTS +LIMIT +BYTES +LIMIT +UPSYNCED +LIMIT +SPACES +LIMIT\n\. +\d+ +\d+ +[\d.]+\w* +- +0 +- +\d+ +\d+\n/,
  })
  t.match(await ws('budget --context root -o name'), { code: 0, out: /^root\n(.*\n)*root:team(\n|$)/ })
  t.match(budget.out, /^team +\d+ +200000 +[\d.]+Ki +1Gi +0 +- +2 +-$/m)

  // what only reads, or has a kubeconfig of its own, may run side by side
  const before = readFileSync(main, 'utf8')
  const list = `${join(harness.dir, 'absent')}:${harness.kubeconfig('listed')}`
  const elsewhere = harness.kubeconfig('elsewhere')
  const base = harness.kubeconfig('bare')
  const [missing, sub, up, twice, typed, noType, noChild, other, kept, tree, full, home, flag, listed, bare, down] =
    await Promise.all([
      ws(':root:team:x:y'),
      process('nope:deep'),
      ws('..:..:..:..'),
      ws('create b --context root --type root:universal'),
      ws('create stock --context root --type inventory'),
      ws('create x --context root --type root:warehouse'),
      ws('create x --context root --type root:mailbox'),
      ws('create team --context root --ignore-existing --type root:workload'),
      ws('create team --context root --ignore-existing'),
      ws('tree --context root'),
      ws('tree -f'),
      ws('~', harness.kubeconfig('home')),
      process(`root:team --kubeconfig ${elsewhere}`),
      process('root:team --short', list),
      ws('team --context base', base),
      ws('root', writeUnreachable(harness.dir)),
    ])
  t.match(missing, fails('workspace "root:team:x:y" not found; the nearest workspace that exists is "root:team"'))
  t.match(
    sub,
    fails('workspace "root:team:a:b:nope:deep" not found; the nearest workspace that exists is "root:team:a:b"'),
  )
  t.match(up, fails('cannot go up from root'))
  t.match(twice, { code: 0, out: /^Workspace "b" \(type root:universal\) created\./ })
  t.match(typed, { code: 0, out: /^Workspace "stock" \(type root:inventory\) created\./ })
  const types = '"universal", "inventory", "workload", "workload-rbac"'
  t.match(noType, { code: 1, out: '', err: /^Error: .*spec\.type\.name: Unsupported value: "warehouse": .*\n$/ })
  t.match(noType.err, `supported values: ${types}`)
  t.match(noChild, {
    code: 1,
    err: /spec\.type\.name: .*a space of type "universal" may have children of type universal, /,
  })
  t.match(
    other,
    fails(
      'workspace "team" cannot be created with type root:workload, it already exists with different type root:universal',
    ),
  )
  t.match(kept, { code: 0, out: /^Workspace "team" \(type root:universal\) already exists\.\n/ })
  t.match(tree, { code: 0, out: /^\.\n└── root\n(.*\n)* +[├└]── team\n.*└── a\n.*└── b\n/ })
  t.match(full, ok('.\n└── root:team:a:b'))
  t.match(home, { code: 0, out: "Current workspace is 'root' (type root).\n", err: /~ is root/ })
  t.match(flag, ok("Current workspace is 'root:team' (type root:universal)."))
  t.match(parse(readFileSync(elsewhere, 'utf8')), { 'current-context': 'workspace.kcp.io/current' })
  t.match(listed, ok('root:team'))
  t.match(parse(readFileSync(join(harness.dir, 'listed'), 'utf8')), { 'current-context': 'workspace.kcp.io/current' })
  t.match(bare, {
    code: 1,
    err: new RegExp(`leads to no space of Orrery: its URL is "${harness.url}"; take one of Orrery`),
  })
  t.match(down, { code: 1, out: '', err: /^Error: .*ECONNREFUSED/ })
  t.equal(readFileSync(main, 'utf8'), before, 'a kubeconfig changes only when its user moves')

  t.match(await ws('create-context'), ok('Created context "root:team:a:b" and switched to it.'))
  t.match(
    await ws('create-context'),
    fails('context "root:team:a:b" already exists in kubeconfig, use --overwrite to update it'),
  )
})

t.test('what is wrong on the face of it needs no server', async t => {
  const said: string[] = []
  const terminal = { out: (line: string) => void said.push(line), err: (line: string) => void said.push(line) }
  t.equal(await kubectlWs(['create', 'x', '--ignore-existing', '--type', 'universal'], terminal), 1)
  t.equal(await kubectlWs(['ensure', 'x:root'], terminal), 2)
  t.strictSame(said, [
    'Error: --ignore-existing must not be used with non-absolute type path',
    'Error: "root" workspace can only be used at the beginning!',
  ])
})

function writeUnreachable(dir: string): string {
  const path = join(dir, 'unreachable')
  const cluster = { server: 'https://127.0.0.1:9/clusters/root', 'insecure-skip-tls-verify': true }
  const config = {
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user: { token: 'x' } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'c',
  }
  writeFileSync(path, JSON.stringify(config))
  return path
}
