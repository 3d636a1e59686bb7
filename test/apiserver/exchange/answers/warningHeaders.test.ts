/** Warnings of a response that reach its client. */
import t from 'tap'
import { warningHeaders } from '../../../../src/apiserver/exchange/answers/warningHeaders.ts'
import { startTestServer } from '../../../support/server.ts'

t.test('each is a header of its own, and cannot leave it', async t => {
  t.strictSame(warningHeaders(['plain', 'a "b" \\ c', 'ü\r\nX: y']), [
    '299 - "plain"',
    '299 - "a \\"b\\" \\\\ c"',
    '299 - "???X: y"',
  ])
})

t.test('of many long ones the beginnings of the first are told', async t => {
  t.strictSame(warningHeaders(['x'.repeat(4096)]), [`299 - "${'x'.repeat(4096)}"`], 'one long one is')
  const cut = warningHeaders(Array.from({ length: 32 }, () => 'x'.repeat(1000)))
  t.strictSame(
    cut,
    Array.from({ length: 16 }, () => `299 - "${'x'.repeat(256)}"`),
  )
})

t.test('an object that there is very much to say about is taken, and fits into headers', async t => {
  const { api } = await startTestServer(t)
  const env = Array.from({ length: 30_000 }, () => ({ name: 'AGAIN', value: 'x' }))
  const pod = { metadata: { name: 'again' }, spec: { containers: [{ name: 'c', image: 'x', env }] } }
  const { code, headers } = await api.post('/api/v1/namespaces/default/pods?dryRun=All', pod)
  t.equal(code, 201)
  t.match(headers.warning, /^299 - "spec\.containers\[0\]\.env\[1\]: hides previous definition of \\"AGAIN\\"/)
})
