// Preview: the translator's own decisions about objects that are not stored.
import t from 'tap'
import { StatusError, statusError } from '../../../../src/apimachinery/errors.ts'
import type { GroupVersionResource, KubeObject } from '../../../../src/apimachinery/object.ts'
import { NAMESPACES } from '../../../../src/apimachinery/resources.ts'
import type { LiveWish } from '../../../../src/placement/desks/placementPreview.ts'
import {
  CUSTOMIZERS,
  EDGE_PLACEMENTS,
  LOCATIONS,
  PAUSED_ANNOTATION,
  PLACEMENT_GRANTS,
  SLICES,
  SYNC_TARGETS,
} from '../../../../src/placement/words/placement.ts'
import { FakeClock } from '../../../client/support/fakeClock.ts'
import {
  ALL_MAPS,
  configMap,
  confirmHeld,
  consent,
  EDGE,
  grant,
  MAPS,
  placement,
  replicaSet,
  SETS,
  slice,
  tick,
} from '../translatorWorld.ts'
import { scene } from './previewScene.ts'

t.test('create, update, unchanged: clusters where the same becomes of it are one group', async t => {
  const { ask, actions } = await scene(t)
  const [updated] = await ask(configMap('page', { v: '2' }))
  t.match(updated, { resource: 'configmaps', namespace: 'commonstuff', name: 'page', placements: ['ep'] })
  t.match(updated!.groups, [
    {
      action: 'Update',
      count: 2,
      locations: [{ cluster: 'inv1', name: 'florin' }, { name: 'guilder' }],
      before: { data: { v: '1' } },
      after: { kind: 'ConfigMap', metadata: { name: 'page', namespace: 'commonstuff' }, data: { v: '2' } },
    },
  ])
  t.same(Object.keys(updated!.groups[0]!.after!.metadata), ['name', 'namespace'], 'bookkeeping is not shown')
  t.same(await actions(configMap('page', { v: '1' })), ['Unchanged florin,guilder'])
  const [made] = await ask(configMap('new', { v: '1' }))
  t.match(made!.groups, [{ action: 'Create', count: 2, before: undefined, after: { data: { v: '1' } } }])
})

t.test(
  'what selects it then counts: a label, the labels of a Namespace in the same question, what stays at home',
  async t => {
    const clock = new FakeClock()
    const { server, wds, actions, ask } = await scene(t, clock)
    const labelled = { downsync: [{ resources: ['configmaps'], labelSelectors: [{ matchLabels: { go: 'yes' } }] }] }
    await wds.update(EDGE_PLACEMENTS, { ...server.peek('wds1', EDGE_PLACEMENTS, 'ep')!, spec: labelled })
    await tick(server, clock)
    await confirmHeld(server)
    t.same(await actions(configMap('page', { v: '1' })), [])
    t.same(await actions(configMap('page', { v: '1' }, { labels: { go: 'yes' } })), ['Create florin,guilder'])
    const byNamespace = {
      downsync: [{ resources: ['configmaps'], namespaceSelectors: [{ matchLabels: { go: 'yes' } }] }],
    }
    await wds.update(EDGE_PLACEMENTS, { ...server.peek('wds1', EDGE_PLACEMENTS, 'ep')!, spec: byNamespace })
    await server.quiet()
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'commonstuff', labels: { go: 'yes' } } }
    t.same(await actions(configMap('page', {}), [NAMESPACES, namespace]), ['Create florin,guilder'])
    t.same(await actions([SETS, replicaSet('r')]), [], 'nothing selects it')
    const natured = configMap('page', {}, { labels: { 'edge.kubestellar.io/natured': 'true' } })
    t.match(await ask(natured), [{ placements: [], message: /travels nowhere/ }])
  },
)

t.test('what is left to clusters stays there as it is, and nobody is shown our bookkeeping', async t => {
  const { wds, server, ask, actions } = await scene(t)
  const ignoreDifferences = [{ group: '', kind: 'ConfigMap', jsonPointers: ['/data/v'] }]
  await wds.patch(EDGE_PLACEMENTS, { name: 'ep' }, 'merge', { spec: { ignoreDifferences } })
  await server.quiet()
  t.same(await actions(configMap('page', { v: '2' })), ['Unchanged florin,guilder'])
  const [told] = await ask(configMap('page', { v: '2', w: '2' }))
  t.same(
    told!.groups.map(({ action, before, after }) => [action, before?.data, after?.data, after?.metadata.annotations]),
    [['Update', {}, { w: '2' }, undefined]],
  )
  const [made] = await ask(configMap('new', { v: '2' }))
  t.same(made!.groups[0]!.after!.data, { v: '2' })
})

