import t from 'tap'
import { nearest } from '../../../../src/apimachinery/nearest.ts'
import { parseObjectArgument, resolveKind } from '../../../../src/cli/kubestellar/answers/objectArgument.ts'
import type { DiscoveredResource } from '../../../../src/client/client.ts'

const one = (group: string, resource: string, kind: string, shortNames: string[] = []): DiscoveredResource => ({
  group,
  version: 'v1',
  resource,
  kind,
  singular: kind.toLowerCase(),
  shortNames,
  namespaced: true,
  verbs: [],
  subresources: [],
})
const SERVED = [
  one('', 'configmaps', 'ConfigMap', ['cm']),
  one('', 'events', 'Event', ['ev']),
  one('apps', 'deployments', 'Deployment', ['deploy']),
  one('events.k8s.io', 'events', 'Event', ['ev']),
]

t.test('an object is named as for kubectl', async t => {
  t.same(parseObjectArgument(['deploy/web']), { kind: 'deploy', name: 'web' })
  t.same(parseObjectArgument(['deploy', 'web']), { kind: 'deploy', name: 'web' })
  t.same(parseObjectArgument(['clusterrole/system:x/y']), { kind: 'clusterrole', name: 'system:x/y' })
  for (const args of [['deploy'], ['deploy/'], ['/web'], ['a', 'b', 'c'], []])
    t.throws(() => parseObjectArgument(args), /names no object; name one object as KIND\/NAME or KIND NAME/)
  t.throws(() => parseObjectArgument(['deploy/web', 'deploy/db']), /names more than one object/)
})

t.test('kinds are found by all their names, and likely ones are named', async t => {
  for (const name of ['configmaps', 'configmap', 'ConfigMap', 'cm', 'CM'])
    t.equal(resolveKind(name, SERVED).resource, 'configmaps')
  for (const name of ['deployments.apps', 'deploy.apps', 'deployment.v1.apps', 'Deployment'])
    t.equal(resolveKind(name, SERVED).resource, 'deployments')
  t.equal(resolveKind('events', SERVED).group, '')
  t.equal(resolveKind('ev.events.k8s.io', SERVED).group, 'events.k8s.io')
  t.throws(
    () => resolveKind('deploymet', SERVED),
    /no kind called "deploymet"; did you mean "deploy" or "deployment" or "deployments"/,
  )
  t.throws(
    () => resolveKind('dpeloy', SERVED),
    /did you mean "deploy"/,
    'two letters that changed places, of a short name',
  )
  t.throws(() => resolveKind('zzzzzz', SERVED), { message: 'this space serves no kind called "zzzzzz"' })
})

t.test('names that are alike come first, others not at all', async t => {
  t.same(nearest('prces', ['prices', 'web', 'price', 'princes']), ['prices'])
  t.same(nearest('wbe', ['web', 'zoo']), ['web'])
  t.same(nearest('web', ['web-frontend', 'wed', 'zoo']), ['web-frontend', 'wed'])
  t.same(nearest('a', ['b', 'cc']), [], 'one letter is like no other')
})
