/** Bodies that nobody stores as they are do not come by the registry, which checks the types of all others. */
import { typeErrors } from '../../../apimachinery/go/typeErrors.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import type { ResourceType } from '../../../apimachinery/resourceType.ts'
import { pruneUnknown } from '../../../apimachinery/structural/prune.ts'
import { dropNulls } from '../../registry/nulls.ts'
import { type PatchSource, unreadable } from '../../registry/objectRules.ts'

/** Changed in place: nulls and unknown fields go. @throws StatusError BadRequest; Invalid for what a patch made */
export function checkTypes(
  body: KubeObject,
  type: Pick<ResourceType, 'kind' | 'version' | 'schema'>,
  patch?: PatchSource,
): void {
  dropNulls(body, type.schema)
  pruneUnknown(body, type.schema)
  const wrong = typeErrors(body, type.schema)
  if (wrong !== undefined) throw unreadable(type, wrong, patch)
}
