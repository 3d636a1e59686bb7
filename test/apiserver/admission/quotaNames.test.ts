/** Cost of a write beside quotas of many names: counted, not timed. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { type QuotaDeps, resourceQuota } from '../../../src/apiserver/admission/resourceQuota.ts'
import type { AdmissionRequest } from '../../../src/apiserver/registry/admission.ts'
import { endlessTurns } from '../../support/endlessTurns.ts'

/** A quota of what nobody serves, and how often all of its names were looked through. */
function countedQuota() {
  let looks = 0
  const names = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`count/things-${i}.example.com`, '5']))
  const hard = new Proxy(names, {
    ownKeys(target) {
      looks++
      return Reflect.ownKeys(target)
    },
  })
  const quota: KubeObject = {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'q', namespace: 'default' },
    spec: { hard },
  }
  return { quota, looks: () => looks }
}

t.test('names of quotas that concern another kind are not looked through', async t => {
  const { quota, looks } = countedQuota()
  const step = resourceQuota({
    settings: { list: () => [quota] },
    store: { get: async () => undefined },
    turns: endlessTurns(),
  } as unknown as QuotaDeps)
  for (const [kind, resource] of [
    ['ConfigMap', 'configmaps'],
    ['PersistentVolumeClaim', 'persistentvolumeclaims'],
    ['Service', 'services'],
    ['Endpoints', 'endpoints'],
  ] as const) {
    const type = { group: '', version: 'v1', resource, kind, namespaced: true }
    const object: KubeObject = { apiVersion: 'v1', kind, metadata: { name: 'o', namespace: 'default' } }
    const request = { operation: 'CREATE', context: { space: 's' }, type, requestType: type, object, subresource: '' }
    await step.admit(request as unknown as AdmissionRequest)
    t.equal(looks(), 0, kind)
  }
})