t.test('where it goes no more it would be deleted', async t => {
  const { server, wds, ask } = await scene(t)
  const labelled = { downsync: [{ resources: ['configmaps'], labelSelectors: [{ matchLabels: { go: 'yes' } }] }] }
  await wds.update(MAPS, configMap('page', { v: '1' }, { labels: { go: 'yes' } }))
  await wds.update(EDGE_PLACEMENTS, { ...server.peek('wds1', EDGE_PLACEMENTS, 'ep')!, spec: labelled })
  await server.quiet()
  const [told] = await ask(configMap('page', { v: '1' }, { labels: { go: 'no' } }))
  t.match(told, { placements: [], groups: [{ action: 'Delete', count: 2, before: { data: { v: '1' } } }] })
})

t.test('customized for each destination, by a Customizer of the same question too; what cannot be is told', async t => {
  const { wds, server, ask, actions } = await scene(t)
  const expanding = { annotations: { 'edge.kubestellar.io/expand-parameters': 'true' } }
  const [told] = await ask(configMap('page', { v: 'at %(loc-name)' }, expanding))
  t.same(
    told!.groups.map(({ action, count, after }) => [action, count, after?.data]),
    [
      ['Update', 1, { v: 'at florin' }],
      ['Update', 1, { v: 'at guilder' }],
    ],
  )
  const customized = configMap('page', { v: '1' }, { annotations: { 'edge.kubestellar.io/customizer': 'c' } })
  t.same(await actions(customized), ['Invalid florin,guilder CustomizationError'])
  const customizer = (value: string): KubeObject => ({
    apiVersion: EDGE,
    kind: 'Customizer',
    metadata: { name: 'c', namespace: 'commonstuff' },
    replacements: [{ path: '$.data.v', value }],
  })
  await wds.create(CUSTOMIZERS, customizer('"stored"'))
  await server.quiet()
  t.match((await ask(customized))[0]!.groups, [{ after: { data: { v: 'stored' } } }])
  t.match((await ask(customized, [CUSTOMIZERS, customizer('"asked"')]))[0]!.groups, [
    { after: { data: { v: 'asked' } } },
  ])
})

t.test('what asks for much customizing is looked at in few clusters, and for nobody who has gone', async t => {
  const { ask, previewer } = await scene(t)
  const expanding = { annotations: { 'edge.kubestellar.io/expand-parameters': 'true' } }
  const greedy = configMap(
    'page',
    Object.fromEntries(Array.from({ length: 40_000 }, (_, i) => [`k${i}`, '%(env)'])),
    expanding,
  )
  const many = Array.from({ length: 20 }, () => greedy)
  const told = await ask(...many)
  const looked = (reason: string | undefined) =>
    told.filter(({ groups }) => groups.some(group => group.reason === reason)).length
  t.ok(looked('TooMuchWork') > 0)
  t.ok(looked(undefined) > 0, 'some are')
  t.match(told.at(-1)!.groups, [
    { action: 'Unknown', reason: 'TooMuchWork', count: 2, message: /preview fewer, smaller or less customized/ },
  ])

  const gone = new Error('nobody waits')
  const work = { due: true, rest: () => Promise.reject(gone) }
  const objects = [{ resource: MAPS, object: greedy, operation: 'update' as const }]
  await t.rejects(previewer().preview({ space: 'wds1', objects, work }), gone)
})

t.test('what keeps it out: a grant, a pause, another owner, a cluster that takes nothing new', async t => {
  const { server, wds, actions, ask } = await scene(t)
  await consent(server, 'wds2')
  const other = server.in('wds2')
  await other.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'commonstuff' } })
  await other.create(MAPS, configMap('theirs', { v: 'hidden' }))
  await other.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
  await other.create(SLICES, slice('ep', 'florin'))
  await server.quiet()
  t.same(await actions(configMap('theirs', {})), ['Conflict florin ObjectConflict', 'Create guilder'])
  t.notMatch(JSON.stringify(await ask(configMap('theirs', {}))), /hidden/)

  const pausing = { annotations: { [PAUSED_ANNOTATION]: 'true' } }
  t.same(await actions(configMap('page', { v: '2' }, pausing)), ['Paused florin,guilder Paused'])
  const florin = server.peek('inv1', LOCATIONS, 'florin')!
  await server.in('inv1').update(LOCATIONS, {
    ...florin,
    metadata: { ...florin.metadata, ...pausing },
    spec: { instanceSelector: { matchLabels: { 'loc-name': 'florin' } } },
  })
  await server.quiet()
  t.same(await actions(configMap('page', { v: '2' })), ['Paused florin LocationPaused', 'Update guilder'])
  const target = server.peek('inv1', SYNC_TARGETS, 'guilder')!
  await server.in('inv1').update(SYNC_TARGETS, { ...target, spec: { unschedulable: true } })
  await server.quiet()
  t.same(await actions(configMap('new', {})), ['Paused florin LocationPaused', 'NotPermitted guilder Unschedulable'])

  const narrow = grant('wds1', 'wds1', { deny: [{ apiGroup: '', resources: ['configmaps'] }] })
  const known = server.peek('inv1', PLACEMENT_GRANTS, 'wds1')!
  await server.in('inv1').update(PLACEMENT_GRANTS, { ...narrow, metadata: known.metadata })
  await server.quiet()
  t.same((await actions(configMap('new', {})))[0], 'NotPermitted florin,guilder KindNotGranted')
  await wds.delete(EDGE_PLACEMENTS, { name: 'ep' })
  await server.quiet()
  t.same(await actions(configMap('page', {})), [], 'a space that places nothing')
})

