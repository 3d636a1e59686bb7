// Parameters where kinds want numbers, and texts of their own form: described in one space, judged for each destination.
import t from 'tap'
import type { GroupVersionResource, KubeObject } from '../../src/apimachinery/object.ts'
import { startCenter } from '../support/center.ts'
import { CRDS, LOCATIONS, NAMESPACES, namespace, PLACEMENTS, placement, WORKSPACES } from '../support/scene.ts'

const FAULT = 'edge.kubestellar.io/customization-error'
const EXPAND = { 'edge.kubestellar.io/expand-parameters': 'true' }
const INGRESSES: GroupVersionResource = { group: 'networking.k8s.io', version: 'v1', resource: 'ingresses' }
const SERVICES: GroupVersionResource = { group: '', version: 'v1', resource: 'services' }
const DEPLOYMENTS: GroupVersionResource = { group: 'apps', version: 'v1', resource: 'deployments' }
const GEARS: GroupVersionResource = { group: 'params.test', version: 'v1', resource: 'gears' }

const center = await startCenter(t)
const { world, client } = center

/** A workload space with a cluster whose Location says these. */
async function described(tag: string, parameters: Record<string, string>) {
  const scene = await center.scene(`${tag}-other`, [])
  const spec = { type: { name: 'workload', path: 'root' } }
  const workspace = { apiVersion: 'tenancy.kcp.io/v1alpha1', kind: 'Workspace', metadata: { name: tag }, spec }
  await client.in('root').create(WORKSPACES, workspace)
  const id = await center.readySpace('root', tag)
  const mailbox = await scene.addCluster('a')
  await center.consent(`root:${tag}-other-imw`, `root:${tag}`)
  const say = (annotations: Record<string, string>) =>
    client.in(scene.inventory).patch(LOCATIONS, { name: 'a' }, 'merge', { metadata: { annotations } })
  await say(parameters)
  const space = client.in(id)
  await space.create(NAMESPACES, namespace('app'))
  const place = (...groups: string[]) =>
    space.create(
      PLACEMENTS,
      placement('ep', {
        ...scene.everywhere(),
        downsync: groups.map(apiGroup => ({ apiGroup, namespaces: ['app'] })),
      }),
    )
  return { id, space, mailbox, place, say }
}
const service = (port: unknown, annotations: Record<string, string> = EXPAND): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: 'app', annotations },
  spec: {
    selector: { app: 'web' },
    ports: [
      { name: 'a', port, targetPort: '%(target)' },
      { name: 'b', port: '%(other)', targetPort: '%(named)' },
    ],
  },
})
const ingress: KubeObject = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'Ingress',
  metadata: { name: 'web', namespace: 'app', annotations: EXPAND },
  spec: {
    rules: [
      {
        host: '%(host)',
        http: {
          paths: [
            { path: '/', pathType: 'Prefix', backend: { service: { name: 'web', port: { number: '%(port)' } } } },
          ],
        },
      },
    ],
  },
}
const deployment: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'app', annotations: EXPAND },
  spec: {
    replicas: '%(replicas)',
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: {
        containers: [
          {
            name: 'c',
            image: 'nginx',
            tty: '%(tty)',
            resources: { limits: { cpu: '%(cpu)' } },
            ports: [{ containerPort: '%(port)' }],
          },
        ],
      },
    },
  },
}
const at = { namespace: 'app', name: 'web' }

