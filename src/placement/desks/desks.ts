/** Where the controllers of placement and the server of their process meet. */

import type { Schema } from '../../apimachinery/schema.ts'
import type { OutcomeSource } from '../outcome/outcome.ts'
import type { AnswerDesk } from './answered.ts'
import type { FigureDesk } from './carryFigures.ts'
import type { LiveAsker } from './liveObjects.ts'
import type { PostNotice } from './noticePost.ts'
import type { PreviewSource } from './placementPreview.ts'
import type { RefusedClaims } from './refusedClaims.ts'
import type { ReportedDesk } from './reported.ts'

/** The schema of a kind of Kubernetes' own, which says how its lists merge; `undefined` of all other kinds. */
export type BuiltinSchema = (apiVersion: string, kind: string) => Schema | undefined

export interface Desks {
  /** The reports of syncers. */
  readonly outcomes: OutcomeSource
  /** Questions of people: what would change where. */
  readonly previews: PreviewSource
  /** Asks clusters for the objects that they hold now. */
  readonly live: LiveAsker
  /** Takes answerers for kinds that are answered and not stored. */
  readonly answers: AnswerDesk
  /** Views of what clusters report. */
  readonly reported: ReportedDesk
  /** Shows how the controllers and placed objects get on. */
  readonly figures: FigureDesk
  /** The way out for notices. */
  readonly postNotice: PostNotice
  /** Claims of syncers that the server refuses. Absent where there are no spaces. */
  readonly refusedClaims: RefusedClaims | undefined
  readonly schema: BuiltinSchema
}
