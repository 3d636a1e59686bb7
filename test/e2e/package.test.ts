/** The output of `npm run build` is all that users need: installed as npm does it, its programs run, and run no source. */
import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { buildInfo } from '../../src/cli/orrery/version/buildInfo.ts'
import { PROGRAM_ROOT } from '../../src/program/programRoot.ts'
import { buildText, releaseDate } from '../../tools/release/buildFile.ts'
import { buildNpmPackage, pack } from '../../tools/release/npmPackage.ts'
import { Api } from '../support/api.ts'
import { run, startOrrery } from '../support/orrery.ts'
import { FILE_LIMIT_MS } from '../support/patience.ts'
import { accessOf, CONFIGMAPS, temporaryDir } from '../support/server.ts'
import { noKubectl } from './support/example1.ts'
import { playInstalled } from './support/installedGround.ts'

// It packs, and npm installs, both with all that npm does besides.
t.setTimeout(FILE_LIMIT_MS)

/** View of a program of Node on Windows, as far as our programs look. */
const AS_ON_WINDOWS = [
  '--import',
  `data:text/javascript,${encodeURIComponent(
    "Object.defineProperty(process, 'platform', { value: 'win32' }); delete process.getuid; delete process.execve",
  )}`,
]

/** Role of a policy controller, say. */
const CONSUMER = `
import { type ReportedObject, reportedInformer } from 'orrery'

interface PolicyReport extends ReportedObject {
  readonly summary?: { readonly fail?: number }
}

declare const process: { argv: string[] }
const [, , kubeconfig = ''] = process.argv
const kind = { group: '', version: 'v1', resource: 'configmaps' }
const informer = await reportedInformer<PolicyReport>({ kubeconfig, context: 'base', space: 'root:wmw1', ...kind })
informer.subscribe(({ type, location, object }) => console.log(type, location, object.summary?.fail?.toFixed()))
// @ts-expect-error the name alone is in several clusters
informer.get({ namespace: 'shop', name: 'web' })
const ended = new AbortController()
const run = informer.run(ended.signal)
await informer.synced
console.log('listed', informer.list().length)
ended.abort()
await run
`

const exec = promisify(execFile)
const destination = temporaryDir(t)
const built = join(destination, 'npm')
await buildNpmPackage({ folder: built, build: await buildText(), date: releaseDate() })
const tarball = pack(built, destination)

t.test('it holds programs and data, no sources, no tests and no Node.js', async t => {
  const { stdout } = await exec('tar', ['-tzf', tarball])
  const files = stdout.trim().split('\n')
  const meant =
    /^package\/(bin\/|dist\/|man\/man1\/|openapi\/(generated\/|protobufFields\.json)|build\.json|package\.json|README\.md|LICENSES?)/
  t.strictSame(
    files.filter(file => !meant.test(file) || (file.endsWith('.ts') && !file.endsWith('.d.ts'))),
    [],
  )
  const { dependencies, scripts } = JSON.parse(readFileSync(join(built, 'package.json'), 'utf8')) as Manifest
  t.strictSame(
    [Object.keys(dependencies), scripts],
    [['classic-level'], undefined],
    'the native library, and no scripts',
  )
})

t.test('it needs Node.js and the native library, and no other', async t => {
  await assertRuns(t, await unpacked(t))
})

t.test('a program imports the informer of reports, with its types', async t => {
  const lib = join(await unpacked(t), 'lib')
  const consumer = join(lib, 'consumer.mts')
  writeFileSync(consumer, CONSUMER)
  const options = [
    '--ignoreConfig',
    '--noEmit',
    '--strict',
    '--module',
    'nodenext',
    '--target',
    'es2024',
    '--types',
    '',
  ]
  const [, ofPage = ''] = /```ts\n(.*?)```/s.exec(readFileSync(join(PROGRAM_ROOT, 'docs/reports.md'), 'utf8')) ?? []
  writeFileSync(join(lib, 'page.mts'), ofPage)
  const files = [consumer, join(lib, 'page.mts')]
  const checked = await run(join(PROGRAM_ROOT, 'node_modules/.bin/tsc'), [...options, ...files])
  t.strictSame(checked, { code: 0, out: '', err: '' })
  const orrery = await startOrrery(t)
  const { code, out, err } = await run(process.execPath, [consumer, orrery.kubeconfig])
  t.strictSame({ code, out, err }, { code: 0, out: 'listed 0\n', err: '' })
  t.equal(await orrery.stop(), 0)
})

