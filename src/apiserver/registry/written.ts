/** Result of a write. */
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { type Soon, whenKnown } from '../../apimachinery/soon.ts'
import type { Stored } from '../../storage/store.ts'
import { prepareViews } from './views.ts'

export interface Written {
  stored: Stored
  created: boolean
}

/** Says so once it can be read in the version of the request. */
export function written(stored: Stored, created: boolean, type: ResourceType): Soon<Written> {
  return whenKnown(prepareViews([stored], type), () => ({ stored, created }))
}
