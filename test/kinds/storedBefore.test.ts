/** Rules that upstream got late: what was stored before them can still be changed. */
import t from 'tap'
import { createErrors, selected, updateErrors } from './samples.ts'

t.test('a StatefulSet with claims that nobody could make is refused, and can be scaled if it is there', async t => {
  const kind = 'apps/v1 statefulsets'
  const claim = { metadata: { name: 'data' }, spec: { resources: { requests: { storage: '1Gi' } } } }
  const stored = selected({ serviceName: 'A_b', volumeClaimTemplates: [claim] })
  t.match(createErrors(kind, stored), [
    'spec.volumeClaimTemplates[0].spec.accessModes: Required value: at least 1 access mode is required',
    /^spec.serviceName: Invalid value: "A_b": a lowercase RFC 1123 label/,
  ])
  const scaled = updateErrors(kind, set => Object.assign(set.spec as object, { replicas: 3 }), stored)
  t.same(scaled, [])
})
