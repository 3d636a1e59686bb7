/** A client that sends too much gets the reason, and not a broken connection. */
import { once } from 'node:events'
import { Socket } from 'node:net'
import { connect } from 'node:tls'
import t from 'tap'
import { letRefusalBeRead } from '../../../src/apiserver/http/bareAnswer.ts'
import { startTestServer } from '../../support/server.ts'

t.test('the connection is closed a moment after the answer, or when the client has gone', async t => {
  const done: string[] = []
  let [waited, run, gone]: [number, () => void, () => void] = [0, () => {}, () => {}]
  const socket = {
    pause: () => done.push('pause'),
    resume: () => done.push('resume'),
    end: () => done.push('end'),
    destroy: () => done.push('destroy'),
    destroySoon: () => done.push('at once'),
    once: (_event: string, heard: () => void) => {
      gone = heard
    },
  }
  letRefusalBeRead(socket as never, (delayMs, late) => {
    waited = delayMs
    run = late
    return () => done.push('cancelled')
  })
  t.same(done, [])
  socket.destroySoon()
  socket.resume()
  t.same(done, ['pause', 'end'], 'nothing more is read')
  t.ok(waited > 0)
  run()
  gone()
  t.same(done, ['pause', 'end', 'destroy', 'cancelled'])
})

t.test('a body that is too long is refused while it is sent, and its connection is not broken for that', async t => {
  const { server, api } = await startTestServer(t)
  const { ca, cert, key } = api.access
  const broken = t.capture(Socket.prototype, 'destroySoon', Socket.prototype.destroySoon)
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(server.url).port), ca, cert, key })
  t.teardown(() => socket.destroy())
  let answer = ''
  socket.on('error', () => {})
  socket.on('data', (part: Buffer) => {
    answer += part.toString('latin1')
  })
  await once(socket, 'secureConnect')
  const over = once(socket, 'close')
  socket.write('POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n')
  socket.write(`Content-Length: ${64 * 1024 * 1024}\r\n\r\n${' '.repeat(1024 * 1024)}`)
  await over
  t.match(answer, /^HTTP\/1\.1 413 /)
  t.match(answer, /RequestEntityTooLarge/)
  t.equal(broken().length, 0)
})
