/** A space stream whose peer vanishes ends: the kernel probes quiet peers. */
import { existsSync, readFileSync } from 'node:fs'
import type { ClientRequest } from 'node:http'
import { request } from 'node:https'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { OWN_PATIENCE_MS } from '../support/patience.ts'
import { accessOf, startTestServer } from '../support/server.ts'

/** Kernel timer of each established connection of the port's server. */
const KEEPALIVE = '02'
function timersOf(port: number): string[] {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map(line => line.trim().split(/\s+/))
    .filter(([, from = '', , state]) => from.endsWith(local) && state === '01')
    .map(fields => fields[5]!.slice(0, 2))
}

t.test('the kernel probes the peer of a quiet stream', { skip: !existsSync('/proc/net/tcp') }, async t => {
  const { server } = await startTestServer(t)
  const { ca, cert, key } = accessOf(server.kubeconfigPath)
  const opened = Promise.withResolvers<ClientRequest>()
  const asking = request(`${server.url}/services/stream/clusters/root`, { ca, cert, key, agent: false }, answer => {
    answer.once('data', () => opened.resolve(asking))
  })
  asking.once('error', opened.reject)
  asking.end()
  const stream = await opened.promise
  // until what was sent is acknowledged it waits for that
  const endMs = performance.now() + OWN_PATIENCE_MS
  const isProbed = (): boolean => timersOf(Number(new URL(server.url).port)).includes(KEEPALIVE)
  while (!isProbed() && performance.now() < endMs) await setImmediate()
  t.ok(isProbed())
  stream.destroy()
})
