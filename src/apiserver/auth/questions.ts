/** A question to an authorizer about a resource. */
import type { GroupResource } from '../../apimachinery/object.ts'
import type { Attributes, UserInfo } from './types.ts'

type Target = NonNullable<Attributes['resource']>
type TargetPart = { readonly [Part in keyof Target]?: string | undefined }

/** Whether a user may do something in a space to a resource; by default to all of its objects there. */
export function questionOf(
  { user, space }: { readonly user: UserInfo; readonly space: string },
  verb: string,
  target: GroupResource & TargetPart,
): Attributes & { resource: Target } {
  const { group, version = '*', resource, subresource = '', namespace = '', name = '' } = target
  return { user, space, verb, resource: { group, version, resource, subresource, namespace, name }, path: '' }
}
