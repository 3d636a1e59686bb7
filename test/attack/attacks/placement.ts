/** Work that a tenant makes the controllers do, on a cluster of their own; and a syncer that carries up without end. */
import { type Attack, attack } from '../attack.ts'
import { Attacker } from '../attacker.ts'
import { crowd, type Ground } from '../ground.ts'

const VERSION = 'edge.kubestellar.io/v2alpha1'
const EDGE = `/apis/${VERSION}`
const EXPAND = { 'edge.kubestellar.io/expand-parameters': 'true' }
const FAULT = 'edge.kubestellar.io/customization-error'

interface Fleet {
  clusters: number
  /** Annotations of each Location. */
  parameters?: Record<string, string>
}

/** Alice's space is an inventory with clusters, and places on them the ConfigMaps of `default` that have the label `p`. */
async function fleet(ground: Ground, { clusters, parameters = {} }: Fleet): Promise<void> {
  const { admin, alice, space } = ground
  const edge = (resource: string): string => `${space.prefix}${EDGE}/${resource}`
  const make = (kind: string, resource: string, name: string, content: object, metadata: object = {}) =>
    alice.must({
      path: edge(resource),
      body: { apiVersion: VERSION, kind, metadata: { name, ...metadata }, ...content },
    })
  await crowd(clusters, 8, async i => {
    const name = `cluster-${i}`
    await make('SyncTarget', 'synctargets', name, { spec: {} }, { labels: { id: name } })
    await make(
      'Location',
      'locations',
      name,
      {
        spec: {
          resource: { group: 'edge.kubestellar.io', version: 'v2alpha1', resource: 'synctargets' },
          instanceSelector: { matchLabels: { id: name } },
        },
      },
      { labels: { env: 'prod' }, annotations: parameters },
    )
  })
  await make('InventoryBinding', 'inventorybindings', 'own', { spec: { path: space.path } })
  await make('PlacementGrant', 'placementgrants', 'own', {
    spec: { spaces: [{ path: space.path }], clusterScoped: true, upsync: [{ apiGroup: '*', resources: ['*'] }] },
  })
  await make('EdgePlacement', 'edgeplacements', 'own', {
    spec: {
      locationSelectors: [{ matchLabels: { env: 'prod' } }],
      downsync: [
        {
          apiGroup: '',
          resources: ['configmaps'],
          namespaces: ['default'],
          labelSelectors: [{ matchLabels: { p: 'yes' } }],
        },
      ],
    },
  })
  const watch = await admin.in(space.id).watch(`${EDGE}/edgeplacements?watch=1&resourceVersion=0`)
  await watch.until(({ object }) => JSON.stringify(object.status ?? {}).includes(`"matchingLocationCount":${clusters}`))
  watch.close()
}

async function place(ground: Ground, name: string, data: Record<string, string>, annotations: object): Promise<void> {
  await ground.alice.send({
    method: 'PATCH',
    path: `${ground.space.maps}/${name}?fieldManager=me&force=true`,
    type: 'application/apply-patch+yaml',
    body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels: { p: 'yes' }, annotations }, data },
  })
}

/** Until the space has the report that the objects are not customized. */
async function told({ admin, space }: Ground, names: readonly string[]): Promise<void> {
  const watch = await admin.in(space.id).watch('/api/v1/namespaces/default/configmaps?watch=1&resourceVersion=0')
  const waited = new Set(names)
  await watch.until(({ object }) => {
    if (object.metadata.annotations?.[FAULT]) waited.delete(object.metadata.name ?? '')
    return waited.size === 0
  })
  watch.close()
}

