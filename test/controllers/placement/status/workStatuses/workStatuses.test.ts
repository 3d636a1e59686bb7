/** Work statuses: one for each object and cluster, each found again by its name, in an order that pages follow. */
import t from 'tap'
import { at } from '../../../../../src/apimachinery/fields.ts'
import type { GroupVersionResource, KubeObject } from '../../../../../src/apimachinery/object.ts'
import { PlacementJoin } from '../../../../../src/controllers/placement/join/placementJoin.ts'
import { SpaceLocations } from '../../../../../src/controllers/placement/join/spaceLocations.ts'
import { Mailbox } from '../../../../../src/controllers/placement/mailboxes/mailbox.ts'
import { Signals } from '../../../../../src/controllers/placement/signals/signals.ts'
import { WorkStatuses } from '../../../../../src/controllers/placement/status/workStatuses/workStatuses.ts'
import { WorkStatusFollowers } from '../../../../../src/controllers/placement/status/workStatuses/workStatusFollowers.ts'
import type { AnswerName } from '../../../../../src/placement/desks/answered.ts'
import type { Exception } from '../../../../../src/placement/outcome/outcome.ts'
import { compilePlacement } from '../../../../../src/placement/select/placementSpec.ts'
import { objectKey, parseObjectKey } from '../../../../../src/placement/words/names.ts'
import { EDGE, MAPS, placement } from '../../translatorWorld.ts'

const DEPLOYMENTS: GroupVersionResource = { group: 'apps', version: 'v1', resource: 'deployments' }
const ROLES: GroupVersionResource = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterroles' }
const NOTHING = new Map<string, string>()
const IDLE = { due: false, rest: async () => {} }
const ALL = { namespaces: ['*'], objectNames: ['*'] }
const SPEC = {
  downsync: [
    { apiGroup: '', resources: ['configmaps'], ...ALL },
    { apiGroup: 'apps', resources: ['deployments'], ...ALL },
    { apiGroup: ROLES.group, resources: ['clusterroles'], ...ALL },
  ],
}

function setUp(isKnown = true) {
  const tasks = { configs() {}, sources() {}, report() {}, reports() {} }
  const granted = { allowsAll: true, isUncertain: false, refusal: () => undefined, carriesUp: () => false }
  const join = new PlacementJoin(tasks, new Signals(), { allowance: () => granted as never, anyUncertain: false })
  const objects = new Map<string, KubeObject>()
  const add = (resource: GroupVersionResource, namespace: string, name: string, more: object = {}) => {
    const key = objectKey(resource, namespace, name)
    const fact = { key, uid: '', resource, namespace, name, labels: {}, revision: 1, customized: false, customizer: '' }
    join.workload('w').setObject({ ...fact, annotated: false, defines: [] })
    const metadata = { name, ...(namespace && { namespace }), uid: `uid-${name}`, resourceVersion: '1', generation: 4 }
    objects.set(key, { apiVersion: 'v1', kind: 'X', metadata, ...more })
    return key
  }
  join.setPlacement('w', 'p', compilePlacement(placement('p', SPEC)))
  const destination = (mailbox: string, locationName: string, syncTarget: string) => ({
    mailbox,
    cluster: 'inv',
    locationName,
    syncTarget,
  })
  join.setDestinations('w', 'p', [
    destination('m1', 'florin', 'florin'),
    // a Location for two clusters
    destination('m2', 'flor', 'one'),
    destination('m3', 'flor', 'two'),
  ])
  const boxes = new Map(['m1', 'm2', 'm3'].map(name => [name, new Mailbox(name, `space-${name}`)]))
  const locations = new SpaceLocations({
    join,
    inventory: { target: () => undefined },
    consents: { bindingTo: () => 'imw' },
  })
  let named = true
  const followers = new WorkStatusFollowers({ join, locations, pendingMarks: { isOpen: () => !named } })
  const exceptions = new Map<string, Exception>()
  const outcome = { live: true, compared: true, processed: 0, exceptions, unlisted: {} }
  const deps = {
    client: {} as never,
    join,
    cache: { get: (space: string, key: string) => copies.get(`${space} ${key}`) } as never,
    sources: { read: async (_: string, { key }: { key: string }) => objects.get(key) },
    kinds: { of: async () => new Map([['deployments.apps', { kind: 'Deployment' }]]) } as never,
    clusters: {
      join,
      mailbox: (name: string) => boxes.get(name),
      outcome: () => outcome,
      isNamed: () => named,
      allowsAll: () => true,
      refusal: () => undefined,
      remarks: { of: () => undefined },
      pauses: { locationOf: () => undefined },
    },
    mailbox: (name: string) => boxes.get(name),
    locations,
    followers,
    retained: { *of() {}, verdict: () => undefined },
    isKnown: () => isKnown,
    pathOf: () => 'root:inv',
  }
  /** Content of mailboxes. */
  const copies = new Map<string, KubeObject>()
  const copy = (mailbox: string, key: string, object: KubeObject, owner = 'w') => {
    const box = boxes.get(mailbox)!
    box.copies.set(key, {
      resource: MAPS,
      uid: 'c',
      resourceVersion: '9',
      terminating: false,
      owner,
      settled: true,
    })
    copies.set(`${box.space} ${key}`, object)
  }
  const naming = (isNamed: boolean) => {
    named = isNamed
    if (isNamed) followers.named('w')
  }
  return { join, add, copy, naming, followers, deps, statuses: new WorkStatuses(deps, { isNamespaced: true }) }
}

