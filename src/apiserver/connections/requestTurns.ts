/** Turns in which the loop takes up requests: those of an admitted user, or those of a stranger by address and credential. */
import type { Socket } from 'node:net'
import { type Entry, LoopGate } from '../flowcontrol/loopGate.ts'
import { WaitingLine } from '../flowcontrol/waitingLine.ts'
import { networkOf } from './strangers.ts'

/** How long requests are started in one turn of the loop. */
const START_MS = 3
const STRANGER = 'stranger'
const ADMITTED = 'admitted'

/**
 * Admitted users have one half of all turns, strangers the other: address by address, and behind one address by the credential that they
 * show. Strangers with the same credential go latest first: see {@link WaitingLine}.
 */
export function requestGate(clock: () => number): LoopGate {
  const line = new WaitingLine<Entry>(([first]) => first === STRANGER)
  return new LoopGate({ limitMs: START_MS, line, clock })
}

export type RequestGate = Pick<LoopGate, 'enter'>

export function admittedPath(flow: readonly string[]): readonly string[] {
  return [ADMITTED, ...flow]
}

/** The turns of a connection before its first request. */
export function newcomerPath(socket: Socket): readonly string[] {
  return strangerPath(socket, 'new')
}

export function strangerPath({ remoteAddress }: Socket, state: 'new' | 'refused', credential = ''): readonly string[] {
  return [STRANGER, networkOf(remoteAddress), state, credential]
}

/** Turns of a user whom a front proxy names, before the first request of theirs is admitted: the proxy's address has many. */
export function forwardedPath(user: string): readonly string[] {
  return [STRANGER, user, 'new', '']
}
