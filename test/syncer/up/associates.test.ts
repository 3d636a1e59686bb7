/** Associated objects: what the cluster makes for copies comes up by the owners that lead there, and nothing else does. */
import t, { type Test } from 'tap'
import type { GroupVersionResource, KubeObject } from '../../../src/apimachinery/object.ts'
import { type AssociatedAsk, associatedWith } from '../../../src/placement/associated/associated.ts'
import { ASSOCIATED_ANNOTATION, OWNER_ANNOTATION } from '../../../src/placement/words/placement.ts'
import { startCenter } from '../../support/center.ts'
import { CONFIGS, DEPLOYMENTS } from '../support/kinds.ts'
import { type Pair, PROJECTED, pairIn } from '../support/pair.ts'

const SETS: GroupVersionResource = { group: 'apps', version: 'v1', resource: 'replicasets' }
const PODS: GroupVersionResource = { group: '', version: 'v1', resource: 'pods' }
const EVENTS: GroupVersionResource = { group: '', version: 'v1', resource: 'events' }
const center = await startCenter(t, { expectsTrouble: true })

const ALL: readonly AssociatedAsk[] = [{ placement: 'p', kinds: ['*'], full: false }]
const pods = { containers: [{ name: 'c', image: 'shop/web:1', env: [{ name: 'TOKEN', value: 'hunter2' }] }] }
const template = { metadata: { labels: { app: 'web' } }, spec: pods }
const copy = (name: string, asks: readonly AssociatedAsk[]): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    name,
    namespace: 'app',
    labels: PROJECTED,
    annotations: {
      [OWNER_ANNOTATION]: 'wmw1',
      ...(asks.length > 0 && { [ASSOCIATED_ANNOTATION]: JSON.stringify(asks) }),
    },
  },
  spec: { selector: { matchLabels: { app: 'web' } }, template },
})

class Cluster {
  readonly pair: Pair

  constructor(pair: Pair) {
    this.pair = pair
  }

  async make(resource: GroupVersionResource, kind: string, name: string, owner: KubeObject, more: object = {}) {
    const { apiVersion, kind: ownerKind, metadata } = owner
    const reference = { apiVersion, kind: ownerKind, name: metadata.name!, uid: metadata.uid! }
    return await this.pair.cluster.create(resource, {
      apiVersion: resource.group === '' ? 'v1' : `${resource.group}/v1`,
      kind,
      metadata: { name, namespace: 'app', ownerReferences: [reference], labels: { app: 'web' } },
      ...more,
    })
  }

  set = (name: string, owner: KubeObject) =>
    this.make(SETS, 'ReplicaSet', name, owner, { spec: { selector: { matchLabels: { app: 'web' } }, template } })

  pod = (name: string, owner: KubeObject) => this.make(PODS, 'Pod', name, owner, { spec: pods })

  event = (name: string, about: KubeObject, lastTimestamp = '2026-01-01T00:00:00Z') =>
    this.pair.cluster.create(EVENTS, {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name, namespace: 'app' },
      involvedObject: {
        apiVersion: about.apiVersion,
        kind: about.kind,
        namespace: 'app',
        name: about.metadata.name,
        uid: about.metadata.uid,
      },
      reason: 'BackOff',
      message: 'back-off restarting failed container',
      type: 'Warning',
      lastTimestamp,
    })

  deployment = (name: string) =>
    center.world.present(
      this.pair.clusterId,
      `deployments.apps app/${name}`,
      ({ metadata }) => metadata.uid !== undefined,
    )

  up = (key: string, isSo?: (object: KubeObject) => boolean) => center.world.present(this.pair.mailboxId, key, isSo)
  down = (key: string) => center.world.absent(this.pair.mailboxId, key)
}

async function clusterFor(t: Test, asks = ALL): Promise<Cluster> {
  const pair = await pairIn(center, t, {})
  await pair.mailbox.patch(CONFIGS, { name: 'the-one' }, 'merge', {
    metadata: { annotations: { 'edge.kubestellar.io/carries': 'projected' } },
  })
  await pair.mailbox.create(DEPLOYMENTS, copy('web', asks))
  await pair.mailbox.create(DEPLOYMENTS, copy('other', []))
  return new Cluster(pair)
}

t.test('ReplicaSets, Pods and Events of a placed Deployment come up as summaries, those of another do not', async t => {
  const c = await clusterFor(t)
  c.pair.start()
  const [web, other] = [await c.deployment('web'), await c.deployment('other')]
  const set = await c.set('web-1', web)
  const pod = await c.pod('web-1-a', set)
  await c.pod('other-a', await c.set('other-1', other))
  await c.pair.cluster.create(PODS, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'alone', namespace: 'app' },
    spec: pods,
  })
  await c.event('crash', pod)
  await c.event('scaled', web)
  const status = {
    phase: 'Running',
    hostIP: '10.0.0.1',
    containerStatuses: [
      {
        name: 'c',
        image: 'shop/web:1',
        imageID: 'sha256:1',
        ready: false,
        restartCount: 7,
        state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 5m' } },
      },
    ],
  }
  await c.pair.cluster.patch(
    PODS,
    { namespace: 'app', name: 'web-1-a' },
    'merge',
    { status },
    { subresource: 'status' },
  )
  const carried = await c.up(
    'pods app/web-1-a',
    ({ status }) => (status as { phase?: string } | undefined)?.phase === 'Running',
  )
  t.match(carried, {
    spec: { containers: [{ name: 'c', image: 'shop/web:1' }] },
    status: { containerStatuses: [{ restartCount: 7, state: { waiting: { reason: 'CrashLoopBackOff' } } }] },
  })
  t.notMatch(JSON.stringify(carried), 'hunter2')
  t.match(associatedWith(carried), {
    root: 'apps|deployments|app|web',
    rootUid: web.metadata.uid!,
    placement: 'p',
    uid: pod.metadata.uid!,
    owners: [{ kind: 'ReplicaSet', name: 'web-1', uid: set.metadata.uid! }],
    health: 'Degraded',
    message: 'container c: back-off 5m',
  })
  t.match(await c.up('replicasets.apps app/web-1'), {
    spec: { template: { spec: { containers: [{ image: 'shop/web:1' }] } } },
  })
  t.match(await c.up('events app/crash'), { reason: 'BackOff', involvedObject: { name: 'web-1-a' } })
  await c.up('events app/scaled')
  await c.pair.settled()
  t.strictSame(
    (await c.pair.mailbox.list(PODS)).items.map(({ metadata }) => metadata.name),
    ['web-1-a'],
  )
  t.strictSame(
    (await c.pair.mailbox.list(SETS)).items.map(({ metadata }) => metadata.name),
    ['web-1'],
  )
})
