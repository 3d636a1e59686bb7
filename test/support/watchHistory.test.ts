/** A history that keeps every promise, and for each promise one that breaks it: the checker says which. */
import t from 'tap'
import { brokenPromises, type Change, type History, type Seen, type StreamRecord } from './watchHistory.ts'

const put = (revision: number, key: string, content: string): Change => ({ revision, key, type: 'put', content })
const log: Change[] = [
  put(1, 'a', 'red'),
  put(2, 'b', 'blue'),
  put(3, 'a', 'blue'),
  put(5, 'b', 'blue too'),
  put(6, 'a', 'red again'),
  { revision: 8, key: 'b', type: 'delete', content: 'blue at last' },
]
const isBlue = ({ content }: Change): boolean => content.startsWith('blue')

const event = (type: 'ADDED' | 'MODIFIED' | 'DELETED', revision: number, key: string, content: string): Seen => ({
  type,
  revision,
  key,
  content,
})
const mark = (revision: number): Seen => ({ type: 'BOOKMARK', revision })
/** All that a stream from the beginning shows. */
const ALL: Seen[] = [
  event('ADDED', 1, 'a', 'red'),
  event('ADDED', 2, 'b', 'blue'),
  event('MODIFIED', 3, 'a', 'blue'),
  event('MODIFIED', 5, 'b', 'blue too'),
  event('MODIFIED', 6, 'a', 'red again'),
  event('DELETED', 8, 'b', 'blue at last'),
]
const BLUE: Seen[] = [
  event('ADDED', 2, 'b', 'blue'),
  event('ADDED', 3, 'a', 'blue'),
  event('MODIFIED', 5, 'b', 'blue too'),
  event('DELETED', 6, 'a', 'blue'),
  event('DELETED', 8, 'b', 'blue at last'),
]
const stream = (seen: readonly Seen[], rest: Partial<StreamRecord> = {}): StreamRecord => ({
  name: 's',
  after: 0,
  through: 8,
  seen,
  ...rest,
})
const item = (change: Change) => ({ key: change.key, revision: change.revision, content: change.content })
const changed = (type: 'apply' | 'delete', change: Change, previous?: number) => ({ type, ...item(change), previous })
/** As an informer that missed 3 and 5 tells it. */
const FOLLOWED = [
  changed('apply', log[0]!),
  changed('apply', log[1]!),
  changed('apply', log[4]!, 1),
  changed('delete', log[1]!),
]
const follower = (changes = FOLLOWED, holds = [item(log[4]!)]) => ({ name: 'f', changes, holds })

t.test('histories that keep the promises', async t => {
  const fine: Record<string, Omit<History, 'log'>> = {
    nothing: {},
    'everything from the beginning': { streams: [stream(ALL)] },
    'what was not waited for may be missing': { streams: [stream(ALL.slice(0, 4), { through: 5 })] },
    'from the middle': { streams: [stream(ALL.slice(2), { after: 2 })] },
    'with bookmarks': { streams: [stream([...ALL.slice(0, 2), mark(2), mark(2), ...ALL.slice(2), mark(9)])] },
    'a selection': { streams: [stream(BLUE, { selects: isBlue })] },
    'a selection from the middle': { streams: [stream(BLUE.slice(3), { after: 5, selects: isBlue })] },
    resumed: { streams: [stream(ALL.slice(3), { after: 3, resumes: stream(ALL) })] },
    snapshots: {
      snapshots: [
        { name: 'r', revision: 0, items: [] },
        { name: 'r', revision: 4, items: [item(log[2]!), item(log[1]!)] },
        { name: 'r', revision: 6, items: [item(log[3]!)], selects: isBlue },
      ],
    },
    acknowledged: { acknowledged: [log[0]!, log[3]!, { key: 'b', type: 'delete' }] },
    'a follower that missed something': { followers: [follower()] },
  }
  for (const [name, history] of Object.entries(fine)) t.strictSame(brokenPromises({ log, ...history }), [], name)
})

