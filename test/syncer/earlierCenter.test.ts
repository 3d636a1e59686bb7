// A syncer of today at a center of release 0.1.0: what that one's stream said, recorded, and its deaf ear for reports.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { StatusError, statusError } from '../../src/apimachinery/errors.ts'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { OUTCOME_SUBRESOURCE } from '../../src/apimachinery/outcome.ts'
import type { Client, StreamOptions } from '../../src/client/client.ts'
import { streamBatches } from '../../src/client/http/streamLines.ts'
import { startCenter } from '../support/center.ts'
import { at, deployment } from './support/installation.ts'
import { CONFIGS, DEPLOYMENTS, NAMESPACES, namespace } from './support/kinds.ts'
import { pairIn } from './support/pair.ts'
import { recordingLogger } from './support/recordingLogger.ts'

const RECORDED = readFileSync(join(import.meta.dirname, 'support/stream010.jsonl'), 'utf8')
  .trim()
  .split('\n')
const SNAPSHOT = RECORDED.findIndex(line => line.includes('"synced":true')) + 1
const [PAGE, WEB] = ['configmaps shop/page', 'deployments.apps shop/web']
const says = (x: string) => (object: KubeObject) => JSON.stringify(object.data) === JSON.stringify({ x })

t.test('it carries in both directions with what that center has, and says so once', async t => {
  const center = await startCenter(t, { expectsTrouble: true })
  const p = await pairIn(center, t)
  const { world } = center
  // where statuses go; what is to be in the cluster the stream alone says
  await p.mailbox.create(NAMESPACES, namespace('shop'))
  await p.mailbox.create(DEPLOYMENTS, deployment)
  const edits = Promise.withResolvers<void>()
  const asked: StreamOptions[] = []
  const earlier: Client = {
    in(space) {
      const client = p.toCenter.cluster(center.client.in(space))
      return {
        ...client,
        update: (resource, object, options) =>
          options?.subresource === OUTCOME_SUBRESOURCE
            ? Promise.reject(statusError.notFound(resource, object.metadata.name ?? ''))
            : client.update(resource, object, options),
      }
    },
    async *stream(options) {
      asked.push(options)
      const lines = RECORDED.map(line => line.replaceAll('MAILBOX', p.mailboxId))
      for (const part of [lines.slice(0, SNAPSHOT), lines.slice(SNAPSHOT)]) {
        for (const batch of streamBatches(part, 0)) {
          if (batch instanceof StatusError) throw batch
          yield batch
        }
        await edits.promise
      }
      const ended = Promise.withResolvers<void>()
      options.signal.addEventListener('abort', () => ended.resolve(), { once: true })
      if (!options.signal.aborted) await ended.promise
    },
  }
  const { logger, lines } = recordingLogger()
  const syncer = p.start(logger, undefined, { center: earlier })
  await world.present(p.clusterId, PAGE, says('1'))
  await world.present(p.clusterId, WEB)
  t.equal(syncer.status().protocol, 1)
  const status = { observedGeneration: 1, replicas: 1, readyReplicas: 1 }
  await p.cluster.patch(DEPLOYMENTS, at('web'), 'merge', { status }, { subresource: 'status' })
  await world.present(p.mailboxId, WEB, object => JSON.stringify(object.status).includes('"readyReplicas":1'))
  await world.present(p.mailboxId, 'syncerconfigs.edge.kubestellar.io the-one', ({ status }) =>
    JSON.stringify(status ?? {}).includes('lastSyncerHeartbeatTime'),
  )
  edits.resolve()
  await world.absent(p.clusterId, PAGE)
  t.match((await p.mailbox.get(CONFIGS, { name: 'the-one' })).status, { lastSyncerHeartbeatTime: /^2026-/ })
  t.match(asked[0], { protocols: { oldest: 1, newest: 2 } }, 'it says what it can')
  const told = lines.filter(({ message }) => message.startsWith('the center is of an earlier release'))
  t.equal(told.length, 1)
  await syncer.stop()
})
