/** Refused claims of syncers' credentials: the server refuses them, and a controller shows them on their SyncTargets. */
import type { KubeObject } from '../../apimachinery/object.ts'

export interface RefusedClaim {
  /** Id of the inventory space. */
  readonly inventory: string
  readonly syncTarget: KubeObject
  /** Name of the claim. */
  readonly claim: string
  readonly message: string
}

export interface RefusedClaims {
  /** Calls `follower` once for each refusal until what is answered is called. It throws nothing. */
  follow(follower: (refused: RefusedClaim) => void): () => void
}
