/** Heads that Go's servers refuse, too, and those that they take. */
import t from 'tap'
import { echo, get, rest, saidBy, serve } from './linesSupport.ts'

const HOSTS = [
  'a b',
  'a/b',
  'u@a',
  'a?b',
  'a#b',
  'http://a',
  'a\\b',
  'a"b',
  'a<b',
  'a|b',
  'a^b',
  'a`b',
  'a{b}',
  '\u00fc',
  'a\tb',
]
const REFUSED = [
  'HTTP/1.1\r\nHost: a\r\nHost: b',
  'HTTP/1.1\r\nHost: a\r\nhost: a',
  'HTTP/1.0\r\nHost: a\r\nHOST: b',
  'HTTP/1.1\r\nX: y',
  'HTTP/2.0\r\nHost: a',
  'HTTP/0.9\r\nHost: a',
  'HTTP/1.2\r\nHost: a',
  ...HOSTS.map(host => `HTTP/1.1\r\nHost: ${host}`),
]
const TAKEN = [
  'HTTP/1.1\r\nHost: ',
  'HTTP/1.1\r\nHost: [::1]:80',
  "HTTP/1.1\r\nHost: a_b~!$&'()*+,;=%20",
  'HTTP/1.0\r\nX: y',
]

t.test('what is refused is not handed on, nor is what comes behind it', async t => {
  const { open } = await serve(t, one => void echo(one))
  for (const head of REFUSED) {
    const socket = await open()
    const answers = rest(socket)
    socket.write(`${get('/before')}POST /wrong ${head}\r\nContent-Length: 3\r\n\r\nabc${get('/behind')}`, 'latin1')
    const said = await answers
    t.same(saidBy(said), ['</before >'], head)
    t.match(said, /HTTP\/1\.1 400 Bad Request\r\nConnection: close\r\n/, head)
  }
})

const CODINGS = [
  'gzip, chunked',
  'identity, chunked',
  'chunked, chunked',
  'gzip\r\nTransfer-Encoding: chunked',
  'identity',
  'xchunked',
  '"chunked"',
]

t.test('a transfer coding beside chunks is refused once, and nothing behind it is begun', async t => {
  const { open } = await serve(t, one => void echo(one))
  for (const coding of CODINGS) {
    const socket = await open()
    const answers = rest(socket)
    const body = `${get('/wrong').length.toString(16)}\r\n${get('/wrong')}\r\n0\r\n\r\n`
    socket.write(`POST /wrong HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: ${coding}\r\n\r\n${body}${get('/behind')}`)
    const said = await answers
    t.same(saidBy(said), [], coding)
    // Node's parser itself refuses what it cannot frame
    t.match(said, /^HTTP\/1\.1 (501 Not Implemented|400 Bad Request)\r\nConnection: close\r\n/, coding)
    t.equal(said.split('HTTP/1.1').length, 2, coding)
  }
  const socket = await open()
  const answers = rest(socket)
  socket.write(
    `POST /right HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\nConnection: close\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
  )
  t.same(saidBy(await answers), ['</right abc>'])
})

t.test('a Host that is one, and none in HTTP/1.0', async t => {
  const { open } = await serve(t, one => void echo(one))
  for (const head of TAKEN) {
    const socket = await open()
    const answers = rest(socket)
    socket.write(`GET /right ${head}\r\nConnection: close\r\n\r\n`, 'latin1')
    t.same(saidBy(await answers), ['</right >'], head)
  }
})
