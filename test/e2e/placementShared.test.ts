// One object wanted by several placements, of one workload space or of two.
import t from 'tap'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { startCenter } from '../support/center.ts'
import { configMap, MAPS, NAMESPACES, namespace, PLACEMENTS, placement, WORKSPACES } from '../support/scene.ts'

const COUNT = 'kubestellar.io/executing-count'
const ONE = 'configmaps app/one'
const REF = { namespace: 'app', name: 'one' }
const MINE = { downsync: [{ apiGroup: '', resources: ['configmaps'], objectNames: ['one'] }] }

const center = await startCenter(t)
const { world, client } = center
const data = (object: KubeObject): Record<string, string> => (object.data ?? {}) as Record<string, string>

t.test(
  'two placements of one space: the union of their clusters, counted once each; one leaves, the other holds',
  async t => {
    const scene = await center.scene('union', ['a', 'b', 'c'])
    const [a, b, c] = [await scene.mailbox('a'), await scene.mailbox('b'), await scene.mailbox('c')]
    await scene.map('one')
    await scene.place('left', { ...MINE, ...scene.at('a', 'b'), wantSingletonReportedState: true })
    await scene.place('right', { ...MINE, ...scene.at('b', 'c') })
    await world.present(scene.wdsId, ONE, o => o.metadata.annotations?.[COUNT] === '3')
    for (const mailbox of [a, b, c]) await world.present(mailbox, ONE)
    const uid = world.get(b, ONE)?.metadata.uid
    await scene.wds.delete(PLACEMENTS, { name: 'right' })
    await world.absent(c, ONE)
    await world.present(scene.wdsId, ONE, o => o.metadata.annotations?.[COUNT] === '2')
    t.equal(world.get(b, ONE)?.metadata.uid, uid, 'in the shared cluster it never went')
    await scene.wds.delete(PLACEMENTS, { name: 'left' })
    for (const mailbox of [a, b]) await world.absent(mailbox, ONE)
    await world.present(scene.wdsId, ONE, o => o.metadata.annotations?.[COUNT] === undefined)
  },
)

t.test('two spaces with the same object: the newest says what is in it; who stays keeps it', async t => {
  const scene = await center.scene('spaces', ['a'])
  const a = await scene.mailbox('a')
  const otherId = await center.space('spaces-other')
  await center.consent('root:spaces-imw', 'root:spaces-other')
  const other = client.in(otherId)
  await other.create(NAMESPACES, namespace('app'))
  await scene.map('one', { from: 'first' }, { labels: { first: 'yes' } })
  await scene.place('ep')
  await world.present(a, ONE, o => data(o).from === 'first')
  await other.create(MAPS, configMap('one', { from: 'second' }, { labels: { second: 'yes' } }))
  await other.create(PLACEMENTS, placement('ep', { ...MINE, ...scene.everywhere() }))
  const both = await world.present(a, ONE, o => data(o).from === 'second')
  t.match(both.metadata.labels, { first: 'yes', second: 'yes' })
  await scene.wds.patch(MAPS, REF, 'merge', { data: { from: 'first again' } })
  await world.present(a, ONE, o => data(o).from === 'first again')
  const { uid } = both.metadata
  await scene.wds.delete(MAPS, REF)
  const left = await world.present(a, ONE, o => data(o).from === 'second')
  t.equal(left.metadata.uid, uid, 'the copy is never deleted while one of them wants it')
  t.equal(left.metadata.labels?.first, undefined, 'what only the other gave is gone')
  await center.settled()
  t.equal(world.get(a, ONE)?.metadata.resourceVersion, left.metadata.resourceVersion, 'no flapping')
  await client.in('root').delete(WORKSPACES, { name: 'spaces-other' })
  await world.absent(a, ONE)
  t.ok(world.get(a, 'namespaces app'), 'Namespaces stay')
})
