/** Lists and watches whose readers take nothing, little, or leave; while objects change. */
import { once } from 'node:events'
import type { TLSSocket } from 'node:tls'
import fc from 'fast-check'
import type { Target } from '../target.ts'
import type { World } from '../world.ts'

const STORED = 12
const reader = fc.record({
  query: fc.constantFrom(
    ...['', '?watch=1', '?watch=1&resourceVersion=0', '?pretty=true', '?limit=5', '?labelSelector=a%3Db'],
    '?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true',
  ),
  accept: fc.constantFrom(
    ...['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'],
    ...[
      'application/json;as=Table;v=v1;g=meta.k8s.io',
      'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
    ],
  ),
  gzip: fc.boolean(),
  /** In one piece. */
  requests: fc.constantFrom(1, 1, 1, 5),
  reads: fc.constantFrom('nothing', 'a little', 'all'),
  end: fc.constantFrom('destroy', 'half-close', 'reset'),
})
const cases = fc.record({
  readers: fc.array(reader, { minLength: 1, maxLength: 12 }),
  writes: fc.integer({ min: 0, max: 8 }),
})
type Case = typeof cases extends fc.Arbitrary<infer T> ? T : never

async function play(world: World, { readers, writes }: Case): Promise<void> {
  const maps = `/clusters/${world.spaces.readers}/api/v1/namespaces/default/configmaps`
  const sockets: TLSSocket[] = []
  await Promise.all(
    readers.map(async ({ query, accept, gzip, requests, reads }) => {
      const socket = await world.connect()
      sockets.push(socket)
      socket.on('error', () => {})
      const encoding = gzip ? 'Accept-Encoding: gzip\r\n' : ''
      const request = `GET ${maps}${query} HTTP/1.1\r\nHost: x\r\nAccept: ${accept}\r\n${encoding}\r\n`
      socket.write(request.repeat(requests))
      if (reads === 'nothing') return
      const [first] = (await once(socket, 'data')) as [Buffer]
      if (!/^HTTP\/1\.1 (200|406|429)/.test(first.toString('latin1')))
        throw new Error(`${request} was answered ${first.toString('latin1').slice(0, 1000)}`)
      if (reads === 'a little') socket.pause()
      else socket.resume()
    }),
  )
  for (let i = 0; i < writes; i++) {
    const body = JSON.stringify({ data: { a: `${i}`.repeat(100_000) } })
    const type = 'application/merge-patch+json'
    const { code } = await world.ask({ method: 'PATCH', path: `${maps}/slow-${i % STORED}`, type, body })
    if (code !== 200) throw new Error(`a write was answered with ${code}`)
  }
  for (const [i, socket] of sockets.entries()) {
    const end = readers[i]?.end
    if (end === 'half-close') socket.end()
    if (end === 'reset') socket.destroy(new Error('reset'))
    socket.destroy()
  }
  await world.checkFaults(JSON.stringify(readers).slice(0, 3000))
}

export const slowReaders: Target = {
  name: 'slowReaders',
  runs: 30,
  async prepare({ api, spaces }) {
    const mine = api.in(spaces.readers)
    for (let i = 0; i < STORED; i++)
      await mine.ok(
        mine.post('/api/v1/namespaces/default/configmaps', {
          metadata: { name: `slow-${i}`, labels: { a: 'b' } },
          data: { a: 'x'.repeat(300_000) },
        }),
      )
  },
  property: world =>
    fc.asyncProperty(cases, async one => {
      await play(world, one)
      await world.checkReady()
    }) as ReturnType<Target['property']>,
}
