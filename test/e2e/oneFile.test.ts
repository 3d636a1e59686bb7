/** All of the program as one file: its parts, its equality with the sources, and its messages where it cannot run. */
import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { FRUGAL_FLAGS } from '../../src/cli/orrery/process/tunedProcess.ts'
import { ENTRY_ASSET } from '../../src/program/parts.ts'
import { buildImages } from '../../tools/release/images.ts'
import { addonPath, buildOneFile, fillParts } from '../../tools/release/oneFile.ts'
import { buildParts } from '../../tools/release/parts.ts'
import { Api } from '../support/api.ts'
import { run, startOrrery } from '../support/orrery.ts'
import { FILE_LIMIT_MS } from '../support/patience.ts'
import { accessOf, CONFIGMAPS, temporaryDir } from '../support/server.ts'
import { noKubectl } from './support/example1.ts'
import { playInstalled } from './support/installedGround.ts'

// It bundles, and writes more than 100 MB.
t.setTimeout(FILE_LIMIT_MS)

const ADDON = /^classic-level-[0-9a-f]{16}\.node$/
const BUILD = { gitCommit: 'c'.repeat(40), gitTreeState: 'clean', buildDate: '2026-01-31T10:20:30Z' }
const isRoot = process.getuid!() === 0
/** With which a user, too, may mount. */
const namespaces = isRoot ? ['--mount'] : ['--user', '--map-root-user', '--mount']

interface ImageConfig {
  Entrypoint: string[]
  Cmd: string[]
  Env: string[]
}

const bin = temporaryDir(t)
const program = join(bin, 'orrery')
const parts = await buildParts()
buildOneFile({ path: program, build: JSON.stringify(BUILD), parts })
for (const name of ['kubectl-ws', 'kubectl-kubestellar']) symlinkSync('orrery', join(bin, name))
// Nothing of the machine's: neither a Node nor a folder to keep anything in.
const env = { PATH: '/nowhere', HOME: '/nowhere', NODE_COMPILE_CACHE: '', TMPDIR: '/nowhere' }

t.test('it says which commit it is, and is the plugins by the name of the link', async t => {
  const version = await run(program, ['version', '-o', 'json'], { env })
  t.match(JSON.parse(version.out), { ...BUILD, name: 'orrery', form: 'one file', node: process.version })
  t.match(await run(join(bin, 'kubectl-ws'), ['--help'], { env }), { code: 0, out: /^Usage: kubectl ws/ })
  t.match(await run(join(bin, 'kubectl-kubestellar'), ['--help'], { env }), { code: 0, out: /^Usage: kubectl kube/ })
  t.match(await run(program, ['ws', '--help'], { env }), { code: 0, out: /^Usage: kubectl ws/ })
  t.match(await run(program, ['help', 'kubestellar'], { env }), { code: 0, out: /^Usage: kubectl kubestellar/ })
  t.match(await run(program, ['start', '--secure-port', 'x'], { env }), { code: 1, err: /secure-port/ })
})

