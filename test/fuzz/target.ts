/** One kind of attack. */
import type fc from 'fast-check'
import type { World } from './world.ts'

export interface Target {
  name: string
  /** Cases in one round. */
  runs: number
  /** Makes what its cases need; called once. */
  prepare?(world: World): Promise<void>
  /** Sends as the administrator what only they may, and what is slow for all: nobody measures meanwhile. */
  disturbs?: boolean
  property(world: World): fc.IAsyncProperty<[unknown]>
}
