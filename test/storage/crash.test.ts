/**
 * `kill -9` at random moments of a store with 32 writers. CRASH_ROUNDS sets the number of kills (default 5).
 */
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t, { type Test } from 'tap'
import { openLevelStore } from '../../src/storage/level/openLevelStore.ts'
import type { Store } from '../../src/storage/store.ts'
import { readWatch, textOf } from './support.ts'

type Fact = [revision: number, type: string, name: string, text: string]

const rounds = Number(process.env.CRASH_ROUNDS ?? 5)
const path = await mkdtemp(join(tmpdir(), 'orrery-crash-'))
t.teardown(() => rm(path, { recursive: true }))

/** Facts of all rounds by revision: two different ones at one revision mean that a revision was used twice. */
const facts = new Map<number, string>()

function remember(t: Test, fact: Fact): void {
  const known = facts.get(fact[0])
  if (known === undefined) facts.set(fact[0], JSON.stringify(fact))
  else if (known !== JSON.stringify(fact))
    t.fail(`revision ${fact[0]} was used twice: ${known}, ${JSON.stringify(fact)}`)
}

/** Runs the victim until it has acknowledged `kills` writes; returns what it had reported when it died. */
async function crash(after: number, kills: number): Promise<{ acknowledged: Fact[]; watched: Fact[]; opened: number }> {
  const victim = spawn(process.execPath, [join(import.meta.dirname, 'crashWriter.ts'), path, String(after)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const acknowledged: Fact[] = []
  const watched: Fact[] = []
  let opened = -1
  for await (const line of createInterface({ input: victim.stdout })) {
    // The kill may cut the last line short.
    if (!line.endsWith('}')) break
    const report = JSON.parse(line) as { opened?: number; acknowledged?: Fact; events?: Fact[] }
    if (report.opened !== undefined) opened = report.opened
    if (report.acknowledged !== undefined) acknowledged.push(report.acknowledged)
    if (report.events !== undefined) watched.push(...report.events)
    if (acknowledged.length === kills) victim.kill('SIGKILL')
  }
  return { acknowledged, watched, opened }
}

async function historyOf(store: Store): Promise<Fact[]> {
  const events = await readWatch(store, {}, 0, store.revision)
  return events.map(e => [e.revision, e.type, e.key.name, textOf(e.stored)!])
}

let cursor = 0
let newest = 0
for (let round = 1; round <= rounds; round++)
  await t.test(`round ${round}: what was acknowledged outlives the kill, and the watch goes on`, async t => {
    const { acknowledged, watched, opened } = await crash(cursor, 1 + Math.floor(Math.random() * 600))
    t.equal(opened, newest, 'the victim began where the last one ended')
    for (const fact of [...acknowledged, ...watched]) remember(t, fact)

    const store = await openLevelStore({ path, historyAgeMs: 3_600_000 })
    t.teardown(() => store.close())
    newest = store.revision
    const history = await historyOf(store)
    const state = new Map<string, string>()
    for (const [i, fact] of history.entries()) {
      remember(t, fact)
      const [revision, type, name, text] = fact
      if (revision !== i + 1 || !text.startsWith(`${revision}:`)) t.fail(`history has ${revision} at place ${i + 1}`)
      if (type === 'put') state.set(name, text)
      else state.delete(name)
    }
    t.equal(history.length, store.revision, 'every revision is there')
    t.ok(
      acknowledged.every(fact => JSON.stringify(history[fact[0] - 1]) === JSON.stringify(fact)),
      `all ${acknowledged.length} acknowledged writes are there, as they were acknowledged`,
    )
    const { items } = await store.list({})
    t.same(new Map(items.map(i => [i.key.name, textOf(i)])), state, 'the objects are what the history makes of them')

    const expected = history.slice(cursor, cursor + watched.length)
    t.same(watched, expected, 'the watch showed nothing that did not last, without a gap')
    cursor = watched.at(-1)?.[0] ?? cursor
    const resumed = await readWatch(store, {}, cursor, store.revision)
    t.same(
      resumed.map(e => e.revision),
      history.slice(cursor).map(fact => fact[0]),
      'a resumed watch goes on behind it',
    )
  })