export const placement: readonly Attack[] = [
  attack('parameter-expansion', {
    does: 'a ConfigMap of 288 KB that would have 14 GB with its parameters',
    prepare: ground => fleet(ground, { clusters: 2, parameters: { a: 'x'.repeat(16_000) } }),
    run: async ground => {
      const data = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`k${i}`, '%(a)'.repeat(1800)]))
      const names = Array.from({ length: ground.size(20, 1) }, (_, i) => `bomb-${i}`)
      await crowd(names.length, 4, i => place(ground, names[i]!, { ...data, t: `${performance.now()}` }, EXPAND))
      await told(ground, names)
    },
    keepsMb: 60,
  }),
  attack('customizer-path', {
    does: 'paths of a Customizer that find everything in everything',
    prepare: async ground => {
      await fleet(ground, { clusters: 2 })
      await ground.alice.must({
        path: `${ground.space.prefix}${EDGE}/namespaces/default/customizers`,
        body: {
          apiVersion: VERSION,
          kind: 'Customizer',
          metadata: { name: 'c' },
          // one of them alone may be within what an object may cost
          replacements: Array.from({ length: 20 }, (_, i) => ({ path: `$${'..*'.repeat(8)}..['n${i}']`, value: '1' })),
        },
      })
    },
    run: async ground => {
      const data = Object.fromEntries(Array.from({ length: 4000 }, (_, i) => [`k${i}`, 'v']))
      const names = Array.from({ length: ground.size(20, 1) }, (_, i) => `path-${i}`)
      await crowd(names.length, 4, i =>
        place(ground, names[i]!, { ...data, t: `${performance.now()}` }, { 'edge.kubestellar.io/customizer': 'c' }),
      )
      await told(ground, names)
    },
    keepsMb: 60,
  }),
  attack('many-copies', {
    does: '1,000 objects placed on 50 clusters, and changed',
    prepare: ground => fleet(ground, { clusters: ground.size(50, 3) }),
    run: async ground => {
      const { size } = ground
      await crowd(size(1000, 10), 32, i => place(ground, `copied-${i}`, { t: `${performance.now()}` }, {}))
    },
    keepsMb: 500,
  }),
  attack('previews', {
    does: 'previews of large objects on 50 clusters, and of placements that move 1,000 objects',
    prepare: async ground => {
      await fleet(ground, { clusters: ground.size(50, 3) })
      await crowd(ground.size(1000, 10), 32, i => place(ground, `placed-${i}`, { a: 'b' }, {}))
    },
    run: async ({ alice, space, size }) => {
      const path = `${space.prefix}/apis/edge.kubestellar.io/v1alpha1/placementpreviews`
      const labels = { p: 'yes' }
      const data = Object.fromEntries(Array.from({ length: size(20_000, 500) }, (_, i) => [`k${i}`, '%(a)']))
      const map = (name: string, content: object): object => ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name, namespace: 'default', labels, annotations: EXPAND },
        ...content,
      })
      const downsync = [{ apiGroup: '*', resources: ['*'], namespaces: ['*'], objectNames: ['*'] }]
      const placing = (name: string, locationSelectors: readonly object[]): object => ({
        apiVersion: VERSION,
        kind: 'EdgePlacement',
        metadata: { name },
        spec: { locationSelectors, downsync },
      })
      const asked: readonly object[][] = [
        [map('large', { data })],
        Array.from({ length: size(90, 5) }, (_, i) => map(`small-${i}`, { data: { a: `${i}` } })),
        [placing('more', [{}])],
        [placing('own', [{ matchLabels: { env: 'none' } }])],
      ]
      await crowd(size(16, 4), 4, i =>
        alice.send({
          path,
          body: {
            apiVersion: 'edge.kubestellar.io/v1alpha1',
            kind: 'PlacementPreview',
            spec: { objects: asked[i % asked.length]! },
          },
        }),
      )
    },
    keepsMb: 100,
  }),
  attack('greedy-selectors', {
    does: 'placements with 10,000 selectors over 100 Locations, changed again and again',
    prepare: ground => fleet(ground, { clusters: ground.size(100, 3) }),
    run: async ground => {
      const { alice, space, size } = ground
      const locationSelectors = Array.from({ length: size(9000, 500) }, (_, i) => ({
        matchExpressions: [{ key: 'env', operator: 'NotIn', values: ['prod', `v${i}`] }],
      }))
      const downsync = Array.from({ length: size(3000, 100) }, (_, i) => ({
        apiGroup: '*',
        resources: ['*'],
        namespaces: ['*'],
        objectNames: [`n${i}-*`],
      }))
      await crowd(size(20, 2), 4, i =>
        alice.send({
          method: 'PATCH',
          path: `${space.prefix}${EDGE}/edgeplacements/greedy-${i % 5}?fieldManager=me&force=true`,
          type: 'application/apply-patch+yaml',
          body: {
            apiVersion: VERSION,
            kind: 'EdgePlacement',
            metadata: { name: `greedy-${i % 5}`, labels: { t: `t${i}` } },
            spec: { locationSelectors, downsync },
          },
        }),
      )
    },
    keepsMb: 100,
  }),
  attack('syncer-flood', {
    does: "a syncer's credential: heartbeats, reports and uninvited objects as fast as they go",
    prepare: async ground => {
      await fleet(ground, { clusters: 1 })
      await asSyncer(ground)
    },
    run: async ({ alice, space, size }) =>
      await crowd(size(3000, 12), 64, i =>
        alice.send(
          [
            {
              method: 'PATCH',
              path: `${space.prefix}${EDGE}/syncerconfigs/the-one/status`,
              type: 'application/merge-patch+json',
              body: { status: { lastSyncerHeartbeatTime: new Date().toISOString() } },
            },
            { path: space.maps, body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'u-' } } },
            { path: `${space.prefix}/api/v1/configmaps` },
          ][i % 3]!,
        ),
      ),
    hears: [403],
    keepsMb: 60,
  }),
  attack('outcome-flood', {
    does: "a syncer's credential: reports of all that there may be in one, each the opposite of the one before",
    prepare: async ground => {
      await fleet(ground, { clusters: 1 })
      await crowd(ground.size(300, 3), 8, i => place(ground, `told-${i}`, { a: 'b' }, {}))
      await asSyncer(ground)
    },
    run: async ({ alice, space, size }) => {
      const path = `${space.prefix}${EDGE}/syncerconfigs/the-one/outcome`
      const session = Math.random().toString(36).slice(2)
      const since = new Date().toISOString().replace(/\.\d+/, '')
      const told = (state: string) =>
        Array.from({ length: 300 }, (_, i) => ({
          ...{ group: '', resource: 'configmaps', namespace: 'default', name: `told-${i}` },
          ...{ seq: 1_000_000, state, reason: 'Flood', message: 'x'.repeat(300), since },
        }))
      let epoch = ''
      let number = 0
      await crowd(size(1500, 3), 32, async i => {
        const exceptions = [told('refused'), [], told('retrying')][i % 3]
        const spec = { session, number: ++number, whole: true, epoch, compared: true, processed: 1_000_000, exceptions }
        const body = { apiVersion: VERSION, kind: 'SyncerOutcome', metadata: { name: 'the-one' }, spec }
        const { text } = await alice.send({ method: 'PUT', path, body })
        epoch = /"epoch":"([^"]*)"/.exec(text)?.[1] ?? epoch
      })
    },
    keepsMb: 60,
  }),
]