t.test('values of Secrets are shown as hashes that compare within one answer, and cannot be guessed', async t => {
  const { server, wds, ask } = await scene(t)
  const secrets = { group: '', version: 'v1', resource: 'secrets' }
  const secret = (data: Record<string, string>): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: 's',
      namespace: 'commonstuff',
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(data) },
    },
    data,
  })
  await wds.update(EDGE_PLACEMENTS, {
    ...server.peek('wds1', EDGE_PLACEMENTS, 'ep')!,
    spec: { downsync: [{ resources: ['secrets'] }] },
  })
  await wds.create(secrets, secret({ same: 'b25l', other: 'dHdv' }))
  await server.quiet()
  const question = [secrets, secret({ same: 'b25l', other: 'dGhyZWU=' })] as [GroupVersionResource, KubeObject]
  const [first] = (await ask(question))[0]!.groups
  const [before, after] = [first!.before!.data, first!.after!.data] as Record<string, string>[]
  t.equal(before!.same, after!.same)
  t.not(before!.other, after!.other)
  t.notMatch(JSON.stringify(first), /b25l|dHdv|dGhyZWU/)
  const [again] = (await ask(question))[0]!.groups
  t.not((again!.before!.data as Record<string, string>).same, before!.same, 'another key each time')
})

t.test(
  'what the kind refuses once it is customized is invalid, in the words of the validation, asked once for each content',
  async t => {
    const { server, ask, florin, guilder } = await scene(t)
    const asked: string[] = []
    server.refuse = (space, verb, resource, name) => {
      asked.push(`${space} ${verb}`)
      if (space === guilder) throw statusError.invalid({ group: '', kind: 'ConfigMap' }, name, [])
      if (name === 'elsewhere') throw statusError.notFound(resource, '')
    }
    const expanding = { annotations: { 'edge.kubestellar.io/expand-parameters': 'true' } }
    const groups = async (name: string, v: string, metadata: object = expanding) => {
      asked.length = 0
      const [first] = await ask(configMap(name, { v }, metadata))
      return first!.groups.map(({ action, locations, reason }) => [action, locations[0]!.name, reason])
    }
    t.same(await groups('page', '%(loc-name)'), [
      ['Update', 'florin', undefined],
      ['Invalid', 'guilder', 'Refused'],
    ])
    t.same(asked, [`${florin} update`, `${guilder} update`])
    const [first] = await ask(configMap('new', { v: '%(loc-name)' }, expanding))
    t.match(first!.groups[1], {
      action: 'Invalid',
      message: /^the copy would be refused: ConfigMap "new" is invalid/,
      after: undefined,
    })
    t.same(await groups('elsewhere', '%(loc-name)'), [
      ['Create', 'florin', undefined],
      ['Invalid', 'guilder', 'Refused'],
    ])
    t.same(await groups('new', 'same', expanding), [['Create', 'florin', undefined]])
    t.same(asked, [`${florin} create`], 'what is the same is asked once')
    t.same(await groups('new', 'plain', {}), [['Create', 'florin', undefined]])
    t.same(asked, [], 'what is not customized was judged in its space')
    server.refuse = () => {
      throw new StatusError('ServiceUnavailable', 'slow')
    }
    await t.rejects(ask(configMap('new', { v: 'x' }, expanding)), /slow/, 'what is not known is not called taken')
    server.refuse = () => {}
  },
)

t.test('an update of what a cluster refuses now says that it is refused, and why', async t => {
  const { server, ask, outcomes, florin } = await scene(t)
  const { resourceVersion: seq = '' } = server.peek(florin, MAPS, 'page', 'commonstuff')!.metadata
  const about = { group: '', resource: 'configmaps', namespace: 'commonstuff', name: 'page', seq: Number(seq) }
  const refused = {
    ...about,
    state: 'refused',
    reason: 'AlreadyInCluster',
    message: 'it was there before',
    since: '',
  } as const
  const said = { session: 's', number: 1, whole: true, epoch: 'epoch', compared: true, processed: 1e9 }
  outcomes().take(florin, { ...said, exceptions: [refused], settled: [], unlisted: {} })
  const [told] = await ask(configMap('page', { v: '2' }))
  t.match(told!.groups, [
    {
      action: 'Update',
      locations: [{ name: 'florin' }],
      reason: 'AlreadyInCluster',
      message: 'the cluster refuses it now: it was there before',
      after: { data: { v: '2' } },
    },
    { action: 'Update', locations: [{ name: 'guilder' }], reason: undefined },
  ])
})

