/** Followers of more summaries than a space's names: none is lost by that, and each gets deletions. */
import t from 'tap'
import { Summaries, type SummariesDeps } from '../../../../src/controllers/placement/summaries/summaries.ts'
import { compilePlacement } from '../../../../src/placement/select/placementSpec.ts'
import { SETS } from '../translatorWorld.ts'

const COUNT = 20_001
const PACE = { due: false, rest: async () => {} }

t.test('more summaries than names are followed all the same', async t => {
  const facts = new Map(
    Array.from({ length: COUNT }, (_, i) => {
      const fact = {
        key: `apps|replicasets|shop|rs${i}`,
        uid: `u${i}`,
        resource: SETS,
        namespace: 'shop',
        name: `rs${i}`,
      }
      return [fact.key, { ...fact, labels: {} }] as const
    }),
  )
  const selected = new Set(facts.keys())
  const workload = {
    get: (key: string) => facts.get(key),
    names: (_: string, key: string) => selected.has(key),
    namedBy: () => selected,
  }
  const metadata = { name: 'all', uid: 'p' }
  const spec = compilePlacement({
    apiVersion: '',
    kind: '',
    metadata,
    spec: { downsync: [{ apiGroup: 'apps', statusCollectors: ['c'] }] },
  })
  const join = {
    placementNames: () => ['all'],
    spec: () => spec,
    workload: () => workload,
    fact: (_: string, key: string) => facts.get(key),
  }
  const deps = { join, kinds: { of: async () => new Map() }, collectors: { get: () => undefined }, isKnown: () => true }
  const summaries = new Summaries(deps as unknown as SummariesDeps)
  const touched: string[] = []
  let losses = 0
  summaries.follow('shop', { touched: ({ name }) => touched.push(name), lost: () => losses++ })
  const list = async () => {
    const names: string[] = []
    for await (const { name } of summaries.rows({ space: 'shop', fixed: new Map() }, PACE)) names.push(name)
    return names
  }
  t.equal((await list()).length, COUNT)
  const last = (await list()).at(-1)!
  t.equal(losses, 0)
  const key = [...facts.values()].find(({ uid }) => `${uid}.p` === last)!.key
  selected.delete(key)
  summaries.claimsChanged('shop', [], [key])
  t.same(touched, [last], 'a deletion of one that found no room')
  t.equal(await summaries.row('shop', { namespace: 'shop', name: last }), undefined)
  t.match(await summaries.row('shop', { namespace: 'shop', name: 'u0.p' }), { name: 'u0.p' })
})
