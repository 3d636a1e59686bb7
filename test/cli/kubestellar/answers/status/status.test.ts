import t from 'tap'
import type { KubeObject } from '../../../../../src/apimachinery/object.ts'
import { beyondNamed, mayName } from '../../../../../src/cli/kubestellar/answers/brokenPlaces.ts'
import type { Known } from '../../../../../src/cli/kubestellar/answers/known.ts'
import { fleetStatus } from '../../../../../src/cli/kubestellar/answers/status/status.ts'
import { statusText } from '../../../../../src/cli/kubestellar/answers/status/statusText.ts'

const NO_WAYS = { bindings: { items: [] }, slices: { items: [] } }
const edge = (name: string, rest: object): KubeObject => ({
  apiVersion: 'edge.kubestellar.io/v2alpha1',
  kind: 'X',
  metadata: { name },
  ...rest,
})
const condition = (type: string, status: string, reason = '', message = '') => ({ type, status, reason, message })
const placement = (name: string, conditions: object[], more: object = {}): KubeObject =>
  edge(name, {
    status: { conditions, counts: { clusters: 2, objects: 1, copies: 2, applied: 1, refused: 1 }, ...more },
  })
const row = (location: string, ready: number, instances = 1): KubeObject =>
  edge(`imw1.${location}`, { inventory: 'root:imw1', location, ready, instances })

t.test('troubles come first, by the first stage at which something is not well', async t => {
  const broken = [
    {
      location: 'florin',
      cluster: 'root:imw1',
      resource: 'configmaps',
      namespace: 'shop',
      name: 'x',
      message: 'denied',
    },
  ]
  const answer = fleetStatus({
    ...NO_WAYS,
    placements: {
      items: [
        placement('well', [condition('Resolved', 'True'), condition('Applied', 'True', 'AllApplied')]),
        placement('slow', [condition('Applied', 'False', 'Pending', '1 pending')]),
        placement('held', [condition('Applied', 'True'), condition('DeletionHeld', 'True', 'DeletionHeld', 'confirm')]),
        placement('denied', [
          condition('Permitted', 'False', 'KindNotGranted', 'no secrets'),
          condition('Applied', 'False', 'NotPlaced'),
        ]),
        placement('refused', [condition('Applied', 'False', 'Refused', 'denied')], { broken }),
        edge('new', {}),
      ],
    },
    granted: { items: [row('mark', 1), row('florin', 1), row('guilder', 0), row('lira', 1, 3), row('franc', 0, 0)] },
    inventories: [],
  })
  t.same(
    answer.placements.items.map(({ name, trouble, state }) => `${name} ${trouble} ${state}`),
    [
      'held bad DeletionHeld',
      'denied bad KindNotGranted',
      'refused bad Refused',
      'new warn Pending',
      'slow warn Pending',
      'well none Applied',
    ],
  )
  t.same(
    answer.clusters.items.map(({ location, trouble, state }) => `${location} ${trouble} ${state}`),
    [
      'imw1.florin bad Failing',
      'imw1.lira bad PartlySilent',
      'imw1.guilder bad Silent',
      'imw1.franc warn NoCluster',
      'imw1.mark none Ready',
    ],
  )
  t.equal(answer.message, '6 placements (5 in trouble), 5 of 10 copies applied, 5 locations (4 in trouble)')
})

t.test('what is held and placed no more is counted once, for all placements of a space tell the same plan', t => {
  const held = condition('DeletionHeld', 'True', 'TooMuchAtOnce', '3 copies')
  const one = (name: string) => placement(name, [held], { counts: { copies: 0, applied: 0, deletionHeld: 3 } })
  const facts = { granted: { items: [] }, inventories: [] }
  const { message, placements } = fleetStatus({ ...NO_WAYS, ...facts, placements: { items: [one('a'), one('b')] } })
  t.equal(message, '2 placements (2 in trouble), 0 of 0 copies applied, 3 held back from deletion, 0 locations')
  t.match(placements.items[0], { state: 'DeletionHeld', counts: { deletionHeld: 3 } })
  t.end()
})

