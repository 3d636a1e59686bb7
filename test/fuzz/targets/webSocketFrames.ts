/** Watches over WebSocket whose peers send unexpected frames, broken ones among them, and leave as they like. */
import fc from 'fast-check'
import { configMap } from '../../support/server.ts'
import type { Target } from '../target.ts'
import type { World } from '../world.ts'

const frame = fc
  .record({
    first: fc.oneof(
      fc.constantFrom(0x81, 0x82, 0x88, 0x89, 0x8a, 0x01, 0x00, 0xc1, 0xff, 0x83),
      fc.integer({ min: 0, max: 255 }),
    ),
    masked: fc.oneof({ weight: 5, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
    length: fc.constantFrom(0, 1, 2, 125, 126, 127, 4096, 5000, 70_000),
    said: fc.constantFrom('right', 'right', 'right', 'huge', 'negative', 'short'),
    fill: fc.integer({ min: 0, max: 255 }),
  })
  .map(({ first, masked, length, said, fill }) => {
    const mark = masked ? 0x80 : 0
    const mask = masked ? Buffer.alloc(4) : Buffer.alloc(0)
    const told = said === 'short' ? Math.floor(length / 2) : length
    const head =
      said === 'huge'
        ? [first, mark | 127, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]
        : said === 'negative'
          ? [first, mark | 127, ...Array<number>(8).fill(0xff)]
          : told < 126
            ? [first, mark | told]
            : [first, mark | 126, (told >> 8) & 255, told & 255]
    return Buffer.concat([Buffer.from(head), mask, Buffer.alloc(Math.min(length, 70_000), fill)])
  })

const cases = fc.array(
  fc.record({
    path: fc.constantFrom(
      '/api/v1/configmaps?watch=1&resourceVersion=0',
      '/api/v1/configmaps?watch=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan',
      '/api/v1/configmaps?watch=1&labelSelector=(',
      '/api/v1/nonsense?watch=1',
      'STREAM',
    ),
    key: fc.constantFrom('dGhlIHNhbXBsZSBub25jZQ==', 'dGhlIHNhbXBsZSBub25jZQ==', 'short', ''),
    version: fc.constantFrom('13', '13', '13', '8', 'x'),
    headers: fc.constantFrom(
      '',
      '',
      'Sec-WebSocket-Protocol: a, b\r\n',
      'Sec-WebSocket-Protocol: ,,\r\n',
      'Sec-WebSocket-Extensions: permessage-deflate\r\n',
      'Origin: https://evil\r\n',
      'Sec-WebSocket-Protocol: base64url.bearer.authorization.k8s.io.!!\r\n',
      'Accept: application/vnd.kubernetes.protobuf\r\n',
    ),
    early: fc.boolean(),
    frames: fc.array(frame, { maxLength: 5 }),
    end: fc.constantFrom('wait', 'destroy', 'half-close', 'never read'),
  }),
  { minLength: 1, maxLength: 5 },
)
type Case = typeof cases extends fc.Arbitrary<infer T> ? T : never

const WAIT_MS = 30

async function talk(world: World, one: Case[number]): Promise<string> {
  const path =
    one.path === 'STREAM' ? `/services/stream/clusters/${world.spaces.one}` : `/clusters/${world.spaces.one}${one.path}`
  const upgrade =
    `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
    `Sec-WebSocket-Key: ${one.key}\r\nSec-WebSocket-Version: ${one.version}\r\n${one.headers}\r\n`
  const socket = await world.connect()
  let heard = ''
  const answered = new Promise<void>(resolve => {
    if (one.end === 'never read') return resolve()
    socket.on('data', data => {
      heard = (heard + data.toString('latin1')).slice(0, 50_000)
      resolve()
    })
    socket.once('close', () => resolve())
  })
  socket.on('error', () => {})
  if (one.early) socket.write(Buffer.concat([Buffer.from(upgrade), ...one.frames]))
  else {
    socket.write(upgrade)
    await answered
    for (const bytes of one.frames) socket.write(bytes)
  }
  if (one.end === 'destroy') socket.destroy()
  else if (one.end === 'half-close') socket.end()
  await new Promise(resolve => setTimeout(resolve, WAIT_MS))
  socket.destroy()
  return heard
}

async function play(world: World, peers: Case): Promise<void> {
  const collection = `/clusters/${world.spaces.one}/api/v1/namespaces/default/configmaps`
  const all = Promise.all(peers.map(one => talk(world, one)))
  await world.ask({ method: 'POST', path: collection, type: 'application/json', body: JSON.stringify(configMap('ws')) })
  await world.ask({ method: 'DELETE', path: `${collection}/ws` })
  for (const text of await all) {
    const [bad] = /^HTTP\/1\.1 5(?!03|04)\d\d.*/m.exec(text) ?? []
    if (bad !== undefined) throw new Error(`${bad}\n${text.slice(0, 2000)}`)
  }
  await world.checkFaults(JSON.stringify(peers).slice(0, 3000))
  await world.checkReady()
}

export const webSocketFrames: Target = {
  name: 'webSocketFrames',
  runs: 30,
  property: world => fc.asyncProperty(cases, one => play(world, one)) as ReturnType<Target['property']>,
}