t.test('a server serves, with its threads, its data and its database engine', async t => {
  const options = { ...env, NODE_OPTIONS: '--max-old-space-size=900', ORRERY_API_THREADS: '1' }
  const orrery = await startOrrery(t, undefined, { program, env: options })
  const told = readFileSync(`/proc/${orrery.pid}/environ`, 'utf8').split('\0')
  t.ok(told.includes('MALLOC_ARENA_MAX=2') && told.includes('UV_THREADPOOL_SIZE=8'), 'as bin/orrery starts it')
  t.match(readFileSync(`/proc/${orrery.pid}/cmdline`, 'utf8'), '--node-options=--max-old-space-size=900')
  const api = new Api(accessOf(orrery.kubeconfig))
  t.teardown(() => api.close())
  t.match(await api.ok(api.get('/version')), BUILD)
  t.match(await api.ok(api.get('/openapi/v3/api/v1')), { openapi: '3.0.0' })
  const lines = Array.from({ length: 4000 }, (_, i) => `  k${i}: "v${i}"`)
  const yaml = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: big}\ndata:\n${lines.join('\n')}\n`
  const made = await api.ok(api.post(CONFIGMAPS, yaml, { type: 'application/yaml' }))
  t.equal(Object.keys(made.data as object).length, 4000, 'the thread for large YAML starts')
  const kubeconfig = { env: { ...env, KUBECONFIG: orrery.kubeconfig } }
  t.match(await run(join(bin, 'kubectl-ws'), ['tree'], kubeconfig), { code: 0, out: /wmw1/, err: '' })
  t.equal(await orrery.stop(), 0)

  t.test('and refuses an engine that somebody changed', async t => {
    const [engine, ...others] = readdirSync(orrery.dataDir).filter(name => ADDON.test(name))
    t.strictSame(others, [])
    t.strictSame(readFileSync(join(orrery.dataDir, engine!)), readFileSync(addonPath()))
    appendFileSync(join(orrery.dataDir, engine!), 'changed')
    const args = ['start', '--data-dir', orrery.dataDir, '--secure-port', '0']
    t.match(await run(program, args, { env }), {
      code: 1,
      out: '',
      err: /^orrery start: the database engine in .* delete it/m,
    })
  })
})

t.test('a syncer runs without what costs memory', async t => {
  const args = ['syncer', '--from-kubeconfig', 'nowhere', '--to-kubeconfig', 'nowhere']
  t.match(await run(program, args, { env }), { code: 1, err: /nowhere/ })
  const flags = `${FRUGAL_FLAGS.join(' ')} --v8-options`
  t.match(
    await run(program, [`--node-options=${flags}`], { env }),
    { code: 0, out: /--no-maglev|maglev/ },
    'it takes flags',
  )
})

t.test('on file systems that run no programs it says what to do', { skip: noMounts() }, async t => {
  // A data dir, and a folder for temporary files, both of a kind that a careful administrator mounts.
  const dir = temporaryDir(t)
  for (const name of ['data', 'tmp']) mkdirSync(join(dir, name))
  const mount = (name: string): string => `mount -t tmpfs -o noexec none ${join(dir, name)}`
  const start = (environment: string): string =>
    `${environment} ${program} start --data-dir ${join(dir, 'data')}/d --secure-port 0 --disk-reserve-mib 0`
  const inside = (script: string): ReturnType<typeof run> =>
    run('unshare', ['--user', '--map-root-user', '--mount', 'sh', '-c', script])
  const refused = await inside(`${mount('data')}; ${start('')}`)
  t.match(refused, { code: 1, out: '', err: /^orrery start: the database engine .* mounted noexec .* Copy that file/m })
  const wayOut = /\(cp (\S+) (\S+)\/\)/.exec(refused.err)
  t.equal(wayOut?.[2], bin)
  const copied = `${mount('data')}; ${start('')} 2>/dev/null; cp ${wayOut?.[1]} ${dir}/; `
  await inside(copied)
  const engine = readdirSync(dir).find(name => ADDON.test(name))!
  cpSync(join(dir, engine), join(bin, engine))
  t.teardown(() => execFileSync('rm', [join(bin, engine)]))
  const served = `(${start(`TMPDIR=${join(dir, 'tmp')}`)} & echo $! >${dir}/pid; wait) 2>/dev/null | { read line; echo "$line"; kill $(cat ${dir}/pid); }`
  t.match(await inside(`${mount('data')}; ${mount('tmp')}; ${served}`), { out: /^orrery ready: / }, 'and that helps')
})

t.test(
  'in its image it runs without a shell, without root and without writing to it',
  { skip: noMounts() },
  async t => {
    const { root, image, layout } = unpackedImage()
    t.notOk(existsSync(join(root, 'bin/sh')) || existsSync(join(root, 'usr/bin/env')), 'no shell')
    // As a container runtime would set it up, with a data dir that runs no programs: the engine is beside the program.
    const owner = isRoot ? 'uid=65532,gid=65532,' : ''
    const asUser = isRoot ? '--userspec=65532:65532' : ''
    const command = [...image.Entrypoint, ...image.Cmd, '--bind-address', '127.0.0.1', '--secure-port', '0'].join(' ')
    const script = `set -e
    mount --bind ${root} ${root}
    for folder in proc dev; do mount --rbind /$folder ${root}/$folder; done
    mount -t tmpfs -o ${owner}mode=700,noexec none ${root}/data
    mount -o remount,bind,ro ${root} ${root}
    ! touch ${root}/file 2>/dev/null
    (env -i ${image.Env.join(' ')} ORRERY_DISK_RESERVE_MIB=0 chroot ${asUser} ${root} ${command} 2>${layout}/log & echo $! >${layout}/pid; wait) |
      { read line; echo "$line"; grep Uid: /proc/$(cat ${layout}/pid)/status; ls ${root}/data; kill $(cat ${layout}/pid); }`
    const ran = await run('unshare', [...namespaces, 'sh', '-c', script.replaceAll('chroot', commandPath('chroot'))])
    t.match(
      ran.out,
      /^orrery ready: https:/,
      `${ran.err}\n${existsSync(`${layout}/log`) ? readFileSync(`${layout}/log`, 'utf8') : ''}`,
    )
    if (isRoot) t.match(ran.out, /Uid:\s65532\s/)
    t.match(ran.out, /admin\.kubeconfig/)
    t.notMatch(ran.out, /classic-level/, 'the engine beside the program was taken')
  },
)

t.test('in a root without Node.js it plays the example', { skip: noMounts() || noKubectl() }, async t => {
  const { root, image } = unpackedImage()
  const dir = temporaryDir(t)
  mkdirSync(join(root, dir), { recursive: true })
  const wrapped = temporaryDir(t)
  const script = [
    ...['proc', 'dev'].map(folder => `mount --rbind /${folder} ${root}/${folder}`),
    `mount --bind ${dir} ${root}${dir}`,
    `exec env -i PATH=/nowhere KUBECONFIG="$KUBECONFIG" ${commandPath('chroot')} ${root} "$@"`,
  ].join(' && ')
  for (const [name, inside] of [
    ['orrery', image.Entrypoint[0]],
    ['kubectl-ws', '/usr/local/bin/kubectl-ws'],
    ['kubectl-kubestellar', '/usr/local/bin/kubectl-kubestellar'],
  ]) {
    const text = `#!/bin/sh\nexec unshare ${namespaces.join(' ')} sh -c '${script}' sh ${inside} "$@"\n`
    writeFileSync(join(wrapped, name!), text, { mode: 0o755 })
  }
  await playInstalled(t, { bin: wrapped, dir })
})

