/** Requests of a connection are begun one by one, few of them wait, and all connections have their turns. */
import t from 'tap'
import { requestGate } from '../../../src/apiserver/connections/requestTurns.ts'
import type { Request } from '../../../src/apiserver/http/request.ts'
import { OPEN_REQUESTS } from '../../../src/apiserver/http/requestLines.ts'
import { type Asked, echo, get, LAST, post, rest, saidBy, serve, UNREADABLE, until } from './linesSupport.ts'

t.test('of strangers behind one address the latest goes first, of others the first', async t => {
  let nowMs = 0
  const gate = requestGate(() => nowMs++)
  const begun: string[] = []
  const arrive = (who: string, ...path: string[]): void => gate.enter(path, () => void begun.push(who))
  for (let n = 0; n < 500; n++) {
    arrive(`crowd ${n}`, 'stranger', '127.0.0.1', 'new')
    arrive(`user ${n}`, 'admitted', 'one', 'ann')
  }
  const waited = [...begun]
  arrive('newcomer', 'stranger', '127.0.0.1', 'new')
  await until(() => gate.waiting === 0)
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

t.test('turns go by the credential of each request, not by that of its connection', async t => {
  const paths: (readonly string[])[] = []
  const gate = {
    enter: (path: readonly string[], run: () => void) => {
      paths.push(path)
      run()
    },
  }
  const ANN = ['team', 'ann']
  const { open, lines } = await serve(
    t,
    one => {
      const { request } = one
      if (request.url === '/wrong') lines.refused(request.socket)
      else if (request.headers.authorization?.endsWith('ann')) lines.admitted(request, ANN)
      void echo(one)
    },
    gate,
  )
  const socket = await open()
  const answers = rest(socket)
  const ann = 'Authorization: Bearer ann\r\n'
  const bob = 'Authorization: Bearer bob\r\n'
  for (const request of [get('/'), get('/', ann), get('/', ann), get('/', bob), get('/', ann), get('/wrong', bob)])
    socket.write(request)
  socket.write(get('/', ann))
  socket.write(LAST)
  t.equal(saidBy(await answers).length, 8)
  const stranger = (...rest: string[]): string[] => ['stranger', '127.0.0.1', ...rest]
  t.same(paths, [
    stranger('new', ''),
    stranger('new', 'Bearer ann'),
    ['admitted', 'team', 'ann'],
    stranger('new', 'Bearer bob'),
    ['admitted', 'team', 'ann'],
    stranger('new', 'Bearer bob'),
    stranger('refused', 'Bearer ann'),
    stranger('new', ''),
  ])
})

t.test('a request is begun when the one before it has its answer', async t => {
  const asked: Asked[] = []
  const { open } = await serve(t, one => void asked.push(one))
  const socket = await open()
  const answers = rest(socket)
  socket.write(get('/a').repeat(OPEN_REQUESTS - 1) + LAST)
  for (let n = 0; n < OPEN_REQUESTS; n++) {
    await until(() => asked.length > n)
    for (let turn = 0; turn < 10; turn++) await new Promise(resolve => setImmediate(resolve))
    t.equal(asked.length, n + 1)
    asked[n]!.answer.end('<>')
  }
  t.equal(saidBy(await answers).length, OPEN_REQUESTS)
})

t.test('one open request more than a connection may have ends it, and no more of them is begun', async t => {
  const asked: Asked[] = []
  const { open, connections } = await serve(t, one => void asked.push(one))
  const socket = await open()
  const closed = rest(socket)
  socket.write(get('/a').repeat(OPEN_REQUESTS + 1))
  t.equal(await closed, '')
  await until(() => connections[0]!.destroyed)
  t.equal(asked.length, 1)
  t.ok(Error.stackTraceLimit > 0, 'errors have their traces again')
})

t.test(
  'with a connection that brings too many those like it are held, and each is read in a turn of its own',
  async t => {
    const { open, lines, connections } = await serve(t, one => {
      const tenant = one.request.url!.slice(1)
      if (tenant !== 'nobody') lines.admitted(one.request, [tenant, '', one.request.url!])
      void echo(one)
    })
    const names = ['crowd', 'crowd', 'crowd', 'other', 'nobody']
    const sockets = []
    for (const name of names) {
      const socket = await open()
      let heard = ''
      socket.on('data', part => (heard += String(part)))
      socket.write(get(`/${name}`))
      await until(() => heard.includes('>'))
      sockets.push(socket)
    }
    const held: string[] = []
    for (const [n, name] of names.entries()) connections[n]!.on('pause', () => void held.push(name))
    sockets[0]!.write(get('/crowd').repeat(OPEN_REQUESTS + 1))
    await until(() => connections[0]!.destroyed)
    t.same(held, ['crowd', 'crowd', 'nobody'])
    for (const socket of sockets.slice(1)) socket.write(get('/again', 'Connection: close\r\n'))
    await Promise.all(sockets.slice(1).map(socket => new Promise(resolve => socket.once('close', resolve))))
  },
)

t.test('of a connection that has ended nothing is kept', async t => {
  const asked: Asked[] = []
  const { open, lines, connections, server } = await serve(t, one => {
    asked.push(one)
    if (one.request.url === '/list') one.answer.end('<list>')
    if (one.request.url === '/last') one.answer.setHeader('Connection', 'close').end('<last>')
  })
  server.on('upgrade', (request, socket) => {
    socket.once('end', () => socket.destroy())
    lines.upgrade(request as Request, () => void socket.resume().write('<upgraded>'))
  })
  const uses: Readonly<Record<string, string[]>> = {
    'more than one may bring': [get('/a').repeat(OPEN_REQUESTS + 1)],
    'a list, then a watch': [get('/list'), get('/watch')],
    'some that wait': [get('/a').repeat(3)],
    'some behind the last': [get('/last').repeat(3)],
    'a WebSocket': [get('/a', 'Connection: upgrade\r\nUpgrade: websocket\r\n')],
  }
  for (const [what, texts] of Object.entries(uses)) {
    const before = connections.length
    const socket = (await open()).resume()
    await until(() => connections.length > before)
    const over = new Promise(resolve => connections[before]!.once('close', resolve))
    for (const text of texts) {
      const count = asked.length
      socket.write(text)
      if (what !== 'a WebSocket') await until(() => asked.length > count)
      else await new Promise(resolve => socket.once('data', resolve))
    }
    if (what === 'a WebSocket') t.equal(lines.size, 0, what)
    socket.destroy()
    await over
    lines.refused(connections[before]!)
    // ends of answers come behind those of their connections
    for (let turn = 0; turn < 5; turn++) await new Promise(resolve => setImmediate(resolve))
    t.equal(lines.size, 0, what)
  }
})

t.test('the body of a request that was answered before it came is passed over', async t => {
  const { open } = await serve(t, ({ request, answer }) => void answer.end(`<${request.url}>`))
  const socket = await open()
  const answers = rest(socket)
  socket.write(post('/a', `${get('/wrong')}${'x'.repeat(200_000)}`) + get('/b') + LAST)
  t.strictSame(saidBy(await answers), ['</a>', '</b>', '</last>'])
})

t.test('behind a request without an answer little is read', async t => {
  const asked: Asked[] = []
  const { open, connections } = await serve(t, one => void asked.push(one))
  const socket = await open()
  const answers = rest(socket)
  const long = get(`/${'a'.repeat(60_000)}`)
  socket.write(long.repeat(10) + LAST)
  await until(() => asked.length === 1)
  const [connection] = connections
  await until(() => connection!.isPaused())
  const read = connection!.bytesRead
  for (let turn = 0; turn < 50; turn++) await new Promise(resolve => setImmediate(resolve))
  t.equal(connection!.bytesRead, read)
  t.ok(read < long.length * 10, `${read} bytes`)
  for (let n = 0; n < 11; n++) {
    await until(() => asked.length > n)
    asked[n]!.answer.end('<>')
  }
  t.equal(saidBy(await answers).length, 11)
})

t.test('what cannot be read is refused behind the answers to what came before it', async t => {
  const asked: Asked[] = []
  const { open } = await serve(t, one => void asked.push(one))
  const socket = await open()
  const answers = rest(socket)
  socket.write(`${get('/a')}${get('/b')}no HTTP\r\n\r\n`)
  await until(() => asked.length === 1)
  for (let turn = 0; turn < 10; turn++) await new Promise(resolve => setImmediate(resolve))
  asked[0]!.answer.end('<a>')
  await until(() => asked.length === 2)
  asked[1]!.answer.end('<b>')
  const said = await answers
  t.strictSame(saidBy(said), ['<a>', '<b>'])
  t.ok(said.endsWith(`<b>${UNREADABLE}`))
})

t.test('a request that becomes a WebSocket waits for the answers before it', async t => {
  const asked: Asked[] = []
  const { open, lines, server } = await serve(t, one => void asked.push(one))
  server.on('upgrade', (request, socket) =>
    lines.upgrade(request as Request, () => void socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n<upgraded>')),
  )
  const socket = await open()
  const answers = rest(socket)
  socket.write(get('/a') + get('/b') + get('/c', 'Connection: upgrade\r\nUpgrade: websocket\r\n'))
  for (const n of [0, 1]) {
    await until(() => asked.length > n)
    for (let turn = 0; turn < 10; turn++) await new Promise(resolve => setImmediate(resolve))
    asked[n]!.answer.end(`<${n}>`)
  }
  t.strictSame(saidBy(await answers), ['<0>', '<1>', '<upgraded>'])
})

t.test('a body that cannot be read ends its request at once', async t => {
  const { open } = await serve(t, () => {})
  const socket = await open()
  const answers = rest(socket)
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nno chunk\r\n')
  t.equal(await answers, UNREADABLE)
})

t.test('whatever follows what cannot be read is read no further, and refused once', async t => {
  const asked: Asked[] = []
  let faults = 0
  const { open, server, connections } = await serve(t, one => void asked.push(one))
  server.on('clientError', () => faults++)
  const socket = await open()
  const answers = rest(socket)
  socket.write(`${get('/a')}no HTTP\r\n\r\n`)
  await until(() => faults === 1)
  for (let n = 2; n <= 20; n++) {
    socket.write('again')
    await until(() => faults === n)
  }
  socket.write('x'.repeat(200_000))
  await until(() => connections[0]!.isPaused())
  asked[0]!.answer.end('<a>')
  const said = await answers
  t.equal(said.split('HTTP/1.1 ').length, 3)
  t.ok(said.endsWith(`<a>${UNREADABLE}`))
})

t.test('a refusal breaks into no answer that has begun', async t => {
  const asked: Asked[] = []
  const { open, server } = await serve(t, one => void asked.push(one))
  const late = Object.assign(new Error('too slow'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
  const socket = await open()
  const answers = rest(socket)
  socket.write(`${get('/a')}GET /half HTTP/1.1\r\n`)
  await until(() => asked.length === 1)
  const [{ answer, request }] = asked as [Asked]
  answer.write('<a>')
  server.emit('clientError', late, request.socket)
  answer.end('<b>')
  const said = await answers
  t.strictSame(saidBy(said), ['<a>', '<b>'])
  t.ok(said.endsWith(UNREADABLE), 'it waits for the end of the answer')

  const other = await open()
  const parts = rest(other)
  other.write('GET /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n')
  await until(() => asked.length === 2)
  asked[1]!.answer.write('<c>')
  asked[1]!.request.resume()
  other.write('no chunk\r\n')
  const heard = await parts
  t.notMatch(heard, '400 Bad Request')
  t.notOk(heard.endsWith('0\r\n\r\n'), 'no end passes for that of the answer')
})
