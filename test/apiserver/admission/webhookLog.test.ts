/** Log lines of failed webhooks that the policy ignores: one write may have thousands of them. */
import { join } from 'node:path'
import t from 'tap'
import { temporaryDir } from '../../support/server.ts'
import { CenterProcess } from '../../syncer/support/installation.ts'
import { LEASES } from '../../syncer/support/kinds.ts'

const CONFIGURATIONS = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  resource: 'validatingwebhookconfigurations',
}
const MANY = 100

t.test('some have a line each, with their space, and the others are counted', async t => {
  const center = new CenterProcess(t, join(temporaryDir(t), 'center'))
  await center.start()
  const root = center.in('root')
  await root.create(CONFIGURATIONS, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'gone' },
    webhooks: Array.from({ length: MANY }, (_, i) => ({
      name: `w${i}.gone.test`,
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      failurePolicy: 'Ignore',
      clientConfig: { url: 'https://127.0.0.1:1/' },
      rules: [
        { apiGroups: ['coordination.k8s.io'], apiVersions: ['v1'], resources: ['leases'], operations: ['CREATE'] },
      ],
    })),
  })
  await root.create(LEASES, {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'a', namespace: 'default' },
  })
  const others = await center.said('and so for others: webhook failed')
  const { count } = JSON.parse(others) as { count: number }
  const each = center.lines.filter(line => line.includes('"webhook failed'))
  t.equal(each.length + count, MANY)
  t.ok(each.length <= 20, `${each.length} lines`)
  for (const line of each) t.equal((JSON.parse(line) as { space: string }).space, 'root')
})
