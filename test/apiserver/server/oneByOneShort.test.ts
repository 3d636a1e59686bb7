/** Requests whose heads are known go past the parser: what is one, whatever came before it, and whose turn is next. */
import { once } from 'node:events'
import t from 'tap'
import * as fc from '../../support/fastCheck.ts'
import {
  type Asked,
  echo,
  get,
  heldShortWay,
  inChunks,
  LAST,
  post,
  rest,
  saidBy,
  serve,
  shortEcho,
} from './oneByOneSupport.ts'

t.test('however it is cut, it is the same, also where the same heads come again and go the short way', async t => {
  const shortWay = shortEcho()
  const { open } = await serve(t, one => void echo(one), undefined, shortWay)
  const text = fc.constantFrom(
    '',
    'x',
    '\r\n\r\n',
    'GET / HTTP/1.1\r\n\r\n',
    '\r\n\r\r\n\r\n\n'.repeat(30),
    'y'.repeat(9000),
  )
  const message = fc.oneof(
    {
      weight: 5,
      arbitrary: fc
        .constantFrom('/g', '/g', '/g/another', '/long', '/g?a=b', '/%67')
        .map(path => ({ wire: get(path), said: `<${path} >` })),
    },
    fc.constant({ wire: get('/other').replace('Host: x', 'Host: y'), said: '</other >' }),
    fc.constant({ wire: `\r\n\r\n${get('/crlf')}`, said: '</crlf >' }),
    text.map(body => ({ wire: post('/p', body), said: `</p ${body}>` })),
    text.map(body => ({ wire: inChunks('/c', body), said: `</c ${body}>` })),
  )
  const whole = fc.constant<number[]>([])
  const cuts = fc.oneof(whole, fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 30 }))
  await fc.assert(
    fc.asyncProperty(fc.array(message, { minLength: 4, maxLength: 12 }), cuts, async (messages, sizes) => {
      const socket = await open()
      const answers = rest(socket)
      const wire = messages.map(({ wire }) => wire).join('') + LAST
      let at = 0
      for (const size of sizes) {
        socket.write(wire.slice(at, at + size))
        at += size
        await new Promise(resolve => setImmediate(resolve))
      }
      socket.write(wire.slice(at))
      const expected = `${messages.map(({ said }) => said).join('')}</last >`
      const bodies = (await answers).split(/HTTP\/1\.1 200 [\s\S]*?\r\n\r\n/).join('')
      if (bodies !== expected) throw new Error(`${JSON.stringify(bodies)} instead of ${JSON.stringify(expected)}`)
    }),
    { numRuns: 50 },
  )
  t.ok(shortWay.taken.length > 5, `${shortWay.taken.length}`)
  for (const { headers } of shortWay.taken) t.match(headers, { host: /^[xy]$/ })
  t.ok(shortWay.taken.some(({ method, body }) => method === 'POST' && body.includes('\r\n\r\n')))
})

