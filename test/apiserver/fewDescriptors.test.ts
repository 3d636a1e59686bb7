/** A client without a credential does not take the last file descriptors of a server that has few. */
import { chmodSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect, type TLSSocket } from 'node:tls'
import t from 'tap'
import { Api } from '../support/api.ts'
import { startOrrery } from '../support/orrery.ts'
import { accessOf, temporaryDir } from '../support/server.ts'

const FILES = 96
const ORRERY = join(import.meta.dirname, '../../bin/orrery')

for (const threads of [0, 2])
  t.test(
    `an administrator is served while 150 connections without a request hang on, ${threads} API threads`,
    async t => {
      const program = join(temporaryDir(t), 'orrery')
      writeFileSync(program, `#!/bin/sh\nulimit -n ${FILES}\nORRERY_API_THREADS=${threads} exec '${ORRERY}' "$@"\n`)
      chmodSync(program, 0o755)
      const { url, kubeconfig, pid } = await startOrrery(t, undefined, { program })
      const port = Number(new URL(url).port)
      const open = new Set<TLSSocket>()
      // Each takes what it gets: a handshake, or an end.
      const settled = Array.from({ length: 150 }, () => {
        const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false })
        open.add(socket)
        socket.on('error', () => {})
        return new Promise<void>(resolve => {
          socket.once('secureConnect', () => resolve())
          socket.once('close', () => {
            open.delete(socket)
            resolve()
          })
        })
      })
      t.teardown(() => {
        for (const socket of open) socket.destroy()
      })
      await Promise.all(settled)
      t.ok(open.size > 0, 'some hang on')
      const used = (): number => readdirSync(`/proc/${pid}/fd`).length
      t.ok(used() < FILES - 8, `${used()} of ${FILES} descriptors are in use`)
      for (let n = 0; n < 5; n++) {
        const admin = new Api({ ...accessOf(kubeconfig), url })
        t.equal((await admin.get('/api/v1/namespaces')).code, 200)
        t.equal((await admin.get('/livez')).code, 200)
        admin.close()
      }
      const probe = new Api({ url, ca: accessOf(kubeconfig).ca! })
      t.equal((await probe.get('/livez')).code, 200, 'a probe without a credential gets in, too')
      probe.close()
      const last = [...open].at(-1)
      t.ok(last?.readable, 'while others still hang on')
    },
  )