async function namesOf(
  statuses: WorkStatuses,
  after?: AnswerName,
  limit = Number.POSITIVE_INFINITY,
): Promise<AnswerName[]> {
  const names: AnswerName[] = []
  for await (const { namespace, name } of statuses.rows({ space: 'w', after, fixed: NOTHING }, IDLE)) {
    names.push({ namespace, name })
    if (names.length >= limit) break
  }
  return names
}

t.test('each object in each cluster, in the order of names, and pages follow it', async t => {
  const { add, statuses, deps } = setUp()
  add(MAPS, 'shop', 'a')
  add(MAPS, 'shop', 'a-b')
  add(DEPLOYMENTS, 'shop', 'a')
  add(MAPS, 'bank', 'z')
  add(ROLES, '', 'system:reader')
  const all = await namesOf(statuses)
  t.equal(all.length, 12)
  t.same(
    all.slice(0, 3).map(({ name }) => name),
    ['imw.florin:configmaps:z', 'imw.flor+one:configmaps:z', 'imw.flor+two:configmaps:z'].sort(),
  )
  t.same(
    all,
    [...all].sort((a, b) => (`${a.namespace}/${a.name}` < `${b.namespace}/${b.name}` ? -1 : 1)),
  )
  for (const limit of [1, 5]) {
    const paged: AnswerName[] = []
    for (let after: AnswerName | undefined; ; after = paged.at(-1)) {
      const page = await namesOf(statuses, after, limit)
      paged.push(...page)
      if (page.length < limit) break
    }
    t.same(paged, all, `pages of ${limit}`)
  }
  for (const one of all) t.match(await statuses.row('w', one), one)
  t.equal(await statuses.row('w', { namespace: 'shop', name: 'imw.florin:configmaps:none' }), undefined)
  t.equal(await statuses.row('w', { namespace: 'shop', name: 'none' }), undefined)
  const ofClusters = new WorkStatuses(deps, { isNamespaced: false })
  t.same(
    (await namesOf(ofClusters)).map(({ name }) => name),
    ['florin', 'flor+one', 'flor+two']
      .map(at => `imw.${at}:clusterroles.rbac.authorization.k8s.io:system:reader`)
      .sort(),
  )
})