t.test('what is known of a head holds for nothing but the same bytes', async t => {
  const shortWay = shortEcho()
  const parsed: string[] = []
  const handle = (asked: Asked): void => {
    parsed.push(asked.request.url ?? '')
    void echo(asked)
  }
  const { open } = await serve(t, handle, undefined, shortWay)
  const asHost = (path: string, host: string): string => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`
  const first = asHost('/1', 'x')
  const posted = (headers: string, body: string): string => `POST /2 HTTP/1.1\r\n${headers}\r\n\r\n${body}`
  const firstPost = post('/1', 'abc')
  for (const [before, second, isShort] of [
    [first, asHost('/2', 'x'), true],
    [first, `${asHost('/2', 'x')}`.replace('GET', 'HEAD'), false],
    [first, asHost('/2', 'y'), false],
    [first, asHost('/2', 'xx'), false],
    [first, asHost('/2', 'x\r\nX: y'), false],
    [first, asHost('/2', 'x').replace('HTTP/1.1', 'HTTP/1.0'), false],
    [first, asHost('/2?a', 'x'), false],
    [first, asHost('/%32', 'x'), false],
    [first, asHost('/2;a', 'x'), false],
    [first, asHost(`/${'2'.repeat(2000)}`, 'x'), false],
    [first, asHost('http://x/2', 'x'), false],
    [first, `\r\n${asHost('/2', 'x')}`, false],
    [first, post('/2', 'abc'), false],
    [firstPost, post('/2', 'a'), true],
    [firstPost, post('/2?a=b&c', 'abcdefghijkl'), true],
    [firstPost, post('/2', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'), true],
    [firstPost, post('/2', 'x'.repeat(9999)), true],
    [firstPost, post('/2', 'x'.repeat(10_000)), false],
    [firstPost, post('/2', ''), false],
    [firstPost, post('/2', 'abc').replace('POST', 'PUT'), false],
    [firstPost, asHost('/2', 'x'), false],
    [firstPost, posted('Host: x\r\nContent-Length: 03', 'abc'), false],
    [firstPost, posted('Host: x\r\nContent-Length: 3 ', 'abc'), false],
    [firstPost, posted('Host: x\r\nContent-Length:3', 'abc'), false],
    [firstPost, posted('Host: x\r\nContent-Length: 3\r\nX: y', 'abc'), false],
    [firstPost, posted('Content-Length: 3\r\nHost: x', 'abc'), false],
    [firstPost, posted('Host: y\r\nContent-Length: 3', 'abc'), false],
    [firstPost, inChunks('/2', 'abc'), false],
    [inChunks('/1', 'abc'), inChunks('/2', 'abc'), false],
    [post('/1', ''), post('/2', ''), false],
  ] as const) {
    shortWay.taken.length = 0
    parsed.length = 0
    const socket = await open()
    let said = ''
    socket.on('data', part => {
      if (said === '') socket.write(second)
      said += part
    })
    const closed = once(socket, 'close')
    socket.write(before)
    while (shortWay.taken.length + parsed.length < 2) await new Promise(resolve => setImmediate(resolve))
    socket.write(LAST)
    socket.end()
    await closed
    t.equal(shortWay.taken.length, isShort ? 1 : 0, second.slice(0, 200))
  }
})

t.test('a body that comes in a piece of its own is waited for in the turn of its head', async t => {
  const shortWay = shortEcho()
  const { open, connections } = await serve(t, one => void echo(one), undefined, shortWay)
  const socket = await open()
  const answers = rest(socket)
  const until = async (isSo: () => boolean): Promise<void> => {
    while (!isSo()) await new Promise(resolve => setImmediate(resolve))
  }
  const [connection] = connections
  const halves = (path: string): [Buffer, Buffer] => {
    const wire = post(path, 'whole')
    return [Buffer.from(wire.slice(0, -3)), Buffer.from(wire.slice(-3))]
  }
  const ended = { count: 0 }
  socket.on('data', part => {
    ended.count += saidBy(String(part)).length
  })
  connection!.emit('data', Buffer.from(post('/known', 'whole')))
  await until(() => ended.count === 1)
  for (const half of halves('/one-turn')) connection!.emit('data', half)
  await until(() => ended.count === 2)
  t.strictSame(
    shortWay.taken.map(({ url }) => url),
    ['/one-turn'],
  )
  for (const half of halves('/later')) {
    connection!.emit('data', half)
    for (let turns = 0; turns < 3; turns++) await new Promise(resolve => setImmediate(resolve))
  }
  await until(() => ended.count === 3)
  socket.write(LAST)
  t.strictSame(saidBy(await answers), ['</known whole>', '</one-turn whole>', '</later whole>', '</last >'])
  t.equal(shortWay.taken.length, 1)
})

t.test('a head that came with the beginning of another request is not known', async t => {
  const shortWay = shortEcho()
  const { open } = await serve(t, one => void echo(one), undefined, shortWay)
  const socket = await open()
  const answers = rest(socket)
  socket.write(`${get('/a')}GET /b`)
  while (socket.bytesRead === 0) await new Promise(resolve => setImmediate(resolve))
  socket.write(`${get('/a')}`)
  socket.write(LAST)
  await answers
  t.strictSame(shortWay.taken, [])
})

t.test('what came behind the end of chunks hides no request within another', async t => {
  const shortWay = shortEcho()
  const { open, connections } = await serve(t, one => void echo(one), undefined, shortWay)
  const socket = await open()
  const answers = rest(socket)
  const send = async (wire: string): Promise<void> => {
    connections[0]!.emit('data', Buffer.from(wire))
    for (let turns = 0; turns < 5; turns++) await new Promise(resolve => setImmediate(resolve))
  }
  await send(get('/known'))
  const [headers, chunks] = inChunks('/c', 'x').split(/(?<=\r\n\r\n)/) as [string, string]
  const start = 'DELETE /precious HTTP/1.1\r\nX-Pad: '
  const body = `${'y'.repeat(start.length)}zzz`
  // of the body as much as would pass for the beginning of what follows
  await send(headers)
  await send(chunks + post('/p', body).slice(0, -3))
  await send(`zzz${start}${get('/known')}`)
  socket.write(LAST)
  t.strictSame(saidBy(await answers), ['</known >', '</c x>', `</p ${body}>`, '</precious >', '</last >'])
  t.strictSame(shortWay.taken, [])
})

t.test('the parser alone knows how much of an end of headers came behind chunks', async t => {
  const shortWay = shortEcho()
  const { open, connections } = await serve(t, one => void echo(one), undefined, shortWay)
  for (const behind of ['\r', '\r\n', '\r\n\r']) {
    const socket = await open()
    const answers = rest(socket)
    const connection = connections.at(-1)!
    const wire = post('/p', `b\r\n\r\n${get('/inner')}`)
    const at = wire.indexOf('\r\n\r\n') + behind.length
    for (const piece of [inChunks('/c', 'x') + wire.slice(0, at), wire.slice(at, at + 1), wire.slice(at + 1)]) {
      connection.emit('data', Buffer.from(piece))
      for (let turns = 0; turns < 5; turns++) await new Promise(resolve => setImmediate(resolve))
    }
    socket.write(get('/g') + LAST)
    t.strictSame(
      saidBy(await answers),
      ['</c x>', `</p b\r\n\r\n${get('/inner')}>`, '</g >', '</last >'],
      JSON.stringify(behind),
    )
  }
})

t.test('what came into the parser together is answered before anything behind it', async t => {
  const shortWay = shortEcho()
  const asked: Asked[] = []
  const handle = (one: Asked): void => {
    if (one.request.url === '/long') asked.push(one)
    else void echo(one)
  }
  const { open } = await serve(t, handle, undefined, shortWay)
  const socket = await open()
  let said = ''
  socket.on('data', part => (said += part))
  const closed = once(socket, 'close')
  const until = async (isSo: () => boolean): Promise<void> => {
    while (!isSo()) await new Promise(resolve => setImmediate(resolve))
  }
  socket.write(get('/known'))
  await until(() => said.includes('</known >'))
  // nobody but the parser knows where chunks end, so that it has the requests behind them, too
  socket.write(`${inChunks('/c', 'x')}${get('/quick')}${get('/long')}`)
  await until(() => asked.length === 1)
  socket.write(get('/long'))
  socket.write(get('/g'))
  socket.write(get('/g2'))
  await until(() => said.includes('</quick >'))
  for (let turns = 0; turns < 20; turns++) await new Promise(resolve => setImmediate(resolve))
  asked[0]!.response.end('</long 1>')
  await until(() => asked.length === 2)
  for (let turns = 0; turns < 20; turns++) await new Promise(resolve => setImmediate(resolve))
  asked[1]!.response.end('</long 2>')
  await until(() => said.includes('</g2 >'))
  socket.write(LAST)
  await closed
  t.strictSame(saidBy(said), [
    '</known >',
    '</c x>',
    '</quick >',
    '</long 1>',
    '</long 2>',
    '</g >',
    '</g2 >',
    '</last >',
  ])
})

t.test('what comes behind a short answer waits until that has left', async t => {
  const { left, shortWay } = heldShortWay()
  const paths: (readonly string[])[] = []
  const gate = {
    enter: (path: readonly string[], run: () => void) => {
      paths.push(path)
      run()
    },
  }
  const { open, connections } = await serve(t, one => void echo(one), gate, shortWay)
  const socket = await open()
  socket.write(get('/first'))
  while (socket.bytesRead === 0) await new Promise(resolve => setImmediate(resolve))
  socket.write(get('/a').repeat(400_000))
  for (let n = 1; n <= 3; n++) {
    while (left.length < n) await new Promise(resolve => setImmediate(resolve))
    const read = connections[0]!.bytesRead
    for (let turn = 0; turn < 50; turn++) await new Promise(resolve => setImmediate(resolve))
    t.equal(left.length, n)
    t.ok(connections[0]!.bytesRead - read < 8 * 64 * 1024, 'next to nothing is read meanwhile')
    left[n - 1]!()
  }
  t.same(paths.at(-1), ['known', 'one', 'ann'])
})

t.test('connections on which nothing is asked are ended, and no others', async t => {
  const { left, shortWay } = heldShortWay()
  const asked: Asked[] = []
  const handle = (one: Asked): void => {
    if (one.request.url === '/unanswered') asked.push(one)
    else void echo(one)
  }
  const { open, connections, requests } = await serve(t, handle, undefined, shortWay)
  const line = async (first: string, second = ''): Promise<{ isOpen: () => boolean }> => {
    const socket = await open()
    const connection = connections.at(-1)!
    let isAnswered = false
    socket.on('data', () => (isAnswered = true))
    socket.write(first)
    if (first !== '') while (!isAnswered) await new Promise(resolve => setImmediate(resolve))
    if (second !== '') connection.emit('data', Buffer.from(second))
    return { isOpen: () => !connection.destroyed }
  }
  const lines = {
    idle: await line(get('/a')),
    behindChunks: await line(inChunks('/a', 'x')),
    silent: await line(''),
    short: await line(get('/a'), get('/b')),
    long: await line(post('/a', 'x'), get('/unanswered')),
    beginning: await line(get('/a'), 'GET /b HTT'),
  }
  while (left.length === 0 || asked.length === 0) await new Promise(resolve => setImmediate(resolve))
  requests.closeIdle()
  const isOpen = Object.entries(lines).filter(([, line]) => line.isOpen())
  t.strictSame(
    isOpen.map(([name]) => name),
    ['short', 'long', 'beginning'],
  )
  left[0]!()
  requests.closeIdle()
  t.notOk(lines.short.isOpen(), 'once its answer has left')
})
