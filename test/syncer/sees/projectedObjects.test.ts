// Downsync of a mailbox without a list: its projected objects, one at a time.
import t from 'tap'
import type { GroupVersionResource, KubeObject } from '../../../src/apimachinery/object.ts'
import { keyOf, MailboxMirror } from '../../../src/syncer/mailbox/mirror.ts'
import { syncPlan } from '../../../src/syncer/mailbox/syncPlan.ts'
import { ProjectedObjects } from '../../../src/syncer/sees/projectedObjects.ts'

const MAPS = { group: '', version: 'v1', resource: 'configmaps' }
const ROLES = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterroles' }
const NAMESPACES = { group: '', version: 'v1', resource: 'namespaces' }

function world() {
  const mirror = new MailboxMirror()
  const projected = new ProjectedObjects(mirror)
  const object = (name: string, namespace: string | undefined, isProjected: boolean): KubeObject => ({
    apiVersion: 'v1',
    kind: 'X',
    metadata: {
      name,
      ...(namespace && { namespace }),
      ...(isProjected && { labels: { 'edge.kubestellar.io/projected': 'yes' } }),
    },
  })
  const put = (resource: GroupVersionResource, name: string, namespace?: string, isProjected = true) => {
    const now = { ...object(name, namespace, isProjected), apiVersion: resource.group ? `${resource.group}/v1` : 'v1' }
    const key = keyOf(resource, now)
    const previous = mirror.get(key)?.object
    const event = { space: 'box', resource, namespace: namespace ?? '', name, revision: 1, mentions: () => true }
    mirror.apply(key, { ...event, type: 'ADDED', object: now })
    return projected.changed(key, mirror.get(key)!.object, previous)
  }
  const drop = (resource: GroupVersionResource, name: string, namespace?: string) => {
    const key = keyOf(resource, object(name, namespace, false))
    const previous = mirror.get(key)?.object
    mirror.remove(key)
    return projected.changed(key, undefined, previous)
  }
  const config: KubeObject = {
    apiVersion: 'edge.kubestellar.io/v2alpha1',
    kind: 'SyncerConfig',
    metadata: { name: 'the-one', annotations: { 'edge.kubestellar.io/carries': 'projected' } },
    spec: { namespacedObjects: [], clusterScope: [], upsync: [] },
  }
  const plan = (carries = true) =>
    syncPlan([carries ? config : { ...config, metadata: { name: 'the-one' } }], undefined, projected)
  return { mirror, projected, put, drop, plan }
}

t.test('what was projected is wanted, with its Namespace, and nothing else', async t => {
  const { put, drop, plan } = world()
  const space = { group: '', resource: 'namespaces', namespace: '', name: 'shop' }
  t.same(put(MAPS, 'a', 'shop'), { kinds: true, namespace: space })
  t.same(put(MAPS, 'b', 'shop'), { kinds: false, namespace: undefined }, 'one more changes nothing else')
  t.same(put(MAPS, 'own', 'shop', false), { kinds: false, namespace: undefined })
  t.same(put(ROLES, 'r'), { kinds: true, namespace: undefined })
  t.equal(plan().wantsDown(MAPS, 'shop', 'a'), true)
  t.equal(plan().wantsDown(MAPS, 'shop', 'own'), false)
  t.equal(plan().wantsDown(MAPS, 'other', 'a'), false)
  t.equal(plan().wantsDown(ROLES, '', 'r'), true)
  t.equal(plan().wantsDown(NAMESPACES, '', 'shop'), true)
  t.equal(plan().wantsDown(NAMESPACES, '', 'other'), false)
  t.same(plan().downResources, [NAMESPACES, MAPS, ROLES])
  t.equal(plan(false).wantsDown(MAPS, 'shop', 'a'), false, 'only where the config says so')
  t.same(drop(MAPS, 'a', 'shop'), { kinds: false, namespace: undefined })
  t.equal(plan().wantsDown(MAPS, 'shop', 'a'), false)
  t.same(put(MAPS, 'b', 'shop', false), { kinds: true, namespace: space }, 'it is not the center’s any more')
  t.same(drop(ROLES, 'r'), { kinds: true, namespace: undefined })
  t.same(plan().downResources, [])
})

t.test('a mirror that was there before is counted as a whole', async t => {
  const { mirror, put } = world()
  put(MAPS, 'a', 'shop')
  put(MAPS, 'own', 'own', false)
  const later = new ProjectedObjects(mirror)
  t.same(later.resources(), [])
  later.recount()
  later.recount()
  t.same(later.resources(), [NAMESPACES, MAPS])
  t.equal(later.has(NAMESPACES, '', 'shop'), true)
  t.equal(later.has(NAMESPACES, '', 'own'), false)
})
