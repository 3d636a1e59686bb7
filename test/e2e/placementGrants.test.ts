// A running center: objects without a grant stay at home and are reported; a changed grant counts at once.
import t from 'tap'
import { isRecord, type KubeObject } from '../../src/apimachinery/object.ts'
import { CRDS } from '../../src/apimachinery/resources.ts'
import { GRANTS, MAPS, NAMESPACES, startCenter } from '../support/center.ts'

const center = await startCenter(t)

const placed = ({ status }: KubeObject): Record<string, unknown> => {
  const conditions: unknown = isRecord(status) ? status.conditions : undefined
  const found: unknown = Array.isArray(conditions) ? conditions.find(one => isRecord(one) && one.type === 'Placed') : {}
  return isRecord(found) ? found : {}
}

t.test('a grant for one namespace, widened, and withdrawn', async t => {
  const scene = await center.scene('granted', ['florin'])
  const mailbox = await scene.mailbox('florin')
  const inventory = center.client.in(scene.inventory)
  const told = (reason: string) =>
    center.world.present(
      scene.wdsId,
      'edgeplacements.edge.kubestellar.io ep',
      object => placed(object).reason === reason,
    )
  const [grant] = (await inventory.list(GRANTS)).items
  const change = (spec: object) => inventory.patch(GRANTS, { name: grant!.metadata.name! }, 'merge', { spec })
  await change({ namespaces: ['app'] })
  await scene.wds.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other' } })
  await scene.map('page', {})
  await scene.wds.create(MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'page', namespace: 'other' } })
  await scene.place('ep', { downsync: [{ apiGroup: '', resources: ['configmaps'], objectNames: ['page'] }] })
  await center.holds(mailbox, ['app/page'])
  const refused = placed(await told('NamespaceNotGranted'))
  t.match(refused, { status: 'False', message: /configmaps "other\/page": namespace "other" is not granted; ask who/ })
  t.ok(refused.lastTransitionTime)
  await change({ namespaces: ['app', 'oth*'] })
  await center.holds(mailbox, ['app/page', 'other/page'])
  t.match(placed(await told('AllPlaced')), { status: 'True' })
  await inventory.delete(GRANTS, { name: grant!.metadata.name! })
  await scene.confirmHeld('ep')
  await center.holds(mailbox, [])
  t.match(placed(await told('NotGranted')), {
    status: 'False',
    message: /kubectl kubestellar grant --imw root:granted-imw/,
  })
})

t.test('a custom object whose definition may not be placed is told of, and follows when that may', async t => {
  const scene = await center.scene('unserved', ['florin'])
  const mailbox = await scene.mailbox('florin')
  const inventory = center.client.in(scene.inventory)
  const [grant] = (await inventory.list(GRANTS)).items
  const change = (spec: object) => inventory.patch(GRANTS, { name: grant!.metadata.name! }, 'merge', { spec })
  await change({ clusterScoped: false })
  const [group, plural] = ['unserved.example.com', 'things']
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  await scene.wds.create(CRDS, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, singular: 'thing', kind: 'Thing' },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  } as KubeObject)
  const established = ({ status }: KubeObject) => JSON.stringify(status ?? {}).includes('"Established"')
  await center.world.present(
    scene.wdsId,
    `customresourcedefinitions.apiextensions.k8s.io ${plural}.${group}`,
    established,
  )
  const thing = { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: 'one', namespace: 'app' } }
  await scene.wds.create({ group, version: 'v1', resource: plural }, thing)
  await scene.place('ep', { downsync: [{ apiGroup: group }] })
  const says = (text: string) => (object: KubeObject) => String(placed(object).message).includes(text)
  const ep = 'edgeplacements.edge.kubestellar.io ep'
  await center.world.present(scene.wdsId, ep, says(`KindNotServed: 1 refused (1 copy): ${plural}.${group} "app/one"`))
  await change({ clusterScoped: true })
  t.ok(await center.world.present(mailbox, `${plural}.${group} app/one`))
  await center.world.present(scene.wdsId, ep, object => placed(object).status === 'True')
})
