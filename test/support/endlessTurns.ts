/** Turns whose slices never end: the time that work takes on this machine decides nothing in a test. */
import { WorkTurns } from '../../src/program/workTurns.ts'

export const endlessTurns = (): WorkTurns => new WorkTurns({ clock: () => 0 })
