/** Status of a stand-in for the Pods of the present template: never more than its Deployment's. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { standInFor, standInStatus } from '../../../src/controllers/replica-set-stand-in/standIn.ts'

const labels = { app: 'web' }
const matchExpressions = [{ key: 'tier', operator: 'DoesNotExist' }]
const containers = [{ name: 'c', image: 'i' }]
const deployment: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { namespace: 'shop', name: 'web', uid: 'u', generation: 2, labels: { of: 'the Deployment' } },
  spec: {
    replicas: 3,
    selector: { matchLabels: labels, matchExpressions },
    template: { metadata: { labels, annotations: { a: 'b' } }, spec: { containers } },
  },
}

t.test('it is shaped as the one of the present template', async t => {
  const marked = { ...labels, 'pod-template-hash': 'abc' }
  t.match(standInFor(deployment, 'abc'), {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      namespace: 'shop',
      name: 'web-abc',
      labels: { ...marked, 'edge.kubestellar.io/natured': 'true', of: undefined },
      annotations: { 'edge.kubestellar.io/stand-in': /Deployment web/ },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          name: 'web',
          uid: 'u',
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
  })
  t.strictSame(standInFor(deployment, 'abc').spec, {
    replicas: 3,
    selector: { matchLabels: marked, matchExpressions },
    template: { metadata: { labels: marked, annotations: { a: 'b' } }, spec: { containers } },
  })
})

t.test('its status', async t => {
  const of = (counts: readonly number[], observedGeneration: number | undefined = 2): object => {
    const [replicas, updatedReplicas, readyReplicas, availableReplicas] = counts
    const status = { replicas, updatedReplicas, readyReplicas, availableReplicas, observedGeneration }
    return standInStatus({ ...deployment, status }, 7)
  }
  const observed = { observedGeneration: 7 }
  t.strictSame(of([3, 3, 3, 2]), {
    replicas: 3,
    fullyLabeledReplicas: 3,
    readyReplicas: 3,
    availableReplicas: 2,
    ...observed,
  })
  t.strictSame(
    of([4, 1, 3, 3]),
    { replicas: 1, fullyLabeledReplicas: 1, ...observed },
    'what is ready may be of before',
  )
  t.match(of([4, 2, 3, 3]), { replicas: 2, readyReplicas: 1, availableReplicas: 1 })
  t.match(of([1, 1, 5, 5]), { readyReplicas: 1, availableReplicas: 1 }, 'of no more than there are')
  t.strictSame(of([]), { replicas: 0, ...observed })
  t.strictSame(of([3, 3, 3, 3], 1), { replicas: 0 }, 'of an earlier generation')
  t.strictSame(standInStatus({ ...deployment, status: { replicas: 3, updatedReplicas: 3, readyReplicas: 3 } }, 7), {
    replicas: 0,
  })
})
