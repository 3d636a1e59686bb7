/** A token that was taken ends: whoever asks for 136 years is given what the operator allows. */
import { decodeJwt } from 'jose'
import t from 'tap'
import { startTestServer } from '../support/server.ts'

const TOKEN = '/api/v1/namespaces/default/serviceaccounts/default/token'
const YEAR = 365 * 24 * 3600

t.test('the longest life of a token on request is a year, or what the operator says', async t => {
  const first = await startTestServer(t)
  await first.api.ok(
    first.api.post('/api/v1/namespaces/default/serviceaccounts', {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'default' },
    }),
  )
  const lives = async ({ api }: Pick<typeof first, 'api'>, expirationSeconds: number): Promise<number[]> => {
    const { spec, status } = await api.ok(api.post(TOKEN, { spec: { expirationSeconds } }))
    const { exp = 0, iat = 0 } = decodeJwt((status as { token: string }).token)
    return [exp - iat, (spec as { expirationSeconds: number }).expirationSeconds]
  }
  t.same(await lives(first, 2 ** 32), [YEAR, YEAR], 'told in the answer, too')
  t.same(await lives(first, 7200), [7200, 7200])
  const second = await first.restart({ maxTokenSeconds: 3600 })
  t.same(await lives(second, 7200), [3600, 3600])
  t.match(await second.api.post(TOKEN, { spec: { expirationSeconds: 2 ** 32 + 1 } }), {
    code: 422,
    body: { details: { causes: [{ field: 'spec.expirationSeconds' }] } },
  })
})
