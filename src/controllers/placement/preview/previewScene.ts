/** Subject of a preview: its objects as they would be, and decisions once for all of them. */
import type { MovedCopies, PreviewedObject, PreviewRequest } from '../../../placement/desks/placementPreview.ts'
import type { SourceReader } from '../copies/sourceReader.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { ObjectFact } from '../join/workload.ts'
import type { PreviewChecks } from './previewChecks.ts'
import type { PreviewDisclosure } from './previewDisclosure.ts'
import type { PreviewGroups } from './previewGroups.ts'
import type { PreviewLive } from './previewLive.ts'
import type { Moves } from './previewMoves.ts'

/** An object that is imagined as written. */
export interface Imagined extends PreviewedObject {
  readonly space: string
  readonly fact: ObjectFact
}

/** Decisions once for all objects of a preview. */
export interface Scene {
  readonly request: PreviewRequest
  readonly moves: Moves
  readonly totals: ReadonlyMap<PreviewedObject, MovedCopies>
  /** It is not followed, and it is not known what it holds. */
  readonly holdsTooMuch: boolean
  /** With the placements as they would be, and what the space holds. */
  readonly join: Pick<PlacementJoin, 'spec' | 'workload'>
  readonly sources: SourceReader
  readonly disclosure: PreviewDisclosure
  /** References of Customizers that are imagined. */
  readonly customizers: ReadonlySet<string>
  /** Labels of Namespaces that are imagined, by name. */
  readonly namespaces: ReadonlyMap<string, Readonly<Record<string, string>>>
  readonly groups: PreviewGroups
  readonly checks: PreviewChecks
  /** Absent: nobody asks what clusters hold. */
  readonly live: PreviewLive | undefined
  /** Destinations that may still be looked at. */
  left: number
  /** Units of work for that. */
  workLeft: number
}