t.test('a placement that selects nothing is told so, once that is said of what it is now', async t => {
  const conditions = [condition('Resolved', 'True'), condition('Applied', 'True', 'NothingSelected')]
  const empty = (name: string, generation: number, spec: object): KubeObject => ({
    ...placement(name, conditions, { counts: { clusters: 2, objects: 0 }, observedGeneration: 1 }),
    metadata: { name, generation },
    spec,
  })
  const { placements } = fleetStatus({
    ...NO_WAYS,
    placements: {
      items: [
        empty('typo', 1, { downsync: [{ resources: ['configmap'] }] }),
        empty('edited', 2, { downsync: [{ resources: ['configmaps'] }] }),
        empty('upward', 1, { upsync: [{ resources: ['events'] }] }),
      ],
    },
    granted: { items: [] },
    inventories: [],
  })
  t.same(
    placements.items.map(({ name, trouble, state }) => `${name} ${trouble} ${state}`),
    ['typo warn NothingSelected', 'edited warn Pending', 'upward none Applied'],
  )
  t.match(placements.items[0]?.message, /no object of this space passes spec\.downsync/)
})

t.test('who may read the inventory sees lag and failures of all that is placed there', async t => {
  const location = edge('florin', { spec: { instanceSelector: { matchLabels: { id: 'f' } } } })
  const target = (id: string, outcome: object): KubeObject => ({
    ...edge(id, { status: { outcome } }),
    metadata: { name: id, labels: { id } },
  })
  const targets = [
    target('f', { lag: { objects: 3, since: '2026-01-01T00:00:00Z' }, failures: { count: 0 } }),
    target('g', { lag: { objects: 9 }, failures: { count: 9 } }),
  ]
  const granted = { items: [row('florin', 1), row('guilder', 1)] }
  const inventory = { path: 'root:imw1', locations: { items: [location] }, targets: { items: targets } }
  const answer = fleetStatus({ ...NO_WAYS, placements: { items: [] }, granted, inventories: [inventory] })
  const since = '2026-01-01T00:00:00Z'
  t.match(answer.clusters.items[0], {
    location: 'imw1.florin',
    state: 'Lagging',
    since,
    lag: { objects: 3 },
    failures: 0,
  })
  const lines = statusText(answer, { wide: false, paint: text => text, nowMs: Date.parse('2026-01-01T00:05:00Z') })
  t.match(lines[3], /^imw1\.florin +Lagging +5m +1\/1 +3 +0 +3 changes not looked at$/)
  t.match(lines[4], /^imw1\.guilder +Ready +1\/1 +- +-$/, 'no SyncTarget of it has numbers')
  const closed = { ...inventory, targets: { items: [], unknown: 'you may not' } }
  const without = fleetStatus({ ...NO_WAYS, placements: { items: [] }, granted, inventories: [closed] })
  t.match(without.clusters.items[0], { state: 'Ready', lag: undefined })
})

