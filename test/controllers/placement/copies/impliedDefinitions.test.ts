// Definitions that come along with custom objects: what tells them, and who they give way to.

import t from 'tap'
import type { KubeObject } from '../../../../src/apimachinery/object.ts'
import { CRDS, NAMESPACES } from '../../../../src/apimachinery/resources.ts'
import { EDGE_PLACEMENTS, SLICES } from '../../../../src/placement/words/placement.ts'
import { namespace } from '../fakeServer.ts'
import { CRONTABS, consent, placement, slice, world } from '../translatorWorld.ts'

const NAME = 'crontabs.stable.example.com'
const IMPLIED = 'edge.kubestellar.io/implied'
const TABS = { downsync: [{ apiGroup: 'stable.example.com' }] }
const crd = (label: string): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: NAME, labels: { label } },
  spec: { group: 'stable.example.com', names: { plural: 'crontabs' } },
})
const tab = (name: string): KubeObject => ({
  apiVersion: 'stable.example.com/v1',
  kind: 'CronTab',
  metadata: { name, namespace: 'commonstuff' },
  spec: {},
})
const DEFINITIONS = { apiGroup: 'apiextensions.k8s.io', resources: ['customresourcedefinitions'] }

t.test('a definition that nobody placed says so, until somebody does', async t => {
  const { server, wds, florin } = await world(t)
  const mark = () => server.peek(florin, CRDS, NAME)?.metadata.annotations?.[IMPLIED]
  await wds.create(CRDS, crd('one'))
  await wds.create(CRONTABS, tab('a'))
  await wds.create(EDGE_PLACEMENTS, placement('ep', TABS))
  await wds.create(SLICES, slice('ep', 'florin'))
  await server.until(() => server.peek(florin, CRONTABS, 'a', 'commonstuff') !== undefined)
  await server.quiet()
  t.equal(mark(), 'true')
  t.equal(server.peek(florin, CRONTABS, 'a', 'commonstuff')?.metadata.annotations?.[IMPLIED], undefined)
  const spec = { downsync: [...TABS.downsync, DEFINITIONS] }
  await wds.patch(EDGE_PLACEMENTS, { name: 'ep' }, 'merge', { spec })
  await server.quiet()
  t.equal(mark(), undefined)
  await wds.patch(EDGE_PLACEMENTS, { name: 'ep' }, 'merge', { spec: TABS })
  await server.quiet()
  t.equal(mark(), 'true')
})

t.test('a definition that came along gives way to the one that another space places', async t => {
  const { server, wds, florin } = await world(t)
  await consent(server, 'wds2')
  const other = server.in('wds2')
  await other.create(NAMESPACES, namespace('commonstuff'))
  const label = () => server.peek(florin, CRDS, NAME)?.metadata.labels?.label
  await wds.create(CRDS, crd('poor'))
  await wds.create(CRONTABS, tab('a'))
  await wds.create(EDGE_PLACEMENTS, placement('ep', TABS))
  await wds.create(SLICES, slice('ep', 'florin'))
  await server.until(() => label() === 'poor')
  await other.create(CRDS, crd('rich'))
  await other.create(EDGE_PLACEMENTS, placement('ep', { downsync: [DEFINITIONS] }))
  await other.create(SLICES, slice('ep', 'florin'))
  await server.quiet()
  t.equal(label(), 'rich')
  t.ok(server.peek(florin, CRONTABS, 'a', 'commonstuff'))
  await other.delete(EDGE_PLACEMENTS, { name: 'ep' })
  await server.quiet()
  t.equal(label(), 'poor')
  t.notOk(server.writes.includes(`${florin} delete customresourcedefinitions /${NAME}`), 'in place')
})
