import type { GroupResource } from './object.ts'

/** Whether the kind is of Kubernetes itself: its groups alone have no domain, or one of its own. */
export function isOfKubernetes({ group }: Pick<GroupResource, 'group'>): boolean {
  return !group.includes('.') || group.endsWith('.k8s.io')
}
