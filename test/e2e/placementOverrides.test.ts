// A team's overrides: parameters, replacements and patches by Location. Previews, copies and statuses say the same of them.
import t from 'tap'
import { isRecord, type KubeObject } from '../../src/apimachinery/object.ts'
import type { PreviewReceiver } from '../../src/placement/desks/placementPreview.ts'
import { startCenter } from '../support/center.ts'
import { CUSTOMIZERS, customizer, DEPLOYMENTS, LOCATIONS } from '../support/scene.ts'

const FAULT = 'edge.kubestellar.io/customization-error'
const EXPAND = { 'edge.kubestellar.io/expand-parameters': 'true' }

let previewer: PreviewReceiver | undefined
const center = await startCenter(t, {
  previews: {
    deliverTo: receiver => {
      previewer = receiver
    },
  },
})
const { world, client } = center

const deployment = (name: string, by: string, image = 'web:1'): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    namespace: 'app',
    name,
    annotations: { ...(image !== 'web:1' && EXPAND), 'edge.kubestellar.io/customizer': by },
  },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: {
        containers: [
          { name: 'web', image },
          { name: 'log', image: 'log:1' },
        ],
      },
    },
  },
})
const ALL = { downsync: [{ apiGroup: 'apps', resources: ['deployments'], namespaces: ['app'] }] }
const inEnv = (env: string) => ({ locationSelector: { matchLabels: { env } } })

/** Number of replicas, images, and value of the label. */
function saying(object: KubeObject | undefined): string {
  const spec = isRecord(object?.spec) ? object.spec : {}
  const template = isRecord(spec.template) && isRecord(spec.template.spec) ? spec.template.spec : {}
  const containers = Array.isArray(template.containers) ? template.containers.filter(isRecord) : []
  return [spec.replicas, ...containers.map(({ image }) => image), object?.metadata.labels?.tier ?? '-'].join(' ')
}

t.test('two Customizers, two Locations: a preview shows what the copies become', async t => {
  const scene = await center.scene('overrides', [])
  const prod = await scene.addCluster('prod', { env: 'prod' })
  const test = await scene.addCluster('test', { env: 'test' })
  const patches = customizer('patches', [
    { path: '$.spec.replicas', value: '2' },
    { ...inEnv('prod'), jsonPatch: [{ op: 'replace', path: '/spec/replicas', value: 5 }] },
    {
      ...inEnv('test'),
      strategicMergePatch: { spec: { template: { spec: { containers: [{ name: 'log', $patch: 'delete' }] } } } },
    },
    { mergePatch: { metadata: { labels: { tier: 'gold' } } } },
  ])
  const parameters = {
    ...customizer('parameters', [{ path: '$.spec.replicas', value: '%(replicas)' }], { annotations: EXPAND }),
    parameters: [{ values: { replicas: '3', version: '2' } }, { ...inEnv('test'), values: { replicas: '1' } }],
  }
  const one = deployment('one', 'patches')
  const two = deployment('two', 'parameters', 'web:%(version)')
  await scene.place('ep', ALL)
  await center.settled()
  const write = { operation: 'create' } as const
  const objects = [
    { resource: CUSTOMIZERS, object: patches, ...write },
    { resource: CUSTOMIZERS, object: parameters, ...write },
    { resource: DEPLOYMENTS, object: one, ...write },
    { resource: DEPLOYMENTS, object: two, ...write },
  ]
  const { objects: answers } = await previewer!.preview({ space: scene.wdsId, objects })
  const previewed = answers.flatMap(({ name, groups }) =>
    groups.map(({ locations, after }) => `${name} ${locations.map(at => at.name)}: ${saying(after)}`),
  )
  const expected = [
    'one prod: 5 web:1 log:1 gold',
    'one test: 2 web:1 gold',
    'two prod: 3 web:2 log:1 -',
    'two test: 1 web:2 log:1 -',
  ]
  t.same(previewed.sort(), expected)
  await scene.wds.create(CUSTOMIZERS, patches)
  await scene.wds.create(CUSTOMIZERS, parameters)
  await scene.wds.create(DEPLOYMENTS, one)
  await scene.wds.create(DEPLOYMENTS, two)
  const copies = async () => {
    const found: string[] = []
    for (const [name, mailbox] of Object.entries({ prod, test }))
      for (const key of ['one', 'two']) {
        const copy = await world.present(mailbox, `deployments.apps app/${key}`)
        found.push(`${key} ${name}: ${saying(copy)}`)
      }
    return found.sort()
  }
  t.same(await copies(), expected)
  // another label of a Location brings other rules, in that cluster alone
  await client
    .in(scene.inventory)
    .patch(LOCATIONS, { name: 'test' }, 'merge', { metadata: { labels: { env: 'prod' } } })
  await world.present(test, 'deployments.apps app/one', object => saying(object) === '5 web:1 log:1 gold')
  await world.present(test, 'deployments.apps app/two', object => saying(object) === '3 web:2 log:1 -')
  t.same(
    (await copies()).filter(text => text.includes('prod:')),
    expected.filter(text => text.includes('prod:')),
  )
})

