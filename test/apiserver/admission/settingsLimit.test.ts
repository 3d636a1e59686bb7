/** Settings cost each write of their space a little: of so many there are no more. */
import t from 'tap'
import { settingsLimit } from '../../../src/apiserver/admission/settingsLimit.ts'
import type { AdmissionRequest } from '../../../src/apiserver/registry/admission.ts'

const QUOTAS = { group: '', resource: 'resourcequotas' }
const POLICIES = { group: 'admissionregistration.k8s.io', resource: 'validatingadmissionpolicies' }

async function judge(kind: typeof QUOTAS, there: { objects: number; bytes: number }, object: object, old?: object) {
  const namespaced = kind === QUOTAS
  const type = { ...kind, namespaced }
  const asked: string[] = []
  const size = (space: string, _kind: object, namespace: string) => {
    asked.push(`${space}/${namespace}`)
    return there
  }
  const step = settingsLimit({ size }, [QUOTAS, POLICIES])
  const metadata = { name: 'one', ...(namespaced && { namespace: 'n' }) }
  const request = { type, context: { space: 's' }, object: { metadata, ...object }, old: old && { metadata, ...old } }
  let refusal: string | undefined
  try {
    await step.admit(request as unknown as AdmissionRequest)
  } catch (error) {
    refusal = (error as Error).message
  }
  t.same(asked, [namespaced ? 's/n' : 's/'])
  return refusal
}

t.test('a new one is refused where there are as many as there may be, a change of one is not', async t => {
  t.equal(await judge(QUOTAS, { objects: 999, bytes: 0 }, {}), undefined)
  t.equal(
    await judge(QUOTAS, { objects: 1000, bytes: 0 }, {}),
    'resourcequotas "one" is forbidden: a namespace may have 1000 resourcequotas; delete some first',
  )
  t.equal(await judge(QUOTAS, { objects: 1000, bytes: 0 }, { spec: 'longer' }, {}), undefined)
  t.equal(await judge(POLICIES, { objects: 4999, bytes: 0 }, {}), undefined)
  t.match(
    await judge(POLICIES, { objects: 5000, bytes: 0 }, {}),
    /a space may have 5000 validatingadmissionpolicies; delete/,
  )
})

t.test('what makes them longer than they may be together is refused, what makes them shorter is not', async t => {
  const full = { objects: 1, bytes: 16 * 1024 * 1024 }
  t.match(
    await judge(POLICIES, full, { spec: 'a' }),
    /a space may have 16777216 bytes of validatingadmissionpolicies; delete/,
  )
  t.match(await judge(POLICIES, full, { spec: 'aa' }, { spec: 'a' }), /bytes of/)
  t.equal(await judge(POLICIES, full, { spec: 'a' }, { spec: 'aa' }), undefined)
})

t.test('nothing else is asked about, and nothing that goes', async t => {
  const step = settingsLimit({ size: () => ({ objects: 0, bytes: 0 }) }, [QUOTAS])
  const handles = (resource: string, operation: string, subresource = '') =>
    step.handles({ group: '', resource } as never, operation as never, subresource)
  t.ok(handles('resourcequotas', 'CREATE'))
  t.notOk(handles('resourcequotas', 'UPDATE', 'status'))
  t.notOk(handles('resourcequotas', 'DELETE'))
  t.notOk(handles('pods', 'CREATE'))
})
