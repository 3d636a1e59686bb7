/** A refusal by the cluster's owner holds at the edge, against any wish of the center, and never silently. */
import t from 'tap'
import { isRecord, type KubeObject } from '../../../src/apimachinery/object.ts'
import { type AllowLists, ClusterAllowance } from '../../../src/syncer/mailbox/clusterAllowance.ts'
import { startCenter } from '../../support/center.ts'
import { CONFIGS, configMap, MAPS, NAMESPACES, namespace } from '../support/kinds.ts'
import { PROJECTED, pairIn, sent } from '../support/pair.ts'
import { recordingLogger } from '../support/recordingLogger.ts'

const AT_A = { namespace: 'app', name: 'a' }
const THE_ONE = 'syncerconfigs.edge.kubestellar.io the-one'
const SECRETS = { group: '', version: 'v1', resource: 'secrets' }
const ROLES = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterroles' }
const center = await startCenter(t, { expectsTrouble: true })

t.test('lists of patterns say what is allowed', async t => {
  const judge = (lists: AllowLists, text: string): string | undefined => {
    const [kind = '', name = ''] = text.split(' ')
    const [resource = '', ...group] = kind.split('.')
    const [namespace, own] = name.includes('/') ? (name.split('/') as [string, string]) : ['', name]
    return /--[a-z-]+/.exec(
      new ClusterAllowance(lists).refusalOf({ group: group.join('.'), resource, namespace, name: own })?.message ?? '',
    )?.[0]
  }
  const roles = 'clusterroles.rbac.authorization.k8s.io x'
  for (const [lists, object, flag] of [
    [{}, roles, undefined],
    [{}, 'secrets shop/x', undefined],
    [{ namespaces: ['shop', 'team-*'] }, 'secrets shop/x', undefined],
    [{ namespaces: ['shop', 'team-*'] }, 'secrets team-a/x', undefined],
    [{ namespaces: ['shop', 'team-*'] }, 'secrets kube-system/x', '--allow-namespaces'],
    [{ namespaces: ['shop', 'team-*'] }, 'namespaces team-a', undefined],
    [{ namespaces: ['shop', 'team-*'] }, 'namespaces default', '--allow-namespaces'],
    [{ namespaces: ['shop'] }, roles, '--allow-cluster-scoped'],
    [{ kinds: ['*.apps', 'configmaps'] }, 'deployments.apps shop/x', undefined],
    [{ kinds: ['*.apps', 'configmaps'] }, 'configmaps shop/x', undefined],
    [{ kinds: ['*.apps', 'configmaps'] }, 'secrets shop/x', '--allow-kinds'],
    [{ kinds: ['*.apps', 'configmaps'] }, 'namespaces shop', undefined],
    [{ kinds: ['*'] }, roles, '--allow-cluster-scoped'],
    [{ clusterScoped: ['*.apiextensions.k8s.io'] }, roles, '--allow-cluster-scoped'],
    [{ clusterScoped: ['*.apiextensions.k8s.io'] }, 'customresourcedefinitions.apiextensions.k8s.io x', undefined],
    [{ clusterScoped: ['*.apiextensions.k8s.io'] }, 'secrets shop/x', undefined],
    [{ clusterScoped: ['*.apiextensions.k8s.io'] }, 'namespaces shop', undefined],
  ] as const)
    t.equal(judge(lists, object), flag, `${JSON.stringify(lists)} ${object}`)
})

t.test('a pattern that cannot match is refused at the start, naming flag and remedy', async t => {
  for (const [lists, message] of [
    [{ kinds: ['Deployment'] }, /^--allow-kinds: "Deployment" matches nothing; write resource\.group such as/],
    [{ namespaces: [''] }, /^--allow-namespaces: "" matches nothing; write names such as/],
    [{ clusterScoped: ['apps/v1'] }, /^--allow-cluster-scoped: "apps\/v1" matches nothing;/],
  ] as const)
    t.throws(() => new ClusterAllowance(lists), { message })
})

