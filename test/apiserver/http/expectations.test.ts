/** A client that waits for `100 Continue` gets it when its body is wanted; and URLs with an authority, on both ways. */
import { once } from 'node:events'
import t from 'tap'
import { CONFIGMAPS, configMap, ON_MAIN_THREAD, startTestServer } from '../../support/server.ts'
import { codeOf, lineTo } from './rawLine.ts'

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'
const EXPECT = 'Content-Type: application/json\r\nExpect: 100-continue\r\n'
const post = (headers: string): string => `POST ${CONFIGMAPS} HTTP/1.1\r\nHost: x\r\n${EXPECT}${headers}\r\n`

for (const [way, options] of Object.entries({ 'main thread': ON_MAIN_THREAD, thread: { more: { apiThreads: 1 } } })) {
  t.test(way, async t => {
    const { api } = await startTestServer(t, options)
    t.test('the body is sent behind the 100, and its connection goes on', async t => {
      const line = await lineTo(t, api)
      for (const name of ['a', 'b']) {
        const body = JSON.stringify(configMap(name))
        line.socket.write(post(`Content-Length: ${body.length}\r\n`))
        t.equal(await line.answer(), CONTINUE)
        line.socket.write(body)
        t.equal(codeOf(await line.answer()), 201)
      }
      const chunk = JSON.stringify(configMap('c'))
      line.socket.write(post('Transfer-Encoding: chunked\r\n'))
      t.equal(await line.answer(), CONTINUE)
      line.socket.write(`${chunk.length.toString(16)}\r\n${chunk}\r\n0\r\n\r\n`)
      t.equal(codeOf(await line.answer()), 201)
      t.equal(codeOf(await line.get(`${CONFIGMAPS}/c`)), 200)
    })

    t.test('a refused body is not asked for, and its connection ends', async t => {
      for (const [code, asAdmin, headers] of [
        [401, false, 'Content-Length: 10\r\n'],
        [403, false, 'Authorization: Bearer token-of-alice\r\nContent-Length: 10\r\n'],
        [413, true, `Content-Length: ${2 ** 26}\r\n`],
      ] as const) {
        const line = await lineTo(t, api, asAdmin)
        const over = once(line.socket, 'close')
        line.socket.write(post(headers))
        t.equal(codeOf(await line.answer()), code)
        await over
      }
    })

    t.test('a URL with an authority is its path', async t => {
      const line = await lineTo(t, api)
      for (const authority of ['https://x', 'HTTP://other.example.com:80', 'https://'])
        t.match(await line.get(`${authority}${CONFIGMAPS}/a`), '"name":"a"', authority)
      t.equal(codeOf(await line.get('https://x?pretty=1')), 200)
      const upgrade = 'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n'
      const key = `Sec-WebSocket-Key: ${'a'.repeat(22)}==\r\n`
      line.socket.write(`GET https://x${CONFIGMAPS}?watch=1 HTTP/1.1\r\nHost: x\r\n${upgrade}${key}\r\n`)
      t.equal(codeOf(String((await once(line.socket, 'data'))[0])), 101)
    })
  })
}
