import t from 'tap'
import type { KubeObject } from '../../../../../src/apimachinery/object.ts'
import { why } from '../../../../../src/cli/kubestellar/answers/why/why.ts'
import type { WhyFacts } from '../../../../../src/cli/kubestellar/answers/why/whyAnswer.ts'
import { whyText } from '../../../../../src/cli/kubestellar/answers/why/whyText.ts'
import { painter, table } from '../../../../../src/cli/shell/output.ts'
import type { DiscoveredResource } from '../../../../../src/client/client.ts'

const MAPS: DiscoveredResource = {
  group: '',
  version: 'v1',
  resource: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
  verbs: ['list'],
  subresources: [],
}
const NOW = Date.parse('2026-01-01T00:10:00Z')
const edge = (kind: string, name: string, rest: object): KubeObject => ({
  apiVersion: 'edge.kubestellar.io/v2alpha1',
  kind,
  metadata: { name },
  ...rest,
})
const placement = (name: string, test: object, rest: object = {}): KubeObject =>
  edge('EdgePlacement', name, {
    spec: { locationSelectors: [{ matchLabels: { env: 'prod' } }], downsync: [test] },
    ...rest,
  })
const location = (name: string, labels: Record<string, string>, instances = 1): KubeObject => ({
  ...edge('GrantedLocation', `imw1.${name}`, { inventory: 'root:imw1', location: name, instances, ready: instances }),
  metadata: { name: `imw1.${name}`, labels },
})
const slice = (name: string, ...locations: string[]): KubeObject =>
  edge('SinglePlacementSlice', name, {
    destinations: locations.map(locationName => ({
      cluster: 'id1',
      locationName,
      syncTargetName: locationName,
      syncTargetUID: 'u',
    })),
  })
const binding = edge('InventoryBinding', 'imw1', { spec: { path: 'root:imw1' }, status: { cluster: 'id1' } })
const workStatus = (where: string, status: object): KubeObject => ({
  apiVersion: 'edge.kubestellar.io/v1alpha1',
  kind: 'WorkStatus',
  metadata: { name: `imw1.${where}:configmaps:prices`, namespace: 'shop' },
  spec: { location: { cluster: 'root:imw1', name: where }, placements: ['p'] },
  status,
})
const prices = (metadata: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'prices', namespace: 'shop', uid: 'u1', ...metadata },
})
const facts = (more: Partial<WhyFacts> = {}): WhyFacts => ({
  resource: MAPS,
  object: prices(),
  placements: { items: [placement('p', { resources: ['configmaps'] })] },
  slices: { items: [slice('p', 'florin', 'guilder')] },
  granted: {
    items: [
      location('florin', { env: 'prod' }),
      location('guilder', { env: 'prod' }),
      location('mark', { env: 'test' }),
      location('franc', {}),
      location('lira', { env: 'prod' }, 0),
    ],
  },
  bindings: { items: [binding] },
  workStatuses: { items: [] },
  namespaceLabels: {},
  defined: [],
  cluster: undefined,
  ...more,
})
const text = (more: Partial<WhyFacts>, wide = false) =>
  whyText(why(facts(more)), { wide, paint: words => words, nowMs: NOW })

