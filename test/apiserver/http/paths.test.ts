/** One list of paths: who answers, 404 and 405 with what is allowed, server-wide paths, and the index. */
import t from 'tap'
import type { PathEntry } from '../../../src/apiserver/http/paths.ts'
import { Paths } from '../../../src/apiserver/http/paths.ts'
import { serving } from './answering.ts'

const entry = (path: string, more: Partial<PathEntry> = {}): PathEntry => ({
  path,
  handle: (_request, answer, { space }, asked) => {
    if (asked.endsWith('/none')) return false
    answer.code(200).send(`${asked} in ${space}`)
  },
  ...more,
})
const ENTRIES: readonly PathEntry[] = [
  entry('/', { isUnlisted: true }),
  entry('/version'),
  entry('/health', { below: space => [`/health/${space}`] }),
  entry('/open', { below: 'unlisted' }),
  entry('/hook', { methods: ['POST'] }),
  entry('/figures', { isServerWide: true }),
]
const ask = await serving(t, ENTRIES)
const get = async (path: string): Promise<string> => {
  const { statusCode, text } = await ask(path)
  return statusCode === 200 ? text : String(statusCode)
}

t.test('an entry answers its path and what is below it, in each space', async t => {
  t.equal(await get('/version'), '/version in root')
  t.equal(await get('/version/'), '/version in root')
  t.equal(await get('/'), '/ in root')
  t.equal(await get('/clusters/team/health/ping'), '/health/ping in team')
  t.equal(await get('/open/a/b?c=d'), '/open/a/b in root')
  for (const path of ['/versions', '/version/a', '/opened', '/nothing', '/health/none', '/open/none'])
    t.equal(await get(path), '404', path)
})

t.test('other methods are refused with those that are allowed, unless there is no such path', async t => {
  const post = async (path: string) => {
    const { statusCode, headers } = await ask(path, { method: 'POST' })
    return [statusCode, headers.allow]
  }
  const refused = [405, 'GET, HEAD']
  for (const path of ['/', '/version', '/version/', '/health', '/health/root', '/open/any', '/figures'])
    t.same(await post(path), refused, path)
  for (const path of ['/nothing', '/health/other', '/clusters/team/figures'])
    t.same(await post(path), [404, undefined], path)
  t.same(await post('/hook'), [200, undefined])
  const { statusCode, headers } = await ask('/hook')
  t.same([statusCode, headers.allow], [405, 'POST'])
})

t.test('paths about the whole server are those of root', async t => {
  t.equal(await get('/figures/'), '/figures in root')
  const refused = await ask('/clusters/team/figures')
  t.equal(refused.statusCode, 404)
  t.match(refused.text, 'a space has no /figures of its own')
  const paths = new Paths(ENTRIES)
  for (const path of ['/figures', '/figures/']) t.ok(paths.isServerWide(path), path)
  for (const path of ['/', '/version', '/figures/a']) t.notOk(paths.isServerWide(path), path)
})

t.test('the index is of what is there', async t => {
  const paths = new Paths(ENTRIES)
  t.same(paths.listed('root'), ['/figures', '/health', '/health/root', '/hook', '/open', '/version'])
  t.same(paths.listed('team'), ['/health', '/health/team', '/hook', '/open', '/version'])
})
