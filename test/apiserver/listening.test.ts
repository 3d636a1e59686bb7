/** Message to the operator when the server cannot listen at its address. */
import t from 'tap'
import { startTestServer } from '../support/server.ts'

t.test('an address that is not of this machine is refused with the name of the flag', async t => {
  const cannot = /: give an address of this machine as --bind-address$/
  // For documentation alone (RFC 5737): no machine has it.
  await t.rejects(startTestServer(t, { more: { bindAddress: '192.0.2.1' } }), {
    message: cannot,
    cause: { code: 'EADDRNOTAVAIL' },
  })
  // Longer than a label may be, so no name server is involved.
  const unknown = startTestServer(t, { more: { bindAddress: 'x'.repeat(64) } })
  await t.rejects(unknown, { message: cannot, cause: { code: 'ENOTFOUND' } })
})

t.test('a port that is taken is refused with both remedies', async t => {
  const { server } = await startTestServer(t)
  const securePort = Number(new URL(server.url).port)
  await t.rejects(startTestServer(t, { more: { securePort } }), {
    message: /EADDRINUSE.*: stop what listens there, or give another --secure-port$/,
  })
})
