/**
 * Writes what a controller states in the status of an object that others write, too: its conditions among theirs, and fields of its own.
 * Nothing is written that stands there already.
 */
import { type Condition, conditionsOf, mergeConditions } from '../apimachinery/conditions.ts'
import { at, type Fields } from '../apimachinery/fields.ts'
import type { GroupVersionResource, KubeObject } from '../apimachinery/object.ts'
import { timestamp } from '../apimachinery/timestamp.ts'
import { equalJson } from '../apimachinery/values.ts'
import type { SpaceClient } from '../client/client.ts'

export interface StatusNews {
  readonly conditions?: readonly Condition[]
  /** `null`: there is none any more. */
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
