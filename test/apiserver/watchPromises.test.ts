/** Watches and lists over HTTP while writers write: whatever they do at once, every promise of a watch is kept. */
import t from 'tap'
import type { Answer } from '../support/api.ts'
import * as fc from '../support/fastCheck.ts'
import { startTestServer } from '../support/server.ts'
import { brokenPromises, type History, type Seen, type Selects, type Snapshot } from '../support/watchHistory.ts'
import { logOf, namedItem, seenInLine, splitInitial } from '../support/watchRecords.ts'
import { anyWriters, isIn, Scenario, SELECTOR, type Writers } from '../support/watchScenario.ts'

const { api, server, faults } = await startTestServer(t, { more: { bookmarkIntervalMs: 1 } })

const INITIAL = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan'
const SELECTIONS: { query: string; selects: Selects }[] = [
  { query: '', selects: () => true },
  { query: SELECTOR, selects: isIn },
  { query: 'fieldSelector=metadata.name%3Da', selects: ({ key }) => key.endsWith('/a') },
]

/** Reads a watch up to a bookmark which says that `through` has come, if it was to come. */
async function watch({ path, naming }: Scenario, query: string, through: Promise<number>): Promise<Seen[]> {
  const opened = await api.watch(`${path}?watch=1&allowWatchBookmarks=true&${query}`)
  const seen: Seen[] = []
  let last = Number.POSITIVE_INFINITY
  void through.then(revision => {
    last = revision
  })
  for (;;) {
    const event = seenInLine(naming, (await opened.take(1))[0]!)
    seen.push(event)
    if (event.type === 'BOOKMARK' && event.revision >= last) break
  }
  opened.close()
  return seen
}

/** Page by page, while others write. */
async function list({ path, naming }: Scenario, query: string, selects: Selects): Promise<Snapshot> {
  const items: Snapshot['items'][number][] = []
  let revision = 0
  let token: string | undefined
  do {
    const next = token === undefined ? '' : `&continue=${encodeURIComponent(token)}`
    const page: Answer['body'] = await api.ok(api.get(`${path}?limit=1&${query}${next}`))
    items.push(...page.items.map(item => namedItem(naming, item)))
    revision = Number(page.metadata.resourceVersion)
    token = (page.metadata as { continue?: string }).continue
  } while (token)
  return { name: `list ${query}`, revision, items, selects }
}

let runs = 0
async function play(before: Writers, writers: Writers, part: number): Promise<History> {
  const scenario = new Scenario(`n${runs++}`)
  await scenario.begin(api)
  await scenario.write(api, before)
  const { promise: end, resolve: ended } = Promise.withResolvers<number>()
  const after = server.store.revision
  const open = SELECTIONS.map(async ({ query, selects }) => {
    const [seen, begun, ...lists] = await Promise.all([
      watch(scenario, `${query}&resourceVersion=${after}`, end),
      watch(scenario, `${query}&${INITIAL}`, end),
      list(scenario, query, selects),
      list(scenario, query, selects),
    ])
    const through = await end
    const whole = { name: `watch ${query}`, after, through, seen, selects }
    const initial = splitInitial(`initial ${query}`, begun, selects)
    const place = seen[Math.floor(part * (seen.length - 1))]!.revision
    const rest = await watch(scenario, `${query}&resourceVersion=${place}`, end)
    return {
      streams: [
        whole,
        { ...whole, name: `initial ${query}`, after: initial.after, seen: initial.seen },
        { ...whole, name: `resumed ${query}`, after: place, seen: rest, resumes: whole },
      ],
      snapshots: [initial.snapshot, ...lists],
    }
  })
  await scenario.write(api, writers)
  ended(await scenario.end(api))
  const records = await Promise.all(open)
  return {
    log: await logOf(server.store, scenario.range),
    acknowledged: scenario.acknowledged,
    streams: records.flatMap(({ streams }) => streams),
    snapshots: records.flatMap(({ snapshots }) => snapshots),
  }
}

t.test('a namespace, a label, a field; from a version, from what is there, resumed anywhere; page by page', async t => {
  const part = fc.double({ min: 0, max: 1, noNaN: true })
  const promises = fc.asyncProperty(anyWriters, anyWriters, part, async (...plan) => {
    const broken = brokenPromises(await play(...plan))
    if (broken.length > 0) throw new Error(JSON.stringify(broken, undefined, 1))
  })
  await fc.assert(promises, { numRuns: 3, endOnFailure: true })
  t.strictSame(faults, [])
})