t.test(
  'the whole road: what selects, where it leads and where not, and what became of it, the worst first',
  async t => {
    const workStatuses = {
      items: [
        workStatus('florin', { state: 'Applied', health: 'Healthy', since: '2026-01-01T00:05:00Z' }),
        workStatus('guilder', {
          state: 'Refused',
          reason: 'Forbidden',
          message: 'denied by policy',
          since: '2026-01-01T00:09:00Z',
        }),
      ],
    }
    const placements = {
      items: [placement('other', { resources: ['secrets'] }), placement('p', { resources: ['configmaps'] })],
    }
    t.same(text({ workStatuses, placements }), [
      'configmaps "shop/prices" is Refused in 1, Applied in 1 of 2 clusters',
      '',
      'placement p selects it by spec.downsync[0]',
      '  leads to 2 of 5 locations that this space may place on',
      '  not to imw1.lira: the labels match, but it stands for no cluster',
      '  not to imw1.franc: wants env=prod, has no label env',
      '  not to imw1.mark: wants env=prod, has env=test',
      '',
      'placement other does not select it; spec.downsync[0] comes nearest:',
      '  spec.downsync[0].resources names "secrets", this is "configmaps"',
      '',
      'LOCATION       STATE     HEALTH    SINCE   REASON      MESSAGE',
      'imw1.guilder   Refused             60s     Forbidden   denied by policy',
      'imw1.florin    Applied   Healthy   5m',
    ])
    const { verdict, clusters } = why(facts({ workStatuses }))
    t.equal(verdict, 'Refused')
    t.same(clusters[0], {
      location: 'imw1.guilder',
      placements: ['p'],
      state: 'Refused',
      reason: 'Forbidden',
      message: 'denied by policy',
      since: '2026-01-01T00:09:00Z',
    })
  },
)

t.test('one cluster is asked about by any of its names', async t => {
  for (const cluster of ['mark', 'imw1.mark', 'root:imw1/mark']) {
    const { message, placements } = why(facts({ cluster }))
    t.match(message, /is selected, and led not to/)
    t.match(placements[0]?.misses, [{ location: 'imw1.mark', message: 'wants env=prod, has env=test' }])
    t.same(placements[0]?.leadsTo, [])
  }
})

t.test('one cluster is asked about, and how many there are stays true', async t => {
  const lines = whyText(why(facts({ cluster: 'florin' })), { wide: false, paint: words => words, nowMs: NOW })
  t.match(lines.join('\n'), '  leads to 2 of 5 locations that this space may place on')
})

t.test('what stands in the way is the verdict', async t => {
  t.match(why(facts({ placements: { items: [] } })), { verdict: 'NotSelected', message: /has no EdgePlacement/ })
  t.match(why(facts({ placements: { items: [placement('q', { resources: ['secrets'] })] } })), {
    verdict: 'NotSelected',
  })
  const natured = prices({ labels: { 'edge.kubestellar.io/natured': 'true' } })
  t.match(why(facts({ object: natured })), { verdict: 'Natured', message: /stays in this space/, clusters: [] })
  const told = { 'edge.kubestellar.io/stand-in': 'The server made this' }
  const standIn = prices({ labels: natured.metadata.labels, annotations: told })
  t.match(why(facts({ object: standIn })), { verdict: 'Natured', message: /The server made this/, clusters: [] })
  t.match(why(facts({ object: prices({ name: 'kube-root-ca.crt' }) })), { verdict: 'SystemObject' })
  t.match(why(facts({ resource: { ...MAPS, resource: 'events' } })), { verdict: 'KindStays' })
  const conditions = [{ type: 'Placed', status: 'False', reason: 'NotBound', message: 'this space uses no inventory' }]
  const unbound = placement('p', {}, { status: { conditions } })
  t.match(why(facts({ placements: { items: [unbound] }, slices: { items: [] } })), {
    verdict: 'NowhereToPlace',
    message: /led to no cluster: this space uses no inventory/,
  })
  const annotations = {
    'edge.kubestellar.io/paused': 'true',
    'edge.kubestellar.io/customization-error': 'no Customizer "x"',
    'edge.kubestellar.io/object-conflict': 'space abc owns it',
    'edge.kubestellar.io/downsync-overwrite': 'false',
    'edge.kubestellar.io/wave': 'first',
    'edge.kubestellar.io/create-only': 'true',
  }
  t.match(
    why(facts({ object: prices({ annotations }) })).notes.map(({ reason }) => reason),
    ['ObjectPaused', 'CustomizationError', 'ObjectConflict', 'InvalidWave', 'CreateOnly', 'NotOverwritten'],
  )
})

