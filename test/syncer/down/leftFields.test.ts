/** Fields that a placement leaves to the cluster, against real API servers in this process. */
import t, { type Test } from 'tap'
import { isRecord, type KubeObject } from '../../../src/apimachinery/object.ts'
import { LEFT_FIELDS_ANNOTATION } from '../../../src/placement/words/placement.ts'
import { LEFT_MANAGER } from '../../../src/syncer/objects/handOver.ts'
import { startCenter } from '../../support/center.ts'
import { DEPLOYMENTS, MAPS } from '../support/kinds.ts'
import { PROJECTED, pairIn, sent } from '../support/pair.ts'

const center = await startCenter(t, { expectsTrouble: true })
const named = (group: string, resource: string, name: string) => ({
  group,
  resource,
  apiVersion: 'v1',
  objectsByNamespace: [{ namespace: 'app', names: [name] }],
})
const left = (...pointers: string[]) => ({ [LEFT_FIELDS_ANNOTATION]: JSON.stringify(pointers) })
const A = { namespace: 'app', name: 'a' }
const WEB = { namespace: 'app', name: 'web' }

async function pair(test: Test) {
  const p = await pairIn(center, test, {
    namespacedObjects: [named('', 'configmaps', 'a'), named('apps', 'deployments', 'web')],
  })
  const is = (key: string) => (wanted: (object: KubeObject) => boolean) =>
    center.world.present(p.clusterId, key, wanted)
  return { ...p, map: is('configmaps app/a'), web: is('deployments.apps app/web') }
}
/** No claim of the syncer's own is left on it: it is the cluster's. */
const lets =
  (claim: string) =>
  ({ metadata }: KubeObject): boolean =>
    !JSON.stringify(metadata.managedFields?.filter(({ manager }) => manager === 'kubestellar-syncer')).includes(claim)
const data =
  (wanted: Record<string, string>) =>
  ({ data: held }: KubeObject): boolean =>
    isRecord(held) && Object.entries(wanted).every(([key, value]) => held[key] === value)

t.test("an object is made with all of it, and what is left is the cluster's from then on", async t => {
  const p = await pair(t)
  p.start()
  await p.mailbox.create(MAPS, sent('a', { ours: '1', theirs: '1' }, { annotations: left('/data/theirs') }))
  const made = await p.map(lets('f:theirs'))
  t.same(made.data, { ours: '1', theirs: '1' })
  t.equal(made.metadata.annotations?.[LEFT_FIELDS_ANNOTATION], undefined, 'the word of the center stays there')
  await p.cluster.patch(MAPS, A, 'merge', { data: { theirs: 'cluster' } }, { fieldManager: 'somebody' })
  await p.mailbox.patch(MAPS, A, 'merge', { data: { ours: '2', theirs: '2' } })
  t.same((await p.map(data({ ours: '2' }))).data, { ours: '2', theirs: 'cluster' })

  await p.mailbox.patch(MAPS, A, 'merge', { data: { theirs: null, ours: '3' } })
  t.same((await p.map(data({ ours: '3' }))).data, { ours: '3', theirs: 'cluster' }, 'nor does it go with its source')
})

t.test('what was owned is handed over as it is, and taken into care again', async t => {
  const p = await pair(t)
  p.start()
  await p.mailbox.create(MAPS, sent('a', { x: '1', y: '1' }, { labels: { ...PROJECTED, team: 'a' } }))
  await p.map(data({ x: '1' }))
  const annotate = (annotations: object) => p.mailbox.patch(MAPS, A, 'merge', { metadata: { annotations } })
  await annotate(left('/data/x', '/metadata/labels/team'))
  const handed = await p.map(object => lets('f:x')(object) && lets('f:team')(object))
  t.same([handed.data, handed.metadata.labels?.team], [{ x: '1', y: '1' }, 'a'], 'without a default to fall back to')
  await p.mailbox.patch(MAPS, A, 'merge', { data: { x: '2', y: '2' } })
  t.same((await p.map(data({ y: '2' }))).data, { x: '1', y: '2' })

  await annotate({ [LEFT_FIELDS_ANNOTATION]: null })
  const again = await p.map(data({ x: '2' }))
  t.equal(again.metadata.labels?.team, 'a')
  const free = await p.map(object => !object.metadata.managedFields?.some(({ manager }) => manager === LEFT_MANAGER))
  t.same(free.data, { x: '2', y: '2' })
  await p.mailbox.patch(MAPS, A, 'merge', { data: { x: null, y: '3' } })
  t.same((await p.map(data({ y: '3' }))).data, { y: '3' }, 'what is gone from the source goes again')
})

