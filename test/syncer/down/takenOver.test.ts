/**
 * Fields that a syncer created count as applied from its first apply on. A write in the same moment makes it look again, without a report.
 */
import t from 'tap'
import type { PatchType, SpaceClient } from '../../../src/client/client.ts'
import { startCenter } from '../../support/center.ts'
import { MAPS } from '../support/kinds.ts'
import { pairIn, sent } from '../support/pair.ts'
import { recordingLogger } from '../support/recordingLogger.ts'

const center = await startCenter(t)

t.test('a write between the look and the first apply is a conflict like others', async t => {
  const p = await pairIn(center, t)
  let tests = 0
  const cluster: SpaceClient = {
    ...p.cluster,
    patch(resource, ref, type: PatchType, body, options) {
      // as if the object had changed meanwhile
      const tested = type === 'json' && tests++ === 0 ? [{ op: 'test', path: '/metadata/uid', value: 'x' }] : body
      return p.cluster.patch(resource, ref, type, tested as typeof body, options)
    },
  }
  const { logger, lines } = recordingLogger()
  await p.mailbox.create(MAPS, sent('a', { value: '1' }))
  p.start(logger, undefined, { cluster: p.toCluster.cluster(cluster) })
  await center.world.present(p.clusterId, 'configmaps app/a')
  await p.mailbox.patch(MAPS, { namespace: 'app', name: 'a' }, 'merge', { data: { value: '2' } })
  const applied = await center.world.present(
    p.clusterId,
    'configmaps app/a',
    ({ data }) => JSON.stringify(data) === '{"value":"2"}',
  )
  t.equal(tests, 2)
  t.match(applied.metadata.managedFields, [{ manager: 'kubestellar-syncer', operation: 'Apply' }])
  t.same(
    lines.filter(({ level }) => level !== 'info'),
    [],
  )
})
