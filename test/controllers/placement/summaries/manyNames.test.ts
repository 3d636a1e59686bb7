/** Followers of more summaries than a space's names: none is lost by that, and each gets deletions. */

import t from 'tap'
import { Signal } from '../../../../src/controllers/placement/signals/signals.ts'
import type { Collectors } from '../../../../src/controllers/placement/summaries/collectors.ts'
import { Summaries, type SummariesDeps } from '../../../../src/controllers/placement/summaries/summaries.ts'
import { SummaryFollowers } from '../../../../src/controllers/placement/summaries/summaryFollowers.ts'
import { SummarySubjects } from '../../../../src/controllers/placement/summaries/summarySubjects.ts'
import { compilePlacement } from '../../../../src/placement/select/placementSpec.ts'
import { readCollector } from '../../../../src/placement/summary/collector.ts'
import { SETS } from '../translatorWorld.ts'

const PACE = { due: false, rest: async () => {} }

function spaceOf(count: number) {
  const facts = new Map(
    Array.from({ length: count }, (_, i) => {
      const fact = {
        key: `apps|replicasets|shop|rs${i}`,
        uid: `u${i}`,
        resource: SETS,
        namespace: 'shop',
        name: `rs${i}`,
      }
      return [fact.key, { ...fact, labels: {} }] as const
    }),
  )
  const selected = new Set(facts.keys())
  const workload = {
    get: (key: string) => facts.get(key),
    names: (_: string, key: string) => selected.has(key),
    namedBy: () => selected,
  }
  const metadata = { name: 'all', uid: 'p' }
  const spec = compilePlacement({
    apiVersion: '',
    kind: '',
    metadata,
    spec: { downsync: [{ apiGroup: 'apps', statusCollectors: ['c'] }] },
  })
  const ways = new Map([
    ['one', []],
    ['two', []],
  ])
  const join = {
    placementNames: () => ['all'],
    spec: () => spec,
    workload: () => workload,
    waysOf: () => ways,
    fact: (_: string, key: string) => facts.get(key),
  }
  const head = { status: { state: 'Applied' } }
  const { collector } = readCollector({
    apiVersion: '',
    kind: '',
    metadata: { name: 'c' },
    spec: { select: [{ name: 'where', def: 'inventory.name' }] },
  })
  const deps = {
    join,
    kinds: { of: async () => new Map() },
    isKnown: () => true,
    isStale: () => false,
    mailbox: () => undefined,
    locations: {
      of: () => ({ byMailbox: ways }),
      labelOf: (_: string, name: string) => name,
      renamed: new Signal<[space: string]>(),
    },
    sources: { read: async () => ({ metadata: {} }) },
    statuses: { at: async () => ({ head, whole: async () => head }) },
    turns: { begin: () => PACE },
  }
  const used = { collector, revision: 1 }
  const known = deps as unknown as SummariesDeps & ConstructorParameters<typeof SummaryFollowers>[0]
  const collectors = { get: () => used } as unknown as Collectors
  const subjects = new SummarySubjects(known.join, collectors)
  const followers = new SummaryFollowers({ ...known, subjects, mailbox: () => undefined })
  return { facts, selected, followers, summaries: new Summaries({ ...known, subjects, followers }) }
}

t.test('more summaries than names are followed all the same', async t => {
  const COUNT = 20_001
  const { facts, selected, followers, summaries } = spaceOf(COUNT)
  const touched: string[] = []
  let losses = 0
  summaries.follow('shop', { touched: ({ name }) => touched.push(name), lost: () => losses++ })
  const list = async () => {
    const names: string[] = []
    for await (const { name } of summaries.rows({ space: 'shop', fixed: new Map() }, PACE)) names.push(name)
    return names
  }
  t.equal((await list()).length, COUNT)
  const last = (await list()).at(-1)!
  t.equal(losses, 0)
  const key = [...facts.values()].find(({ uid }) => `${uid}.p` === last)!.key
  selected.delete(key)
  followers.claimsChanged('shop', [], [key])
  t.same(touched, [last], 'a deletion of one that found no room')
  t.equal(await summaries.row('shop', { namespace: 'shop', name: last }), undefined)
  t.match(await summaries.row('shop', { namespace: 'shop', name: 'u0.p' }), { name: 'u0.p' })
})

t.test('a cluster that changes for more than followers get one by one costs no others', async t => {
  const { followers, summaries } = spaceOf(2001)
  let losses = 0
  summaries.follow('shop', { touched: () => {}, lost: () => losses++ })
  const list = async () => {
    for await (const row of summaries.rows({ space: 'shop', fixed: new Map() }, PACE)) await row.whole()
    return summaries.figures.evaluations
  }
  t.equal(await list(), 4002)
  followers.mailboxChanged('one')
  t.equal(losses, 1)
  t.equal(await list(), 4002, 'nothing has changed in fact')
})

t.test('a summary is worked out at the pace of its request', async t => {
  const { summaries } = spaceOf(1)
  const row = await summaries.row('shop', { namespace: 'shop', name: 'u0.p' })
  const rest = async () => {
    throw new Error('nobody waits')
  }
  await t.rejects(row!.whole({ due: true, rest }), /nobody waits/)
  t.equal(summaries.figures.evaluations, 0, 'it rests while it looks for clusters')
  const evaluated = (): number => summaries.figures.evaluations
  const pace = {
    get due() {
      return evaluated() > 0
    },
    rest,
  }
  await t.rejects(row!.whole(pace), /nobody waits/)
  t.equal(evaluated(), 1, 'one of two clusters')
})
