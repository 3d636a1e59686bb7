/** The states of a copy: names, sides and colours are those of the code's table, the places are this picture's. */
import { COPY_STATES, type CopyState, type StateFacts } from '../../src/placement/outcome/copyStates.ts'
import { Picture, type Point } from './svg.ts'

const WIDTH = 118
const HEIGHT = 34
/** A state that is new in the table has no place here: the compiler reports it. */
const PLACES: Readonly<Record<CopyState, Point>> = {
  NotPlaced: [30, 50],
  Conflict: [30, 98],
  Paused: [30, 146],
  Stale: [30, 194],
  Unknown: [30, 242],
  Projecting: [200, 50],
  Pending: [200, 146],
  Waiting: [390, 50],
  Unserved: [390, 98],
  Terminating: [390, 146],
  Retrying: [390, 194],
  Refused: [390, 242],
  Drifted: [540, 50],
  Held: [540, 98],
  Altered: [540, 146],
  Applied: [720, 98],
  Finished: [720, 194],
}

export function states(): Picture {
  const picture = new Picture(870, 334, 'The states of a copy, from the center to the cluster')
  picture
    .box({ x: 14, y: 16, width: 320, height: 274, title: 'decided by the center', tone: 'soft' })
    .box({ x: 374, y: 16, width: 480, height: 274, title: 'reported by the syncer', tone: 'soft' })
  for (const [state, { colour }] of Object.entries(COPY_STATES) as [CopyState, StateFacts][]) {
    const [x, y] = PLACES[state]
    picture.box({ x, y, width: WIDTH, height: HEIGHT, title: state, tone: colour })
  }
  return picture
    .arrow([148, 67], [200, 67])
    .arrow([259, 84], [259, 146])
    .arrow([318, 163], [374, 163])
    .line([690, 50], [690, 276])
    .arrow([690, 115], [720, 115])
    .arrow([779, 132], [779, 194])
    .text(
      [14, 318],
      'Red: a person must act. Yellow: it may pass by itself. The table lists the states in the order in which they count.',
      'small',
    )
}