t.test('a Node.js that is too old is told so, with those that run it', async t => {
  const prefix = await unpacked(t)
  const manifest = join(prefix, 'lib/node_modules/orrery/package.json')
  const tried = async (engines: string): Promise<{ code: number; err: string }> => {
    const text = JSON.parse(readFileSync(manifest, 'utf8')) as Manifest
    writeFileSync(manifest, JSON.stringify({ ...text, engines: { node: engines } }))
    const { code, err } = await run(join(prefix, 'bin/kubectl-ws'), ['--help'], { env: onNode(process.execPath) })
    return { code, err }
  }
  const [major = 0, minor = 0, patch = 0] = process.versions.node.split('.').map(Number)
  for (const range of [`^${major}.${minor}.${patch}`, `>=${major - 1}.99.0`, `^1.0.0 || ^${major}.0.0`])
    t.strictSame(await tried(range), { code: 0, err: '' }, range)
  for (const range of [
    `^${major}.${minor + 1}.0`,
    `^${major - 1}.0.0`,
    `>=${major + 1}.0.0`,
    `>=${major}.${minor}.99`,
  ]) {
    const told = `kubectl-ws: Node.js ${process.version} does not run this release, which needs ${range}. Install`
    t.match(await tried(range), { code: 1, err: told }, range)
  }
})

t.test('npm installs it, also where it runs no scripts, as npm 12 by itself', async t => {
  const prefix = temporaryDir(t)
  const options = ['--prefer-offline', '--no-audit', '--no-fund', '--fetch-retries=0', '--ignore-scripts']
  const { code, err } = await run('npm', ['install', '--global', '--prefix', prefix, ...options, tarball])
  const offline = /ENOTFOUND|ECONNREFUSED|ECONNRESET|EAI_AGAIN|ETIMEDOUT|ENETUNREACH|ENOTCACHED/.exec(err)
  if (code !== 0 && offline) {
    t.comment(`skipped: npm reaches no registry (${offline[0]})`)
    return await playedAsOnWindows(t, await unpacked(t))
  }
  t.equal(code, 0, err)
  if (noKubectl()) await assertRuns(t, prefix)
  await playedAsOnWindows(t, prefix)
  t.match(readFileSync(join(prefix, 'share/man/man1/orrery-start.1'), 'utf8'), '.TH "ORRERY-START" "1"')
})

// `tools/node-releases DIR` fetches them.
const releases = process.env.NODE_RELEASES
t.test('each LTS release runs it, as it says', { skip: releases ? false : 'NODE_RELEASES is not set' }, async t => {
  const prefix = await unpacked(t)
  for (const name of readdirSync(releases!)) {
    const node = join(releases!, name, 'node_modules/node/bin/node')
    const { out } = await run(node, ['--version'])
    const runs = Number.parseInt(name, 10) >= 22
    await t.test(`Node.js ${out.trim()}: ${runs ? 'runs' : 'is told'}`, async t => {
      if (runs) await assertRuns(t, prefix, node)
      else
        t.match(await run(join(prefix, 'bin/orrery'), ['start'], { env: onNode(node) }), { code: 1, err: /needs \^22/ })
    })
  }
})

interface Manifest {
  dependencies: Record<string, string>
  bin: Record<string, string>
  scripts?: Record<string, string>
}

