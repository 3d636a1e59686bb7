/** A parameter that no Location defines gets a warning, in the words of whoever places. */
import t from 'tap'
import type { PlacementWrite } from '../../../src/placement/desks/placementPreview.ts'
import { createSpace, startTestServer } from '../../support/server.ts'

const { api, server } = await startTestServer(t)
const MAPS = '/api/v1/namespaces/default/configmaps'
const EXPAND = { 'edge.kubestellar.io/expand-parameters': 'true' }
const wds = api.in(await createSpace(api, 'warned', 'workload'))
const map = (name: string, v: string, annotations: object = EXPAND) => ({
  metadata: { name, annotations },
  data: { v },
})
const asked: PlacementWrite[] = []
const warned = async (sent: Promise<{ code: number; headers: Record<string, unknown> }>): Promise<string> => {
  const { code, headers } = await sent
  t.ok(code === 200 || code === 201, `${code}`)
  return String(headers.warning ?? '')
}

t.test('of what concerns them, and no more than a response has room for', async t => {
  t.equal(await warned(wds.post(MAPS, map('early', '%(a)'))), '', 'nobody places yet')
  server.desks.previews.deliverTo({
    preview: async () => ({ objects: [], rollouts: [] }),
    compare: async () => ({ objects: [], rollouts: [] }),
    consequence: async () => undefined,
    locationFaults: async write => {
      asked.push(write)
      return Array.from({ length: 9 }, (_, i) => `fault ${i}`)
    },
  })
  const told = '299 - "fault 0", 299 - "fault 1", 299 - "fault 2", 299 - "fault 3", 299 - "fault 4"'
  t.equal(await warned(wds.post(MAPS, map('a', '%(a)'))), told)
  t.match(asked, [{ object: { metadata: { name: 'a' }, data: { v: '%(a)' } } }])
  t.equal(await warned(wds.post(MAPS, map('b', '%(a)', {}))), '', 'nothing is expanded')
  const change = (body: object) => warned(wds.patch(`${MAPS}/b`, 'merge', body))
  t.equal(await change({ metadata: { annotations: EXPAND } }), told)
  t.equal(await change({ metadata: { labels: { a: 'b' } } }), '', 'not again')
  t.equal(await change({ data: { v: '%(b)' } }), told)
  t.equal(asked.length, 3)
  const customizer = {
    apiVersion: 'edge.kubestellar.io/v2alpha1',
    kind: 'Customizer',
    metadata: { name: 'c', namespace: 'default' },
    parameters: [{ values: { a: '1' } }],
  }
  const named = map('c', '%(a)', { ...EXPAND, 'edge.kubestellar.io/customizer': 'c' })
  const object = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    ...named,
    metadata: { ...named.metadata, namespace: 'default' },
  }
  const previews = '/apis/edge.kubestellar.io/v1alpha1/placementpreviews'
  t.match(await wds.post(previews, { spec: { objects: [object, customizer] } }), { code: 201 })
  t.match(asked.slice(3), [
    { object: { metadata: { name: 'c' } }, customizer: { parameters: [{ values: { a: '1' } }] } },
  ])
  const inventory = api.in(await createSpace(api, 'elsewhere', 'inventory'))
  t.equal(await warned(inventory.post(MAPS, map('a', '%(a)'))), '', 'nothing is placed from there')
})
