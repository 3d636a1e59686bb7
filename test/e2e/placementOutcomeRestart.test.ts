/** What a center knows of clusters ends with it: the next one claims nothing before their syncers have told it again. */
import t from 'tap'
import { PLACEMENTS } from '../syncer/support/kinds.ts'
import { until } from '../syncer/support/processes.ts'
import { condition, Florin, has } from './support/florin.ts'

const EP = { name: 'p' }
const applied = has('Applied', 'True', 'AllApplied')

t.test('a center that was restarted claims nothing before it is told again', async t => {
  const florin = await Florin.begin(t)
  const { wds } = florin
  await until(wds, PLACEMENTS, EP, applied)
  const seen: string[] = []
  await florin.killCenter()
  await florin.startCenter()
  await until(wds, PLACEMENTS, EP, object => {
    const { reason, lastTransitionTime } = condition(object, 'Applied') ?? {}
    seen.push(reason, lastTransitionTime)
    return seen.includes('Stale') && applied(object)
  })
  t.ok(seen.includes('Stale'))
})
