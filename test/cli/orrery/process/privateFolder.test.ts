/** Files with Secrets are readable by their owner alone: whoever makes them, and also those of an earlier release. */
import { type ChildProcess, execFile, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t, { type Test } from 'tap'
import { dataFolder, makeFolder, privateFolder } from '../../../../src/cli/orrery/process/privateFolder.ts'
import { Api } from '../../../support/api.ts'
import { PATIENCE_MS } from '../../../support/patience.ts'
import { accessOf, CONFIGMAPS, configMap, temporaryDir } from '../../../support/server.ts'

const PROGRAM = join(import.meta.dirname, '../../../../bin/orrery')
process.umask(0o022)

/** `path mode` of everything in a folder, itself included. */
function modesIn(path: string): [path: string, mode: string][] {
  const stats = statSync(path)
  const own: [string, string] = [path, (stats.mode & 0o7777).toString(8)]
  if (!stats.isDirectory()) return [own]
  return [own, ...readdirSync(path).flatMap(name => modesIn(join(path, name)))]
}

function isPrivate(t: Test, path: string): void {
  const open = modesIn(path).filter(([at, mode]) => mode !== (statSync(at).isDirectory() ? '700' : '600'))
  t.strictSame(open, [])
}

/** Whether a file system can be mounted. */
function canMount(): boolean {
  return process.getuid?.() === 0 && spawnSync('unshare', ['-m', 'true']).status === 0
}

interface Running {
  complaints: string[]
  stop(): Promise<void>
}

/** Runs a sub-command until it is ready. */
async function running(t: Test, ...args: string[]): Promise<Running> {
  const child: ChildProcess = spawn(PROGRAM, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const exited = once(child, 'exit')
  const complaints: string[] = []
  createInterface({ input: child.stderr! }).on('line', line => line.includes('"level":40') && complaints.push(line))
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    await exited
  }
  t.teardown(stop)
  await Promise.race([once(child.stdout!, 'data'), exited.then(() => Promise.reject(new Error('it ended')))])
  return { complaints, stop }
}

t.test('a data dir is private: when it is made, when it grows, and when an earlier release left it open', async t => {
  const parent = temporaryDir(t)
  const dataDir = join(parent, 'data')
  const log = join(parent, 'logs', 'audit.log')
  const policy = join(parent, 'policy.yaml')
  writeFileSync(policy, 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: Metadata }]\n')
  const args = ['start', '--data-dir', dataDir, '--secure-port', '0']
  args.push('--audit-policy-file', policy, '--audit-log-path', log)
  const first = await running(t, ...args)
  isPrivate(t, dataDir)
  const files = (): string[] => readdirSync(join(dataDir, 'store'))
  const before = files()
  const api = new Api(accessOf(join(dataDir, 'admin.kubeconfig')))
  // More than LevelDB gathers before it begins new files.
  const text = 'x'.repeat(900_000)
  for (let i = 0; i < 12; i++) await api.ok(api.post(CONFIGMAPS, configMap(`big-${i}`, { text })))
  api.close()
  t.ok(
    files().some(name => !before.includes(name)),
    'there are new files',
  )
  isPrivate(t, dataDir)
  isPrivate(t, join(parent, 'logs'))
  await first.stop()

  for (const [path] of modesIn(dataDir)) chmodSync(path, statSync(path).isDirectory() ? 0o755 : 0o644)
  const second = await running(t, ...args)
  isPrivate(t, dataDir)
  t.strictSame(second.complaints, [])
})

