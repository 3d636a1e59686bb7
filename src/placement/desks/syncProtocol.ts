/**
 * How centers and syncers of different releases agree on a way to speak with each other. A syncer declares a range of protocols with its
 * stream. The center takes the newest that both support and names it in the first line of the stream and in its bookmarks. Where there is
 * none, each side refuses with a sentence that names both and the remedy. Silence means protocol 1. A protocol gets a number when the other
 * side has to know of it. A new field that may be ignored needs none: both sides ignore unknown fields. Pure.
 *
 * 1: syncers that wrote heartbeats and no reports. No longer supported. 2: the stream of a mailbox without lists of its content, statuses
 * and upsynced objects. Reports of outcomes, orders to hold still and to leave, questions about the cluster's content.
 */
import { StatusError } from '../../apimachinery/errors.ts'

export interface ProtocolRange {
  readonly oldest: number
  readonly newest: number
}

/** Protocols of this release, as a center and as a syncer. */
export const SPOKEN: ProtocolRange = { oldest: 2, newest: 2 }
/** Protocol of a peer that names none. */
const UNNAMED = 1

const RANGE = /^([1-9]\d{0,3})-([1-9]\d{0,3})$/

export function protocolText({ oldest, newest }: ProtocolRange): string {
  return `${oldest}-${newest}`
}

/** Range in the query parameter of a stream. @throws StatusError BadRequest */
export function readProtocols(text: string | null): ProtocolRange {
  if (text === null) return { oldest: UNNAMED, newest: UNNAMED }
  const [, oldest = 0, newest = 0] = (RANGE.exec(text) ?? []).map(Number)
  if (oldest > 0 && oldest <= newest) return { oldest, newest }
  const shown = JSON.stringify(text.slice(0, 40))
  throw new StatusError('BadRequest', `protocol: ${shown} must be two numbers, the oldest and the newest, such as 2-3`)
}

/** The protocol to be spoken. @throws StatusError NotAcceptable that names the remedy, where there is none that both can */
export function agreedProtocol(syncer: ProtocolRange, center: ProtocolRange = SPOKEN): number {
  const agreed = Math.min(syncer.newest, center.newest)
  if (agreed >= Math.max(syncer.oldest, center.oldest)) return agreed
  throw new StatusError('NotAcceptable', disagreement(syncer, center))
}

/**
 * For a syncer: the protocol that the center names is one that the syncer can.
 * @param named absent: the center names none
 * @throws StatusError NotAcceptable that names the remedy
 */
export function requireSpoken(syncer: ProtocolRange, named: number | undefined): void {
  const center = named ?? UNNAMED
  agreedProtocol(syncer, { oldest: center, newest: center })
}

/** For those who look after either. */
function disagreement(syncer: ProtocolRange, center: ProtocolRange): string {
  const isOld = syncer.newest < center.oldest
  const what = `this syncer is too ${isOld ? 'old' : 'new'} for its center: it speaks ${spoken(syncer)}, the center ${spoken(center)}`
  const remedy = isOld
    ? 'install a newer release of the syncer'
    : 'upgrade the center, or install an older release of the syncer'
  return `${what}; ${remedy}. The cluster keeps what it holds`
}

function spoken({ oldest, newest }: ProtocolRange): string {
  return oldest === newest ? `protocol ${newest}` : `protocols ${oldest} to ${newest}`
}
