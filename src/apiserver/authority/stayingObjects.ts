/**
 * Every cluster has its own of some objects, so those of a space that places workload stay there. A write of workload content into one
 * gives its author a warning.
 */
import { type GroupResource, groupResourceName, type KubeObject } from '../../apimachinery/object.ts'
import { equalJson } from '../../apimachinery/values.ts'
import { serves } from '../../placement/spaces/spaceTypes.ts'
import { EDGE_PLACEMENTS } from '../../placement/words/placement.ts'
import type { Admission } from '../registry/admission.ts'
import type { AuthorityDeps } from './authorityDeps.ts'

export const DEFAULT_ACCOUNT_STAYS =
  'each cluster has its own ServiceAccount "default", so this one stays in the space. Set values for Pods in clusters, such as imagePullSecrets, in the Pods or in a ServiceAccount of another name'
const BOOTSTRAP_TOKEN = 'bootstrap.kubernetes.io/token'
const NAMING = ['imagePullSecrets', 'secrets', 'automountServiceAccountToken'] as const

export function stayingObjects({ store, tree }: Pick<AuthorityDeps, 'store' | 'tree'>): Admission {
  return {
    stage: 'validate',
    handles: (type, operation, subresource) =>
      operation !== 'DELETE' && subresource === '' && ['serviceaccounts', 'secrets'].includes(groupResourceName(type)),
    reaches: ({ space, unstored }) => !unstored && serves(tree.typeOf(space), EDGE_PLACEMENTS),
    async admit({ context, type, object, old }) {
      const warning = warningOf(type, object, old)
      if (warning === undefined) return
      const { space } = context
      // a space of another type is a workload space once it has a placement
      const isWorkload =
        tree.typeOf(space).describes || (await store.list({ space, ...PLACEMENTS }, { limit: 1 })).items.length > 0
      if (isWorkload) context.warn(warning)
    },
  }
}
const PLACEMENTS = { group: EDGE_PLACEMENTS.group, resource: EDGE_PLACEMENTS.resource }

function warningOf({ resource }: GroupResource, object: KubeObject, old: KubeObject | undefined): string | undefined {
  if (resource === 'secrets') {
    const isNew = object.type === BOOTSTRAP_TOKEN && old === undefined
    return isNew ? `a Secret of type ${BOOTSTRAP_TOKEN} is for the space itself and stays there` : undefined
  }
  if (object.metadata.name !== 'default') return undefined
  const isNamed = NAMING.some(field => !isEmpty(object[field]) && !equalJson(object[field], old?.[field]))
  return isNamed ? DEFAULT_ACCOUNT_STAYS : undefined
}

function isEmpty(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.length === 0)
}
