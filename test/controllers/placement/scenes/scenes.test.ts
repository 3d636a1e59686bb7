/**
 * 200 scenes of placements with their conditions, counts, work statuses and copies, held to `recorded/`.
 * `node test/controllers/placement/scenes/scenes.test.ts --record` records them anew; the diff shows each change for users.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { StatusError } from '../../../../src/apimachinery/errors.ts'
import { FILE_LIMIT_MS } from '../../../support/patience.ts'
import { type Picture, SceneStage } from './sceneStage.ts'
import { MOVES, scenes } from './sceneTable.ts'

const FOLDER = join(import.meta.dirname, 'recorded')
const RECORDS = process.argv.includes('--record')
/** Scenes of a file. */
const IN_FILE = 25
const STATES = [
  ...['Altered', 'Applied', 'Conflict', 'Drifted', 'Finished', 'Held', 'NotPlaced', 'Paused', 'Pending', 'Projecting'],
  ...['Refused', 'Retrying', 'Stale', 'Terminating', 'Unknown', 'Unserved', 'Waiting'],
]

/** Lines of a scene that the scene in which nothing moves has not, and those of it that are missing. */
type Recorded = Record<string, Record<string, { more?: string[]; less?: string[] }>>

t.setTimeout(FILE_LIMIT_MS)

const all = scenes()
const still = await play([])
const shown = new Set(still.states)

t.equal(all.length, 200)
t.test('the scene in which nothing moves', async t => held(t, 'nothing-moves.json', still.picture))
for (let i = 0; i < all.length; i += IN_FILE) {
  const few = all.slice(i, i + IN_FILE)
  t.test(`scenes ${i} to ${i + few.length - 1}`, async t => {
    const played: Recorded = {}
    for (const moves of few) {
      const { picture, states } = await play(moves)
      played[moves.join('; ') || 'nothing moves'] = beside(picture)
      for (const state of states) shown.add(state)
    }
    held(t, `scenes-${String(i).padStart(3, '0')}.json`, played)
  })
}
t.test('scenes show each state of a copy', async t => t.strictSame([...shown].sort(), STATES))

/** A move that is not possible behind the others is passed over, with its reason. */
async function play(moves: readonly string[]): Promise<{ picture: Picture; states: ReadonlySet<string> }> {
  const stage = await SceneStage.open()
  const refused: string[] = []
  try {
    for (const move of moves) {
      try {
        await MOVES[move]!(stage)
      } catch (error) {
        if (!(error instanceof StatusError)) throw error
        refused.push(`${move}: ${error.message}`)
      }
      await stage.settle()
    }
    const picture = await stage.picture()
    return { picture: refused.length > 0 ? { ...picture, refused } : picture, states: stage.states }
  } finally {
    await stage.close()
  }
}

function beside(picture: Picture): Recorded[string] {
  const result: Recorded[string] = {}
  for (const about of new Set([...Object.keys(still.picture), ...Object.keys(picture)])) {
    const [is, was] = [picture[about] ?? [], still.picture[about] ?? []]
    const [more, less] = [is.filter(line => !was.includes(line)), was.filter(line => !is.includes(line))]
    if (more.length + less.length === 0) continue
    result[about] = { ...(more.length > 0 && { more }), ...(less.length > 0 && { less }) }
  }
  return result
}

/** One assertion for each scene, so that a difference names it. */
function held(t: Test, name: string, found: object): void {
  const file = join(FOLDER, name)
  if (RECORDS) {
    mkdirSync(FOLDER, { recursive: true })
    writeFileSync(file, `${JSON.stringify(found, undefined, 1)}\n`)
  }
  const recorded = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
  for (const [about, is] of Object.entries(found)) t.strictSame(is, recorded[about], about)
  t.strictSame(Object.keys(recorded), Object.keys(found), 'and no others')
}
