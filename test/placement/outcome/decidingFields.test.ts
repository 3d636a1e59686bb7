// Fields that decide whether or how something runs.
import t from 'tap'
import { isDeciding } from '../../../src/placement/outcome/decidingFields.ts'

t.test('by name at any depth, by kind, and in what is gone as a whole', async t => {
  const jobs = { group: 'batch', resource: 'jobs' }
  const roles = { group: 'rbac.authorization.k8s.io', resource: 'clusterroles' }
  const maps = { group: '', resource: 'configmaps' }
  const claims = { group: '', resource: 'persistentvolumeclaims' }
  const definitions = { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' }
  const own = { group: 'example.org', resource: 'tills' }
  t.ok(isDeciding(jobs, ['spec', 'suspend'], true))
  t.ok(isDeciding(own, ['spec', 'template', 'spec', 'securityContext', 'runAsNonRoot'], true))
  t.ok(isDeciding(roles, ['rules', 'verbs'], 'get'))
  t.ok(isDeciding(maps, ['data', 'x'], '1'))
  t.ok(isDeciding(claims, ['spec', 'storageClassName'], 'fast'))
  t.ok(isDeciding(own, ['spec', 'pod'], { spec: { containers: [{ image: 'x' }] } }))
  t.notOk(isDeciding(own, ['spec', 'currency'], 'CHF'))
  t.notOk(isDeciding(own, ['metadata', 'labels', 'image'], 'x'), 'keys of labels are anybody’s')
  t.notOk(isDeciding(own, ['spec', 'data', 'image'], 'x'))
  const schema = ['spec', 'versions', 'schema', 'openAPIV3Schema', 'properties', 'image']
  t.notOk(isDeciding(definitions, [...schema, 'pattern'], 'x'), 'a schema speaks of fields')
  t.notOk(isDeciding(own, ['spec', 'labels'], { image: 'x' }))
})