/** From now on it is the syncer of Alice's only cluster that asks, in its mailbox. */
async function asSyncer(ground: Ground): Promise<void> {
  const { admin, space } = ground
  const id = await mailboxOf(ground)
  const account = '/api/v1/namespaces/default/serviceaccounts/kubestellar-syncer'
  const api = admin.in(id)
  const watch = await api.watch('/api/v1/namespaces/default/serviceaccounts?watch=1&resourceVersion=0')
  await watch.until(({ object }) => object.metadata.name === 'kubestellar-syncer')
  watch.close()
  const { status } = await api.ok(api.post(`${account}/token`, {}))
  ground.alice.close()
  ground.alice = new Attacker(ground.url, (status as { token: string }).token)
  ground.space = {
    ...space,
    id,
    prefix: `/clusters/${id}`,
    maps: `/clusters/${id}/api/v1/namespaces/default/configmaps`,
  }
}

/** Id of the mailbox of Alice's only cluster. */
async function mailboxOf({ admin, space }: Ground): Promise<string> {
  const { metadata } = await admin.ok(admin.in(space.id).get(`${EDGE}/synctargets/cluster-0`))
  const name = `${space.id}-mb-${metadata.uid}`
  const watch = await admin
    .in('root:espw')
    .watch(`/apis/tenancy.kcp.io/v1alpha1/workspaces?watch=1&resourceVersion=0&fieldSelector=metadata.name=${name}`)
  const events = await watch.until(({ object }) => (object.status as { phase?: string } | undefined)?.phase === 'Ready')
  watch.close()
  return (events.at(-1)!.object.spec as { cluster: string }).cluster
}
