/** The state of a syncer on a disk that is full, refuses writes, or cannot be read now. Saved content stays, and a failure is reported. */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { type Clock, systemClock } from '../../../src/client/clock.ts'
import { silentLogger } from '../../../src/client/logger.ts'
import { SyncerState } from '../../../src/syncer/mailbox/syncerState.ts'
import { startCenter } from '../../support/center.ts'
import { temporaryDir } from '../../support/server.ts'
import { configMap, MAPS } from '../support/kinds.ts'
import { PROJECTED, pairIn } from '../support/pair.ts'

const STATE = { mailbox: 'x-mb-1', space: 'm', cursor: 1, epoch: 'e' }
const BYTES = 4 * 1024 * 1024
/** As the feed waits before it writes again. */
const SAVE_AGAIN_MS = 30_000

const center = await startCenter(t, { expectsTrouble: true })

/** A disk of memory at a folder of its own; `undefined` where this machine lets us have none. */
function disk(t: Test): string | undefined {
  const folder = temporaryDir(t)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${BYTES}`, 'tmpfs', folder], { stdio: 'ignore' })
  } catch {
    return undefined
  }
  t.teardown(() => void execFileSync('umount', ['-l', folder]))
  return folder
}

const remount = (folder: string, mode: 'ro' | 'rw'): void =>
  void execFileSync('mount', ['-o', `remount,${mode}`, folder], { stdio: 'ignore' })

/** Takes all of a disk but so much; gives it back. The engine may write at the same time, and then has taken the rest. */
function fill(folder: string, leftBytes = 0): () => void {
  const { bavail, bsize } = statfsSync(folder)
  const path = join(folder, 'others')
  try {
    writeFileSync(path, Buffer.alloc(Math.max(0, bavail * bsize - leftBytes)))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
  return () => rmSync(path)
}

function put(state: SyncerState, names: readonly string[], value: string): void {
  for (const name of names)
    state.mirror.apply({ group: '', resource: 'configmaps', namespace: 'app', name }, {
      type: 'ADDED',
      resource: MAPS,
      object: configMap(name, { value }),
    } as unknown as Parameters<SyncerState['mirror']['apply']>[1])
}

/** Values of the ConfigMaps of a state dir; `undefined` when it holds no state. */
async function kept(dir: string): Promise<{ cursor: number; values: Record<string, unknown> } | undefined> {
  const state = new SyncerState(dir, silentLogger)
  try {
    const found = await state.load(STATE.mailbox)
    if (found === undefined) return undefined
    const values = [...state.mirror.values()].map(({ object }) => [object.metadata.name, object.data])
    return { cursor: found.cursor, values: Object.fromEntries(values) }
  } finally {
    await state.close()
  }
}

async function saved(dir: string, names: readonly string[]): Promise<SyncerState> {
  const state = new SyncerState(dir, silentLogger)
  await state.load(STATE.mailbox)
  put(state, names, '1')
  await state.save(STATE)
  return state
}

t.test('what cannot be read now is there when it can be', async t => {
  const dir = t.testdir()
  await (await saved(dir, ['a'])).close()
  const current = join(dir, 'mailbox', 'CURRENT')
  const text = readFileSync(current)
  rmSync(current)
  mkdirSync(current)
  const told: string[] = []
  const state = new SyncerState(dir, { ...silentLogger, warn: (_fields, text) => told.push(text) })
  t.teardown(() => state.close())
  await t.rejects(state.load(STATE.mailbox), /cannot be opened, and is left as it is: .*directory/)
  await t.rejects(state.save(STATE), /cannot be opened/)
  rmSync(current, { recursive: true })
  writeFileSync(current, text)
  t.same(await state.load(STATE.mailbox), STATE)
  t.equal(state.mirror.size, 1)
  t.same(told, [])
})

t.test('a damaged database is put aside, and only the newest one', async t => {
  const dir = t.testdir()
  for (const what of ['first', 'second']) {
    await (await saved(dir, ['a'])).close()
    const folder = join(dir, 'mailbox')
    for (const name of readdirSync(folder)) writeFileSync(join(folder, name), what)
    const state = new SyncerState(dir, silentLogger)
    t.equal(await state.load(STATE.mailbox), undefined)
    await state.save(STATE)
    await state.close()
    t.equal(readFileSync(join(dir, 'mailbox.damaged', 'CURRENT'), 'utf8'), what)
    t.same(readdirSync(dir).sort(), ['mailbox', 'mailbox.damaged'])
    rmSync(folder, { recursive: true })
  }
})

/** As a kill leaves it. The engine takes files away behind our back: then it is copied once more. */
function copyOf(t: Test, dir: string): string {
  for (;;) {
    const copy = join(temporaryDir(t), 'copy')
    try {
      cpSync(dir, copy, { recursive: true })
      return copy
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
}

t.test('a state on a disk that is read-only for a while', async t => {
  const dir = disk(t)
  if (dir === undefined) return t.pass('who runs this may not mount a disk')
  const state = await saved(dir, ['a'])
  await state.close()
  remount(dir, 'ro')
  put(state, ['b'], '2')
  await t.rejects(state.save({ ...STATE, cursor: 2 }), /cannot be opened, and is left as it is/)
  await t.rejects(kept(dir), /cannot be opened, and is left as it is/)
  remount(dir, 'rw')
  t.same(await kept(dir), { cursor: 1, values: { a: { value: '1' } } }, 'nothing is lost')
  await state.save({ ...STATE, cursor: 3 })
  await state.close()
  t.same(await kept(dir), { cursor: 3, values: { a: { value: '1' }, b: { value: '2' } } })
})

t.test('a save that the disk did not take is no save, and the next one is whole', async t => {
  const dir = disk(t)
  if (dir === undefined) return t.pass('who runs this may not mount a disk')
  const state = await saved(dir, ['a', 'b'])
  // so that some of a record fits, at every place of a block
  for (const leftBytes of [0, 4096, 12_288, 36_864]) {
    const free = fill(dir, leftBytes)
    put(state, ['b'], 'x'.repeat(200_000))
    await t.rejects(state.save({ ...STATE, cursor: 2 }), `with ${leftBytes} bytes left`)
    free()
    put(state, ['b', 'c'], `${leftBytes}`)
    await state.save({ ...STATE, cursor: 3 })
    put(state, ['d'], `${leftBytes}`)
    await state.save({ ...STATE, cursor: 4 })
    const copy = copyOf(t, dir)
    const value = `${leftBytes}`
    t.same(await kept(copy), { cursor: 4, values: { a: { value: '1' }, b: { value }, c: { value }, d: { value } } })
  }
  const free = fill(dir)
  put(state, ['b'], 'x'.repeat(200_000))
  await t.rejects(state.save({ ...STATE, cursor: 5 }))
  await state.close()
  free()
  t.ok(existsSync(join(dir, 'mailbox')))
  t.match(await kept(dir), { cursor: 4, values: { b: { value: '36864' } } }, 'what was saved before is there')
})

t.test('a syncer whose disk is full says so to everybody, once, and writes it all when there is room', async t => {
  const dir = disk(t)
  if (dir === undefined) return t.pass('who runs this may not mount a disk')
  const p = await pairIn(center, t)
  const told: string[] = []
  const log = (_fields: object, text: string): void => void (/state/.test(text) && told.push(text))
  const logger = { ...silentLogger, info: log, warn: log, error: log }
  const waits = new Set<() => void>()
  const clock: Clock = {
    ...systemClock,
    after: (delayMs, done) => {
      if (delayMs !== SAVE_AGAIN_MS) return systemClock.after(Math.min(delayMs, 20), done)
      waits.add(done)
      return () => waits.delete(done)
    },
  }
  const syncer = p.start(logger, clock, { stateDir: dir })
  await p.mailbox.create(MAPS, configMap('a', { value: '1' }, PROJECTED))
  const isIn = (value: string) => (object: KubeObject) => JSON.stringify(object.data) === JSON.stringify({ value })
  await center.world.present(p.clusterId, 'configmaps app/a', isIn('1'))
  const until = async (what: () => Promise<boolean> | boolean): Promise<void> => {
    while (!(await what())) await new Promise(resolve => setTimeout(resolve, 1))
  }
  await until(async () => existsSync(join(dir, 'mailbox')) && syncer.status().kept === true)
  const free = fill(dir)
  const value = 'x'.repeat(200_000)
  await p.mailbox.patch(MAPS, { namespace: 'app', name: 'a' }, 'merge', { data: { value } })
  await center.world.present(p.clusterId, 'configmaps app/a', isIn(value))
  await until(() => syncer.status().kept === false && waits.size > 0)
  t.same(syncer.status().exceptions, { retrying: 1 })
  for (let again = 0; again < 2; again++) {
    const [retry] = waits
    waits.delete(retry!)
    retry!()
    await until(() => waits.size > 0)
  }
  free()
  for (const retry of waits) retry()
  await until(() => syncer.status().kept === true)
  t.same(syncer.status().exceptions, {})
  t.match(told, [/^the state cannot be saved; it is tried again, .*: .*No space left/, 'the state is saved again'])
  t.equal(told.length, 2)
  await syncer.stop()
  const state = new SyncerState(dir, silentLogger)
  t.teardown(() => state.close())
  await state.load(p.mailboxName)
  t.ok([...state.mirror.values()].some(({ object }) => isIn(value)(object)))
})
