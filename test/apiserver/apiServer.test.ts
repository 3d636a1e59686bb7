// A server as its host starts and stops it: whatever happens on the way, nothing of it is left running.

import { mkdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { startApiServer } from '../../src/apiserver/apiServer.ts'
import type { ApiServerOptions } from '../../src/apiserver/apiServerOptions.ts'
import { silentLogger } from '../../src/client/logger.ts'
import { freePort } from '../support/freePort.ts'
import { temporaryDir } from '../support/server.ts'

function options(dataDir: string, securePort = 0): ApiServerOptions {
  return {
    dataDir,
    bindAddress: '127.0.0.1',
    securePort,
    externalHostnames: [],
    spaces: true,
    log: silentLogger as never,
  }
}

t.test('a start that fails late leaves neither store nor port behind, and can be tried again', async t => {
  const dataDir = temporaryDir(t)
  const port = await freePort()
  const inTheWay = join(dataDir, 'admin.kubeconfig')
  mkdirSync(inTheWay, { recursive: true })
  await t.rejects(startApiServer(options(dataDir, port)), /admin\.kubeconfig/)
  rmSync(inTheWay, { recursive: true })
  const server = await startApiServer(options(dataDir, port))
  t.equal(server.url, `https://127.0.0.1:${port}`)
  await server.close()
})

t.test('a port that is taken is told with the remedy, and the store is free again', async t => {
  const dataDir = temporaryDir(t)
  const blocker = createServer()
  await new Promise<void>(resolve => blocker.listen(0, '127.0.0.1', resolve))
  const { port } = blocker.address() as { port: number }
  await t.rejects(startApiServer(options(dataDir, port)), /--secure-port/)
  await new Promise(resolve => blocker.close(resolve))
  const server = await startApiServer(options(dataDir, port))
  await server.close()
  await server.close()
})