t.test('copies that stay where nothing places them any more are told, with the remedy', async t => {
  const placements = { items: [placement('p', { resources: ['secrets'] })] }
  const message = 'it stays until it is confirmed: kubectl annotate …'
  const workStatuses = { items: ['florin', 'mark'].map(at => workStatus(at, { state: 'Held', message })) }
  const answer = why(facts({ placements, workStatuses }))
  t.equal(answer.verdict, 'Held')
  t.match(answer.message, /is selected by no EdgePlacement any more, and Held in 2 of 2 clusters$/)
  t.match(text({ placements, workStatuses }).join('\n'), /imw1.mark +Held +\(1\)\n\n\(1\) .*kubectl annotate/)
  t.match(text({ placements, workStatuses }, true).join('\n'), /imw1.mark +Held .*kubectl annotate/)
  const one = why(facts({ placements, workStatuses, cluster: 'mark' }))
  t.same(
    one.clusters.map(({ location }) => location),
    ['imw1.mark'],
    'one of them by the name of its Location',
  )
})

t.test('a definition comes along with objects of its kind', async t => {
  const object: KubeObject = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'x' },
  }
  const resource = { ...MAPS, group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' }
  const defined = [{ resource: { group: '', resource: 'configmaps' }, namespace: 'shop', name: 'a', labels: {} }]
  t.match(why(facts({ object, resource, defined })).placements, [
    { selects: true, implied: 'it defines the kind of configmaps "shop/a", which is selected' },
  ])
})

t.test('what a placement is told of its other objects is no word about one that is well', async t => {
  const conditions = [
    { type: 'Placed', status: 'False', reason: 'RefusedByCluster', message: '1 refused: configmaps "shop/other"' },
    { type: 'Scheduled', status: 'False', reason: 'Unschedulable', message: 'no room' },
  ]
  const placements = { items: [placement('p', {}, { status: { conditions } })] }
  const told = (state: string) => {
    const workStatuses = { items: ['florin', 'guilder'].map(where => workStatus(where, { state })) }
    return why(facts({ placements, workStatuses })).placements[0]?.notes.map(({ reason }) => reason)
  }
  t.same(told('Applied'), ['Unschedulable'])
  t.same(told('NotPlaced'), ['RefusedByCluster', 'Unschedulable'])
})

t.test('a reason with which a message begins is told once', async t => {
  const message = 'ObjectConflict: 1 refused (1 copy): configmaps "shop/prices": space x owns it there'
  const conditions = [{ type: 'Placed', status: 'False', reason: 'ObjectConflict', message }]
  const told = text({
    placements: { items: [placement('p', { resources: ['configmaps'] }, { status: { conditions } })] },
  })
  t.ok(told.includes(`  ! ${message}`), told.join('\n'))
})

t.test('a status that is asked for and does not come back is told of an object in several clusters', async t => {
  const sets: DiscoveredResource = {
    ...MAPS,
    group: 'apps',
    resource: 'deployments',
    kind: 'Deployment',
    subresources: ['status'],
  }
  const told = (wish: object, states: readonly string[], resource = sets, test: object = { objectNames: ['*'] }) => {
    const [p] = [placement('p', test)]
    const placements = { items: [{ ...p!, spec: { ...(p!.spec as object), ...wish } }] }
    const workStatuses = { items: states.map((state, i) => workStatus(['florin', 'guilder', 'mark'][i]!, { state })) }
    return why(facts({ resource, placements, workStatuses })).notes.map(({ message }) => message)
  }
  const one = { wantSingletonReportedState: true }
  const all = { wantMultiWECReportedState: true }
  t.match(told(one, ['Applied', 'Stale']), [/^it is in 2 clusters.*wantMultiWECReportedState/])
  t.same(told(one, ['Applied', 'Conflict']), [], 'another space has the other')
  t.same(told({}, ['Applied', 'Applied']), [], 'nobody asks')
  t.same(told(one, ['Applied', 'Applied'], sets, { objectNames: ['other'] }), [], 'nobody asks for it')
  t.same(told(all, ['Applied', 'Applied']), [])
  t.match(told(all, ['Applied', 'Applied'], { ...sets, group: 'batch', resource: 'jobs' }), [/work status says$/])
  t.same(told(one, ['Applied', 'Applied'], { ...sets, subresources: [] }), [], 'there is nothing to come back')
})

