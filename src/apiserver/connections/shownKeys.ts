/** What a listener shows to those who connect: its own certificate, and another one to who comes by certain names. */
import type { Server as TlsServer } from 'node:tls'
import { secureContext, type TlsKeys } from './tls.ts'

export interface ShownKeys extends TlsKeys {
  /** Absent: there are no such names. */
  readonly named?: { readonly names: readonly string[]; readonly cert: string; readonly key: string }
}

/** What is used of an HTTPS server. */
type ShowingServer = Pick<TlsServer, 'setSecureContext' | 'addContext'>

/** For connections that begin from now on. */
export function showKeys(server: ShowingServer, keys: ShownKeys): void {
  const { cert, key, ca } = keys
  server.setSecureContext(secureContext({ cert, key, ca }))
  showNames(server, keys)
}

/** The same of the names alone. */
export function showNames(server: Pick<ShowingServer, 'addContext'>, { named, ca }: ShownKeys): void {
  if (named === undefined) return
  const { cert, key, names } = named
  for (const name of names) server.addContext(name, secureContext({ cert, key, ca }))
}