t.test('what it is made of is the same each time', async t => {
  const filled = [temporaryDir(t), temporaryDir(t)]
  for (const folder of filled) fillParts(folder, parts.files)
  const [names, again] = filled.map(folder => readdirSync(folder).filter(name => name.endsWith('.code')))
  t.strictSame(names, again)
  const loaded = [...parts.files.keys()].filter(name => !name.startsWith('threads/') && name !== ENTRY_ASSET)
  t.equal(names!.length, loaded.length + 2, 'each part, and twice what a syncer runs under flags of its own')
  for (const name of names!)
    t.ok(readFileSync(join(filled[0]!, name)).equals(readFileSync(join(filled[1]!, name))), name)
})

interface Unpacked {
  root: string
  layout: string
  image: ImageConfig
}

let unpacked: Unpacked | undefined

/** As a container runtime would have it, with its configuration; once for all tests. */
function unpackedImage(): Unpacked {
  unpacked ??= unpackImage()
  return unpacked
}

function unpackImage(): Unpacked {
  const layout = join(temporaryDir(t), 'oci')
  const [version, commit] = ['0.0.1', BUILD.gitCommit]
  const date = new Date(BUILD.buildDate)
  buildImages({ program, addon: addonPath(), terms: '', folder: layout, version, commit, date, level: 1 })
  const blob = (digest: string): string => join(layout, 'blobs', digest.replace(':', '/'))
  const json = <T>(path: string): T => JSON.parse(readFileSync(path, 'utf8')) as T
  const { manifests } = json<{ manifests: { digest: string }[] }>(join(layout, 'index.json'))
  const { config, layers } = json<{ config: { digest: string }; layers: { digest: string }[] }>(
    blob(manifests[0]!.digest),
  )
  const root = temporaryDir(t)
  for (const { digest } of layers) execFileSync('tar', ['-xzf', blob(digest), '-C', root, '--no-same-owner'])
  chmodSync(root, 0o755)
  return { root, layout, image: json<{ config: ImageConfig }>(blob(config.digest)).config }
}

function commandPath(name: string): string {
  return execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim()
}

/** Why nothing can be mounted here; `false` where it can. */
function noMounts(): string | false {
  try {
    execFileSync('unshare', ['--user', '--map-root-user', '--mount', 'mount', '-t', 'tmpfs', 'none', bin], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    return false
  } catch (error) {
    return `a user may mount nothing here: ${String((error as Error).message)
      .split('\n')
      .at(-1)}`
  }
}
