/** Lists with two items of one key, which client-side apply accepts and server-side apply refuses. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { SYNCER_MANAGER } from '../../../src/syncer/objects/marks.ts'
import { wholeUpdate } from '../../../src/syncer/objects/wholeUpdate.ts'
import { startCenter } from '../../support/center.ts'
import { DEPLOYMENTS } from '../support/kinds.ts'
import { PROJECTED, pairIn } from '../support/pair.ts'

const center = await startCenter(t, { expectsTrouble: true })
const WEB = { namespace: 'app', name: 'web' }
const ONE = { name: 'OPTS', value: '1' }
const TWO = { name: 'OPTS', value: '2' }
const WANTS = {
  namespacedObjects: [
    {
      group: 'apps',
      resource: 'deployments',
      apiVersion: 'v1',
      objectsByNamespace: [{ namespace: 'app', names: ['web'] }],
    },
  ],
}
const deployment = (container: object, more: object = {}, metadata: object = {}): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { ...WEB, labels: PROJECTED, ...metadata },
  spec: {
    ...more,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'c', image: 'w:1', ...container }] },
    },
  },
})
interface Container {
  image: string
  env?: object[]
  ports?: object[]
  tty?: boolean
}
const containerOf = ({ spec }: KubeObject): Container =>
  (spec as { template: { spec: { containers: Container[] } } }).template.spec.containers[0]!

for (const [what, list] of [
  ['env entries of one name', { env: [ONE, TWO] }],
  ['equal ports', { ports: [{ containerPort: 80 }, { containerPort: 80, name: 'again' }] }],
] as const)
  t.test(`${what} are updated as they were made`, async t => {
    const p = await pairIn(center, t, WANTS)
    p.start()
    const has = (wanted: (container: Container, object: KubeObject) => boolean) =>
      center.world.present(p.clusterId, 'deployments.apps app/web', object => wanted(containerOf(object), object))
    const edit = async (object: KubeObject): Promise<void> => {
      const { resourceVersion = '' } = (await p.mailbox.get(DEPLOYMENTS, WEB)).metadata
      await p.mailbox.update(DEPLOYMENTS, { ...object, metadata: { ...object.metadata, resourceVersion } })
    }
    await p.mailbox.create(DEPLOYMENTS, deployment({ ...list, tty: true }, { minReadySeconds: 5 }))
    const made = await has(() => true)
    await p.cluster.patch(
      DEPLOYMENTS,
      WEB,
      'merge',
      { metadata: { labels: { theirs: 'yes' } } },
      { fieldManager: 'somebody' },
    )
    await edit(deployment({ ...list, image: 'w:2' }))
    const edited = await has(({ image }) => image === 'w:2')
    t.match(containerOf(edited), list)
    t.equal(containerOf(edited).tty, undefined, 'what is sent no more is removed')
    t.equal((edited.spec as { minReadySeconds?: number }).minReadySeconds ?? 0, 0)
    t.match(edited.metadata, { uid: made.metadata.uid, labels: { theirs: 'yes' } })

    await edit(deployment({ image: 'w:3', env: [TWO] }))
    const single = await has(({ image }) => image === 'w:3')
    t.match(containerOf(single), { env: [TWO] })
    t.equal(containerOf(single).env?.length, 1, 'duplicates go away by an edit')
    t.equal(containerOf(single).ports, undefined)

    await edit(deployment({ image: 'w:3b' }))
    t.equal(
      containerOf(await has(({ image }) => image === 'w:3b')).env,
      undefined,
      'what was a duplicate goes by an apply',
    )

    await edit(deployment({ image: 'w:4', ...list }))
    t.match(containerOf(await has(({ image }) => image === 'w:4')), list, 'and come in by one')
    await edit(deployment({ image: 'w:5' }))
    const without = await has(({ image }) => image === 'w:5')
    t.same([containerOf(without).env, containerOf(without).ports], [undefined, undefined], 'and go as a whole')
    t.match(without.metadata, { labels: { theirs: 'yes' } })
  })

t.test('what is left to the cluster, and what others own, stays in a whole update', async t => {
  const claim = (manager: string, fieldsV1: object) => ({
    manager,
    operation: 'Apply',
    apiVersion: 'apps/v1',
    fieldsType: 'FieldsV1',
    fieldsV1,
  })
  const live = deployment({ env: [ONE, TWO], tty: true }, { replicas: 7, paused: true })
  ;(live.spec as { template: { spec: { containers: object[] } } }).template.spec.containers.push({ name: 'injected' })
  live.metadata.managedFields = [
    claim('hpa', { 'f:spec': { 'f:paused': {} } }),
    claim(SYNCER_MANAGER, {
      'f:spec': {
        'f:replicas': {},
        'f:paused': {},
        'f:template': { 'f:spec': { 'f:containers': { 'k:{"name":"c"}': { '.': {}, 'f:tty': {}, 'f:env': {} } } } },
      },
    }),
  ] as never
  const copy = deployment({ env: [TWO, TWO] })
  const updated = wholeUpdate(copy, live, [[{ member: 'spec' }, { member: 'replicas' }]])
  t.match(updated.spec, {
    replicas: 7,
    paused: true,
    template: { spec: { containers: [{ env: [TWO, TWO] }, { name: 'injected' }] } },
  })
  t.notOk(JSON.stringify(updated.spec).includes('tty'))
  t.equal(updated.metadata.managedFields?.length, 2)
  const again = wholeUpdate(deployment({}), updated, [])
  t.equal(containerOf(again).env, undefined, 'by the claim of the update before')
})