t.test('so are those of a simulated cluster and of a syncer', async t => {
  const parent = temporaryDir(t)
  const dataDir = join(parent, 'wec')
  await running(t, 'simulate-wec', '--name', 'one', '--data-dir', dataDir, '--secure-port', '0')
  isPrivate(t, dataDir)
  const stateDir = join(parent, 'state')
  mkdirSync(stateDir)
  const kubeconfig = join(dataDir, 'admin.kubeconfig')
  const args = ['syncer', '--from-kubeconfig', kubeconfig, '--to-kubeconfig', kubeconfig, '--state-dir', stateDir]
  const syncer = spawn(PROGRAM, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  t.teardown(() => syncer.kill('SIGKILL'))
  for await (const line of createInterface({ input: syncer.stderr })) if (line.includes('syncer started')) break
  isPrivate(t, stateDir)
})

t.test('nothing is touched that is not its own', async t => {
  const parent = temporaryDir(t)
  const notes = join(parent, 'notes')
  writeFileSync(notes, 'to be read by all', { mode: 0o644 })
  mkdirSync(join(parent, 'store'))
  symlinkSync(notes, join(parent, 'store', 'link'))
  writeFileSync(join(parent, 'store', 'LOG'), '', { mode: 0o644 })
  dataFolder(parent, { warn: (_, text) => t.fail(text) })
  t.equal(statSync(notes).mode & 0o777, 0o644)
  t.equal(statSync(join(parent, 'store', 'LOG')).mode & 0o777, 0o600)
  t.equal(statSync(parent).mode & 0o777, 0o700)
})

t.test('what cannot be closed is told, with a remedy', async t => {
  const warnings: unknown[] = []
  const log = { warn: (fields: object, text: string) => void warnings.push({ ...fields, text }) }
  const shared = join(temporaryDir(t), 'tmp')
  mkdirSync(shared)
  chmodSync(shared, 0o1777)
  privateFolder({ path: shared, flag: '--data-dir', entries: /^$/, log })
  t.match(warnings, [{ path: shared, mode: '1777', text: /left so: .* Give the program a folder of its own/ }])
  t.equal(statSync(shared).mode & 0o7777, 0o1777)
  // Nobody, root included, changes a mode in there.
  const foreign = '/proc/self'
  if (existsSync(foreign)) privateFolder({ path: foreign, flag: '--data-dir', entries: /^$/, log })
  t.match(warnings[1], {
    path: foreign,
    mode: '0555',
    text: /cannot be changed \(EPERM.*Let its owner run "chmod go-rwx"/,
  })
  const file = join(shared, 'file')
  writeFileSync(file, '')
  t.throws(
    () => privateFolder({ path: join(file, 'data'), flag: '--state-dir', entries: /^$/, log }),
    /^--state-dir: the folder .*data cannot be made: ENOTDIR/,
  )
})

t.test(
  'a folder that takes nothing is told by its flag',
  { skip: canMount() ? false : 'only root can mount' },
  async t => {
    const path = temporaryDir(t)
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'ro,mode=700', 'tmpfs', path])
    t.teardown(() => execFileSync('umount', [path]))
    const log = { warn: (_: object, text: string) => t.fail(text) }
    t.throws(() => dataFolder(path, log), /^--data-dir: the folder .* cannot be written: EROFS/)
  },
)

t.test('a folder is made with all that are missing above it, private each, unless one cannot be', async t => {
  const parent = temporaryDir(t)
  const path = `${parent}/a/b/../c`
  makeFolder(path)
  makeFolder(path)
  t.strictSame(
    modesIn(parent)
      .map(([at, mode]) => `${at.slice(parent.length)} ${mode}`)
      .sort(),
    [' 700', '/a 700', '/a/b 700', '/a/c 700'],
  )
  symlinkSync(join(parent, 'nowhere'), join(parent, 'link'))
  t.throws(() => makeFolder(join(parent, 'link')), { code: 'EEXIST' })
})

// In a process of its own, which can be ended: what is synchronous and does not end would hold the runner, too.
t.test(
  'a data dir where no folder can be made is refused instead of tried for ever',
  {
    skip: existsSync('/proc/self') ? false : 'needs /proc',
  },
  async t => {
    const args = ['start', '--data-dir', '/proc/orrery/data']
    const { code, stderr } = await new Promise<{ code: unknown; stderr: string }>(resolve =>
      execFile(PROGRAM, args, { timeout: PATIENCE_MS }, (error, _out, stderr) =>
        resolve({ code: error?.code, stderr }),
      ),
    )
    t.equal(code, 1)
    t.match(stderr, /^orrery start: --data-dir: the folder \/proc\/orrery\/data cannot be made: ENOENT/)
  },
)