t.test('a patch that fails in one Location holds the object back there, and the placement says so', async t => {
  const scene = await center.scene('failing', [])
  const prod = await scene.addCluster('prod', { env: 'prod' })
  const test = await scene.addCluster('test', { env: 'test' })
  const wrong = { ...inEnv('prod'), jsonPatch: [{ op: 'replace', path: '/spec/replicsa', value: 5 }] }
  await scene.wds.create(CUSTOMIZERS, customizer('c', [wrong]))
  await scene.wds.create(DEPLOYMENTS, deployment('one', 'c'))
  await scene.place('ep', ALL)
  await world.present(test, 'deployments.apps app/one')
  const fault = 'Customizer app/c replacements[0]: jsonPatch: doc is missing path: /spec/replicsa'
  const source = await world.present(
    scene.wdsId,
    'deployments.apps app/one',
    object => FAULT in (object.metadata.annotations ?? {}),
  )
  t.equal(source.metadata.annotations?.[FAULT], `${fault} (for prod)`)
  const said = (object: KubeObject): string => JSON.stringify(object.status ?? {})
  const ep = await world.present(scene.wdsId, 'edgeplacements.edge.kubestellar.io ep', o =>
    said(o).includes('CustomizationFailed'),
  )
  t.ok(said(ep).includes('replacements[0]: jsonPatch'))
  t.equal(world.get(prod, 'deployments.apps app/one'), undefined, 'nothing broken comes there')
  const right = { ...wrong, jsonPatch: [{ op: 'replace', path: '/spec/replicas', value: 5 }] }
  await scene.wds.patch(CUSTOMIZERS, { namespace: 'app', name: 'c' }, 'merge', { replacements: [right] })
  await world.present(prod, 'deployments.apps app/one', object => saying(object).startsWith('5 '))
  await world.present(
    scene.wdsId,
    'deployments.apps app/one',
    object => !(FAULT in (object.metadata.annotations ?? {})),
  )
  // what the kind does not allow is refused by its rules, and the last good copy stays
  const broken = { ...wrong, jsonPatch: [{ op: 'replace', path: '/spec/replicas', value: 'many' }] }
  await scene.wds.patch(CUSTOMIZERS, { namespace: 'app', name: 'c' }, 'merge', { replacements: [broken] })
  const told = await world.present(
    scene.wdsId,
    'deployments.apps app/one',
    object => FAULT in (object.metadata.annotations ?? {}),
  )
  t.match(told.metadata.annotations?.[FAULT], /the copy is refused: .*replicas.*\(for prod\)/)
  t.match(saying(world.get(prod, 'deployments.apps app/one')), /^5 /)
})

t.test('of two Locations that lead to one cluster, the rules of the first by name hold', async () => {
  const scene = await center.scene('twice', [])
  const mailbox = await scene.addCluster('b', { env: 'test' })
  const location = await client.in(scene.inventory).get(LOCATIONS, { name: 'b' })
  const { metadata, ...rest } = location
  const labels = { ...metadata.labels, env: 'prod' }
  await scene.wds.create(
    CUSTOMIZERS,
    customizer('c', [
      { ...inEnv('prod'), path: '$.spec.replicas', value: '5' },
      { ...inEnv('test'), path: '$.spec.replicas', value: '2' },
    ]),
  )
  await scene.wds.create(DEPLOYMENTS, deployment('one', 'c'))
  await scene.place('ep', ALL)
  await world.present(mailbox, 'deployments.apps app/one', object => saying(object).startsWith('2 '))
  await client.in(scene.inventory).create(LOCATIONS, { ...rest, metadata: { name: 'a', labels } })
  await world.present(mailbox, 'deployments.apps app/one', object => saying(object).startsWith('5 '))
  await client.in(scene.inventory).delete(LOCATIONS, { name: 'a' })
  await world.present(mailbox, 'deployments.apps app/one', object => saying(object).startsWith('2 '))
})
