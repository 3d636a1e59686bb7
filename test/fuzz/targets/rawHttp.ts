/** Bytes on TLS connections: what is no HTTP, half of it, too much of it, and clients that leave at the worst moment. */
import type { TLSSocket } from 'node:tls'
import fc from 'fast-check'
import type { Target } from '../target.ts'
import type { World } from '../world.ts'

const LIST = '/api/v1/namespaces/default/configmaps'
const honest = `GET ${LIST}?limit=1 HTTP/1.1\r\nHost: x\r\n\r\n`
const post = (headers: string, body: string): string =>
  `POST ${LIST}?dryRun=All HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${headers}\r\n\r\n${body}`
const PIECES = [
  honest,
  honest,
  honest.repeat(20),
  `HEAD ${LIST} HTTP/1.1\r\nHost: x\r\n\r\n`,
  `GET ${LIST} HTTP/1.0\r\n\r\n`,
  `GET ${LIST} HTTP/0.9\r\n\r\n`,
  `GET ${LIST} HTTP/2.0\r\n\r\n`,
  `GET ${LIST}\r\n\r\n`,
  `GET  HTTP/1.1\r\nHost: x\r\n\r\n`,
  `GET x HTTP/1.1\r\nHost: x\r\n\r\n`,
  `GET * HTTP/1.1\r\nHost: x\r\n\r\n`,
  `OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n`,
  `GET https://elsewhere${LIST} HTTP/1.1\r\nHost: x\r\n\r\n`,
  `GET //${LIST} HTTP/1.1\r\nHost: x\r\n\r\n`,
  `GET /%00/%zz/%ff%fe?%zz=%ff HTTP/1.1\r\nHost: x\r\n\r\n`,
  `GET /${'a'.repeat(70_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
  `GET ${'/a'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
  `GET ${LIST}?${'a=b&'.repeat(10_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
  `GET /a b HTTP/1.1\r\nHost: x\r\n\r\n`,
  `GET /é\u0001 HTTP/1.1\r\nHost: x\r\n\r\n`,
  `GET ${LIST} HTTP/1.1\r\n\r\n`,
  `GET ${LIST} HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n`,
  `GET ${LIST} HTTP/1.1\r\nHost: x\r\n${'X-A: b\r\n'.repeat(5000)}\r\n`,
  `GET ${LIST} HTTP/1.1\r\nHost: x\r\nX-A: ${'b'.repeat(70_000)}\r\n\r\n`,
  `GET ${LIST} HTTP/1.1\r\nHost: x\r\n: x\r\n\r\n`,
  `GET ${LIST} HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n`,
  `GET ${LIST} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \u0000\r\n\r\n`,
  `GET ${LIST} HTTP/1.1\r\nHost: x\r\nImpersonate-User: x\r\nImpersonate-User: y\r\n\r\n`,
  `GET ${LIST}?watch=1 HTTP/1.1\r\nHost: x\r\n\r\n`,
  `GET /services/stream HTTP/1.1\r\nHost: x\r\n\r\n`,
  `POST /services/stream HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n`,
  ...['TRACE', 'CONNECT', 'OPTIONS', 'PROPFIND', 'M-SEARCH', 'QUERY', 'get', 'FOO'].map(
    m => `${m} ${LIST} HTTP/1.1\r\nHost: x\r\n\r\n`,
  ),
  'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n',
  ...['websocket', 'h2c', 'SPDY/3.1', 'x'].map(
    to =>
      `GET ${LIST}?watch=1 HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: ${to}\r\nHTTP2-Settings: x\r\n\r\n`,
  ),
  `POST ${LIST} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 3\r\n\r\nabc`,
  post('Content-Length: 2', '{}'),
  post('Content-Length: 100', '{}'),
  post('Content-Length: 2', '{}{}{}'),
  post('Content-Length: -1', '{}'),
  post('Content-Length: 99999999999999999999', '{}'),
  post('Content-Length: 9999999', 'x'.repeat(100_000)),
  post('Content-Length: 2\r\nContent-Length: 3', '{}'),
  post('Content-Length: 2\r\nTransfer-Encoding: chunked', '2\r\n{}\r\n0\r\n\r\n'),
  post('Transfer-Encoding: chunked', '2\r\n{}\r\n0\r\n\r\n'),
  post('Transfer-Encoding: chunked', 'zz\r\n{}\r\n0\r\n\r\n'),
  post('Transfer-Encoding: chunked', '2\r\n{}}}}}}'),
  post('Transfer-Encoding: chunked', 'fffffffffffffffff\r\n{}'),
  post('Transfer-Encoding: chunked', `2;${'x'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`),
  post('Transfer-Encoding: chunked', `2\r\n{}\r\n0\r\n${'T: x\r\n'.repeat(3000)}\r\n`),
  post('Transfer-Encoding: gzip, chunked', '0\r\n\r\n'),
  post('Transfer-Encoding: chunked, identity', '0\r\n\r\n'),
  post('Expect: 100-continue\r\nContent-Length: 2', '{}'),
  post('Expect: nonsense\r\nContent-Length: 2', '{}'),
  `\r\n\r\n\r\n${honest}`,
  '\u0000\u0000\u0000',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  '\u0016\u0003\u0001',
  '{"kind":"ConfigMap"}',
  '\n'.repeat(70_000),
]

const piece = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...PIECES) },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.constantFrom(...PIECES), fc.nat({ max: 200 })).map(([text, at]) => text.slice(0, at)),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom(...PIECES), fc.nat({ max: 100 }), fc.string({ unit: 'binary', maxLength: 3 }))
      .map(([text, at, put]) => text.slice(0, at) + put + text.slice(at)),
  },
)
const ends = fc.constantFrom('wait', 'wait', 'half-close', 'destroy', 'never read')
const cases = fc.array(
  fc.record({ pieces: fc.array(piece, { minLength: 1, maxLength: 4 }), split: fc.boolean(), end: ends }),
  {
    minLength: 1,
    maxLength: 6,
  },
)
type Case = typeof cases extends fc.Arbitrary<infer T> ? T : never

const WAIT_MS = 40

async function talk(world: World, { pieces, split, end }: Case[number]): Promise<string> {
  const socket = await world.connect()
  let heard = ''
  socket.on('error', () => {})
  if (end === 'never read') socket.pause()
  else socket.on('data', data => (heard = (heard + data.toString('latin1')).slice(0, 100_000)))
  const closed = new Promise<void>(resolve => socket.once('close', () => resolve()))
  for (const text of pieces) await write(socket, text, split)
  if (end === 'half-close') socket.end()
  else if (end === 'destroy') socket.destroy()
  await Promise.race([closed, new Promise(resolve => setTimeout(resolve, WAIT_MS))])
  socket.destroy()
  return heard
}

async function write(socket: TLSSocket, text: string, split: boolean): Promise<void> {
  const bytes = Buffer.from(text)
  const at = split ? Math.floor(bytes.length / 3) : 0
  if (at > 0) {
    socket.write(bytes.subarray(0, at))
    await new Promise(resolve => setImmediate(resolve))
  }
  socket.write(bytes.subarray(at))
}

async function play(world: World, connections: Case): Promise<void> {
  const answers = await Promise.all(connections.map(one => talk(world, one)))
  await world.checkFaults(JSON.stringify(connections).slice(0, 3000))
  for (const text of answers) {
    const [bad] = /^HTTP\/1\.1 5(?!01|03|04|05)\d\d.*/m.exec(text) ?? []
    if (bad !== undefined) throw new Error(`${bad}\n${text.slice(0, 2000)}`)
  }
  await world.checkReady()
}

export const rawHttp: Target = {
  name: 'rawHttp',
  runs: 40,
  property: world => fc.asyncProperty(cases, one => play(world, one)) as ReturnType<Target['property']>,
}
