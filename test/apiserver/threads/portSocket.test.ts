/** A connection between threads: what is written is read, in order, to its end, and no more is under way than there is room for. */
import { once } from 'node:events'
import { MessageChannel } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { PortSocket } from '../../../src/apiserver/threads/portSocket.ts'

function pair(t: Test): [PortSocket, PortSocket] {
  const { port1, port2 } = new MessageChannel()
  const ends: [PortSocket, PortSocket] = [new PortSocket(port1), new PortSocket(port2)]
  t.teardown(() => {
    for (const end of ends) end.destroy()
  })
  return ends
}

t.test('bytes come in order, also those right before the end of the connection', async t => {
  const [here, there] = pair(t)
  const sent = Buffer.from(Array.from({ length: 700_000 }, (_, i) => i % 251))
  for (let at = 0; at < sent.length; at += 70_000) here.write(sent.subarray(at, at + 70_000))
  here.end(() => here.destroy())
  const read: Buffer[] = []
  for await (const part of there) read.push(part as Buffer)
  t.ok(Buffer.concat(read).equals(sent))
  t.equal(there.bytesRead, sent.length, 'they are counted as on a connection')
})

t.test('who does not read is not sent without bound', async t => {
  const [here, there] = pair(t)
  let written = 0
  const block = Buffer.alloc(64 * 1024)
  const write = (): void => {
    here.write(block, () => {
      written++
      write()
    })
  }
  write()
  for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate)
  const before = written
  t.ok(before <= 16, `${before} blocks`)
  there.resume()
  while (written < before + 100) await once(there, 'data')
  t.pass('it goes on as it is read')
})

t.test('what is written in one step crosses as one message, and what is short needs no answer', async t => {
  const { port1, port2 } = new MessageChannel()
  const here = new PortSocket(port1)
  const there = new PortSocket(port2)
  let messages = 0
  for (const port of [port1, port2]) port.on('message', () => messages++)
  const read: string[] = []
  there.on('data', part => read.push(String(part)))
  here.cork()
  for (const part of ['head', ' and ', 'body']) here.write(part)
  here.uncork()
  await once(there, 'data')
  here.end()
  await once(there, 'end')
  t.same(read, ['head and body'])
  t.equal(messages, 2, 'with the one that says that it was all')
  here.destroy()
})

t.test('what the one side says of the client is heard on the side that has it', async t => {
  const [here, there] = pair(t)
  const heard = Promise.all([once(there, 'known'), once(there, 'probes')])
  here.sendKnown()
  here.sendKnown()
  here.sendProbes(true, 30_000)
  t.same(await heard, [[], [true, 30_000]])
  there.end()
  here.resume()
  await once(here, 'end')
  here.destroy()
  await once(there.resume(), 'close')
  t.pass('and that it has ended')
})
