// A quarrel about an object names the field, both values, and the field manager that wrote last.
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { MAX_MESSAGE } from '../../../src/placement/outcome/outcome.ts'
import { fought } from '../../../src/syncer/tells/verdicts.ts'

const KEY = { group: 'apps', resource: 'deployments', namespace: 'shop', name: 'web' }
const REST =
  'keeps changing it, and the syncer restores it ever more slowly. To leave a field to the cluster, name it in spec.ignoreDifferences of the EdgePlacement'

function web(replicas: number, managedFields: KubeObject['metadata']['managedFields'] = []): KubeObject {
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', managedFields }, spec: { replicas } }
}

t.test('the last manager beside the syncer is named, subresources left out', async t => {
  const live = web(5, [
    { manager: 'kubectl', operation: 'Update', time: '2026-01-01T00:00:00Z' },
    { manager: 'hpa', operation: 'Update', time: '2026-01-01T00:00:09Z' },
    { manager: 'kubestellar-syncer', operation: 'Apply', time: '2026-01-01T00:00:10Z' },
    { manager: 'kubelet', operation: 'Update', subresource: 'status', time: '2026-01-01T00:00:11Z' },
  ])
  t.same(fought(KEY, web(2), live), {
    state: 'drifted',
    reason: 'Fought',
    message: `the cluster changes spec.replicas from 2 to 5: field manager "hpa" ${REST}`,
  })
})

t.test('a cluster that notes no managers, and what nobody can name', async t => {
  t.equal(fought(KEY, web(2), web(2)).message, `somebody in the cluster ${REST}`)
})

t.test('words of the cluster are bounded', async t => {
  const live = web(5, [{ manager: 'm'.repeat(5000), operation: 'Update', time: '2026-01-01T00:00:00Z' }])
  const labels = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`label-${i}`, 'x'.repeat(60)]))
  const { message } = fought(KEY, { ...web(2), metadata: { name: 'web', labels } }, live)
  t.ok(message.length <= MAX_MESSAGE, `${message.length} characters`)
  t.match(message, REST)
})
