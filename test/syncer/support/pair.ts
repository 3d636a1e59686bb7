/** A mailbox and a cluster inside one center of the test's process, and syncers between them. */
import { randomUUID } from 'node:crypto'
import type { Test } from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import type { SpaceClient } from '../../../src/client/client.ts'
import type { Clock } from '../../../src/client/clock.ts'
import type { Logger } from '../../../src/client/logger.ts'
import { silentLogger } from '../../../src/client/logger.ts'
import { type Syncer, type SyncerOptions, startSyncer } from '../../../src/syncer/syncer.ts'
import type { Center } from '../../support/center.ts'
import { temporaryDir } from '../../support/server.ts'
import { timeBy } from '../../support/time.ts'
import { Faults } from './faults.ts'
import { asCluster, CONFIGS, configMap, NAMESPACES, namespace, syncerConfig } from './kinds.ts'
import { virtualClock } from './virtualClock.ts'

export const PROJECTED = { 'edge.kubestellar.io/projected': 'yes' }

export interface Pair {
  center: Center
  /** Name of the mailbox's Workspace in `root`. */
  mailboxName: string
  mailboxId: string
  clusterId: string
  mailbox: SpaceClient
  cluster: SpaceClient
  dir: string
  toCenter: Faults
  toCluster: Faults
  /** On a clock on which every wait is over at once, unless another one is given. */
  start(logger?: Logger, clock?: Clock, more?: Partial<SyncerOptions>): Syncer
  /** Resolves when neither side is written any more. */
  settled(): Promise<unknown>
}

/** A mailbox that wants the ConfigMaps a and b of the Namespace app, and a cluster. */
export async function pairIn(center: Center, t: Test, spec: object = WANTS): Promise<Pair> {
  const id = randomUUID()
  const mailboxName = `x-mb-${id}`
  const [mailboxId, clusterId] = await Promise.all([center.space(mailboxName), center.space(`cluster-${id}`)])
  const [mailbox, cluster] = [center.client.in(mailboxId), asCluster(center.client.in(clusterId))]
  await mailbox.create(NAMESPACES, namespace('app', PROJECTED))
  await mailbox.create(CONFIGS, syncerConfig(spec))
  const [toCenter, toCluster] = [new Faults(), new Faults()]
  const dir = temporaryDir(t)
  const running = new Set<Syncer>()
  t.teardown(async () => {
    for (const syncer of running) await syncer.stop()
  })
  let starts = 0
  return {
    center,
    mailboxName,
    mailboxId,
    clusterId,
    mailbox,
    cluster,
    dir,
    toCenter,
    toCluster,
    start(logger = silentLogger, clock = virtualClock(Date.parse('2026-01-01T00:00:00Z') + ++starts * 1e7), more = {}) {
      const syncer = startSyncer({
        center: toCenter.center(center.client),
        space: mailboxId,
        cluster: toCluster.cluster(cluster),
        stateDir: dir,
        quietMs: 1e9,
        logger,
        ...timeBy(clock),
        ...more,
      })
      running.add(syncer)
      return syncer
    },
    settled: () => center.settled(),
  }
}

/** The ConfigMaps a and b of the Namespace app. */
const WANTS = {
  namespacedObjects: [
    {
      group: '',
      resource: 'configmaps',
      apiVersion: 'v1',
      objectsByNamespace: [{ namespace: 'app', names: ['a', 'b'] }],
    },
  ],
}
/** A ConfigMap as the center puts it into the mailbox. */
export const sent = (name: string, data: Record<string, string> = {}, metadata: object = {}): KubeObject =>
  configMap(name, data, { labels: PROJECTED, ...metadata })