t.test('replicas and the image of one container', async t => {
  const p = await pair(t)
  p.start()
  const container = (name: string, image: string) => ({ name, image })
  await p.mailbox.create(DEPLOYMENTS, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      ...WEB,
      labels: PROJECTED,
      annotations: left('/spec/replicas', '/spec/template/spec/containers/[name=web]/image'),
    },
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [container('web', 'w:1'), container('side', 's:1')] },
      },
    },
  })
  interface Spec {
    replicas: number
    template: { spec: { containers: { name: string; image: string }[] } }
  }
  const shown = (object: KubeObject) => {
    const { replicas, template } = object.spec as Spec
    return [replicas, ...template.spec.containers.map(({ image }) => image)]
  }
  t.same(shown(await p.web(lets('f:replicas'))), [3, 'w:1', 's:1'])
  const images = (web: string, side: string) => ({
    spec: { template: { spec: { containers: [container('web', web), container('side', side)] } } },
  })
  await p.cluster.patch(DEPLOYMENTS, WEB, 'strategic', { spec: { replicas: 7 } }, { fieldManager: 'hpa' })
  await p.cluster.patch(DEPLOYMENTS, WEB, 'strategic', images('w:9', 's:1'), { fieldManager: 'updater' })
  await p.mailbox.patch(DEPLOYMENTS, WEB, 'strategic', { ...images('w:2', 's:2') })
  t.same(shown(await p.web(object => shown(object)[2] === 's:2')), [7, 'w:9', 's:2'])
})

const deployment = (spec: object, annotations = {}): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { ...WEB, labels: PROJECTED, annotations },
  spec: {
    ...spec,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'web', image: 'w:1', ports: [{ containerPort: 80 }, { containerPort: 81 }] }] },
    },
  },
})
const IMAGE = '/spec/template/spec/containers/[name=web]/image'

t.test('a field that the kind requires is left to the cluster, from its creation and later', async t => {
  for (const isLater of [false, true]) {
    const p = await pair(t)
    p.start()
    await p.mailbox.create(DEPLOYMENTS, deployment({ replicas: 2 }, isLater ? {} : left(IMAGE)))
    if (!isLater) await p.web(lets('"f:image"'))
    else await p.web(() => true)
    // what is given up at once is tried, and no Deployment is valid without an image
    const edit = { metadata: { annotations: left(IMAGE) }, spec: { replicas: null, minReadySeconds: 3 } }
    await p.mailbox.patch(DEPLOYMENTS, WEB, 'merge', edit)
    const now = await p.web(({ spec }) => isRecord(spec) && spec.minReadySeconds === 3)
    t.ok(lets('"f:image"')(now))
    await p.cluster.patch(DEPLOYMENTS, WEB, 'json', [
      { op: 'replace', path: '/spec/template/spec/containers/0/image', value: 'w:9' },
    ])
    await p.mailbox.patch(DEPLOYMENTS, WEB, 'merge', { spec: { minReadySeconds: 4 } })
    const later = await p.web(({ spec }) => isRecord(spec) && spec.minReadySeconds === 4)
    t.match(later.spec, { template: { spec: { containers: [{ image: 'w:9' }] } } })
  }
})
