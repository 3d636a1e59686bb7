/** Memory of a syncer over a restart: it is written by change, and damaged content is never trusted. */
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Level } from 'level'
import t, { type Test } from 'tap'
import type { StreamEvent } from '../../../src/client/client.ts'
import { silentLogger } from '../../../src/client/logger.ts'
import { keyText } from '../../../src/syncer/mailbox/mirror.ts'
import { SyncerState } from '../../../src/syncer/mailbox/syncerState.ts'

const MAILBOX = 'x-mb-1'
const STATE = { mailbox: MAILBOX, space: 'm', cursor: 7, epoch: 'e' }
const resource = { group: '', version: 'v1', resource: 'secrets' }
const keyOf = (name: string) => ({ group: '', resource: 'secrets', namespace: 'a', name })
const event = (name: string, value = 'c2VjcmV0', more: object = {}): StreamEvent =>
  ({
    type: 'ADDED',
    resource,
    object: {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace: 'a', managedFields: [{ manager: 'x' }] },
      data: { k: value },
    },
    ...more,
  }) as unknown as StreamEvent
const written = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', namespace: 'a', uid: 'u' } }

/** Closed with the test. */
function stateIn(t: Test, dir: string): SyncerState {
  const state = new SyncerState(dir, silentLogger)
  t.teardown(() => state.close())
  return state
}

/** A state dir with the Secrets s and u. */
async function saved(t: Test): Promise<string> {
  const dir = t.testdir()
  const state = stateIn(t, dir)
  for (const name of ['s', 'u']) state.mirror.apply(keyOf(name), event(name))
  state.echoes.wrote(keyText(keyOf('s')), written, written)
  await state.save(STATE)
  await state.close()
  return dir
}

/** Its rows. */
async function rowsOf(dir: string): Promise<Map<string, string>> {
  const level = new Level(join(dir, 'mailbox'))
  const rows = new Map(await level.iterator().all())
  await level.close()
  return rows
}

t.test('what was saved is there again, and its folder is entered by nobody else', async t => {
  const dir = await saved(t)
  t.equal(statSync(join(dir, 'mailbox')).mode & 0o777, 0o700)
  const other = stateIn(t, dir)
  t.same(await other.load(MAILBOX), STATE)
  t.same(other.mirror.get(keyOf('s'))?.object.data, { k: 'c2VjcmV0' })
  t.notOk(other.mirror.get(keyOf('s'))?.object.metadata.managedFields, 'notes about writers are not kept')
  t.equal(other.echoes.compare(keyText(keyOf('s')), written, written), 'same')
  t.equal(other.mirror.size, 2)
})

t.test('only what changed is written', async t => {
  const dir = await saved(t)
  const before = await rowsOf(dir)
  // in the database's own words: foreign rows beside our own stay as they are
  const level = new Level(join(dir, 'mailbox'))
  const row = `object|${keyText(keyOf('u'))}`
  await level.put(row, before.get(row)!.replace('c2VjcmV0', 'bWFya2Vk'))
  await level.close()
  const state = stateIn(t, dir)
  await state.load(MAILBOX)
  state.mirror.apply(keyOf('s'), event('s', 'bmV3'))
  state.mirror.apply(keyOf('v'), event('v'))
  state.echoes.forget(keyText(keyOf('s')))
  await state.save({ ...STATE, cursor: 8 })
  state.mirror.apply(keyOf('v'), event('v', '', { type: 'DELETED' }))
  // a snapshot tells again what is there
  state.mirror.apply(keyOf('s'), event('s', 'bmV3'))
  t.same(state.mirror.takeChanged(), [keyText(keyOf('v'))])
  state.mirror.apply(keyOf('v'), event('v'))
  state.mirror.remove(keyOf('v'))
  await state.save({ ...STATE, cursor: 9 })
  await state.close()
  const rows = await rowsOf(dir)
  t.same([...rows.keys()], [`object|${keyText(keyOf('s'))}`, row, 'state'])
  t.match(rows.get(row), 'bWFya2Vk', 'nobody touched it')
  t.match(rows.get('state'), '"cursor":9')
})

t.test('much at once is written in parts, and is no state before the last one', async t => {
  const dir = await saved(t)
  const state = stateIn(t, dir)
  for (let i = 0; i < 1200; i++) state.mirror.apply(keyOf(`n${i}`), event(`n${i}`))
  await state.save(STATE)
  await state.close()
  const rows = await rowsOf(dir)
  t.equal(rows.size, 1201, 'what was saved of an earlier life is gone')
  const other = stateIn(t, dir)
  await other.load(MAILBOX)
  t.equal(other.mirror.size, 1200)
})

t.test('nothing is no state, and without a folder nothing is kept', async t => {
  t.equal(await stateIn(t, t.testdir()).load(MAILBOX), undefined)
  const nowhere = new SyncerState(undefined, silentLogger)
  t.equal(nowhere.isKept, false)
  t.equal(await nowhere.load(MAILBOX), undefined)
  await nowhere.save(STATE)
})

t.test('what was saved of another mailbox is none of ours, and goes with the first save', async t => {
  const dir = await saved(t)
  const other = stateIn(t, dir)
  t.equal(await other.load('x-mb-2'), undefined)
  t.equal(other.mirror.size, 0)
  await other.save({ ...STATE, mailbox: 'x-mb-2' })
  await other.close()
  t.same([...(await rowsOf(dir)).keys()], ['state'])
})

t.test('a damaged row is refused with all of it, without quoting it', async t => {
  const dir = await saved(t)
  const row = `object|${keyText(keyOf('s'))}`
  const good = await rowsOf(dir)
  for (const [key, value] of [
    ['state', '{}'],
    ['state', good.get('state')!.replace('"format":2', '"format":3')],
    ['state', good.get('state')!.replace('"cursor":7', '"cursor":"7"')],
    [row, good.get(row)!.slice(0, -20)],
    [row, good.get(row)!.replace('"metadata"', '"meta"')],
    [row, '[]'],
  ] as const) {
    const level = new Level(join(dir, 'mailbox'))
    await level.put(key, value)
    await level.close()
    const state = stateIn(t, dir)
    await t.rejects(state.load(MAILBOX), /^(?!.*c2VjcmV0)/)
    t.equal(state.mirror.size, 0)
    // and the next save writes it all
    state.mirror.apply(keyOf('s'), event('s'))
    await state.save(STATE)
    await state.close()
    t.equal((await rowsOf(dir)).size, 2)
  }
})

t.test('a database that cannot be opened is begun anew, and told', async t => {
  const dir = await saved(t)
  const folder = join(dir, 'mailbox')
  for (const name of readdirSync(folder)) writeFileSync(join(folder, name), 'no database')
  const told: string[] = []
  const state = new SyncerState(dir, { ...silentLogger, warn: (_fields, text) => told.push(text) })
  t.teardown(() => state.close())
  t.equal(await state.load(MAILBOX), undefined)
  t.match(told, [/^the saved state is damaged and begun anew/])
  await state.save(STATE)
})

t.test('a state dir belongs to one syncer', async t => {
  const dir = await saved(t)
  const first = stateIn(t, dir)
  await first.load(MAILBOX)
  await t.rejects(stateIn(t, dir).load(MAILBOX), /another process has it: give each syncer a state dir of its own/)
})
