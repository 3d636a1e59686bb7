/**
 * Writes a controller's part of a status that others write, too: its conditions among theirs, and fields of its own. A status that has
 * all of it already is not written.
 */
import { type Condition, conditionsOf, mergeConditions } from '../apimachinery/conditions.ts'
import { at, type Fields } from '../apimachinery/fields.ts'
import type { GroupVersionResource, KubeObject } from '../apimachinery/object.ts'
import { timestamp } from '../apimachinery/timestamp.ts'
import { equalJson } from '../apimachinery/values.ts'
import type { SpaceClient } from '../client/client.ts'

interface StatusNews {
  readonly conditions?: readonly Condition[]
  /** `null` removes a field. */
  readonly fields?: Fields
}

/** @param object as it was read a moment ago: where somebody else wrote conditions since, this one conflicts */
export async function writeStatus(
  api: SpaceClient,
  [resource, object]: readonly [GroupVersionResource, KubeObject],
  { conditions: stated = [], fields = {} }: StatusNews,
  { nowMs, fieldManager }: { nowMs: number; fieldManager: string },
): Promise<void> {
  const { name = '', uid, resourceVersion } = object.metadata
  const { conditions, isChanged } = mergeConditions(conditionsOf(object), stated, timestamp(new Date(nowMs)))
  const news = Object.entries(fields).filter(
    ([field, value]) => !equalJson(value ?? undefined, at(object.status, field)),
  )
  if (!isChanged && news.length === 0) return
  const body = {
    metadata: { uid, ...(isChanged && { resourceVersion }) },
    status: { ...Object.fromEntries(news), ...(isChanged && { conditions }) },
  }
  await api.patch(resource, { name }, 'merge', body, { subresource: 'status', fieldManager })
}