t.test('a server that tells nothing of single objects: what the placement names, and what is not known', async t => {
  const workStatuses = {
    items: [],
    unknown: 'workstatuses.edge.kubestellar.io are not served here',
  } as const
  const status = {
    broken: [
      {
        location: 'guilder',
        cluster: 'root:imw1',
        resource: 'configmaps',
        namespace: 'shop',
        name: 'prices',
        state: 'refused',
        message: 'no',
      },
    ],
  }
  const placements = { items: [placement('p', {}, { status })] }
  const told = why(facts({ workStatuses, placements }))
  const elsewhere = { broken: [{ ...status.broken[0], cluster: 'root:imw2' }] }
  const other = why(facts({ workStatuses, placements: { items: [placement('p', {}, { status: elsewhere })] } }))
  t.match(
    other.clusters.map(({ state }) => state),
    ['Unknown', 'Unknown'],
    'a Location of that name in another inventory',
  )
  t.match(told.clusters, [
    { location: 'imw1.guilder', state: 'Refused', message: 'no' },
    { location: 'imw1.florin', state: 'Unknown' },
  ])
  t.match(told.unknown, ['what became of it in each cluster: workstatuses.edge.kubestellar.io are not served here'])
  const conditions = [{ type: 'Applied', status: 'True' }]
  const applied = placement('p', {}, { status: { conditions, observedGeneration: undefined } })
  const done = { ...applied, metadata: { name: 'p', generation: 0 } }
  t.match(why(facts({ workStatuses, placements: { items: [done] } })).verdict, 'Applied')
})

t.test('colours do not count as width, and are for terminals', async t => {
  const terminal = { out() {}, err() {}, isTerminal: true }
  t.same(
    table(
      ['A', 'B'],
      [
        [{ text: 'x', colour: 'bad' }, 'y'],
        ['long', ''],
      ],
      painter(terminal, {}),
    ),
    ['A      B', '\x1b[31mx\x1b[0m      y', 'long'],
  )
  t.equal(painter(terminal, { NO_COLOR: '1' })('x', 'bad'), 'x')
  t.equal(painter({ ...terminal, isTerminal: false }, {})('x', 'bad'), 'x')
})

