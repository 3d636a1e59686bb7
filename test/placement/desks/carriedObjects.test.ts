import t from 'tap'
import { carriedLists } from '../../../src/placement/desks/carriedObjects.ts'

t.test('the lists of what is carried do not depend on the order in which things are met', async t => {
  const one = (group: string, resource: string, namespace: string, name: string) => ({
    resource: { group, version: 'v1', resource },
    namespace,
    name,
  })
  const all = [
    one('', 'configmaps', 'web', 'b'),
    one('', 'configmaps', 'web', 'a'),
    one('apps', 'deployments', 'web', 'd'),
    one('', 'configmaps', 'api', 'c'),
    one('', 'namespaces', '', 'web'),
  ]
  const lists = carriedLists(all)
  t.same(lists, carriedLists(all.toReversed()))
  t.same(lists, {
    namespacedObjects: [
      {
        group: '',
        resource: 'configmaps',
        apiVersion: 'v1',
        objectsByNamespace: [
          { namespace: 'api', names: ['c'] },
          { namespace: 'web', names: ['a', 'b'] },
        ],
      },
      {
        group: 'apps',
        resource: 'deployments',
        apiVersion: 'v1',
        objectsByNamespace: [{ namespace: 'web', names: ['d'] }],
      },
    ],
    clusterScope: [{ group: '', resource: 'namespaces', apiVersion: 'v1', objects: ['web'] }],
  })
})
