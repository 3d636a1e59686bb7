/** Ownership of an object, and the content that crosses between mailbox and cluster. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import {
  DOWNSYNCED,
  IMPLIED_ANNOTATION,
  OVERWRITE,
  OWNER_ANNOTATION,
  PROJECTED_LABEL,
  UPSYNCED,
} from '../../../src/placement/words/placement.ts'
import { downsyncCopy, upsyncCopy } from '../../../src/syncer/objects/copies.ts'
import { isOurs, isServersOwn, mayOverwrite, ownMark, staysInMailbox } from '../../../src/syncer/objects/marks.ts'
import * as fc from '../../support/fastCheck.ts'

const deployment: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    name: 'web',
    namespace: 'shop',
    uid: 'u',
    resourceVersion: '7',
    generation: 2,
    creationTimestamp: '2026-01-01T00:00:00Z',
    finalizers: ['x/y'],
    ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'o' }],
    managedFields: [],
    labels: { app: 'web', [PROJECTED_LABEL]: 'yes' },
    annotations: {
      note: 'kept',
      'kcp.io/cluster': 'abc',
      'internal.kcp.io/x': 'y',
      'kubectl.kubernetes.io/last-applied-configuration': '{}',
      'edge.kubestellar.io/projected-keys': '{}',
      [UPSYNCED]: 'x',
      [OVERWRITE]: 'true',
    },
  },
  spec: { replicas: 1 },
  status: { replicas: 1 },
}

t.test('downsync carries name, labels, annotations and content, nothing of the server that it comes from', async t => {
  t.same(downsyncCopy(deployment, { apiVersion: 'apps/v1beta1', mark: true, owner: undefined }), {
    apiVersion: 'apps/v1beta1',
    kind: 'Deployment',
    metadata: {
      name: 'web',
      namespace: 'shop',
      labels: { app: 'web', [PROJECTED_LABEL]: 'yes' },
      annotations: { note: 'kept', [OVERWRITE]: 'true', [DOWNSYNCED]: 'Deployment/shop/web' },
    },
    spec: { replicas: 1 },
  })
  t.notOk(
    downsyncCopy(deployment, { apiVersion: 'apps/v1', mark: false, owner: undefined }).metadata.annotations?.[
      DOWNSYNCED
    ],
  )
})

t.test('a Namespace that is there by implication is marked as such; one that was placed as placed', async t => {
  const markOf = (annotations: Record<string, string>, mark = DOWNSYNCED): string | undefined => {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a', annotations } }
    const copy = downsyncCopy(namespace, { apiVersion: 'v1', mark: true, owner: undefined })
    return copy.metadata.annotations?.[mark]
  }
  t.equal(markOf({}), undefined)
  t.equal(markOf({}, IMPLIED_ANNOTATION), 'Namespace//a')
  t.equal(markOf({ [OWNER_ANNOTATION]: 'abc' }), 'Namespace//a')
})

t.test('upsync carries the same way, without the label by which the center knows its own', async t => {
  const copy = upsyncCopy(deployment, 'apps/v1')
  t.same(copy.metadata.labels, { app: 'web' })
  t.equal(copy.metadata.annotations?.[UPSYNCED], 'Deployment/shop/web')
  t.notOk(copy.metadata.ownerReferences)
  t.notOk(copy.status, 'the status has a road of its own')
})

t.test('what each server makes for itself stays: a Job selector, the finalizers of a Namespace', async t => {
  const labels = { 'batch.kubernetes.io/controller-uid': 'u', 'job-name': 'j', mine: 'x' }
  const job = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'j', namespace: 'a', labels },
    spec: { selector: {}, template: { metadata: { labels } } },
  }
  const copy = downsyncCopy(job, { apiVersion: 'batch/v1', mark: false, owner: undefined })
  t.same(copy.spec, { template: { metadata: { labels: { mine: 'x' } } } })
  t.same(copy.metadata.labels, { mine: 'x', [PROJECTED_LABEL]: 'yes' })
  const manual = { ...job, spec: { ...job.spec, manualSelector: true } }
  t.same(downsyncCopy(manual, { apiVersion: 'batch/v1', mark: false, owner: undefined }).spec, manual.spec)
  const namespace = {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'a' },
    spec: { finalizers: ['kubernetes'] },
  }
  t.same(downsyncCopy(namespace, { apiVersion: 'v1', mark: true, owner: undefined }).spec, {})
  t.equal(
    isServersOwn({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 's' },
      type: 'kubernetes.io/service-account-token',
    }),
    true,
  )
  t.equal(isServersOwn({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, type: 'Opaque' }), false)
  const asks = (type: string, labels: Record<string, string>) =>
    staysInMailbox({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', labels }, type })
  t.notOk(asks('kubernetes.io/service-account-token', { 'edge.kubestellar.io/projected': 'yes' }), 'placed, it goes')
  t.ok(asks('kubernetes.io/service-account-token', {}), "the mailbox's own never does")
  t.ok(asks('bootstrap.kubernetes.io/token', { 'edge.kubestellar.io/projected': 'yes' }))
  t.equal(isServersOwn({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'kube-root-ca.crt' } }), true)
})

t.test('a child that inherits the annotation is not ours', async t => {
  const annotations = { [DOWNSYNCED]: ownMark(deployment) }
  const child = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: 'web-1', namespace: 'shop', annotations },
  }
  t.equal(isOurs(child, DOWNSYNCED), false)
  t.equal(isOurs({ ...deployment, metadata: { ...deployment.metadata, annotations } }, DOWNSYNCED), true)
  t.equal(
    isOurs({ ...deployment, metadata: { name: 'web', namespace: 'shop' } }, DOWNSYNCED),
    false,
    'no annotations at all',
  )
  t.equal(ownMark({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a' } }), 'Namespace//a')
})

t.test('overwriting is the rule; any other word than true forbids it', async t => {
  const having = (value?: string) =>
    mayOverwrite({ ...deployment, metadata: { ...(value !== undefined && { annotations: { [OVERWRITE]: value } }) } })
  t.equal(having(), true)
  t.equal(having(''), true)
  t.equal(having('true'), true)
  t.equal(having('false'), false)
  t.equal(having('no'), false)
})

t.test('a copy never shares with the object that it was made from, and copying changes neither', async () => {
  const text = fc.string({ maxLength: 8 })
  const object = fc.record({
    apiVersion: fc.constant('v1'),
    kind: fc.constantFrom('ConfigMap', 'Job', 'Namespace', 'Thing'),
    metadata: fc.record(
      { name: fc.constant('n'), labels: fc.dictionary(text, text), annotations: fc.dictionary(text, text) },
      { requiredKeys: ['name'] },
    ),
    spec: fc.object({ maxDepth: 3 }),
    status: fc.object({ maxDepth: 2 }),
  })
  fc.assert(
    fc.property(object, fc.boolean(), (given, mark) => {
      const before = JSON.stringify(given)
      const copy = downsyncCopy(given, { apiVersion: 'v1', mark, owner: undefined })
      const again = JSON.stringify(downsyncCopy(given, { apiVersion: 'v1', mark, owner: undefined }))
      const stable = JSON.stringify(copy) === again
      if (typeof copy.spec === 'object' && copy.spec !== null) Object.assign(copy.spec, { touched: true })
      Object.assign(copy.metadata, { name: 'other' })
      return (
        stable &&
        JSON.stringify(given) === before &&
        isOurs(JSON.parse(again), DOWNSYNCED) === (mark && given.kind !== 'Namespace')
      )
    }),
    { numRuns: 200 },
  )
})
