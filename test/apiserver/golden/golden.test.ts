/**
 * Answers to requests of every kind, and the audit events of each, held to `recorded/`. Values that differ from run to run are left out.
 * `node test/apiserver/golden/golden.test.ts --record` records them anew; the diff shows each change for users.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import t, { type Test } from 'tap'
import { FILE_LIMIT_MS } from '../../support/patience.ts'
import type { Theme } from './scene.ts'
import { ambiguous } from './scenes/ambiguous.ts'
import { documents } from './scenes/documents.ts'
import { lists } from './scenes/lists.ts'
import { parts } from './scenes/parts.ts'
import { reads } from './scenes/reads.ts'
import { refusals } from './scenes/refusals.ts'
import { streams } from './scenes/streams.ts'
import { writes } from './scenes/writes.ts'
import { type Played, Stage, type StageOptions } from './stage.ts'

const THEMES: readonly Theme[] = [reads, refusals, ambiguous, documents, lists, streams, writes, parts]
const RECORDS = process.argv.includes('--record')

/** `answers`: as of a server that records requests, on a connection of their own; others where they differ. */
interface Entry {
  answers?: readonly string[]
  audit?: readonly string[]
  primed?: readonly string[]
  thread?: readonly string[]
}
type Recorded = Record<string, Entry>

t.setTimeout(FILE_LIMIT_MS)
const recorded = new Map(THEMES.map(({ name }) => [name, RECORDS ? {} : read(name)]))
t.teardown(() => {
  if (RECORDS)
    for (const [name, entries] of recorded) writeFileSync(fileOf(name), `${JSON.stringify(entries, undefined, 1)}\n`)
})

t.test('with an audit log', async t => {
  await play(t, { isAudited: true }, (entry, { answers, audit }) => {
    if (RECORDS) Object.assign(entry, { answers, ...(audit.length > 0 && { audit }) })
    const expected = { answers: entry.answers, audit: entry.audit ?? [] }
    return { expected, found: { answers, audit } }
  })
})

const PASSES = {
  primed: { isPrimed: true },
  thread: { apiThreads: 1 },
} as const
for (const [pass, options] of Object.entries(PASSES) as ['primed' | 'thread', StageOptions][]) {
  t.test(`without, ${pass}`, async t => {
    await play(t, options, (entry, { answers }) => {
      const without = withoutId(entry.answers ?? [])
      if (RECORDS && JSON.stringify(without) !== JSON.stringify(answers)) entry[pass] = answers
      return { expected: entry[pass] ?? without, found: answers }
    })
  })
}

type Held = (entry: Entry, played: Played) => { expected: unknown; found: unknown }

/** One assertion for each scene that differs, and one for each theme. */
async function play(t: Test, options: StageOptions, held: Held): Promise<void> {
  const stage = await Stage.open(t, options)
  for (const { name: theme, scenes, isStateful } of THEMES) {
    const entries = recorded.get(theme)!
    for (const scene of scenes) {
      if (options.isPrimed && !isStateful && !scene.isPlain) continue
      if (RECORDS) entries[scene.name] ??= {}
      const { expected, found } = held(entries[scene.name] ?? {}, await stage.play(scene))
      if (!isDeepStrictEqual(found, expected)) t.strictSame(found, expected, `${theme}: ${scene.name}`)
    }
    const names = scenes.map(({ name }) => name)
    t.strictSame(Object.keys(entries), names, `${theme}: no others, and none twice`)
  }
  t.strictSame(stage.faults, [])
}

/** Servers without an audit log name no request. */
function withoutId(answers: readonly string[]): readonly string[] {
  return answers.filter(line => !/^audit-id: /i.test(line))
}

function fileOf(theme: string): string {
  return join(import.meta.dirname, 'recorded', `${theme}.json`)
}

function read(theme: string): Recorded {
  return JSON.parse(readFileSync(fileOf(theme), 'utf8')) as Recorded
}
