/** What goes the short way across is answered as what is parsed on both sides, and ends as it does. */
import { EventEmitter, once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, createServer as listenPlainly, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { keepConnection } from '../../../src/apiserver/endpoints/keepConnection.ts'
import { LoopGate } from '../../../src/apiserver/flowcontrol/loopGate.ts'
import { type FedServer, OneByOne } from '../../../src/apiserver/server/oneByOne.ts'
import { type Crossing, Crossings } from '../../../src/apiserver/threads/crossings.ts'
import { PortSocket } from '../../../src/apiserver/threads/portSocket.ts'
import { ShortCrossings } from '../../../src/apiserver/threads/shortCrossings.ts'
import { UnderWay } from '../../../src/apiserver/threads/underWay.ts'
import { CONFIGMAPS, configMap, ON_MAIN_THREAD, startTestServer } from '../../support/server.ts'
import { AS_ALICE, codeOf, lineTo, parsedBy, withoutDate } from '../server/shortSupport.ts'

type Handle = (request: IncomingMessage, response: ServerResponse) => void

/** A main thread that answers so, and a client's connection in a thread beside it. */
async function setUp(t: Test, handle: Handle) {
  const main = createServer(handle)
  new OneByOne(new LoopGate({})).serve(main as unknown as FedServer)
  const taken: PortSocket[] = []
  const cross = ({ port, tellsAnswers }: Crossing): void => {
    const crossed = new PortSocket(port)
    if (tellsAnswers) crossed.on('answered', () => crossed.tellAnswered())
    taken.push(crossed)
    main.emit('connection', crossed)
    main.emit('secureConnection', crossed)
  }
  const asking = { begun: 0, ended: 0 }
  const strangers = { knows: () => {}, begins: () => void asking.begun++, ends: () => void asking.ended++ }
  const underWay = new UnderWay(strangers)
  const crossings = new ShortCrossings({ crossings: new Crossings({ cross, strangers }), underWay })
  const thread = listenPlainly().listen(0, '127.0.0.1')
  t.teardown(() => thread.close())
  await once(thread, 'listening')
  const client = connect((thread.address() as AddressInfo).port, '127.0.0.1').on('error', () => {})
  t.teardown(() => client.destroy())
  const [socket] = (await once(thread, 'connection')) as [Socket]
  socket.on('error', () => {})
  t.teardown(() => socket.destroy())
  const send = async (text: string): Promise<void> => {
    const arrived = Buffer.from(text)
    const request = { socket, method: 'POST' as const, url: '', headers: {}, body: arrived, arrived }
    await new Promise<void>(resolve => crossings.send(request, resolve))
  }
  return { client, socket, underWay, send, taken, asking }
}

const post = (path: string, body: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

t.test('one connection across serves one of a client, request after request', async t => {
  const { client, socket, send, taken, asking } = await setUp(t, async (request, response) => {
    response.end(`<${request.url} ${Buffer.concat(await request.toArray())}>`)
  })
  socket.setTimeout(60_000)
  let heard = ''
  client.on('data', part => {
    heard += String(part)
  })
  for (const body of ['a', 'bc', '', 'd'.repeat(9000)]) {
    const done = send(post('/x', body))
    t.equal(socket.timeout, 0, 'it is not idle')
    await done
    t.equal(socket.timeout, 60_000)
    while (!heard.endsWith(`</x ${body}>`)) await once(client, 'data')
  }
  t.equal(taken.length, 1)
  t.strictSame(asking, { begun: 4, ended: 4 })
})

t.test('a client that reads slowly holds a long answer up, and gets all of it', async t => {
  const body = Buffer.alloc(24 * 2 ** 20, 'x')
  const { client, send, taken, underWay } = await setUp(t, (_request, response) => response.end(body))
  const sent = send(post('/x', ''))
  while (taken.length === 0 || !taken[0]!.writableNeedDrain) await new Promise(resolve => setImmediate(resolve))
  let isIdle = false
  const idle = underWay.idle().then(() => {
    isIdle = true
  })
  t.notOk(isIdle)
  let [head, size] = ['', 0]
  client.on('data', (part: Buffer) => {
    head ||= part.toString('latin1').split('\r\n\r\n')[0]!
    size += part.length
  })
  const whole = () => head.length + 4 + body.length
  while (head === '' || size < whole()) await once(client, 'data')
  t.equal(size, whole())
  await Promise.all([sent, idle])
})

t.test('an answer whose connection is to be kept longer has it kept longer here', async t => {
  const { client, socket, send } = await setUp(t, (request, response) => {
    const header = (name: string, value: string) => response.setHeader(name, value)
    if (request.url === '/kept') keepConnection({ raw: response, header }, 420_000)
    response.end('here')
  })
  client.resume()
  socket.setTimeout(60_000)
  await send(post('/kept', 'a'))
  t.equal(socket.timeout, 420_000)
  await send(post('/kept', 'a'))
  t.equal(socket.timeout, 420_000, 'the next time, too')
})

t.test('where the answer is the last one, the client is told so, behind all of it', async t => {
  const { client, send } = await setUp(t, (_request, response) => {
    response.writeHead(401, { Connection: 'close' }).end('no')
  })
  const over = client.toArray()
  await send(post('/x', 'a'))
  const answer = Buffer.concat(await over).toString()
  t.match(answer, /^HTTP\/1.1 401 [\s\S]*Connection: close[\s\S]*no/)
})

t.test('an answer that is broken off there is broken off here', async t => {
  const { client, send, asking } = await setUp(t, (_request, response) => {
    response.writeHead(200, { 'Content-Length': 10 }).write('half', () => response.destroy())
  })
  const closed = once(client, 'close')
  client.resume()
  await Promise.all([send(post('/x', 'a')), closed])
  t.strictSame(asking, { begun: 1, ended: 1 })
})

t.test('a client that leaves ends what it asked for', async t => {
  const gone = new EventEmitter()
  const { client, send, underWay } = await setUp(t, (request, response) => {
    response.on('close', () => gone.emit('gone', response.writableFinished))
    request.resume()
    client.destroy()
  })
  const heard = once(gone, 'gone')
  await send(post('/x', 'a'))
  t.strictSame(await heard, [false])
  await underWay.idle()
})

t.test(
  'writes that cross are answered as where nothing does, and not parsed over there once their head is known',
  async t => {
    const answers: string[][] = []
    for (const more of [ON_MAIN_THREAD, { more: { apiThreads: 1 } }]) {
      const { api } = await startTestServer(t, more)
      const parsed = parsedBy(t)
      const said: string[] = []
      // connections enough that the thread has some: the kernel deals them out
      for (let i = 0; i < 6; i++) {
        const line = await lineTo(t, api, i % 2 === 0)
        const headers = `${i % 2 === 0 ? '' : AS_ALICE}Content-Type: application/json\r\n`
        for (let n = 0; n < 4; n++) {
          if (n === 3) parsed.length = 0
          const body = JSON.stringify(configMap(`c${i}`))
          const answer = await line.send('POST', `${CONFIGMAPS}?dryRun=All`, body, headers)
          said.push(withoutDate(answer).replace(/-uid: \S+|"(uid|creationTimestamp|time)":"[^"]*"/g, '*'))
        }
        if (i % 2 === 0) t.strictSame(parsed, [])
        const unknown = await line.send('POST', CONFIGMAPS, '{}', `Authorization: Bearer nobody\r\n${headers}`)
        said.push(String(codeOf(unknown)))
      }
      answers.push(said)
    }
    t.strictSame(answers[1], answers[0])
  },
)