t.test('what is not allowed stays out, in either direction, and is told and counted', async t => {
  const both = { apiVersion: 'v1', objectsByNamespace: [{ namespace: 'app', names: ['*'] }] }
  const p = await pairIn(center, t, {
    namespacedObjects: [
      { group: '', resource: 'configmaps', ...both },
      { group: '', resource: 'secrets', ...both },
      { group: '', resource: 'configmaps', apiVersion: 'v1', objectsByNamespace: [{ namespace: 'own', names: ['*'] }] },
    ],
    clusterScope: [{ group: ROLES.group, resource: ROLES.resource, apiVersion: 'v1', objects: ['*'] }],
    upsync: [
      { apiGroup: '', resources: ['configmaps'], namespaces: ['up', 'up-not'], names: ['*'] },
      { apiGroup: '', resources: ['secrets'], namespaces: ['up', 'up-not'], names: ['s'] },
    ],
  })
  await p.mailbox.create(NAMESPACES, namespace('own', PROJECTED))
  const secret = (at: string, labels: object): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: at, name: 's', labels: { ...labels } },
  })
  await p.mailbox.create(MAPS, sent('a', { x: '1' }))
  await p.mailbox.create(MAPS, sent('b', {}, { namespace: 'own', labels: PROJECTED }))
  await p.mailbox.create(SECRETS, secret('app', PROJECTED))
  await p.mailbox.create(ROLES, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'ruler', labels: PROJECTED },
    rules: [],
  })
  for (const at of ['up', 'up-not']) {
    await p.cluster.create(NAMESPACES, namespace(at))
    await p.cluster.create(MAPS, configMap('c', {}, { namespace: at }))
    await p.cluster.create(SECRETS, secret(at, {}))
  }
  const { logger, lines } = recordingLogger()
  const allowance = new ClusterAllowance({ namespaces: ['app', 'up'], kinds: ['configmaps', 'deployments'] })
  p.start(logger, undefined, { allowance })
  await center.world.present(p.clusterId, 'configmaps app/a')
  await center.world.present(p.mailboxId, 'configmaps up/c')
  // The secrets that would come up: their kind is not even watched.
  const told = await center.world.present(
    p.mailboxId,
    THE_ONE,
    ({ status }) => isRecord(status) && isRecord(status.refused) && status.refused.count === 5,
  )
  t.match(told.status, { refused: { reasons: { NotAllowed: 5 } } })
  await p.settled()
  const warnings = lines.filter(({ level }) => level === 'warn').map(({ message }) => message)
  t.same(
    new Set(warnings),
    new Set([
      "refused: clusterroles.rbac.authorization.k8s.io ruler is not allowed by --allow-cluster-scoped of this cluster's syncer",
      "refused: configmaps own/b is not allowed by --allow-namespaces of this cluster's syncer",
      "refused: configmaps up-not/c is not allowed by --allow-namespaces of this cluster's syncer",
      "refused: namespaces own is not allowed by --allow-namespaces of this cluster's syncer",
      'refused: secrets are not carried up, for the flags of this syncer do not allow it',
      "refused: secrets app/s is not allowed by --allow-kinds of this cluster's syncer",
      'the cluster serves no such kind (write resource.group): --allow-kinds deployments',
    ]),
  )
  for (const key of ['configmaps own/b', 'secrets app/s', 'namespaces own', `clusterroles.${ROLES.group} ruler`])
    t.notOk(center.world.get(p.clusterId, key), key)
  for (const key of ['secrets up/s', 'secrets up-not/s', 'configmaps up-not/c'])
    t.notOk(center.world.get(p.mailboxId, key), key)
})

t.test('what is allowed no more stays as it is, also when its source goes', async t => {
  const p = await pairIn(center, t)
  const first = p.start()
  await p.mailbox.create(MAPS, sent('a', { x: '1' }))
  await p.mailbox.create(MAPS, sent('b', { x: '1' }))
  for (const name of ['a', 'b']) await center.world.present(p.clusterId, `configmaps app/${name}`)
  await first.stop()
  const { logger, lines } = recordingLogger()
  p.start(logger, undefined, { allowance: new ClusterAllowance({ namespaces: ['else*'] }) })
  await p.mailbox.patch(MAPS, AT_A, 'merge', { data: { x: '2' } })
  await p.mailbox.delete(MAPS, { ...AT_A, name: 'b' })
  await center.world.present(
    p.mailboxId,
    THE_ONE,
    ({ status }) => isRecord(status) && isRecord(status.refused) && status.refused.count === 3,
  )
  await p.settled()
  t.same(center.world.get(p.clusterId, 'configmaps app/a')?.data, { x: '1' })
  t.ok(center.world.get(p.clusterId, 'configmaps app/b'))
  t.ok(
    lines.some(({ message }) =>
      message.startsWith('refused: configmaps app/b stays, for its deletion is not allowed by --allow-namespaces'),
    ),
  )
  await p.mailbox.patch(CONFIGS, { name: 'the-one' }, 'merge', { spec: { namespacedObjects: [] } })
  await p.settled()
  t.ok(center.world.get(p.clusterId, 'configmaps app/a'))
})