t.test(
  'a location whose syncer does not reach its cluster, or was not heard yet, is not Ready, nor Failing',
  async t => {
    const stale = (location: string, reason: string): KubeObject =>
      edge(`${location}.x`, {
        spec: { placements: ['a'], location: { cluster: 'root:imw1', name: location } },
        status: { state: 'Stale', reason, message: 'stale' },
      })
    const granted = { items: ['florin', 'guilder', 'mark'].map(name => row(name, 1)) }
    const states = (facts: object) =>
      fleetStatus({ ...NO_WAYS, placements: { items: [] }, granted, inventories: [], ...facts }).clusters.items.map(
        ({ location, state, trouble }) => `${location} ${state} ${trouble}`,
      )
    const told = ['imw1.florin Unreachable bad', 'imw1.guilder Unknown warn', 'imw1.mark Ready none']
    t.same(states({ stale: { items: [stale('guilder', 'Stale'), stale('florin', 'ClusterUnreachable')] } }), told)

    const location = (name: string) => edge(name, { spec: { instanceSelector: { matchLabels: { id: name } } } })
    const target = (id: string, outcome: object): KubeObject => ({
      ...edge(id, { status: { outcome: { failures: { count: 2 }, ...outcome } } }),
      metadata: { name: id, labels: { id } },
    })
    const inventory = {
      path: 'root:imw1',
      locations: { items: [location('florin'), location('guilder')] },
      targets: {
        items: [
          target('florin', { reporting: true, reachable: false }),
          target('guilder', { reporting: false, reachable: true }),
        ],
      },
    }
    t.same(states({ inventories: [inventory] }), told, 'for who may read the inventory')
    const count = (stale: number) => placement('a', [], { counts: { stale } })
    t.notOk(mayName('stale', [count(0)]))
    t.ok(mayName('stale', [count(2)]))
    t.notOk(mayName('stale', [count(2), count(5000)]), 'of an outage of many copies the placements tell')
  },
)

t.test('what was told of an earlier spec is not told of this one', async t => {
  const well = [condition('Resolved', 'True'), condition('Applied', 'True'), condition('Healthy', 'True')]
  const edited: KubeObject = {
    ...placement('edited', well, { observedGeneration: 1 }),
    metadata: { name: 'edited', generation: 2 },
  }
  const { placements } = fleetStatus({
    ...NO_WAYS,
    placements: { items: [edited] },
    granted: { items: [] },
    inventories: [],
  })
  t.match(placements.items[0], { trouble: 'warn', state: 'Pending', message: /about its former spec/ })
})

t.test('what placements say is broken is no less broken for who may read the inventory', async t => {
  const broken = [
    {
      location: 'florin',
      cluster: 'root:imw1',
      resource: 'configmaps',
      namespace: 'shop',
      name: 'x',
      message: 'taken',
    },
  ]
  const location = edge('florin', { spec: { instanceSelector: {} } })
  const target = edge('florin', { status: { outcome: { lag: { objects: 0 }, failures: { count: 0 } } } })
  const inventory = { path: 'root:imw1', locations: { items: [location] }, targets: { items: [target] } }
  const placements = { items: [placement('p', [condition('Applied', 'False', 'Conflict')], { broken })] }
  const { clusters } = fleetStatus({
    ...NO_WAYS,
    placements,
    granted: { items: [row('florin', 1)] },
    inventories: [inventory],
  })
  t.match(clusters.items[0], {
    trouble: 'bad',
    state: 'Failing',
    message: '1 object is not as it should be: configmaps "shop/x": taken',
  })
})

t.test('tables are bounded, and what is left out is counted', async t => {
  const items = Array.from({ length: 25 }, (_, i) => placement(`p${i}`, [condition('Applied', 'True')]))
  const answer = fleetStatus({
    ...NO_WAYS,
    placements: { items },
    granted: { items: [], unknown: 'you may not' },
    inventories: [],
  })
  const lines = (wide: boolean) => statusText(answer, { wide, paint: text => text, nowMs: 0 })
  t.match(lines(false).at(-3), '5 more placements (-o wide shows them)')
  t.equal(lines(false).at(-1), 'not known: how clusters are: you may not')
  t.equal(lines(true).length, 2 + 1 + 25 + 2)
})

t.test('of two Locations with one name only the one is in trouble that is meant', async t => {
  const at = (cluster: string) => ({ location: 'florin', cluster, resource: 'configmaps', name: 'x', message: 'taken' })
  const placements = { items: [placement('p', [], { broken: [at('root:imw1')] })] }
  const other = { ...row('florin', 1), metadata: { name: 'imw2.florin' }, inventory: 'root:imw2' }
  const { clusters } = fleetStatus({
    ...NO_WAYS,
    placements,
    granted: { items: [row('florin', 1), other] },
    inventories: [],
  })
  t.match(clusters.items, [
    { location: 'imw1.florin', state: 'Failing' },
    { location: 'imw2.florin', state: 'Ready' },
  ])
})