t.test('what the cluster reports is told with generations of the object', async t => {
  const { add, copy, statuses, deps } = setUp()
  const key = add(DEPLOYMENTS, 'shop', 'web')
  const reported = (observedGeneration: number, generation: number): KubeObject => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', generation, creationTimestamp: '2026-01-01T00:00:00Z' },
    status: { observedGeneration, replicas: 2 },
  })
  copy('m1', key, reported(7, 7))
  copy('m2', key, reported(6, 7))
  const whole = async (label: string) => {
    const row = await statuses.row('w', { namespace: 'shop', name: `${label}:deployments.apps:web` })
    return await row?.whole()
  }
  const seen = await whole('imw.florin')
  t.match(seen, {
    apiVersion: EDGE.replace('v2', 'v1'),
    kind: 'WorkStatus',
    metadata: {
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: {
        'edge.kubestellar.io/location': 'imw.florin',
        'location.edge.kubestellar.io/imw.florin': 'true',
      },
    },
    spec: { sourceRef: { kind: 'Deployment', uid: 'uid-web' }, location: { name: 'florin' }, placements: ['p'] },
    status: { state: 'Applied', generation: 4, reported: { observedGeneration: 4, replicas: 2 } },
  })
  t.same(at(await whole('imw.flor+one'), 'status', 'reported'), { replicas: 2 }, 'it has not seen the newest')
  // another placement leads to the same cluster by a Location of another name
  deps.join.setPlacement('w', 'q', compilePlacement(placement('q', SPEC)))
  const other = { mailbox: 'm1', cluster: 'inv', locationName: 'zone', syncTarget: 'florin' }
  deps.join.setDestinations('w', 'q', [other])
  t.match(await whole('imw.florin'), {
    metadata: {
      labels: {
        'edge.kubestellar.io/location': 'imw.florin',
        'location.edge.kubestellar.io/imw.florin': 'true',
        'location.edge.kubestellar.io/imw.zone': 'true',
      },
    },
    spec: { placements: ['p', 'q'] },
  })
  deps.join.setDestinations('w', 'q', [])
  const since = '2026-01-02T00:00:00Z'
  const metadata = {
    creationTimestamp: '2026-01-01T00:00:00Z',
    annotations: { 'edge.kubestellar.io/owned-since': since },
  }
  copy('m2', key, { apiVersion: 'apps/v1', kind: 'Deployment', metadata })
  t.equal(at(await whole('imw.flor+one'), 'metadata', 'creationTimestamp'), since, "it was another space's before")
  const none = await whole('imw.flor+two')
  t.match(none, { status: { state: 'Pending' }, spec: { location: { name: 'flor', syncTarget: 'two' } } })
  t.equal(at(none, 'status', 'reported'), undefined)
})

