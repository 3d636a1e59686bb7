/** The writes that copies.ts does, and their results. */
import type { KubeObject } from '../../../apimachinery/object.ts'
import type { ResourceType } from '../../../apimachinery/resourceType.ts'
import type { Stored } from '../../../storage/store.ts'
import type { WriteContext } from '../context.ts'

/** The writer of a copy, its kind and its namespace. */
export interface CopyPlace {
  readonly context: WriteContext
  readonly type: ResourceType
  readonly namespace: string
}

export interface CopyCreation extends CopyPlace {
  /** One object for all copies; never changed. */
  readonly object: Readonly<KubeObject>
}

/** A copy in its known version. Its dependents go after it. */
export interface CopyDeletion extends CopyPlace {
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
}

export interface CopyUpdate extends CopyDeletion {
  /** One object for all copies that change alike; never changed. */
  readonly said: Readonly<KubeObject>
  /** The object that replaces the copy, by `said` and the copy alone; `undefined` where the copy is right. Changes nothing. */
  readonly replace: (copy: KubeObject) => KubeObject | undefined
}

/** A copy that was written. */
export interface Copied {
  readonly stored: Stored
  readonly uid: string
  /** A copy with the same body; other values may stand in its gaps. Never changed. */
  readonly like: Readonly<KubeObject>
}