t.test('what placements count and do not name is broken all the same, where WorkStatuses say so', async t => {
  const broken = [
    {
      location: 'florin',
      cluster: 'root:imw1',
      resource: 'configmaps',
      namespace: 'shop',
      name: 'x',
      message: 'denied',
    },
  ]
  const counts = { copies: 9, refused: 2, degraded: 1, waiting: 0 }
  const items = [placement('p', [condition('Applied', 'False', 'Refused')], { broken, counts })]
  t.same(beyondNamed([placement('q', [], { broken })]), [], 'it names all that it counts')
  t.same(beyondNamed(items), ['status.state=Refused', 'status.health=Degraded'])
  const granted = { items: ['florin', 'guilder', 'lira', 'mark', 'franc'].map(name => row(name, 1)) }
  const answer = (beyond: Known) => fleetStatus({ ...NO_WAYS, placements: { items }, granted, beyond, inventories: [] })
  const states = (beyond: Known) =>
    answer(beyond).clusters.items.map(({ location, trouble, state, message = '' }) =>
      [location, trouble, state, message].join(' ').trim(),
    )
  const told = (name: string, status: object, placements = ['p']): KubeObject =>
    edge(`imw1.${name}:configmaps:x`, {
      spec: {
        placements,
        location: { cluster: 'root:imw1', name },
        sourceRef: { resource: 'configmaps', namespace: 'shop', name: 'x' },
      },
      status,
    })
  const rest = [
    told('florin', { state: 'Refused', message: 'denied' }),
    told('guilder', { state: 'Refused', message: 'denied' }),
    told('guilder', { state: 'Applied', health: 'Degraded', healthMessage: 'it crashes' }),
    told('mark', { state: 'Unknown', message: 'more is wrong there' }),
    told('lira', { state: 'Held', message: 'the brake' }, []),
  ]
  t.same(states({ items: rest }), [
    'imw1.florin bad Failing 1 object is not as it should be: configmaps "shop/x": denied',
    'imw1.guilder bad Failing 2 objects are not as they should be: configmaps "shop/x": denied',
    'imw1.mark warn Unknown more is wrong there',
    'imw1.franc none Ready',
    'imw1.lira none Ready',
  ])
  const unknown = 'you may not list workstatuses here'
  const why = 'placements name only some of what is broken, and the rest is not known'
  t.same(states({ items: [], unknown }), [
    'imw1.florin bad Failing at least 1 object is not as it should be: configmaps "shop/x": denied',
    ...['franc', 'guilder', 'lira', 'mark'].map(name => `imw1.${name} warn Unknown ${why}`),
  ])
  t.same(answer({ items: [], unknown }).unknown, [`what else is broken where: ${unknown}`])
})

