/** Whether the release of a syncer is one that this center works with, and what it lacks, as a condition of its SyncTarget. */
import { SPOKEN } from '../../apimachinery/syncProtocol.ts'
import type { Condition } from './conditions.ts'
import type { Speech } from './syncerConnections.ts'

export const UNSUPPORTED = 'SyncerUnsupported'

export function supportedCondition(speech: Speech): Condition {
  const type = 'SyncerSupported'
  if ('turnedAway' in speech) return { type, status: 'False', reason: UNSUPPORTED, message: speech.turnedAway }
  const { protocol } = speech
  if (protocol < SPOKEN.newest) return { type, status: 'True', reason: 'EarlierRelease', message: LACKING }
  return { type, status: 'True', reason: 'Supported', message: `it speaks protocol ${protocol}, as this center does` }
}

/** Of protocol 1. */
const LACKING =
  'the syncer is of an earlier release: it carries in both directions, but does not tell what became of what was placed, ' +
  'which is counted as stale, and neither holds still nor leaves when it is asked to; install the syncer of the release of this center'
