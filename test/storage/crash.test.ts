/**
 * `kill -9` at random moments of a store with 32 writers. CRASH_ROUNDS sets the number of kills (default 5).
 */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t, { type Test } from 'tap'
import { openLevelStore } from '../../src/storage/level/openLevelStore.ts'
import type { Store } from '../../src/storage/store.ts'
import { FILE_LIMIT_MS } from '../support/patience.ts'
import { SEED, Seeded } from '../support/seeded.ts'
import { temporaryDir } from '../support/temporaryDir.ts'
import { readWatch, textOf } from './support.ts'

type Fact = [revision: number, type: string, name: string, text: string]

const rounds = Number(process.env.CRASH_ROUNDS ?? 5)
// Only against hanging for ever: the long run takes as long as it takes.
t.setTimeout(FILE_LIMIT_MS + rounds * 10_000)

/** Facts of all rounds by revision: two different ones at one revision mean that a revision was used twice. */
class Facts {
  readonly #known = new Map<number, string>()

  add(t: Test, fact: Fact): void {
    const known = this.#known.get(fact[0])
    const told = JSON.stringify(fact)
    if (known === undefined) this.#known.set(fact[0], told)
    else if (known !== told) t.fail(`revision ${fact[0]} was used twice: ${known}, ${told}`)
  }
}

interface Reports {
  acknowledged: Fact[]
  watched: Fact[]
  /** The revision that the victim began with. */
  opened: number
}

/** Runs the victim until it has acknowledged `kills` writes; answers all that it had reported when it died. */
async function crash(path: string, after: number, kept: number, kills: number): Promise<Reports> {
  const args = [join(import.meta.dirname, 'crashWriter.ts'), path, String(after), String(kept)]
  const victim = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const reports: Reports = { acknowledged: [], watched: [], opened: -1 }
  for await (const line of createInterface({ input: victim.stdout })) {
    // The kill may cut the last line short.
    if (!line.endsWith('}')) break
    const report = JSON.parse(line) as { opened?: number; acknowledged?: Fact; events?: Fact[] }
    if (report.opened !== undefined) reports.opened = report.opened
    if (report.acknowledged !== undefined) reports.acknowledged.push(report.acknowledged)
    if (report.events !== undefined) reports.watched.push(...report.events)
    if (reports.acknowledged.length === kills) victim.kill('SIGKILL')
  }
  return reports
}

async function historyOf(store: Store): Promise<Fact[]> {
  const events = await readWatch(store, {}, store.compactedRevision, store.revision)
  return events.map(e => [e.revision, e.type, e.key.name, textOf(e.stored)!])
}

async function stateOf(store: Store, at = store.revision): Promise<Map<string, string>> {
  const { items } = await store.list({}, { at })
  return new Map(items.map(item => [item.key.name, textOf(item)!]))
}

const random = new Seeded(SEED)

async function crashes(t: Test, kept: number): Promise<void> {
  const dir = temporaryDir(t)
  const path = join(dir, 'store')
  const facts = new Facts()
  let cursor = 0
  let newest = 0
  for (let round = 1; round <= rounds; round++)
    await t.test(`kill ${round}`, async t => {
      const { acknowledged, watched, opened } = await crash(path, cursor, kept, 1 + random.number(600))
      t.equal(opened, newest, 'the victim began where the last one ended')
      for (const fact of [...acknowledged, ...watched]) facts.add(t, fact)

      const threads = round % 4 === 0 ? { threadsFromBytes: 0 } : {}
      const store = await openLevelStore({ path, historyAgeMs: 3_600_000, ...threads })
      t.teardown(() => store.close())
      newest = store.revision
      const compacted = store.compactedRevision
      const history = await historyOf(store)
      const state = await stateOf(store, compacted)
      for (const [i, fact] of history.entries()) {
        facts.add(t, fact)
        const [revision, type, name, text] = fact
        if (revision !== compacted + i + 1 || !text.startsWith(`${revision}:`)) t.fail(`${revision} is out of place`)
        if (type === 'put') state.set(name, text)
        else state.delete(name)
      }
      t.equal(history.length, newest - compacted, 'every revision is there')
      t.same(await stateOf(store), state, 'the objects are what the history makes of them')

      const inHistory = (fact: Fact): boolean =>
        fact[0] <= compacted || JSON.stringify(history[fact[0] - compacted - 1]) === JSON.stringify(fact)
      t.ok(acknowledged.every(inHistory), `all ${acknowledged.length} acknowledged writes are there, as they were`)
      t.ok(
        watched.every((fact, i) => fact[0] === cursor + i + 1 && inHistory(fact)),
        'the watch showed nothing that did not last, without a gap',
      )
      cursor = Math.max(compacted, watched.at(-1)?.[0] ?? cursor)
      const resumed = await readWatch(store, {}, cursor, newest)
      t.same(
        resumed.map(e => e.revision),
        Array.from({ length: newest - cursor }, (_, i) => cursor + i + 1),
        'a resumed watch goes on behind it',
      )
    })
}

t.test('what was acknowledged outlives kill -9', async t => await crashes(t, Number.MAX_SAFE_INTEGER))
t.test('also when history is compacted meanwhile', async t => await crashes(t, 150))
