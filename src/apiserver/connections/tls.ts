/** TLS as the server speaks it, and its keys: those of its own certificate, and of another one for certain names. */
import type { SecureContextOptions, Server as TlsServer } from 'node:tls'

/** All PEM; `ca` vouches for clients. */
export interface TlsKeys {
  cert: string
  key: string
  ca: string
}

/** The strong cipher that costs least goes first; large lists cost little else. All seal what they encipher: none is CBC. */
const CIPHERS = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':')
/** OpenSSL's SSL_OP_NO_RENEGOTIATION, which Node has no name for: a client of TLS 1.2 may not ask for more handshakes. */
const NO_RENEGOTIATION = 2 ** 30

/** Keys and settings of new connections; also for `setSecureContext`, which leaves open ones alone. */
export function secureContext(tls: TlsKeys): SecureContextOptions {
  return { ...tls, ciphers: CIPHERS, honorCipherOrder: true, secureOptions: NO_RENEGOTIATION, minVersion: 'TLSv1.2' }
}

export interface ShownKeys extends TlsKeys {
  /** Absent: there are no such names. */
  readonly named?: { readonly names: readonly string[]; readonly cert: string; readonly key: string }
}

/** A part of an HTTPS server. */
type ShowingServer = Pick<TlsServer, 'setSecureContext' | 'addContext'>

/** For connections from now on. */
export function showKeys(server: ShowingServer, { cert, key, ca, named }: ShownKeys): void {
  server.setSecureContext(secureContext({ cert, key, ca }))
  for (const name of named?.names ?? [])
    server.addContext(name, secureContext({ cert: named!.cert, key: named!.key, ca }))
}
