// Two spaces whose definitions of one kind have no version in common, in one cluster.
import t from 'tap'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { startCenter } from '../support/center.ts'
import { CRDS, NAMESPACES, namespace, PLACEMENTS, placement } from '../support/scene.ts'

const GROUP = 'versions.test'
const NAME = `gears.${GROUP}`
const ERROR = 'edge.kubestellar.io/customization-error'
const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
const definition = (version: string): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: NAME },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural: 'gears', singular: 'gear', kind: 'Gear' },
    versions: [{ name: version, served: true, storage: true, schema }],
  },
})
const gear = (name: string, version: string): KubeObject => ({
  apiVersion: `${GROUP}/${version}`,
  kind: 'Gear',
  metadata: { name, namespace: 'app' },
})
const established = ({ status }: KubeObject) => JSON.stringify(status ?? {}).includes('"Established"')
const placed = ({ status }: KubeObject): string =>
  JSON.stringify(
    (status as { conditions?: { type: string }[] })?.conditions?.find(({ type }) => type === 'Placed') ?? {},
  )

const center = await startCenter(t)
const { world, client } = center

t.test('the second space is told, nothing is tried without end, and it goes on when the first one leaves', async t => {
  const scene = await center.scene('versions', ['a'])
  const a = await scene.mailbox('a')
  const otherId = await center.space('versions-other')
  await center.consent('root:versions-imw', 'root:versions-other')
  const other = client.in(otherId)
  await other.create(NAMESPACES, namespace('app'))
  const spec = { downsync: [{ apiGroup: GROUP }] }
  for (const [api, id, version] of [
    [scene.wds, scene.wdsId, 'v1'],
    [other, otherId, 'v2'],
  ] as const) {
    await api.create(CRDS, definition(version))
    await world.present(id, `customresourcedefinitions.apiextensions.k8s.io ${NAME}`, established)
    await api.create({ group: GROUP, version, resource: 'gears' }, gear(version, version))
  }
  await scene.place('ep', spec)
  await world.present(a, `gears.${GROUP} app/v1`)
  await other.create(PLACEMENTS, placement('ep', { ...spec, ...scene.everywhere() }))
  const told = await world.present(
    otherId,
    `gears.${GROUP} app/v2`,
    ({ metadata }) => metadata.annotations?.[ERROR] !== undefined,
  )
  t.match(
    told.metadata.annotations?.[ERROR],
    `CustomResourceDefinition "${NAME}", that of space ${scene.wdsId}, is placed`,
  )
  t.match(told.metadata.annotations?.[ERROR], 'does not serve version v2 there')
  const ep = await world.present(otherId, 'edgeplacements.edge.kubestellar.io ep', object =>
    placed(object).includes('KindNotServed'),
  )
  t.match(placed(ep), 'does not serve version v2')
  t.notOk(world.get(a, `gears.${GROUP} app/v2`))
  await scene.wds.delete(PLACEMENTS, { name: 'ep' })
  await world.present(a, `gears.${GROUP} app/v2`)
  await world.present(otherId, `gears.${GROUP} app/v2`, ({ metadata }) => metadata.annotations?.[ERROR] === undefined)
  await world.present(otherId, 'edgeplacements.edge.kubestellar.io ep', object => placed(object).includes('"True"'))
})
