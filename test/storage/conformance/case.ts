/** One promise of a store, as a test. */
import type { Test } from 'tap'
import type { Store } from '../../../src/storage/store.ts'
import type { OpenOptions } from '../support.ts'

export interface Case {
  name: string
  run(t: Test, open: (options?: OpenOptions) => Promise<Opened>): Promise<void>
}

export interface Opened {
  store: Store
  /** Absent when the engine keeps nothing. */
  reopen?: (options?: OpenOptions) => Promise<Store>
}
