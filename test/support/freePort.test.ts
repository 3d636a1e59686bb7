import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'
import t from 'tap'
import { freePort } from './freePort.ts'

t.test('no port is given twice, none that is in use, and none that a connection may have', async t => {
  const first = await freePort()
  const server = createServer().listen(first + 1, '127.0.0.1')
  t.teardown(() => server.close())
  // one that another program has already is as good
  await Promise.race(['listening', 'error'].map(event => new Promise(resolve => server.once(event, resolve))))
  const ports = [first, ...(await Promise.all(Array.from({ length: 20 }, freePort)))]
  t.equal(new Set(ports).size, 21)
  t.notOk(ports.includes(first + 1))
  for (const port of ports) t.ok(port > 1024 && port < 32_768, String(port))
})

t.test('a port is kept from the tests of other processes, and free for its server', async t => {
  const port = await freePort()
  const other = createSocket('udp4').bind({ port, address: '127.0.0.1', exclusive: true })
  const [error] = (await once(other, 'error')) as [NodeJS.ErrnoException]
  t.equal(error.code, 'EADDRINUSE', 'as freePort of another process asks')
  for (const host of ['127.0.0.1', '0.0.0.0']) {
    const server = createServer().listen(port, host)
    await once(server, 'listening')
    server.close()
    await once(server, 'close')
  }
})