t.test('a copy is pending until its syncer has looked at its newest content', async t => {
  const { add, copy, statuses, deps } = setUp()
  const key = add(DEPLOYMENTS, 'shop', 'web')
  copy('m1', key, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' } })
  const state = async () => {
    const row = await statuses.row('w', { namespace: 'shop', name: 'imw.florin:deployments.apps:web' })
    return at(row?.head, 'status', 'state')
  }
  const { changes } = deps.mailbox('m1')!
  for (const revision of [5, 8]) {
    changes.changed(key, revision)
    t.equal(await state(), 'Pending')
    changes.processed(revision - 1)
    t.equal(await state(), 'Pending', 'it has looked at less')
    changes.processed(revision)
    t.equal(await state(), 'Applied')
  }
})

t.test('a work status shows nothing of a copy that another space owns', async t => {
  const { add, copy, statuses } = setUp()
  const key = add(DEPLOYMENTS, 'shop', 'web')
  const metadata = { name: 'web', generation: 7, creationTimestamp: '2026-01-01T00:00:00Z' }
  copy('m1', key, { apiVersion: 'apps/v1', kind: 'Deployment', metadata, status: { secret: 'of v' } }, 'v')
  const row = await statuses.row('w', { namespace: 'shop', name: 'imw.florin:deployments.apps:web' })
  const seen = await row?.whole()
  t.match(seen, { status: { state: 'Projecting' }, spec: { sourceRef: { name: 'web' } } })
  t.notMatch(JSON.stringify(seen), /of v|2026-01-01/)
  t.equal(at(seen, 'status', 'generation'), undefined)
})

t.test('of an object that reports too much it is said that it is there, and not how it is', async t => {
  const { add, copy, statuses, deps } = setUp()
  const key = add(DEPLOYMENTS, 'shop', 'web')
  copy('m1', key, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', generation: 7 } })
  const said = { ...parseObjectKey(key), seq: 1, since: '2026-01-01T00:00:00Z' }
  const message = 'its status is too large'
  deps.clusters.outcome().exceptions.set(key, { ...said, state: 'applied', reason: 'StatusTooLarge', message })
  const row = await statuses.row('w', { namespace: 'shop', name: 'imw.florin:deployments.apps:web' })
  t.match(row?.head.status, {
    state: 'Applied',
    reason: 'StatusTooLarge',
    message,
    health: 'Progressing',
    healthMessage: message,
  })
})

t.test(
  'of what a cluster altered it is said which fields are not so, and how it is by what the cluster holds',
  async t => {
    const { add, copy, statuses, deps } = setUp()
    const key = add(DEPLOYMENTS, 'shop', 'web')
    copy('m1', key, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', generation: 7 } })
    const differences = [{ path: 'spec.paused', change: 'Dropped', wanted: 'true', decisive: true }] as const
    const health = { health: 'Progressing', message: 'it runs' } as const
    const liveFields = [{ path: 'spec.replicas', live: '5' }]
    const about = { ...parseObjectKey(key), seq: 1, since: '2026-01-01T00:00:00Z', message: '' }
    const said = { ...about, differences, liveFields, health }
    deps.clusters.outcome().exceptions.set(key, { ...said, state: 'altered', reason: 'FieldsDropped' })
    const row = await statuses.row('w', { namespace: 'shop', name: 'imw.florin:deployments.apps:web' })
    t.match(row?.head.status, {
      state: 'Altered',
      reason: 'FieldsDropped',
      differences,
      liveFields,
      health: 'Progressing',
      healthMessage: 'it runs',
    })
    deps.clusters.outcome().exceptions.set(key, { ...said, state: 'finished', reason: 'Succeeded' })
    const ended = await statuses.row('w', { namespace: 'shop', name: 'imw.florin:deployments.apps:web' })
    t.match(ended?.head.status, { state: 'Finished', reason: 'Succeeded', health: 'Progressing' }, 'by how it ended')
  },
)

t.test('of what is applied the syncer tells how it is where the live spec is another one', async t => {
  const { add, copy, statuses, deps } = setUp()
  const key = add(DEPLOYMENTS, 'shop', 'web')
  copy('m1', key, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', generation: 7 } })
  const health = { health: 'Suspended', message: 'it is paused' } as const
  const said = { ...parseObjectKey(key), seq: 1, since: '2026-01-01T00:00:00Z', message: '', health }
  deps.clusters.outcome().exceptions.set(key, { ...said, state: 'applied', reason: 'Applied' })
  const row = await statuses.row('w', { namespace: 'shop', name: 'imw.florin:deployments.apps:web' })
  t.match(row?.head.status, { state: 'Applied', reason: 'Applied', health: 'Suspended', healthMessage: 'it is paused' })
})

t.test('what a syncer has no room to name is unknown, with what it counts', async t => {
  const { add, copy, statuses, deps } = setUp()
  const key = add(DEPLOYMENTS, 'shop', 'web')
  copy('m1', key, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' } })
  Object.assign(deps.clusters.outcome(), { unlisted: { altered: 100, retrying: 2 } })
  const row = await statuses.row('w', { namespace: 'shop', name: 'imw.florin:deployments.apps:web' })
  t.match(row?.head.status, {
    state: 'Unknown',
    message:
      /^its syncer names at most 300 objects .*; it counts 100 altered, 2 retrying beside them, and this may be one/,
  })
})

t.test('an empty list is never the answer as long as not all is known', async t => {
  const { statuses } = setUp(false)
  await t.rejects(namesOf(statuses), /not known yet/)
})

t.test('followers hear of what may be another now, and what is too much is told as lost', async t => {
  const { add, statuses, followers, naming } = setUp()
  const told: string[] = []
  const end = statuses.follow('w', { touched: ({ name }) => told.push(name), lost: () => told.push('lost') })
  const key = add(MAPS, 'shop', 'a')
  const role = add(ROLES, '', 'reader')
  followers.copyChanged('m1', key, 'status')
  followers.copyChanged('m1', role, 'status')
  followers.copyChanged('m9', key, 'status')
  t.same(told.splice(0), ['imw.florin:configmaps:a'])
  followers.mailboxChanged('m2')
  t.same(told.splice(0), ['imw.flor+one:configmaps:a'])
  followers.claimsChanged(
    'w',
    Array.from({ length: 50 }, (_, i) => `m${i}`),
    Array.from({ length: 50 }, () => key),
  )
  t.same(told.splice(0), ['lost'])
  naming(false)
  followers.copyChanged('m1', key, 'status')
  naming(true)
  t.same(told.splice(0), ['imw.florin:configmaps:a', 'imw.florin:configmaps:a'], 'it said too much of being written')
  naming(false)
  await statuses.row('w', { namespace: 'shop', name: 'imw.florin:configmaps:a' })
  naming(true)
  t.same(told.splice(0), ['imw.florin:configmaps:a'], 'and so may have what was answered meanwhile')
  naming(false)
  const listed = await namesOf(statuses)
  const early = await statuses.row('w', { namespace: 'shop', name: listed[0]!.name })
  t.match(early?.head.status, { state: 'Projecting', message: 'the copy is being written' })
  naming(true)
  t.same(
    told.splice(0),
    listed.map(({ name }) => name),
  )
  for (let i = 0; i < 700; i++) add(MAPS, 'shop', `more-${i}`)
  naming(false)
  await namesOf(statuses)
  naming(true)
  t.same(told.splice(0), ['lost'])
  end()
  followers.copyChanged('m1', key, 'status')
  t.same(told, [])
})
