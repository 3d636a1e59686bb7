/** All of the program as one file: its identity, its threads and data, and its messages where it cannot run. */
import { execFileSync } from 'node:child_process'
import { appendFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Test } from 'tap'
import { FRUGAL_FLAGS } from '../../../src/cli/orrery/process/tunedProcess.ts'
import { addonPath } from '../../../tools/release/oneFile.ts'
import { Api } from '../../support/api.ts'
import { run, startOrrery } from '../../support/orrery.ts'
import { accessOf, CONFIGMAPS, temporaryDir } from '../../support/server.ts'
import { commandPath, NAMESPACES, noMounts, type Release } from './made.ts'

const ADDON = /^classic-level-[0-9a-f]{16}\.node$/
/** Nothing of the machine's: neither a Node nor a folder to keep anything in. */
const env = { PATH: '/nowhere', HOME: '/nowhere', NODE_COMPILE_CACHE: '', TMPDIR: '/nowhere' }

export async function testOneFile(t: Test, { program, build, image }: Release): Promise<void> {
  const bin = dirname(program)
  const skip = noMounts()

  t.test('it says which commit it is, and is the plugins by the name of the link', async t => {
    const version = await run(program, ['version', '-o', 'json'], { env })
    t.match(JSON.parse(version.out), { ...build, name: 'orrery', form: 'one file', node: process.version })
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
    t.match(await api.ok(api.get('/version')), build)
    t.match(await api.ok(api.get('/openapi/v3/api/v1')), { openapi: '3.0.0' })
    const lines = Array.from({ length: 4000 }, (_, i) => `  k${i}: "v${i}"`)
    const yaml = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: big}\ndata:\n${lines.join('\n')}\n`
    const made = await api.ok(api.post(CONFIGMAPS, yaml, { type: 'application/yaml' }))
    t.equal(Object.keys(made.data as object).length, 4000, 'the thread for large YAML starts')
    const kubeconfig = { env: { ...env, KUBECONFIG: orrery.kubeconfig } }
    t.match(await run(join(bin, 'kubectl-ws'), ['tree'], kubeconfig), { code: 0, out: /wmw1/, err: '' })
    const ensured = await run(join(bin, 'kubectl-kubestellar'), ['ensure', 'wmw', 'wmw9'], kubeconfig)
    t.match(ensured, { code: 0, out: /wmw9/ })
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

  t.test('on file systems that run no programs it says what to do', { skip }, async t => {
    // A data dir, and a folder for temporary files, both of a kind that a careful administrator mounts.
    const dir = temporaryDir(t)
    for (const name of ['data', 'tmp']) mkdirSync(join(dir, name))
    const mount = (name: string): string => `mount -t tmpfs -o noexec none ${join(dir, name)}`
    const start = (environment: string): string =>
      `${environment} ${program} start --data-dir ${join(dir, 'data')}/d --secure-port 0 --disk-reserve-mib 0`
    const inside = (script: string): ReturnType<typeof run> =>
      run('unshare', ['--user', '--map-root-user', '--mount', 'sh', '-c', script])
    const refused = await inside(`${mount('data')}; ${start('')}`)
    t.match(refused, {
      code: 1,
      out: '',
      err: /^orrery start: the database engine .* mounted noexec .* Copy that file/m,
    })
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

  t.test('in its image it runs without a shell, without root and without writing to it', { skip }, async t => {
    const { root, config } = image
    const dir = temporaryDir(t)
    t.notOk(existsSync(join(root, 'bin/sh')) || existsSync(join(root, 'usr/bin/env')), 'no shell')
    // As a container runtime would set it up, with a data dir that runs no programs: the engine is beside the program.
    const isRoot = process.getuid!() === 0
    const owner = isRoot ? 'uid=65532,gid=65532,' : ''
    const asUser = isRoot ? '--userspec=65532:65532' : ''
    const command = [...config.Entrypoint, ...config.Cmd, '--bind-address', '127.0.0.1', '--secure-port', '0'].join(' ')
    const script = `set -e
    mount --bind ${root} ${root}
    for folder in proc dev; do mount --rbind /$folder ${root}/$folder; done
    mount -t tmpfs -o ${owner}mode=700,noexec none ${root}/data
    mount -o remount,bind,ro ${root} ${root}
    ! touch ${root}/file 2>/dev/null
    (env -i ${config.Env.join(' ')} ORRERY_DISK_RESERVE_MIB=0 chroot ${asUser} ${root} ${command} 2>${dir}/log & echo $! >${dir}/pid; wait) |
      { read line; echo "$line"; grep Uid: /proc/$(cat ${dir}/pid)/status; ls ${root}/data; kill $(cat ${dir}/pid); }`
    const ran = await run('unshare', [...NAMESPACES, 'sh', '-c', script.replaceAll('chroot', commandPath('chroot'))])
    t.match(
      ran.out,
      /^orrery ready: https:/,
      `${ran.err}\n${existsSync(`${dir}/log`) ? readFileSync(`${dir}/log`, 'utf8') : ''}`,
    )
    if (isRoot) t.match(ran.out, /Uid:\s65532\s/)
    t.match(ran.out, /admin\.kubeconfig/)
    t.notMatch(ran.out, /classic-level/, 'the engine beside the program was taken')
  })
}