t.test(
  'a Location tells of all clusters that it stands for, and a cluster is told of at each Location that leads there',
  async t => {
    const edge = (kind: string, name: string, rest: object): KubeObject => ({
      apiVersion: 'edge.kubestellar.io/v2alpha1',
      kind,
      metadata: { name },
      ...rest,
    })
    const to = (locationName: string, syncTargetName: string) => ({ cluster: 'id1', locationName, syncTargetName })
    const facts = {
      bindings: { items: [edge('InventoryBinding', 'imw1', { status: { cluster: 'id1' } })] },
      granted: { items: ['both', 'one', 'guilder'].map(name => row(name, 1)) },
      slices: {
        items: [
          edge('SinglePlacementSlice', 'p', { destinations: [to('both', 'florin'), to('both', 'guilder')] }),
          edge('SinglePlacementSlice', 'q', { destinations: [to('one', 'florin'), to('guilder', 'guilder')] }),
        ],
      },
      inventories: [],
    }
    const broken = {
      cluster: 'root:imw1',
      location: 'both',
      syncTarget: 'florin',
      resource: 'pods',
      name: 'a',
      state: 'held',
    }
    const placements = { items: [edge('EdgePlacement', 'p', { status: { counts: { held: 1 }, broken: [broken] } })] }
    const stateOf = (more: object) =>
      Object.fromEntries(
        fleetStatus({ placements, ...facts, ...more }).clusters.items.map(one => [one.location, one.state]),
      )
    const granted = facts.granted.items[0]!.metadata.name!.replace('both', '')
    const at = (states: object) =>
      Object.fromEntries(Object.entries(states).map(([name, state]) => [`${granted}${name}`, state]))
    t.same(stateOf({}), at({ both: 'Failing', one: 'Failing', guilder: 'Ready' }))
    const silent: KubeObject = edge('WorkStatus', 'x', {
      spec: { location: { cluster: 'root:imw1', name: 'both', syncTarget: 'guilder' } },
      status: { state: 'Stale', reason: 'ClusterUnreachable' },
    })
    const none = { placements: { items: [] }, stale: { items: [silent] } }
    t.same(stateOf(none), at({ both: 'Unreachable', one: 'Ready', guilder: 'Unreachable' }))
  },
)

t.test('what makes progress is named, and since when it is so', async t => {
  const lastTransitionTime = '2026-01-01T00:00:00Z'
  const waits = { ...condition('Healthy', 'False', 'Progressing', '24 healthy, 1 progressing'), lastTransitionTime }
  const status = { health: 'Progressing', healthMessage: 'it has not been looked at' }
  const sourceRef = { resource: 'horizontalpodautoscalers', namespace: 'shop', name: 'web' }
  const location = { cluster: 'root:imw1', name: 'florin', syncTarget: 'florin' }
  const progressing = { items: [edge('x', { spec: { placements: ['p'], sourceRef, location }, status })] }
  const facts = { ...NO_WAYS, granted: { items: [row('florin', 1)] }, inventories: [], progressing }
  const { placements } = fleetStatus({ ...facts, placements: { items: [placement('p', [waits])] } })
  t.match(placements.items[0], {
    state: 'Progressing',
    since: lastTransitionTime,
    message:
      '24 healthy, 1 progressing; at imw1.florin, horizontalpodautoscalers "shop/web": it has not been looked at',
  })
})

t.test('a zero is known, a dash is not, and a message that comes again stands below', async t => {
  const message = 'silent clusters: imw1.florin'
  const stale = (name: string) => placement(name, [condition('Applied', 'Unknown', 'Stale', message)])
  const items = [stale('a'), stale('b'), edge('new', {})]
  const answer = fleetStatus({ ...NO_WAYS, placements: { items }, granted: { items: [] }, inventories: [] })
  const text = (wide: boolean, columns?: number) =>
    statusText(answer, { wide, paint: words => words, nowMs: 0, columns })
  t.match(text(false).slice(3), [
    /^new +Pending +- +- +- +- +nothing is reported of it yet$/,
    /^a +Stale +2 +2 +1 +1 +\(1\)$/,
    /^b .*\(1\)$/,
    '',
    `(1) ${message}`,
  ])
  t.match(text(true)[4], /^a +Stale +2 +2 +1 +1 +1 +0 +0 +silent clusters: imw1\.florin$/)
  const cut = text(false, 96)
  t.match(cut[3], /…$/)
  t.ok(cut[3]!.length <= 96)
  t.match(cut[6], /is cut to the terminal: -o wide shows all of it/)
  const narrow = text(false, 80)
  t.ok(narrow.slice(1, 6).every(line => line.length <= 80))
  t.match(narrow.slice(3), [/^new .*- +\(1\)$/, /\(2\)$/, /\(2\)$/, '', '(1) nothing is reported of it yet', /^\(2\)/])
})
