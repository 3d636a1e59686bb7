/** Annotations of Workspaces with names close to those of budgets: refused where they are new, a warning where they stay. */
import t from 'tap'
import type { StatusError } from '../../../src/apimachinery/errors.ts'
import { spaceBudgetAdmission } from '../../../src/apiserver/admission/spaceBudgetAdmission.ts'
import type { AdmissionRequest } from '../../../src/apiserver/registry/admission.ts'

const admission = spaceBudgetAdmission({ authorize: async () => ({ allowed: true, reason: '' }) })

function write(annotations: Record<string, string>, old?: Record<string, string>) {
  const warnings: string[] = []
  const workspace = (own: Record<string, string>) => ({
    apiVersion: 'tenancy.kcp.io/v1alpha1',
    kind: 'Workspace',
    metadata: { name: 'shops', annotations: own },
  })
  const request = {
    operation: old === undefined ? 'CREATE' : 'UPDATE',
    context: { user: { name: 'u', groups: [] }, space: 'root', warn: (text: string) => warnings.push(text) },
    type: { group: 'tenancy.kcp.io', version: 'v1alpha1', resource: 'workspaces', kind: 'Workspace' },
    object: workspace(annotations),
    ...(old && { old: workspace(old) }),
  } as unknown as AdmissionRequest
  return { warnings, outcome: Promise.resolve(admission.admit(request)) }
}

t.test('a misspelt budget is refused, with its field and the names that there are', async t => {
  for (const name of ['tenancy.kcp.io/budget-object', 'tenancy.kcp.io/budgetBytes', 'tenancy.kcp.io/budget']) {
    for (const old of [undefined, {}]) {
      const error = (await write({ [name]: '5k' }, old).outcome.then(
        () => undefined,
        e => e,
      )) as StatusError
      t.equal(error?.reason, 'Invalid', name)
      t.match(
        error.message,
        `metadata.annotations[${name}]: Forbidden: says nothing of a budget; there are tenancy.kcp.io/budget-objects, `,
      )
    }
  }
})

t.test('right ones, and those of others, are no news', async t => {
  const { warnings, outcome } = write({ 'tenancy.kcp.io/budget-objects': '5k', 'example.org/budget-object': '1' })
  await outcome
  t.same(warnings, [])
})
