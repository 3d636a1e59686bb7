/** Names of what each space has from birth, beside its LogicalCluster. */
import type { GroupResource } from '../../apimachinery/object.ts'

export const FIRST_NAMESPACES: readonly string[] = ['default', 'kube-system', 'kube-public']
/** The ClusterRoleBinding of a space's owner. */
export const OWNER_BINDING = 'workspace-admin'

export function isFirstContent({ group, resource, name }: GroupResource & { readonly name: string }): boolean {
  if (resource === 'namespaces') return group === '' && FIRST_NAMESPACES.includes(name)
  return resource === 'clusterrolebindings' && group === 'rbac.authorization.k8s.io' && name === OWNER_BINDING
}
