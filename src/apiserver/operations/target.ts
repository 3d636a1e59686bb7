/** Target of a write, once for all operations. */
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { WriteContext } from '../registry/context.ts'

export interface Target {
  readonly context: WriteContext
  readonly type: ResourceType
  /** `''` for what has none. */
  readonly namespace: string
  readonly name: string
  /** `''` for the object itself. */
  readonly subresource: string
}

/** For writes that make what is missing. */
export interface MakingOptions {
  /** Called before that. @throws StatusError Forbidden */
  mayCreate?: () => Promise<void>
}
