/** A process whose heap is nearly full refuses growth instead of ending; all of it can be read, and what is not needed deleted. */
import t from 'tap'
import { Api } from '../support/api.ts'
import { startOrrery } from '../support/orrery.ts'
import { FILE_LIMIT_MS } from '../support/patience.ts'
import { accessOf, CONFIGMAPS, configMap } from '../support/server.ts'

/** A server that has nothing yet needs forty of them. */
const HEAP_MIB = 54
/** With so many it would have ended. */
const FAR_TOO_MANY = 60_000

t.test('a small heap is never filled', { timeout: FILE_LIMIT_MS }, async t => {
  const orrery = await startOrrery(t, undefined, { env: { NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}` } })
  const api = new Api(accessOf(orrery.kubeconfig))
  t.teardown(() => api.close())
  const made: string[] = []
  let asked = 0
  let refused: unknown
  const fill = async (): Promise<void> => {
    while (refused === undefined && asked < FAR_TOO_MANY) {
      const name = `filler-${asked++}`
      const answer = await api.post(CONFIGMAPS, configMap(name))
      if (answer.code === 201) made.push(name)
      else refused = { code: answer.code, reason: answer.body.reason }
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
  for (const name of made.slice(0, 50)) t.equal((await api.delete(`${CONFIGMAPS}/${name}`)).code, 200)
  t.equal(await orrery.stop(), 0)
})