t.test('references stand for hosts, ports, counts and truth values, and become them', async t => {
  const parameters = {
    host: 'a.example.com',
    port: '8080',
    other: '81',
    target: '80',
    named: 'http',
    replicas: '3',
    tty: 'true',
    cpu: '250m',
  }
  const { id, space, mailbox, place } = await described('parameters', parameters)
  await space.create(SERVICES, service('%(port)'))
  await space.create(INGRESSES, ingress)
  await space.create(DEPLOYMENTS, deployment)
  await place('', 'networking.k8s.io', 'apps')
  const inBox = await world.present(mailbox, 'services app/web')
  t.match(inBox.spec, {
    ports: [
      { port: 8080, targetPort: 80 },
      { port: 81, targetPort: 'http' },
    ],
  })
  t.match((await world.present(mailbox, 'ingresses.networking.k8s.io app/web')).spec, {
    rules: [{ host: 'a.example.com', http: { paths: [{ backend: { service: { port: { number: 8080 } } } }] } }],
  })
  t.match((await world.present(mailbox, 'deployments.apps app/web')).spec, {
    replicas: 3,
    template: {
      spec: { containers: [{ tty: true, resources: { limits: { cpu: '250m' } }, ports: [{ containerPort: 8080 }] }] },
    },
  })
  await center.settled()
  for (const key of ['services app/web', 'ingresses.networking.k8s.io app/web', 'deployments.apps app/web'])
    t.equal(world.get(id, key)?.metadata.annotations?.[FAULT], undefined)
  const source = await space.get(SERVICES, at)
  t.match(source.spec, { ports: [{ port: '%(port)' }, { port: '%(other)' }] }, 'the source stays as it was written')
  await space.patch(SERVICES, at, 'merge', { metadata: { labels: { changed: 'yes' } } })
  await world.present(mailbox, 'services app/web', ({ metadata }) => metadata.labels?.changed === 'yes')
  await space.patch(DEPLOYMENTS, at, 'strategic', { spec: { paused: true } })
  await space.patch(DEPLOYMENTS, at, 'strategic', { spec: { replicas: 5 } })
  const applied = { ...deployment, spec: { replicas: '%(replicas)' } }
  await space.patch(DEPLOYMENTS, at, 'apply', applied, { fieldManager: 'somebody', force: true })
  await space.patch(DEPLOYMENTS, at, 'merge', { spec: { replicas: 5 } })
  await world.present(mailbox, 'deployments.apps app/web', ({ spec }) => JSON.stringify(spec).includes('"replicas":5'))
})

t.test('what comes of them is judged for the destination, and told on the source until it is right', async t => {
  const { id, space, mailbox, place, say } = await described('judged', {
    port: '0',
    other: '81',
    target: '80',
    named: 'http',
  })
  await space.create(SERVICES, service('%(port)'))
  await place('')
  const fault = ({ metadata }: KubeObject): string => metadata.annotations?.[FAULT] ?? ''
  const told = await world.present(id, 'services app/web', object => fault(object) !== '')
  t.match(fault(told), /spec\.ports\[0\]\.port: Invalid value: 0: must be between 1 and 65535, inclusive \(for a\)/)
  await say({ port: 'eighty' })
  await world.present(id, 'services app/web', object =>
    /cannot unmarshal string .*port of type int32/.test(fault(object)),
  )
  await say({ port: '80' })
  await world.present(mailbox, 'services app/web')
  await world.present(id, 'services app/web', object => fault(object) === '')
})

t.test('everything else is refused as ever', async t => {
  const { space } = await described('refused', {})
  await t.rejects(space.create(SERVICES, service('%(port)', {})), /cannot unmarshal string/)
  await t.rejects(space.create(SERVICES, service('http')), /cannot unmarshal string/)
  await t.rejects(space.create(SERVICES, service(0)), /spec\.ports\[0\]\.port: Invalid value: 0/)
  const universal = await center.scene('universal', [])
  await t.rejects(universal.wds.create(SERVICES, service('%(port)')), /cannot unmarshal string/)
  await t.rejects(
    space.create(NAMESPACES, {
      ...namespace('x'),
      metadata: { name: 'x', annotations: EXPAND, labels: { a: '%(b)' } },
    }),
    /a valid label must be/,
  )
})

t.test('custom kinds too: their schemas judge what comes of references', async t => {
  const { space, id, mailbox, place, say } = await described('custom', { teeth: '3', name: 'x' })
  const properties = {
    teeth: { type: 'integer', minimum: 5 },
    name: { type: 'string', pattern: '^[a-z]+$' },
  }
  await space.create(CRDS, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'gears.params.test' },
    spec: {
      group: 'params.test',
      scope: 'Namespaced',
      names: { plural: 'gears', singular: 'gear', kind: 'Gear' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } } },
        },
      ],
    },
  })
  await world.present(id, 'customresourcedefinitions.apiextensions.k8s.io gears.params.test', ({ status }) =>
    JSON.stringify(status ?? {}).includes('"Established"'),
  )
  await space.create(GEARS, {
    apiVersion: 'params.test/v1',
    kind: 'Gear',
    metadata: { name: 'one', namespace: 'app', annotations: EXPAND },
    spec: { teeth: '%(teeth)', name: '%(name)' },
  })
  await place('params.test')
  const key = 'gears.params.test app/one'
  await world.present(id, key, ({ metadata }) => /greater than or equal to 5/.test(metadata.annotations?.[FAULT] ?? ''))
  await say({ teeth: '12' })
  t.match((await world.present(mailbox, key)).spec, { teeth: 12, name: 'x' })
})
