/** Messages to and from a thread that reads rows. */
import type { LoadedBlock } from '../loadedBlock.ts'
import type { StorageErrorCode } from '../store.ts'
import type { RowRange } from './database.ts'
import type { Tally } from './tally.ts'

export interface RowsOrder {
  readonly folder: string
  /** In order. */
  readonly ranges: readonly RowRange[]
}

/** Blocks, then the tally or a failure, then nothing. Each block is answered when it was taken. */
export type RowsMessage =
  | { readonly block: LoadedBlock }
  | { readonly tally: Tally }
  | { readonly failure: { readonly code: StorageErrorCode | undefined; readonly text: string } }

/** Blocks that a thread may be ahead: some 64 MiB of texts. */
export const BLOCKS_AHEAD = 64