t.test('what clusters hold now is asked where it is wanted, and where nobody answers that is said', async t => {
  const { previewer, live, server, wds, florin, guilder } = await scene(t)
  const object = server.peek('wds1', MAPS, 'page', 'commonstuff')!
  const asking = async (wish: LiveWish | undefined) => {
    const objects = [{ resource: MAPS, object, operation: 'unchanged' as const }]
    const {
      objects: [told],
    } = await previewer().preview({ space: 'wds1', objects, live: wish })
    return told!.live
  }
  const found = async (wish: LiveWish = {}) =>
    (await asking(wish))?.map(
      ({ action, locations, reason }) => `${action} ${locations.map(({ name }) => name)} ${reason}`,
    )
  t.equal(await asking(undefined), undefined)
  t.same(await found(), ['Unknown florin,guilder NoSyncer'])
  const heard: object[] = []
  live.ask = async (mailbox, space, question) => {
    heard.push({ mailbox, space, ...question })
    if (mailbox === guilder) return 'SilentSyncer'
    const side = (v: string) => ({ data: { v }, metadata: { labels: { a: 'b', c: 7 }, annotations: 'none' } })
    return { id: '1', state: 'differs', message: '', wanted: side('1'), live: { ...side('by hand'), kind: 'Other' } }
  }
  const told = await asking({})
  t.match(told, [
    {
      action: 'Update',
      locations: [{ name: 'florin' }],
      before: { data: { v: 'by hand' } },
      after: { data: { v: '1' } },
    },
    {
      action: 'Unknown',
      locations: [{ name: 'guilder' }],
      message: /did not answer; what it last reported stands/,
    },
  ])
  t.match(told![0]!.before, {
    kind: 'ConfigMap',
    metadata: { name: 'page', namespace: 'commonstuff', labels: { a: 'b' } },
  })
  t.match(heard[0], { mailbox: florin, space: 'wds1', resource: 'configmaps', namespace: 'commonstuff', name: 'page' })
  t.match(heard[0], { hashKey: /^[0-9a-f]{64}$/ })
  t.same(await found({ locations: ['guilder'] }), ['Unknown guilder SilentSyncer'])
  for (const [state, said] of [
    ['same', 'Unchanged'],
    ['missing', 'Create florin Missing'],
    ['notOurs', 'Conflict florin NotOurs'],
    ['failed', 'Unknown florin ClusterFailed'],
  ] as const) {
    live.ask = async () => ({ id: '1', state, message: 'no route' })
    t.match(await found({ locations: ['florin'] }), [new RegExp(`^${said}`)])
  }
  t.match((await asking({ locations: ['florin'] }))![0]!.message, /could not be read: no route/)
  live.ask = async () => ({ id: '1', state: 'differs', message: '' })
  t.match((await asking({ locations: ['florin'] }))![0], { action: 'Update', reason: 'TooLarge', before: undefined })

  const waited: string[] = []
  live.ask = async mailbox => {
    waited.push(mailbox)
    return 'SilentSyncer'
  }
  const again = Array.from({ length: 3 }, () => ({ resource: MAPS, object, operation: 'unchanged' as const }))
  const { objects: silent } = await previewer().preview({ space: 'wds1', objects: again, live: {} })
  t.strictSame(waited.sort(), [florin, guilder].sort(), 'who did not answer is not waited for again by one preview')
  t.match(silent[2]!.live, [{ action: 'Unknown', reason: 'SilentSyncer', count: 2 }])

  // undisclosed parameters may be in it
  const location = server.peek('inv1', LOCATIONS, 'florin')!
  const annotations = { 'a.b/key': 'hushhush' }
  await server.in('inv1').update(LOCATIONS, { ...location, metadata: { ...location.metadata, annotations } })
  const expanding = { annotations: { 'edge.kubestellar.io/expand-parameters': 'true' } }
  await wds.update(MAPS, configMap('page', { v: '%(a.b/key)' }, expanding))
  await server.quiet()
  live.ask = async () => ({ id: '1', state: 'differs', message: '', wanted: {}, live: { data: { v: 'hushhush' } } })
  const [hidden] = (await asking({ locations: ['florin'] }))!
  t.match(hidden, { action: 'Update', reason: 'NotShown', before: undefined, after: undefined })
})