/** As npm would install it, with the native library of this clone. */
async function unpacked(t: Test): Promise<string> {
  const prefix = temporaryDir(t)
  const folder = join(prefix, 'lib/node_modules/orrery')
  mkdirSync(join(folder, 'node_modules'), { recursive: true })
  await exec('tar', ['-xzf', tarball, '--strip-components=1', '-C', folder])
  symlinkSync(join(PROGRAM_ROOT, 'node_modules/classic-level'), join(folder, 'node_modules/classic-level'))
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
  mkdirSync(join(prefix, 'bin'))
  for (const [name, path] of Object.entries(bin)) symlinkSync(join(folder, path), join(prefix, 'bin', name))
  return prefix
}

async function assertRuns(t: Test, prefix: string, node = process.execPath): Promise<void> {
  const program = (name: string): string => join(prefix, 'bin', name)
  const env = { ...onNode(node), HOME: temporaryDir(t) }
  const version = await run(program('orrery'), ['--version'], { env })
  t.match(version, { code: 0, err: '' })
  t.ok(version.out.includes(buildInfo().commit), version.out)

  const orrery = await startOrrery(t, undefined, { program: program('orrery'), env })
  const api = new Api(accessOf(orrery.kubeconfig))
  t.teardown(() => api.close())
  t.match(await api.ok(api.get('/api/v1/namespaces/default')), { kind: 'Namespace' })
  t.match(await api.ok(api.get('/openapi/v3/api/v1')), { openapi: '3.0.0' }, 'the descriptions are there')
  const lines = Array.from({ length: 4000 }, (_, i) => `  k${i}: "v${i}"`)
  const yaml = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: big}\ndata:\n${lines.join('\n')}\n`
  const made = await api.ok(api.post(CONFIGMAPS, yaml, { type: 'application/yaml' }))
  t.equal(Object.keys(made.data as object).length, 4000, 'the thread for large YAML starts')

  const kubeconfig = { ...env, KUBECONFIG: orrery.kubeconfig }
  const tree = await run(program('kubectl-ws'), ['tree'], { env: kubeconfig })
  t.match(tree, { code: 0, out: /wmw1/, err: '' })
  const elsewhere = await run(node, [...AS_ON_WINDOWS, realpathSync(program('kubectl-ws')), 'tree'], {
    env: { ...kubeconfig, PATH: '/nowhere' },
  })
  t.match(elsewhere, { code: 0, out: /wmw1/, err: '' }, 'without a shell, and without what Windows lacks')
  const kubestellar = await run(program('kubectl-kubestellar'), ['--help'], { env })
  t.match(kubestellar, { code: 0, out: /Usage: kubectl kubestellar/ })
  const completed = await run(program('kubectl_complete-ws'), ['cre'], { env })
  t.match(completed, { code: 0, out: /^create\b/m })
  const syncer = ['syncer', '--from-kubeconfig', join(dirname(orrery.kubeconfig), 'none'), '--to-kubeconfig', 'none']
  t.match(await run(program('orrery'), syncer, { env }), { code: 1, err: /none/ })
  t.equal(await orrery.stop(), 0)
}

/** KubeStellar's example, on a server and syncers as they are, with plugins that find nothing that Windows lacks. */
async function playedAsOnWindows(t: Test, prefix: string): Promise<void> {
  const skip = noKubectl()
  if (skip) return t.comment(`the example is skipped: ${skip}`)
  await playInstalled(t, {
    bin: join(prefix, 'bin'),
    plugin: (path, args, env) =>
      run(process.execPath, [...AS_ON_WINDOWS, realpathSync(path), ...args], { env: { ...env, PATH: '/nowhere' } }),
  })
}

/**
 * The first Node.js on the PATH is the one that runs it. The compile cache is that of the installed program, not one that the
 * tests' caller names.
 */
function onNode(node: string): Record<string, string> {
  return { NODE_COMPILE_CACHE: '', PATH: [dirname(node), process.env.PATH ?? ''].join(delimiter) }
}
