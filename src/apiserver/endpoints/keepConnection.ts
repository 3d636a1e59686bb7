/** Keeps the connection of an answer open for longer than others are kept on which nothing is asked, and tells its client so. */
import type { Answering } from './carriers.ts'

export interface KeptReply extends Pick<Answering, 'keep'> {
  readonly raw: Pick<Answering['raw'], 'once' | 'socket'>
  header(name: string, value: string): unknown
}

/** To be called before the answer is sent. */
export function keepConnection(reply: KeptReply, idleMs: number): void {
  if (reply.keep) {
    reply.keep(idleMs)
    return
  }
  const { raw } = reply
  const { socket } = raw
  reply.header('Connection', 'keep-alive')
  reply.header('Keep-Alive', `timeout=${Math.floor(idleMs / 1000)}`)
  // the server sets its own, which is for everybody, first
  raw.once('finish', () => socket?.setTimeout(idleMs))
}
