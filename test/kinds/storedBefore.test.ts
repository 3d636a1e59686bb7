/** Rules that upstream got late: what was stored before them can still be changed. And what is stored, but not obeyed. */
import t from 'tap'
import { created, createErrors, selected, strategyOf, updateErrors } from './samples.ts'

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

t.test('whoever writes flow control of their own is told that it has no effect', async t => {
  const said = ['the priority levels of this server are fixed: this object is stored, and has no effect']
  for (const resource of ['flowschemas', 'prioritylevelconfigurations']) {
    const kind = `flowcontrol.apiserver.k8s.io/v1 ${resource}`
    t.same(strategyOf(kind).warnings?.(created(kind)), said)
  }
})
