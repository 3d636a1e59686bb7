/** A process whose heap is nearly full refuses growth instead of ending; all of it can be read, and what is not needed deleted. */
import t from 'tap'
import { Api } from '../support/api.ts'
import { startOrrery } from '../support/orrery.ts'
import { FILE_LIMIT_MS } from '../support/patience.ts'
import { accessOf, CONFIGMAPS, configMap } from '../support/server.ts'

/** A server that has nothing yet needs thirty of them. */
const HEAP_MIB = 46
/** With so many it would have ended. */
const FAR_TOO_MANY = 60_000

t.test('a small heap is never filled', { timeout: FILE_LIMIT_MS }, async t => {
  const orrery = await startOrrery(t, undefined, { env: { NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}` } })
  const api = new Api(accessOf(orrery.kubeconfig))
  t.teardown(() => api.close())
  let made = 0
  let refused: unknown
  const fill = async (): Promise<void> => {
    while (refused === undefined && made < FAR_TOO_MANY) {
      const answer = await api.post(CONFIGMAPS, configMap(`filler-${made++}`))
      if (answer.code !== 201) refused = { code: answer.code, reason: answer.body.reason }
    }
  }
  await Promise.all(Array.from({ length: 32 }, fill))
  t.same(refused, { code: 507, reason: 'InsufficientStorage' })
  const codes = await Promise.all(
    Array.from({ length: 200 }, async (_, i) => (await api.post(CONFIGMAPS, configMap(`more-${i}`))).code),
  )
  t.ok(codes.every(code => code === 507 || code === 201))
  const lists = await Promise.all([api.get(CONFIGMAPS), api.get(CONFIGMAPS)])
  for (const { code, body } of lists) t.same([code, body.items.length > 100], [200, true])
  t.match(await api.get('/readyz'), { code: 200 })
  for (let i = 0; i < 50; i++) t.equal((await api.delete(`${CONFIGMAPS}/filler-${i}`)).code, 200)
  t.equal(await orrery.stop(), 0)
})