t.test('a cluster is a SyncTarget of an inventory, whatever Locations lead there', async t => {
  const to = (locationName: string, syncTargetName: string, cluster = 'id1') => ({
    cluster,
    locationName,
    syncTargetName,
  })
  const led = (name: string, ...destinations: object[]) => edge('SinglePlacementSlice', name, { destinations })
  const granted = { items: ['both', 'one', 'zwei', 'florin'].map(name => location(name, { env: 'prod' })) }
  const state = (
    label: string,
    [name, syncTarget]: [string, string],
    status: object = { state: 'Applied', health: 'Healthy' },
  ) => ({
    ...workStatus(label, status),
    spec: { location: { cluster: 'root:imw1', name, syncTarget }, placements: ['p'] },
  })
  const both = [state('both+florin', ['both', 'florin']), state('both+guilder', ['both', 'guilder'])]
  const isWell = (more: Partial<WhyFacts>, locations: string[]) => {
    const told = why(facts({ granted, ...more }))
    t.same(
      told.clusters.map(one => one.location),
      locations,
    )
    t.equal(told.verdict, 'Healthy')
  }
  const slices = { items: [led('p', to('both', 'florin'), to('both', 'guilder'))] }
  isWell({ slices, workStatuses: { items: both } }, ['imw1.both+florin', 'imw1.both+guilder'])
  for (const cluster of ['both', 'imw1.both', 'root:imw1/both'])
    isWell({ slices, workStatuses: { items: both }, cluster }, ['imw1.both+florin', 'imw1.both+guilder'])
  isWell({ slices, workStatuses: { items: both }, cluster: 'imw1.both+guilder' }, ['imw1.both+guilder'])

  const placements = { items: ['p', 'q'].map(name => placement(name, { resources: ['configmaps'] })) }
  const two = { items: [led('p', to('one', 'florin')), led('q', to('zwei', 'florin'))] }
  const one = { items: [state('one+florin', ['one', 'florin'])] }
  for (const cluster of [undefined, 'one', 'zwei', 'imw1.zwei', 'imw1.one+florin'])
    isWell({ placements, slices: two, workStatuses: one, cluster }, ['imw1.one+florin'])
  t.same(why(facts({ placements, granted, slices: two })).clusters, [
    {
      location: 'imw1.one+florin',
      placements: ['p', 'q'],
      state: 'Projecting',
      message: 'nothing is known of it there yet',
    },
  ])

  t.test('Locations of the same name in two inventories', async t => {
    const other = edge('InventoryBinding', 'imw2', { spec: { path: 'id2' }, status: { cluster: 'id2' } })
    const row = { ...location('florin', {}), metadata: { name: 'imw2.florin' }, inventory: 'root:imw2' }
    const given = {
      granted: { items: [...granted.items, row] },
      bindings: { items: [binding, other] },
      slices: { items: [led('p', to('florin', 'florin'), to('florin', 'florin', 'id2'))] },
    }
    const there = { ...state('florin', ['florin', 'florin']), metadata: { name: 'imw2.florin:configmaps:prices' } }
    const far = {
      ...there,
      spec: { location: { cluster: 'root:imw2', name: 'florin', syncTarget: 'florin' }, placements: ['p'] },
    }
    const workStatuses = { items: [state('florin', ['florin', 'florin']), far] }
    const labels = (cluster?: string) =>
      why(facts({ ...given, workStatuses, cluster })).clusters.map(one => one.location)
    t.same(labels(), ['imw1.florin', 'imw2.florin'])
    t.same(labels('florin'), ['imw1.florin', 'imw2.florin'])
    t.same(labels('root:imw2/florin'), ['imw2.florin'])
  })

  t.test('a placement names what is broken by its own Location', async t => {
    const status = {
      broken: [
        {
          resource: 'configmaps',
          name: 'prices',
          namespace: 'shop',
          cluster: 'root:imw1',
          location: 'zwei',
          syncTarget: 'florin',
          state: 'refused',
          reason: 'Forbidden',
          message: 'no',
        },
      ],
    }
    const items = [
      placement('p', { resources: ['configmaps'] }),
      placement('q', { resources: ['configmaps'] }, { status }),
    ]
    const told = why(
      facts({ placements: { items }, granted, slices: two, workStatuses: { items: [], unknown: 'you may not' } }),
    )
    t.match(told.clusters, [{ location: 'imw1.one+florin', state: 'Refused', message: 'no' }])
    t.equal(told.clusters.length, 1)
  })
})

t.test('a conflict is explained once: by the clusters, and not by the placement and the object besides', async t => {
  const message = 'space x owns it there; use another name, or ask them to hand it over'
  const annotations = { 'edge.kubestellar.io/object-conflict': `not placed where ${message}` }
  const conditions = [
    { type: 'Placed', status: 'False', reason: 'ObjectConflict', message: `1 refused: ${message}` },
    { type: 'DeletionHeld', status: 'True', reason: 'TooMuchAtOnce', message: 'other objects are held' },
  ]
  const workStatuses = {
    items: ['florin', 'guilder'].map(where =>
      workStatus(where, { state: 'Conflict', reason: 'ObjectConflict', message }),
    ),
  }
  const placements = { items: [placement('p', { resources: ['configmaps'] }, { status: { conditions } })] }
  const lines = text({ object: prices({ annotations }), placements, workStatuses })
  t.same(
    lines.filter(line => line.includes('space x')),
    [`(1) ${message}`],
  )
  t.match(lines, [/^configmaps "shop\/prices" is Conflict in 2/, '', /^placement p selects it/, /^ {2}leads to/])
})

