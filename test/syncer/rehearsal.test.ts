/** A syncer's forecast of its work, and proof that it does none. */
import t from 'tap'
import { StatusError } from '../../src/apimachinery/errors.ts'
import { exitCodeOf, rehearsalLines } from '../../src/cli/orrery/syncer/syncerDryRun.ts'
import type { SpaceClient } from '../../src/client/client.ts'
import { silentLogger } from '../../src/client/logger.ts'
import { ADOPT, DOWNSYNCED } from '../../src/placement/words/placement.ts'
import { ownMark } from '../../src/syncer/objects/marks.ts'
import { rehearse } from '../../src/syncer/rehearsal.ts'
import { startCenter } from '../support/center.ts'
import { realTime } from '../support/time.ts'
import { configMap, MAPS, NAMESPACES, namespace } from './support/kinds.ts'
import { type Pair, PROJECTED, pairIn, sent } from './support/pair.ts'

const center = await startCenter(t)
const WANTS = {
  namespacedObjects: [
    {
      group: '',
      resource: 'configmaps',
      apiVersion: 'v1',
      objectsByNamespace: [{ namespace: 'app', names: ['*'] }],
    },
  ],
}
/** Those of the test: a server makes its own when it comes to it. */
const mapsOf = async (space: SpaceClient) =>
  (await space.list(MAPS, { namespace: 'app' })).items.filter(({ metadata }) => metadata.name !== 'kube-root-ca.crt')
const rehearsed = async (p: Pair) => {
  const { acts, notes } = await rehearse({
    center: center.client,
    space: p.mailboxId,
    cluster: p.cluster,
    logger: silentLogger,
    ...realTime(),
  })
  return { lines: rehearsalLines(acts), code: exitCodeOf(acts), notes }
}

t.test('an empty cluster would be filled, Namespace and all, and stays empty', async t => {
  const p = await pairIn(center, t, WANTS)
  await p.mailbox.create(MAPS, sent('a', { x: '1' }))
  const before = await mapsOf(p.mailbox)
  t.same(await rehearsed(p), {
    lines: ['create configmaps app/a', 'create namespaces app', '2 to create; nothing was written'],
    code: 1,
    notes: [],
  })
  t.notOk(center.world.get(p.clusterId, 'namespaces app'))
  t.notOk(
    center.world.get(p.clusterId, 'configmaps kube-system/orrery-syncer'),
    'nor does it note whose the cluster is',
  )
  t.same(await mapsOf(p.mailbox), before)
})

t.test(
  'what is changed, adopted, refused and deleted is told apart; after the syncer nothing is left to do',
  async t => {
    const p = await pairIn(center, t, WANTS)
    const at = (name: string) => ({ namespace: 'app', name })
    await p.cluster.create(NAMESPACES, namespace('app'))
    for (const name of ['same', 'changed', 'deleted']) await p.mailbox.create(MAPS, sent(name, { x: '1' }))
    const syncer = p.start()
    for (const name of ['same', 'changed', 'deleted']) await center.world.present(p.clusterId, `configmaps app/${name}`)
    await p.settled()
    await syncer.stop()
    t.same(await rehearsed(p), {
      lines: ['the cluster holds what its mailbox says; nothing to do'],
      code: 0,
      notes: [],
    })

    await p.mailbox.patch(MAPS, at('changed'), 'merge', { data: { x: '2' } })
    await p.mailbox.delete(MAPS, at('deleted'))
    t.match(await rehearsed(p), {
      lines: [
        'change configmaps app/changed',
        'delete configmaps app/deleted',
        '1 to change, 1 to delete; nothing was written',
      ],
      code: 1,
    })

    await p.cluster.create(MAPS, configMap('theirs', { own: 'x' }))
    await p.cluster.create(MAPS, configMap('taken', { own: 'x' }))
    await p.mailbox.create(MAPS, sent('theirs', { x: '1' }))
    await p.mailbox.create(MAPS, sent('taken', { x: '1' }, { annotations: { [ADOPT]: 'true' } }))
    const held = await mapsOf(p.cluster)
    const { lines, code } = await rehearsed(p)
    t.match(lines, [
      'change configmaps app/changed',
      'delete configmaps app/deleted',
      'adopt configmaps app/taken',
      /^refuse configmaps app\/theirs: was in the cluster before, .* spec\.adoptExisting/,
      '1 to change, 1 to delete, 1 to adopt, 1 to refuse; nothing was written',
    ])
    t.equal(code, 2)
    t.same(await mapsOf(p.cluster), held, 'the cluster holds what it held')
  },
)

t.test('of a cluster that is too busy to answer nothing is said, for it refuses nothing', async t => {
  const p = await pairIn(center, t, WANTS)
  await p.cluster.create(NAMESPACES, namespace('app'))
  await p.mailbox.create(MAPS, sent('a', { x: '1' }))
  const { cluster } = p
  const busy: SpaceClient = {
    get: (...args) => cluster.get(...args),
    list: (...args) => cluster.list(...args),
    watch: (...args) => cluster.watch(...args),
    discover: () => cluster.discover(),
    create: () => Promise.reject(new StatusError('TooManyRequests', 'try again later')),
    update: (...args) => cluster.update(...args),
    patch: (...args) => cluster.patch(...args),
    delete: (...args) => cluster.delete(...args),
  }
  await t.rejects(rehearsed({ ...p, cluster: busy }), { reason: 'TooManyRequests', message: 'try again later' })
})

t.test('a cluster that another mailbox fills is left alone, and so it is said', async t => {
  const p = await pairIn(center, t, WANTS)
  await p.cluster.create(NAMESPACES, namespace('app'))
  const foreign = configMap('foreign')
  const marks = { labels: PROJECTED, annotations: { [DOWNSYNCED]: ownMark(foreign) } }
  await p.cluster.create(MAPS, configMap('foreign', {}, marks))
  await t.rejects(rehearsed(p), /the cluster holds what a syncer placed there, such as ConfigMap\/app\/foreign/)
})

t.test('what the brake would keep in the cluster is said to be held, until that is confirmed', async t => {
  const p = await pairIn(center, t, WANTS)
  const names = Array.from({ length: 11 }, (_, index) => `gone${index}`)
  await p.cluster.create(NAMESPACES, namespace('app'))
  for (const name of names) await p.mailbox.create(MAPS, sent(name, { x: '1' }))
  const syncer = p.start()
  for (const name of names) await center.world.present(p.clusterId, `configmaps app/${name}`)
  await p.settled()
  await syncer.stop()
  for (const name of names) await p.mailbox.delete(MAPS, { namespace: 'app', name })

  const { lines, code, notes } = await rehearsed(p)
  t.same(lines, [...names.map(name => `hold configmaps app/${name}`).sort(), '11 to hold; nothing was written'])
  t.equal(code, 1)
  t.match(notes, [/^11 objects stay in the cluster: .*a syncer that kept its state removes at once/])

  const hash = /confirm-deletion=([0-9a-f]{12})/.exec(notes[0] ?? '')?.[1]
  const record = { namespace: 'kube-system', name: 'orrery-syncer' }
  const annotations = { 'edge.kubestellar.io/confirm-deletion': hash }
  await p.cluster.patch(MAPS, record, 'merge', { metadata: { annotations } })
  t.same((await rehearsed(p)).lines, [
    ...names.map(name => `delete configmaps app/${name}`).sort(),
    '11 to delete; nothing was written',
  ])
})
