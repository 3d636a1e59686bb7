/** What `npm pack` makes is all that users need: installed as npm does it, its programs run, and run no source. */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { BUILD_FILE, buildInfo } from '../../src/cli/buildInfo.ts'
import { PROGRAM_ROOT } from '../../src/program/programRoot.ts'
import { Api } from '../support/api.ts'
import { run, startOrrery } from '../support/orrery.ts'
import { FILE_LIMIT_MS } from '../support/patience.ts'
import { accessOf, CONFIGMAPS, temporaryDir } from '../support/server.ts'

// It packs, and npm installs, both with all that npm does besides.
t.setTimeout(FILE_LIMIT_MS)

const exec = promisify(execFile)
const destination = temporaryDir(t)
await exec('npm', ['pack', '--pack-destination', destination], { cwd: PROGRAM_ROOT })
const tarball = join(destination, readdirSync(destination)[0]!)

t.test('it holds programs and data, no sources and no tests', async t => {
  const { stdout } = await exec('tar', ['-tzf', tarball])
  const files = stdout.trim().split('\n')
  const meant =
    /^package\/(bin\/|dist\/|openapi\/(generated\/|protobufFields\.json)|build\.json|package\.json|README|LICENSE)/
  t.strictSame(
    files.filter(file => !meant.test(file) || file.endsWith('.ts')),
    [],
  )
  t.notOk(existsSync(join(PROGRAM_ROOT, BUILD_FILE)), 'nothing stays behind')
})

t.test('it needs Node.js and the native library, and no other', async t => {
  const prefix = temporaryDir(t)
  const folder = join(prefix, 'lib/node_modules/orrery')
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true })
  await exec('tar', ['-xzf', tarball, '--strip-components=1', '-C', folder])
  symlinkSync(process.execPath, join(folder, 'node_modules/.bin/node'))
  symlinkSync(join(PROGRAM_ROOT, 'node_modules/classic-level'), join(folder, 'node_modules/classic-level'))
  const { bin, scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    bin: Record<string, string>
    scripts: Record<string, string>
  }
  mkdirSync(join(prefix, 'bin'))
  for (const [name, path] of Object.entries(bin)) symlinkSync(join(folder, path), join(prefix, 'bin', name))

  await exec('sh', ['-c', scripts.postinstall!], { cwd: folder, env: withoutCache() })
  const [compiled] = readdirSync(join(folder, 'node_modules/.cache/orrery'))
  t.ok(compiled, 'its code is compiled when it is installed')
  await assertRuns(t, prefix)
})

t.test('npm installs it, also where it runs no scripts, as npm 12 by itself', async t => {
  const prefix = temporaryDir(t)
  const options = ['--prefer-offline', '--no-audit', '--no-fund', '--fetch-retries=0', '--ignore-scripts']
  const { code, err } = await run('npm', ['install', '--global', '--prefix', prefix, ...options, tarball])
  const offline = /ENOTFOUND|ECONNREFUSED|ECONNRESET|EAI_AGAIN|ETIMEDOUT|ENETUNREACH|ENOTCACHED/.exec(err)
  if (code !== 0 && offline) {
    t.comment(`skipped: npm reaches no registry (${offline[0]})`)
    return
  }
  t.equal(code, 0, err)
  await assertRuns(t, prefix)
})

async function assertRuns(t: Test, prefix: string): Promise<void> {
  const program = (name: string): string => join(prefix, 'bin', name)
  const env = { ...withoutCache(), HOME: temporaryDir(t) }
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
  const kubestellar = await run(program('kubectl-kubestellar'), ['--help'], { env })
  t.match(kubestellar, { code: 0, out: /Usage: kubectl kubestellar/ })
  const syncer = ['syncer', '--from-kubeconfig', join(dirname(orrery.kubeconfig), 'none'), '--to-kubeconfig', 'none']
  t.match(await run(program('orrery'), syncer, { env }), { code: 1, err: /none/ })
  t.equal(await orrery.stop(), 0)
}

/** The compile cache is that of the installed program, not one that the tests' caller names. */
function withoutCache(): Record<string, string> {
  return { NODE_COMPILE_CACHE: '' }
}
