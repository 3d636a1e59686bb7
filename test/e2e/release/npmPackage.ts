/** The output of `npm run build` is all that users need: installed as npm does it, its programs run, and run no source. */
import { execFileSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import type { Test } from 'tap'
import { PROGRAM_ROOT } from '../../../src/program/programRoot.ts'
import { Api } from '../../support/api.ts'
import { run, startOrrery } from '../../support/orrery.ts'
import { accessOf, CONFIGMAPS, temporaryDir } from '../../support/server.ts'
import { AS_ON_WINDOWS, type Release } from './made.ts'

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

export async function testNpmPackage(t: Test, release: Release): Promise<void> {
  const { tarball, prefix } = release
  const lib = join(prefix, 'lib')
  const manifest = join(lib, 'node_modules/orrery/package.json')

  t.test('it holds programs and data, no sources, no tests and no Node.js', async t => {
    const files = execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).trim().split('\n')
    const meant =
      /^package\/(bin\/|dist\/|man\/man1\/|openapi\/(generated\/|protobufFields\.json)|build\.json|package\.json|README\.md|LICENSES?)/
    t.strictSame(
      files.filter(file => !meant.test(file) || (file.endsWith('.ts') && !file.endsWith('.d.ts'))),
      [],
    )
    const { dependencies, scripts } = JSON.parse(readFileSync(manifest, 'utf8')) as Manifest
    t.strictSame(
      [Object.keys(dependencies), scripts],
      [['classic-level'], undefined],
      'the native library, and no scripts',
    )
  })

  t.test('a program that imports the informer of reports has its types', async t => {
    writeFileSync(join(lib, 'consumer.mts'), CONSUMER)
    const [, ofPage = ''] = /```ts\n(.*?)```/s.exec(readFileSync(join(PROGRAM_ROOT, 'docs/reports.md'), 'utf8')) ?? []
    writeFileSync(join(lib, 'page.mts'), ofPage)
    const options = '--ignoreConfig --noEmit --strict --module nodenext --target es2024 --types'.split(' ')
    const files = [join(lib, 'consumer.mts'), join(lib, 'page.mts')]
    const checked = await run(join(PROGRAM_ROOT, 'node_modules/.bin/tsc'), [...options, '', ...files])
    t.strictSame(checked, { code: 0, out: '', err: '' })
  })

  t.test('it needs Node.js and the native library, and no other', t => assertRuns(t, release))

  t.test('a Node.js that is too old is told so, with those that run it', async t => {
    const copy = temporaryDir(t)
    cpSync(prefix, copy, { recursive: true, verbatimSymlinks: true })
    const manifest = join(copy, 'lib/node_modules/orrery/package.json')
    const tried = async (engines: string): Promise<{ code: number; err: string }> => {
      const text = JSON.parse(readFileSync(manifest, 'utf8')) as Manifest
      writeFileSync(manifest, JSON.stringify({ ...text, engines: { node: engines } }))
      const { code, err } = await run(join(copy, 'bin/kubectl-ws'), ['--help'], { env: onNode(process.execPath) })
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

  // `tools/node-releases DIR` fetches them.
  const releases = process.env.NODE_RELEASES
  t.test('each LTS release runs it, as it says', { skip: releases ? false : 'NODE_RELEASES is not set' }, async t => {
    for (const name of readdirSync(releases!)) {
      const node = join(releases!, name, 'node_modules/node/bin/node')
      const { out } = await run(node, ['--version'])
      const runs = Number.parseInt(name, 10) >= 22
      await t.test(`Node.js ${out.trim()}: ${runs ? 'runs' : 'is told'}`, async t => {
        if (runs) await assertRuns(t, release, node)
        else
          t.match(await run(join(prefix, 'bin/orrery'), ['start'], { env: onNode(node) }), {
            code: 1,
            err: /needs \^22/,
          })
      })
    }
  })
}

interface Manifest {
  dependencies: Record<string, string>
  scripts?: Record<string, string>
}

async function assertRuns(t: Test, { prefix, build }: Release, node = process.execPath): Promise<void> {
  const program = (name: string): string => join(prefix, 'bin', name)
  const env = { ...onNode(node), HOME: temporaryDir(t) }
  const version = await run(program('orrery'), ['--version'], { env })
  t.match(version, { code: 0, err: '' })
  t.ok(version.out.includes(build.gitCommit), version.out)

  const orrery = await startOrrery(t, undefined, { program: program('orrery'), env })
  const api = new Api(accessOf(orrery.kubeconfig))
  t.teardown(() => api.close())
  t.match(await api.ok(api.get('/api/v1/namespaces/default')), { kind: 'Namespace' })
  t.match(await api.ok(api.get('/openapi/v3/api/v1')), { openapi: '3.0.0' }, 'the descriptions are there')
  const lines = Array.from({ length: 4000 }, (_, i) => `  k${i}: "v${i}"`)
  const yaml = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: big}\ndata:\n${lines.join('\n')}\n`
  const made = await api.ok(api.post(CONFIGMAPS, yaml, { type: 'application/yaml' }))
  t.equal(Object.keys(made.data as object).length, 4000, 'the thread for large YAML starts')

  const consumer = ['--disable-warning=ExperimentalWarning', join(prefix, 'lib/consumer.mts'), orrery.kubeconfig]
  const { code, out, err } = await run(node, consumer, { env })
  t.strictSame({ code, out, err }, { code: 0, out: 'listed 0\n', err: '' }, 'a program follows reports')

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

/**
 * The first Node.js on the PATH is the one that runs it. The compile cache is that of the installed program, not one that the
 * tests' caller names.
 */
function onNode(node: string): Record<string, string> {
  return { NODE_COMPILE_CACHE: '', PATH: [dirname(node), process.env.PATH ?? ''].join(delimiter) }
}
