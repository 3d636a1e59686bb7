/** A write of an EdgePlacement that leads nowhere, or takes copies from clusters, gives a warning and succeeds. */
import t from 'tap'
import {
  MAX_PREVIEWS_AT_ONCE,
  type PlacementConsequence,
  type PlacementWrite,
} from '../../../src/placement/desks/placementPreview.ts'
import { startTestServer } from '../../support/server.ts'

const { api, server } = await startTestServer(t)
const wds = api.in('root:wmw1')
const PLACEMENTS = '/apis/edge.kubestellar.io/v2alpha1/edgeplacements'
const NOTHING: PlacementConsequence = { deletes: 0, clusters: 0, isPartial: false, isHeld: false }
const asked: PlacementWrite[] = []
let answer: () => Promise<PlacementConsequence | undefined> = async () => undefined
server.desks.previews.deliverTo({
  preview: async () => ({ objects: [], rollouts: [] }),
  compare: async () => ({ objects: [], rollouts: [] }),
  consequence: async write => {
    asked.push(write)
    return await answer()
  },
  locationFaults: async () => [],
})
const selecting = (env: string) => ({ locationSelectors: [{ matchLabels: { env } }], downsync: [{ apiGroup: 'apps' }] })
const told = async (sent: Promise<{ code: number; headers: Record<string, unknown> }>): Promise<[number, string]> => {
  const { code, headers } = await sent
  return [code, String(headers.warning ?? '')]
}
const leaving = (found: Partial<PlacementConsequence>) => {
  answer = async () => ({ ...NOTHING, ...found })
}

t.test('in words that count copies and clusters', async t => {
  const edit = async (env: string, query = '') => {
    const [code, text] = await told(wds.patch(`${PLACEMENTS}/p${query}`, 'merge', { spec: selecting(env) }))
    t.equal(code, 200)
    return text
  }
  t.same(await told(wds.post(PLACEMENTS, { metadata: { name: 'p' }, spec: selecting('a') })), [201, ''], 'not known')
  t.match(asked.at(-1), { object: { metadata: { name: 'p' }, spec: selecting('a') } })
  leaving({})
  t.equal(await edit('b'), '')
  leaving({ nowhere: 'because' })
  t.equal(await edit('c'), '299 - "this EdgePlacement leads nowhere: because"')
  leaving({ deletes: 1, clusters: 1 })
  t.equal(await edit('d'), '299 - "1 copy leaves 1 cluster"')
  leaving({ deletes: 12, clusters: 4, isHeld: true, nowhere: 'because' })
  const both = await edit('e', '?dryRun=All')
  t.match(both, 'this EdgePlacement leads nowhere: because')
  t.match(both, '12 copies leave 4 clusters; the brake holds them until that is confirmed: the condition DeletionHeld')
  leaving({ deletes: 5000, clusters: 500, isPartial: true })
  t.equal(await edit('f'), '299 - "at least 5000 copies leave 500 clusters"')
  const { body } = await wds.get(`${PLACEMENTS}/p`)
  const applied = { apiVersion: 'edge.kubestellar.io/v2alpha1', kind: 'EdgePlacement', metadata: { name: 'p' } }
  t.match(
    await told(wds.patch(`${PLACEMENTS}/p?fieldManager=a&force=true`, 'apply', { ...applied, spec: selecting('g') })),
    [200, /at least 5000/],
  )
  t.match(body, { spec: selecting('f') }, 'a dry run is none')
})

t.test('not of what changes nothing of it, nor of its status', async t => {
  leaving({ deletes: 1, clusters: 1 })
  asked.length = 0
  const { body } = await wds.get(`${PLACEMENTS}/p`)
  t.same(await told(wds.put(`${PLACEMENTS}/p`, body)), [200, ''])
  t.same(await told(wds.patch(`${PLACEMENTS}/p`, 'merge', { metadata: { labels: { a: 'b' } } })), [200, ''])
  t.same(await told(wds.patch(`${PLACEMENTS}/p/status`, 'merge', { status: { specGeneration: 7 } })), [200, ''])
  t.same(await told(wds.delete(`${PLACEMENTS}/p`)), [200, ''], 'a deletion by name is obeyed without a word')
  t.same(asked, [])
})

t.test('a crowd of writes is warned as far as there is room, and none waits for another', async t => {
  const { promise, resolve } = Promise.withResolvers<PlacementConsequence>()
  const begun = Promise.withResolvers<void>()
  asked.length = 0
  answer = () => {
    if (asked.length === MAX_PREVIEWS_AT_ONCE) begun.resolve()
    return promise
  }
  const write = (i: number) => told(wds.post(PLACEMENTS, { metadata: { name: `crowd${i}` }, spec: selecting('a') }))
  const running = Array.from({ length: MAX_PREVIEWS_AT_ONCE }, (_, i) => write(i))
  await begun.promise
  t.same(await write(99), [201, ''])
  resolve({ ...NOTHING, nowhere: 'because' })
  for (const one of await Promise.all(running)) t.match(one, [201, /leads nowhere/])
  t.equal(asked.length, MAX_PREVIEWS_AT_ONCE)
})
