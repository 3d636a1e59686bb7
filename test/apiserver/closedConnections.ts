/**
 * No request behind an answer that ends its connection is carried out (RFC 9112 9.6), and a malformed head is refused. The main thread
 * and API threads are tried.
 */
import { readFileSync } from 'node:fs'
import { connect } from 'node:tls'
import type { Test } from 'tap'
import { BODY_LIMIT_BYTES } from '../../src/apiserver/http/requestBody.ts'
import { ALICE, CONFIGMAPS, configMap, startTestServer } from '../support/server.ts'

const ADMIN = 'token-of-admin'
const TOKENS = `${ADMIN},admin,u-1,system:masters\n${ALICE},alice,u-2\n`
const HEAD = `Host: x\r\nAuthorization: Bearer ${ADMIN}\r\nContent-Type: application/json\r\n`
const MISSING = `GET ${CONFIGMAPS}/none`

const post = (name: string): string => {
  const body = JSON.stringify(configMap(name))
  return `POST ${CONFIGMAPS} HTTP/1.1\r\n${HEAD}Content-Length: ${body.length}\r\n\r\n${body}`
}
const wrongToken = `${MISSING} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer wrong\r\n\r\n`
const tooLong = `Content-Length: ${BODY_LIMIT_BYTES + 1}`

/** Requests whose answer is the last one of their connection, with its code. */
const LAST_ONES: Record<string, [code: string, request: string]> = {
  'an expectation, with a body': [
    '417',
    `POST ${CONFIGMAPS} HTTP/1.1\r\n${HEAD}Expect: 200-ok\r\nContent-Length: 5\r\n\r\nabcde`,
  ],
  'an expectation, with chunks': [
    '417',
    `POST ${CONFIGMAPS} HTTP/1.1\r\n${HEAD}Expect: 200-ok\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n`,
  ],
  'an expectation, without a body': ['417', `GET ${CONFIGMAPS} HTTP/1.1\r\n${HEAD}Expect: x\r\n\r\n`],
  'Connection: close': ['404', `${MISSING} HTTP/1.1\r\n${HEAD}Connection: close\r\n\r\n`],
  'HTTP/1.0': ['404', `${MISSING} HTTP/1.0\r\n${HEAD}\r\n`],
  'the tenth wrong credential': ['401', wrongToken.repeat(10)],
  'a body that is too long': ['413', `POST ${CONFIGMAPS} HTTP/1.1\r\n${HEAD}${tooLong}\r\n\r\n`],
  'no HTTP': ['400', 'nonsense\r\n\r\n'],
  'two lengths': ['400', `POST ${CONFIGMAPS} HTTP/1.1\r\n${HEAD}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`],
}
/** Each kind; http/malformedHeads.test.ts has the others. */
const MALFORMED: Record<string, string> = {
  'two Host lines': 'HTTP/1.1\r\nHost: a\r\nHost: b',
  'no Host': 'HTTP/1.1\r\nX: y',
  'HTTP/2.0': 'HTTP/2.0\r\nHost: a',
  'a malformed Host': 'HTTP/1.1\r\nHost: a b',
}

/** The scenes, each a test of its own. */
export async function closedConnections(t: Test, apiThreads: number): Promise<void> {
  const { api, server, faults } = await startTestServer(t, { more: { apiThreads, tokenFile: TOKENS } })
  /** All that comes until the other side ends. */
  const exchange = (wire: string): Promise<string> => {
    const { hostname, port } = new URL(server.url)
    const socket = connect({
      host: hostname,
      port: Number(port),
      ca: readFileSync(server.kubeconfigPath),
      rejectUnauthorized: false,
    })
    t.teardown(() => socket.destroy())
    let text = ''
    return new Promise(resolve => {
      socket.on('data', part => {
        text += part.toString('latin1')
      })
      socket.on('error', () => resolve(text))
      socket.on('close', () => resolve(text))
      socket.on('secureConnect', () => socket.write(wire, 'latin1'))
    })
  }
  const codes = (text: string): string[] => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, code]) => code!)
  let tries = 0
  const behind = (): { wire: string; made(): Promise<string[]> } => {
    const prefix = `behind-${apiThreads}-${tries++}-`
    return {
      wire: Array.from({ length: 4 }, (_, n) => post(`${prefix}${n}`)).join(''),
      async made() {
        const { items } = await api.ok(api.get(CONFIGMAPS))
        return items.map(({ metadata }) => metadata.name!).filter(name => name.startsWith(prefix))
      },
    }
  }

  for (const [what, [code, request]] of Object.entries(LAST_ONES)) {
    t.test(`nothing behind ${what}`, async t => {
      for (const first of ['', post(`first-${apiThreads}-${tries}-a`) + post(`first-${apiThreads}-${tries}-b`)]) {
        const { wire, made } = behind()
        const said = codes(await exchange(first + request + wire))
        t.equal(said.at(-1), code)
        t.equal(said.length, (first === '' ? 0 : 2) + (code === '401' ? 10 : 1))
        t.same(await made(), [])
      }
    })
  }

  for (const [what, head] of Object.entries(MALFORMED)) {
    t.test(`${what}: 400`, async t => {
      const { wire, made } = behind()
      for (const [method, more] of [
        ['GET', ''],
        ['POST', 'Content-Length: 5\r\n'],
        ['GET', 'Expect: x\r\n'],
      ] as const) {
        const request = `${method} ${CONFIGMAPS} ${head}\r\nAuthorization: Bearer ${ADMIN}\r\n${more}\r\n`
        t.same(codes(await exchange(request + (method === 'POST' ? 'abcde' : '') + wire)), ['400'], method)
      }
      const upgrade =
        'Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n'
      const watch = `GET ${CONFIGMAPS}?watch=1 ${head}\r\nAuthorization: Bearer ${ADMIN}\r\n${upgrade}\r\n`
      t.same(codes(await exchange(watch)), ['400'], 'WebSocket')
      const known = `${MISSING} HTTP/1.1\r\n${HEAD}\r\n`
      const after = `${MISSING} ${head}\r\nAuthorization: Bearer ${ADMIN}\r\n\r\n`
      t.same(codes(await exchange(known + known + after + wire)), ['404', '404', '400'], 'behind others')
      t.same(await made(), [])
    })
  }

  t.test('nothing of it was a fault of the server', async t => t.same(faults, []))
}
