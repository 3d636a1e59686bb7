/**
 * `kill -9` of the server under 32 writers and three watchers, again and again on the same data dir. Acknowledged writes stay, nothing is
 * half-done, and watches go on where they were. CRASH_ROUNDS sets the number of kills (default 1).
 */
import { createHash, randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import { FILE_LIMIT_MS } from '../support/patience.ts'
import { SEED, Seeded } from '../support/seeded.ts'
import { temporaryDir } from '../support/temporaryDir.ts'
import { isCutOff, ServerProcess } from './support/serverProcess.ts'

const rounds = Number(process.env.CRASH_ROUNDS ?? 1)
const WRITERS = 32
const WATCHERS = 3
const COLLECTION = '/api/v1/namespaces/default/configmaps'
/** The server keeps objects of its own there too. */
const OURS = 'labelSelector=written-by%3Dcrash-test'

/** One version of one object, in one client's view. */
interface Fact {
  revision: number
  name: string
  text: string
}
interface ConfigMap {
  metadata: { name: string; resourceVersion: string }
  data: { text: string; hash: string }
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')
const configMap = (name: string, text: string): object => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels: { 'written-by': 'crash-test' } } },
  data: { text, hash: hashOf(text) },
})

/** @throws Error when the object is not one that a writer sent as a whole */
function factOf({ metadata, data }: ConfigMap): Fact {
  if (hashOf(data.text) !== data.hash) throw new Error(`${metadata.name} is half-done`)
  return { revision: Number(metadata.resourceVersion), name: metadata.name, text: data.text }
}

/** Creates objects of its own and updates them, until the server is gone. */
async function writer(server: ServerProcess, prefix: string, acknowledge: (fact: Fact) => void): Promise<void> {
  try {
    for (let op = 0; ; op++) {
      const name = `${prefix}-${op >> 2}`
      const object = configMap(name, randomBytes(op % 5 === 0 ? 4000 : 40).toString('hex'))
      const { code, body } =
        op % 4 === 0
          ? await server.ask('POST', COLLECTION, object)
          : await server.ask('PUT', `${COLLECTION}/${name}`, object)
      if (code !== 200 && code !== 201) throw new Error(`${name}: ${code} ${JSON.stringify(body)}`)
      acknowledge(factOf(body as unknown as ConfigMap))
    }
  } catch (error) {
    if (!isCutOff(error)) throw error
  }
}

/** Events behind a revision, up to one revision or to the end of the server. */
async function watch(server: ServerProcess, after: number, facts: Fact[], until = Infinity): Promise<void> {
  for await (const line of server.lines(`${COLLECTION}?watch=1&${OURS}&resourceVersion=${after}`)) {
    const { type, object } = JSON.parse(line) as { type: string; object: ConfigMap }
    if (type !== 'ADDED' && type !== 'MODIFIED') throw new Error(line)
    facts.push(factOf(object))
    if (facts.at(-1)!.revision >= until) return
  }
}

/** A write that nothing races with: a mark in the history. */
async function mark(server: ServerProcess, name: string): Promise<Fact> {
  const { body } = await server.ask('POST', COLLECTION, configMap(name, name))
  return factOf(body as unknown as ConfigMap)
}

/** Lets writers and watchers work until so many writes are acknowledged, kills the server, and returns its answers. */
async function crash(server: ServerProcess, round: number, cursors: readonly number[], kills: number) {
  const acknowledged: Fact[] = []
  const watched = cursors.map((): Fact[] => [])
  let kill: Promise<void> | undefined
  const acknowledge = (fact: Fact): void => {
    acknowledged.push(fact)
    if (acknowledged.length === kills) kill = server.kill()
  }
  const ignoreEnd = (error: unknown): void => {
    if (!isCutOff(error)) throw error
  }
  await Promise.all([
    ...Array.from({ length: WRITERS }, (_, id) => writer(server, `w${round}-${id}`, acknowledge)),
    ...watched.map((facts, i) => watch(server, cursors[i]!, facts).catch(ignoreEnd)),
  ])
  await kill
  return { acknowledged, watched }
}

async function stateOf(server: ServerProcess): Promise<Map<string, Fact>> {
  const { body } = await server.ask('GET', `${COLLECTION}?${OURS}`)
  const facts = (body.items as ConfigMap[]).map(factOf)
  return new Map(facts.map(fact => [fact.name, fact]))
}

t.setTimeout(FILE_LIMIT_MS + rounds * 5000)
const random = new Seeded(SEED)

t.test('a server that is killed loses nothing that it acknowledged', async t => {
  t.setTimeout(FILE_LIMIT_MS + rounds * 5000)
  const dir = temporaryDir(t)
  const start = () => ServerProcess.start(t, dir, WRITERS + WATCHERS)
  let server = await start()
  /** Everything that ever happened to the objects, in order. */
  const history = [await mark(server, 'beginning')]
  /** How many events of it each watcher has seen. */
  const seen: number[] = Array.from({ length: WATCHERS }, () => 1)

  const round = async (t: Test, number: number): Promise<void> => {
    const cursors = seen.map(count => history[count - 1]!.revision)
    const kills = 1 + random.number(600)
    const { acknowledged, watched } = await crash(server, number, cursors, kills)
    server = await start()

    const end = await mark(server, `end-${number}`)
    await watch(server, history.at(-1)!.revision, history, end.revision)
    t.ok(
      history.every((fact, i) => i === 0 || fact.revision > history[i - 1]!.revision),
      'no revision is used twice',
    )
    t.same(await stateOf(server), new Map(history.map(fact => [fact.name, fact])), 'objects are what the history made')

    const byRevision = new Map(history.map(fact => [fact.revision, fact]))
    const lost = acknowledged.filter(({ revision, name, text }) => {
      const kept = byRevision.get(revision)
      return kept?.name !== name || kept.text !== text
    })
    t.same(lost, [], `all ${acknowledged.length} acknowledged writes are there, as they were`)

    for (const [i, facts] of watched.entries()) {
      t.same(facts, history.slice(seen[i]!, seen[i]! + facts.length), `watch ${i}: nothing lost, repeated or undone`)
      seen[i]! += facts.length
    }
  }
  for (let number = 1; number <= rounds; number++) await t.test(`kill ${number}`, async t => await round(t, number))

  t.ok(Math.min(...seen) > rounds, `watches have shown ${seen} events before the kills`)
  for (const [i, count] of seen.entries()) {
    const rest: Fact[] = []
    await watch(server, history[count - 1]!.revision, rest, history.at(-1)!.revision)
    t.same(rest, history.slice(count), `watch ${i} reaches the end`)
  }
})
