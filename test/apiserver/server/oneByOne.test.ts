import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import t from 'tap'
import { requestGate, WAITING_BYTES } from '../../../src/apiserver/server/oneByOne.ts'
import { type Asked, echo, get, LAST, post, rest, saidBy, serve } from './oneByOneSupport.ts'

t.test('of strangers behind one address the latest goes first, of others the first', async t => {
  let nowMs = 0
  const gate = requestGate(() => nowMs++)
  const begun: string[] = []
  const arrive = (who: string, ...path: string[]): void => gate.enter(path, () => void begun.push(who))
  for (let n = 0; n < 500; n++) {
    arrive(`crowd ${n}`, 'stranger', '127.0.0.1', 'new')
    arrive(`user ${n}`, 'known', 'one', 'ann')
  }
  const waited = [...begun]
  arrive('newcomer', 'stranger', '127.0.0.1', 'new')
  while (gate.waiting > 0) await new Promise(resolve => setImmediate(resolve))
  const rest = begun.slice(waited.length)
  const strangers = rest.filter(who => !who.startsWith('user'))
  t.same(strangers.slice(0, 2), ['newcomer', 'crowd 499'])
  const users = begun.filter(who => who.startsWith('user')).map(who => Number(who.slice(5)))
  t.same(
    users,
    users.toSorted((a, b) => a - b),
  )
  t.equal(begun.length, 1001)
})

t.test('strangers behind one address have their turns by what they show', async t => {
  const paths: (readonly string[])[] = []
  const gate = {
    enter: (path: readonly string[], run: () => void) => {
      paths.push(path.slice(2))
      run()
    },
  }
  const { open } = await serve(t, echo, gate)
  const ask = async (headers: string): Promise<void> => {
    const socket = await open()
    socket.write(`GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}\r\n`)
    t.same(saidBy(await rest(socket)), ['</ >'])
  }
  await ask('')
  await ask('Authorization: Bearer a\r\n')
  await ask('X: y\r\nauthorization:Bearer b\r\nZ: z\r\n')
  await ask(`X: ${'y'.repeat(5000)}\r\nAuthorization: Bearer c\r\n`)
  t.same(paths, [
    ['new', ''],
    ['new', 'Bearer a'],
    ['new', 'Bearer b'],
    ['new', ''],
  ])
})

t.test('a request is begun when the one before it has its answer', async t => {
  const asked: Asked[] = []
  const { open } = await serve(t, one => void asked.push(one))
  const socket = await open()
  const answers = rest(socket)
  socket.write(get('/a').repeat(2000) + LAST)
  let most = 0
  for (let n = 0; n < 2001; n++) {
    while (asked.length === n) await new Promise(resolve => setImmediate(resolve))
    most = Math.max(most, asked.length - n)
    asked[n]!.response.end('<>')
  }
  t.equal(most, 1)
  t.equal(saidBy(await answers).length, 2001)
})

t.test('the body of a request that was answered before it came is passed over', async t => {
  const { open } = await serve(t, ({ request, response }) => void response.end(`<${request.url}>`))
  const socket = await open()
  const answers = rest(socket)
  socket.write(post('/a', `${get('/wrong')}${'x'.repeat(200_000)}`) + get('/b') + LAST)
  t.strictSame(saidBy(await answers), ['</a>', '</b>', '</last>'])
})

t.test('behind a request without an answer next to nothing is read', async t => {
  const asked: Asked[] = []
  const { open, connections } = await serve(t, one => void asked.push(one))
  const socket = await open()
  socket.write(get('/a').repeat(400_000))
  while (asked.length === 0) await new Promise(resolve => setImmediate(resolve))
  const [connection] = connections
  let read = -1
  while (read !== connection!.bytesRead) {
    read = connection!.bytesRead
    for (let n = 0; n < 50; n++) await new Promise(resolve => setImmediate(resolve))
  }
  t.ok(read < WAITING_BYTES + 4 * 64 * 1024, `${read} bytes`)
  t.equal(asked.length, 1)
})

t.test('who waits for a turn is not read any further, and goes on when it comes', async t => {
  const turns: (() => void)[] = []
  const { connections, open } = await serve(t, echo, { enter: (_path, run) => void turns.push(run) })
  const socket = await open()
  const answers = rest(socket)
  socket.write(get(`/${'a'.repeat(4000)}`).repeat(500) + LAST)
  while (!connections[0]?.isPaused()) await new Promise(resolve => setImmediate(resolve))
  const read = connections[0].bytesRead
  for (let turn = 0; turn < 100; turn++) await new Promise(resolve => setImmediate(resolve))
  t.equal(connections[0].bytesRead, read)
  t.ok(read < 512 * 1024, `${read} bytes`)
  let isOver = false
  const letIn = (): void => {
    for (const run of turns.splice(0)) run()
    if (!isOver) setImmediate(letIn)
  }
  letIn()
  const said = saidBy(await answers)
  isOver = true
  t.equal(said.length, 501)
})

t.test('an upgrade gets what is behind it', async t => {
  for (const head of ['', 'Content-Length: 3\r\n']) {
    const { server, open } = await serve(t, one => void echo(one))
    server.on('upgrade', (_request: IncomingMessage, socket: Socket, first: Buffer) => {
      socket.write(`took ${first}`)
      socket.on('data', part => socket.write(part))
    })
    const socket = await open()
    const answers = rest(socket)
    const upgrade = `GET /up HTTP/1.1\r\nHost: x\r\n${head}Connection: upgrade\r\nUpgrade: websocket\r\n\r\n`
    socket.write(`${get('/a')}${upgrade}${head === '' ? '' : 'abc'}one`)
    let heard = ''
    socket.on('data', part => {
      heard += part
      if (heard.endsWith('one')) socket.write('two')
      if (heard.endsWith('two')) socket.destroy()
    })
    await answers
    t.match(heard, /<\/a >took onetwo$/)
  }
})

t.test('small pieces without end leave turns to others', async t => {
  const { open, connections } = await serve(t, one => void echo(one))
  const socket = await open()
  const other = await open()
  const answers = rest(other)
  socket.write('\r\n\r\n'.repeat(100_000))
  other.write(LAST)
  t.strictSame(saidBy(await answers), ['</last >'])
  t.equal(connections.length, 2)
})
