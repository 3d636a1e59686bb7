/**
 * A new run of the translator knows little at first. No condition of a placement turns because of that, and in the end all is as the
 * former run left it.
 */
import t from 'tap'
import { FILE_LIMIT_MS } from '../../../support/patience.ts'
import { type ClusterName, SceneStage } from './sceneStage.ts'
import { MOVES, RESTARTED } from './sceneTable.ts'

/** Spaces whose streams come late, by turns. */
const LATE: readonly (readonly ('wds1' | ClusterName)[])[] = [[], ['florin'], ['wds1', 'florin'], ['florin', 'wds1']]
/** Pairs of which one alone shows nothing. */
const PAIRS = [
  ['a gets a broken Customizer', 'c comes'],
  ['wds2 places another a', 'florin refuses a'],
  ['a CronTab comes with its definition', 'Location florin is paused'],
]

t.setTimeout(FILE_LIMIT_MS)

const moves = { ...MOVES, ...RESTARTED }
const scenes = [...Object.keys(moves).map(name => [name]), ...PAIRS]
for (const [i, scene] of scenes.entries()) {
  t.test(`a restart changes nothing: ${scene.join('; ')}`, async t => {
    for (const late of scene.every(name => name in RESTARTED) ? LATE : [LATE[i % LATE.length]!]) {
      const stage = await SceneStage.open()
      t.teardown(() => stage.close())
      for (const name of scene) {
        await moves[name]!(stage)
        await stage.settle()
      }
      await stage.settle()
      const before = await stage.picture()
      t.strictSame(
        await stage.restart(late.map(name => (name === 'wds1' ? name : stage.box(name)))),
        [],
        `${late} late`,
      )
      t.strictSame(await stage.picture(), before)
    }
  })
}
