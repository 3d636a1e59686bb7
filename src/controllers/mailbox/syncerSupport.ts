/** Whether the release of a syncer is one that this center works with, as a condition of its SyncTarget. */
import type { Condition } from '../../apimachinery/conditions.ts'
import type { Speech } from './syncerConnections.ts'

export const UNSUPPORTED = 'SyncerUnsupported'

export function supportedCondition(speech: Speech): Condition {
  const type = 'SyncerSupported'
  if ('turnedAway' in speech) return { type, status: 'False', reason: UNSUPPORTED, message: speech.turnedAway }
  const { protocol } = speech
  return { type, status: 'True', reason: 'Supported', message: `it speaks protocol ${protocol}, as this center does` }
}
