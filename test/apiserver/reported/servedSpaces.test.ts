/** A space that is not known yet closes the view of several spaces for no other: it is left out until it is known. */
import t from 'tap'
import { StatusError } from '../../../src/apimachinery/errors.ts'
import type { SpaceClusters } from '../../../src/apiserver/reported/reportedKinds.ts'
import { ReportedNames } from '../../../src/apiserver/reported/reportedNames.ts'
import { ReportedSources } from '../../../src/apiserver/reported/reportedSources.ts'
import { ServedSpaces } from '../../../src/apiserver/reported/servedSpaces.ts'
import type { ReportedCluster } from '../../../src/placement/desks/reported.ts'

const KIND = { group: '', version: 'v1', resource: 'configmaps' }
const HELD = { refusal: undefined, release: () => {} }

const clusterOf = (location: string, mailbox = location): ReportedCluster => ({
  location,
  mailbox,
  uses: () => true,
  silentSince: undefined,
  isMarked: () => false,
  marks: () => undefined,
})

function world() {
  const bySpace = new Map<string, ReportedCluster[] | undefined>()
  const listeners = new Set<(space: string) => void>()
  const places = {
    clusters(space: string): ReportedCluster[] {
      const clusters = bySpace.get(space)
      if (clusters) return clusters
      throw new StatusError('ServiceUnavailable', `${space} is not known yet`)
    },
    followClusters(listener: (space: string) => void): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
  const set = (space: string, clusters: ReportedCluster[] | undefined): void => {
    bySpace.set(space, clusters)
    for (const listener of listeners) listener(space)
  }
  const kinds = { alike: (spaces: unknown) => spaces, onChange: () => () => {} }
  const work = { due: false, rest: async () => {} }
  return { places, set, listeners, deps: { places, kinds, work } as never }
}

/** Revision since which a reader is served spaces. */
function sinceOf(names: ReportedNames) {
  return (reader: string, verb: 'list' | 'watch', spaces: string[], revision: number, isWhole = true): number =>
    names.servedSince({ reader, isWatch: verb === 'watch' }, { spaces, isWhole }, revision)
}

t.test('one that is not known is left out and counted, and its watch ends when it is known', async t => {
  const { set, deps, listeners } = world()
  set('a', [clusterOf('paris')])
  set('b', undefined)
  const served = await ServedSpaces.of(new Set(['a', 'b']), deps)
  t.same([served.known.map(({ space }) => space), served.unknown], [['a'], 1])
  served.alike(KIND)
  const ended = new Promise<void>(resolve => {
    const end = (): void => {
      t.match(held.refusal, { reason: 'Expired' })
      held.release()
      resolve()
    }
    const held = served.hold(KIND, end, () => HELD)
    set('a', [clusterOf('paris'), clusterOf('rome')])
    set('b', [clusterOf('bern')])
  })
  await ended
  t.equal(listeners.size, 0)
  set('b', undefined)
  await t.rejects(ServedSpaces.of(new Set(['b']), deps), /b is not known yet/, 'where none is known')
})

t.test('a watch from a list without a space is refused once that is served, at whatever revision', t => {
  const names = new ReportedNames()
  const served = sinceOf(names)
  t.equal(served('lea', 'list', ['a'], 7, false), 7)
  const since = served('lea', 'watch', ['a', 'b'], 7)
  const { places, set } = world()
  set('a', [])
  const spaces = new Set(['a', 'b'])
  const sources = new ReportedSources({ places, names, kept: {}, reader: { revision: 7 }, spaces, since } as never)
  t.throws(() => sources.now(7), /other spaces are served, since/)
  t.equal(served('lea', 'watch', ['b', 'a'], 9), since, 'the same spaces')
  t.equal(served('max', 'watch', ['b', 'a'], 9), 9, 'of another reader')
  t.equal(served('lea', 'watch', ['a'], 10), 10)
  t.equal(served('lea', 'watch', ['a', 'b'], 11), 11, 'again since')
  t.end()
})

t.test('a tenant that lets a reader list, and not watch, ends no watch of other spaces', t => {
  const served = sinceOf(new ReportedNames())
  const [lists, watches] = [
    (revision: number) => served('lea', 'list', ['a', 'b'], revision),
    (revision: number) => served('lea', 'watch', ['a'], revision),
  ]
  t.equal(lists(7), 7)
  t.equal(watches(8), 8, 'what both have in common is not known yet: the list is read again')
  t.equal(lists(9), 7)
  t.equal(watches(10), 8, 'and the watch goes on from there')
  t.equal(served('lea', 'list', ['a'], 11), 11)
  t.equal(lists(12), 12)
  t.equal(served('lea', 'watch', ['a', 'b'], 13), 12, 'one from before another list lacks a space')
  t.end()
})

t.test('a space that becomes known before the watch is held ends it, too', async t => {
  const { set, deps } = world()
  set('a', [clusterOf('paris')])
  set('b', undefined)
  const served = await ServedSpaces.of(new Set(['a', 'b']), deps)
  served.alike(KIND)
  set('b', [clusterOf('bern')])
  const ended = Promise.withResolvers<void>()
  const held = served.hold(KIND, ended.resolve, () => HELD)
  await ended.promise
  t.match(held.refusal, { reason: 'Expired' })
  held.release()
})

t.test('a watch ends when a space has a further cluster that defines the kind otherwise', async t => {
  const { places, set, deps } = world()
  const onChange: ((space: string) => void)[] = []
  let judged = Promise.withResolvers<void>()
  const kinds = {
    alike(spaces: readonly SpaceClusters[]) {
      judged.resolve()
      return spaces.filter(({ clusters }) => clusters.every(({ mailbox }) => mailbox !== 'other'))
    },
    onChange: (_kind: unknown, listener: (space: string) => void) => {
      onChange.push(listener)
      return () => {}
    },
  }
  set('a', [clusterOf('paris')])
  set('b', [clusterOf('bern')])
  set('c', [])
  const served = await ServedSpaces.of(new Set(['a', 'b']), { ...(deps as object), places, kinds } as never)
  t.same(
    served.alike(KIND).map(({ space }) => space),
    ['a', 'b'],
  )
  const ended = Promise.withResolvers<void>()
  judged = Promise.withResolvers()
  const held = served.hold(KIND, ended.resolve, () => HELD)
  const look = async (act: () => void): Promise<void> => {
    judged = Promise.withResolvers()
    act()
    await judged.promise
  }
  await judged.promise
  await look(() => onChange[0]!('paris'))
  await look(() => set('b', [clusterOf('bern'), clusterOf('rome')]))
  t.equal(held.refusal, undefined, 'all are alike')
  judged = Promise.withResolvers<void>()
  let isJudged = false
  void judged.promise.then(() => {
    isJudged = true
  })
  onChange[0]!('a space of others')
  set('c', [clusterOf('other')])
  await new Promise(resolve => setImmediate(resolve))
  t.notOk(isJudged, 'definitions and clusters of others are no matter')
  set('b', [clusterOf('bern'), clusterOf('turin', 'other')])
  await ended.promise
  t.match(held.refusal, { reason: 'Expired' })
  held.release()
})

t.test('a space that changes leaves the mailboxes of the others as they are', t => {
  const { places, set } = world()
  const names = new ReportedNames()
  set('a', [clusterOf('imw.paris', 'paris'), clusterOf('imw.rome', 'rome')])
  set('b', [clusterOf('my.rome', 'rome')])
  const reader = { revision: 7 }
  const sources = new ReportedSources({ places, names, kept: {}, reader, spaces: new Set(['a', 'b']) } as never)
  const shown = (): string[] =>
    [...sources.now()].flatMap(([mailbox, readers]) =>
      [...readers.values()].map(({ to }) => `${mailbox} ${to.location} ${to.space}`),
    )
  t.same(shown().sort(), ['paris imw.paris a', 'rome imw.rome a', 'rome my.rome b'])
  sources.follow(() => {})
  set('b', [clusterOf('my.rome', 'paris'), clusterOf('my.bern', 'bern')])
  t.same(shown().sort(), ['bern my.bern b', 'paris imw.paris a', 'paris my.rome b', 'rome imw.rome a'])
  t.end()
})
