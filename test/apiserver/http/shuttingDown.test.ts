/** Requests after the store has closed get the advice to retry, without a logged fault. */
import t from 'tap'
import { CONFIGMAPS, configMap, startTestServer } from '../../support/server.ts'

t.test('a request that comes, or is read, while the server ends', async t => {
  const { api, server, faults } = await startTestServer(t)
  await api.ok(api.post(CONFIGMAPS, configMap('c')))
  await server.store.close()
  for (const asked of [api.get(`${CONFIGMAPS}/c`), api.get(CONFIGMAPS), api.post(CONFIGMAPS, configMap('d'))]) {
    const { code, body } = await asked
    t.equal(code, 503, JSON.stringify(body))
    t.match(body, { kind: 'Status', reason: 'ServiceUnavailable', message: 'the server is shutting down' })
  }
  t.strictSame(
    faults.filter(fault => /fault of the server/.test(String(fault))),
    [],
  )
})