t.test('a rollout names the revision of each cluster, what it waits for and the command that moves it on', async t => {
  const stage = (cluster: string, state: string, more: object = {}) => ({
    ...{ key: `mb-${cluster}`, cluster, inventory: 'id1', state },
    ...more,
  })
  const rollout = (run: number, status: object, spec: object = {}): KubeObject =>
    edge('PlacementRollout', `p.${run}`, {
      spec: { placement: 'p', revision: run, run, by: 'alice', at: '2026-01-01T00:00:00Z', ...spec },
      status,
    })
  const held = { reason: 'ApprovalRequired', message: 'group "prod" waits for an approval' }
  const clusters = [
    stage('florin', 'Done', { revision: 2, group: 'canary' }),
    stage('guilder', 'Planned', { revision: 1, group: 'prod', ...held }),
    stage('mark', 'Planned', { revision: 1, group: 'prod', ...held }),
    stage('franc', 'Waiting', {
      revision: 0,
      reason: 'ClusterAway',
      message: 'it is planned once its cluster is back',
    }),
    stage('lira', 'Skipped', { revision: 1 }),
  ]
  const conditions = [{ type: 'RolledOut', status: 'False', reason: 'ApprovalRequired', message: 'revision 2: waits' }]
  const placements = { items: [placement('p', { resources: ['configmaps'] }, { status: { conditions } })] }
  const rollouts = {
    items: [
      rollout(1, { state: 'Done', clusters: [] }),
      rollout(2, { state: 'Waiting', ...held, clusters }),
      rollout(9, { state: 'Failed' }, { placement: 'other' }),
    ],
  }
  const pin = (placement: string, n: number, pinned: boolean) =>
    edge('PlacementRevision', `${placement}.${n}`, { spec: { placement, revision: n, pinned } })
  const revisions = { items: [pin('p', 1, false), pin('q', 7, true)] }
  const staged = { rollouts, revisions }
  const lines = text({ placements, staged })
  const from = lines.findIndex(line => line.startsWith('  revision 2'))
  t.strictSame(lines.slice(from, from + 5), [
    '  revision 2 by alice, 10m ago: Waiting: group "prod" waits for an approval',
    '    imw1.florin (group canary): revision 2, Done',
    '    imw1.guilder, imw1.mark (group prod): revision 1, Planned: group "prod" waits for an approval',
    '      kubectl kubestellar rollout approve p --group prod',
    '    imw1.franc: no revision, Waiting: it is planned once its cluster is back',
  ])
  t.notMatch(lines.join('\n'), /RolledOut|lira: revision/, 'the condition says the same')
  const { stages } = why(facts({ placements, staged, cluster: 'guilder' })).placements[0]!
  t.match(stages, { revision: 2, by: 'alice', clusters: [{ location: 'imw1.guilder', revision: 1, group: 'prod' }] })
  t.equal(stages!.clusters.length, 1, 'of the cluster that is meant')
  const remedies = (reason: string) =>
    text({
      placements,
      staged: { ...staged, rollouts: { items: [rollout(2, { clusters: [stage('florin', 'X', { reason })] })] } },
    })
      .filter(line => line.includes('kubectl kubestellar rollout'))
      .map(line => line.trim())
  for (const [reason, verb] of [
    ['RolloutPaused', 'resume'],
    ['WindowClosed', 'expedite'],
    ['ContentFailed', 'undo'],
    ['RolloutFailed', 'undo'],
  ] as const)
    t.strictSame(remedies(reason), [`kubectl kubestellar rollout ${verb} p`], reason)
  for (const reason of ['NotItsTurn', 'MinSuccessTime', 'Progressing', 'ClusterAway'])
    t.strictSame(remedies(reason), [])
  const pinned = text({
    placements,
    staged: { rollouts, revisions: { items: [pin('p', 1, true), pin('p', 2, false)] } },
  })
  t.ok(pinned.includes('    pinned at revision 1: kubectl kubestellar rollout unpin p lets later ones come'))
  const live = { items: [rollout(2, { state: 'Superseded', reason: 'NotStaged', clusters })] }
  t.notMatch(text({ placements, staged: { ...staged, rollouts: live } }).join('\n'), /revision 2 by/)
  const unknown = { items: [], unknown: 'you may not list placementrollouts here' }
  t.match(
    text({ placements, staged: { ...staged, rollouts: unknown } }).at(-1),
    /in which stage clusters are: you may not/,
  )
})