t.test('each broken promise is named', async t => {
  const swapped = [ALL[0]!, ALL[2]!, ALL[1]!, ...ALL.slice(3)]
  const without = (index: number): Seen[] => ALL.filter((_, i) => i !== index)
  const as = (index: number, change: Partial<Seen>): Seen[] =>
    ALL.map((each, i) => (i === index ? ({ ...each, ...change } as Seen) : each))
  const cases: [string, string, Omit<History, 'log'>][] = [
    ['ordered', 'two events change places', { streams: [stream(swapped)] }],
    [
      'ordered',
      'a follower goes back',
      { followers: [follower([...FOLLOWED, changed('apply', log[2]!, 6)], [item(log[4]!)])] },
    ],
    ['unique', 'an event comes twice', { streams: [stream([...ALL, ALL[5]!])] }],
    [
      'unique',
      'an object stands twice in a list',
      { snapshots: [{ name: 'r', revision: 1, items: [item(log[0]!), item(log[0]!)] }] },
    ],
    [
      'unique',
      'a follower tells a version twice',
      { followers: [follower([...FOLLOWED, changed('apply', log[4]!, 6)])] },
    ],
    ['unique', 'a follower deletes twice', { followers: [follower([...FOLLOWED, changed('delete', log[1]!)])] }],
    ['gapless', 'an event is missing', { streams: [stream(without(2))] }],
    ['gapless', 'the last event is missing', { streams: [stream(without(5))] }],
    ['gapless', 'an acknowledged write is not in the log', { acknowledged: [put(4, 'c', 'lost')] }],
    ['gapless', 'an acknowledged deletion is not in the log', { acknowledged: [{ key: 'a', type: 'delete' }] }],
    [
      'gapless',
      'a follower ends elsewhere',
      { followers: [follower(FOLLOWED.slice(0, 3), [item(log[4]!), item(log[1]!)])] },
    ],
    [
      'gapless',
      'a follower tells of another past',
      { followers: [follower([FOLLOWED[0]!, FOLLOWED[1]!, changed('apply', log[4]!, 3), FOLLOWED[3]!])] },
    ],
    ['atomic', 'an event shows another content', { streams: [stream(as(3, { content: 'green' }))] }],
    ['atomic', 'an event shows another object', { streams: [stream(as(3, { key: 'a' }))] }],
    [
      'atomic',
      'an event shows what nobody wrote',
      { streams: [stream([...ALL.slice(0, 3), event('ADDED', 4, 'c', 'x'), ...ALL.slice(3)])] },
    ],
    [
      'atomic',
      'a list shows two instants',
      { snapshots: [{ name: 'r', revision: 6, items: [item(log[4]!), item(log[1]!)] }] },
    ],
    ['atomic', 'a list leaves something out', { snapshots: [{ name: 'r', revision: 6, items: [item(log[4]!)] }] }],
    ['atomic', 'the log has something else', { acknowledged: [put(1, 'a', 'green')] }],
    [
      'atomic',
      'a follower shows what never was',
      { followers: [follower([{ ...FOLLOWED[0]!, content: 'green' }, ...FOLLOWED.slice(1)])] },
    ],
    ['resumable', 'a stream begins too early', { streams: [stream(ALL.slice(2), { after: 3 })] }],
    [
      'resumable',
      'a resumed stream tells something otherwise',
      { streams: [stream(ALL.slice(3), { after: 3, resumes: stream(as(4, { content: 'green' })) })] },
    ],
    ['bookmarkable', 'something comes behind its bookmark', { streams: [stream([ALL[0]!, mark(2), ...ALL.slice(1)])] }],
    ['bookmarkable', 'a bookmark goes back', { streams: [stream([...ALL, mark(6)])] }],
    ['filtered', 'something else than the selection', { streams: [stream([ALL[0]!, ...BLUE], { selects: isBlue })] }],
    [
      'filtered',
      'entering is no addition',
      {
        streams: [
          stream(
            BLUE.map((e, i) => (i === 1 ? ({ ...e, type: 'MODIFIED' } as Seen) : e)),
            { selects: isBlue },
          ),
        ],
      },
    ],
    [
      'filtered',
      'leaving is no deletion',
      {
        streams: [
          stream(
            BLUE.map((e, i) => (i === 3 ? event('MODIFIED', 6, 'a', 'red again') : e)),
            { selects: isBlue },
          ),
        ],
      },
    ],
    [
      'filtered',
      'a list of more than the selection',
      { snapshots: [{ name: 'r', revision: 2, items: [item(log[0]!), item(log[1]!)], selects: isBlue }] },
    ],
  ]
  for (const [promise, name, history] of cases) {
    const broken = brokenPromises({ log, ...history })
    t.ok(broken.length > 0 && broken.every(each => each.promise === promise), `${promise}: ${name}`, { broken })
  }
  const reused = brokenPromises({ log: [...log, put(8, 'c', 'x')] })
  t.match(reused, [{ promise: 'unique', why: '8 of c was used twice' }])
})

t.test('a deletion leaves the selection with its last state there', async t => {
  const wrong = BLUE.map((each, i) => (i === 3 ? event('DELETED', 6, 'a', 'red again') : each))
  t.match(brokenPromises({ log, streams: [stream(wrong, { selects: isBlue })] }), [{ promise: 'atomic' }])
})
