/** `spec.rolloutStrategy`, read: defaults, and each fault with its field and remedy. */
import t from 'tap'
import { formatFieldError } from '../../../src/apimachinery/fieldErrors.ts'
import {
  groupsMatching,
  isStaged,
  readStrategy,
  strategyWarnings,
  withoutGates,
} from '../../../src/placement/rollout/strategy.ts'

const base = 'spec.rolloutStrategy'
const progressive = (progressive: object, more: object = {}) => ({ type: 'Progressive', progressive, ...more })
const group = (groupName: string, matchLabels: object) => ({ groupName, locationSelector: { matchLabels } })

const FAULTS: [string, unknown, ...string[]][] = [
  [
    'a type that there is not',
    { type: 'Canary' },
    `${base}.type: Unsupported value: "Canary": supported values: "All", "Progressive", "ProgressivePerGroup"`,
  ],
  [
    'a number in quotes',
    progressive({ maxConcurrency: '5' }),
    `${base}.progressive.maxConcurrency: Invalid value: "5": must be the number 5 without quotes, or a percentage such as "5%"`,
  ],
  [
    'more than all',
    progressive({ maxFailures: '120%' }),
    `${base}.progressive.maxFailures: Invalid value: "120%": must be at most "100%", which is all clusters`,
  ],
  [
    'words for a number',
    progressive({ maxConcurrency: 'few' }),
    `${base}.progressive.maxConcurrency: Invalid value: "few": must be a number of clusters such as 3, or a percentage such as "25%"`,
  ],
  [
    'less than none',
    progressive({ maxFailures: -1 }),
    `${base}.progressive.maxFailures: Invalid value: -1: must be a whole number of clusters from 0 to 1000000, or a percentage such as "25%"`,
  ],
  [
    'a gate that nobody passes',
    progressive({ maxConcurrency: 0 }),
    `${base}.progressive.maxConcurrency: Invalid value: 0: no cluster could ever begin; use 1 or more, and \`paused\` of the rollout to hold it`,
  ],
  [
    'the same in percent',
    progressive({ maxConcurrency: '0%' }),
    `${base}.progressive.maxConcurrency: Invalid value: "0%": no cluster could ever begin; use 1 or more, and \`paused\` of the rollout to hold it`,
  ],
  [
    'a time without its unit',
    progressive({ minSuccessTime: '300' }),
    `${base}.progressive.minSuccessTime: Invalid value: "300": must be a time such as "90s", "10m" or "1h30m", up to 336h`,
  ],
  [
    'a time that is a number',
    progressive({ progressDeadline: 300 }),
    `${base}.progressive.progressDeadline: Invalid value: 300: must be a time such as "90s", "10m" or "1h30m", up to 336h, or "None"`,
  ],
  [
    'a soak of a year',
    progressive({ minSuccessTime: '8760h' }),
    `${base}.progressive.minSuccessTime: Invalid value: "8760h": must be a time such as "90s", "10m" or "1h30m", up to 336h`,
  ],
  [
    'a deadline at once',
    progressive({ progressDeadline: '0s' }),
    `${base}.progressive.progressDeadline: Invalid value: "0s": must be a time such as "90s", "10m" or "1h30m", up to 336h, or "None"`,
  ],
  [
    'an unknown group',
    progressive(
      { mandatoryDecisionGroups: [{ groupName: 'canry' }] },
      { decisionGroups: [group('canary', { a: 'b' })] },
    ),
    `${base}.progressive.mandatoryDecisionGroups[0].groupName: Invalid value: "canry": no such group: there are "canary"`,
  ],
  [
    'a position without a group',
    progressive({ mandatoryDecisionGroups: [{ groupIndex: 0 }] }),
    `${base}.progressive.mandatoryDecisionGroups[0].groupIndex: Invalid value: 0: no such group: ${base}.decisionGroups has none`,
  ],
  [
    'a group twice mandatory',
    progressive(
      { mandatoryDecisionGroups: [{ groupName: 'x' }, { groupIndex: 0 }] },
      { decisionGroups: [group('x', { a: 'b' })] },
    ),
    `${base}.progressive.mandatoryDecisionGroups[1]: Duplicate value: "x"`,
  ],
  [
    'a group without name and selector',
    progressive({}, { decisionGroups: [{}] }),
    `${base}.decisionGroups[0].groupName: Required value: stages and approvals name the group`,
    `${base}.decisionGroups[0].locationSelector: Required value: it says by Location labels which clusters are in the group; {} takes all`,
  ],
  [
    'two groups of one name',
    progressive({}, { decisionGroups: [group('x', { a: '1' }), group('x', { a: '2' })] }),
    `${base}.decisionGroups[1].groupName: Duplicate value: "x"`,
  ],
  [
    'a group behind one that takes all',
    progressive({}, { decisionGroups: [group('all', {}), group('x', { a: '2' })] }),
    `${base}.decisionGroups[1]: Invalid value: "x": no cluster is left for it: group "all" before it takes all; put that one last`,
  ],
  [
    'two groups of one selector',
    progressive({}, { decisionGroups: [group('x', { a: '2' }), group('y', { a: '2' })] }),
    `${base}.decisionGroups[1].locationSelector: Invalid value: "y": no cluster is left for it: group "x" before it selects the same; remove one of them`,
  ],
  [
    'a bad selector',
    progressive(
      {},
      { decisionGroups: [{ groupName: 'x', locationSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } }] },
    ),
    `${base}.decisionGroups[0].locationSelector.matchExpressions[0].values: Required value: must be specified when \`operator\` is 'In' or 'NotIn'`,
  ],
  [
    'a window that never opens',
    progressive({}, { windows: [{ from: '09:00', to: '09:00' }] }),
    `${base}.windows[0].to: Invalid value: "09:00": the window never opens: from and to are the same; for whole days use "00:00" to "24:00"`,
  ],
  [
    'a time of the day that is none',
    progressive({}, { windows: [{ from: '9', to: '25:00' }] }),
    `${base}.windows[0].from: Invalid value: "9": must be a time of the day such as "09:00"`,
    `${base}.windows[0].to: Invalid value: "25:00": must be a time of the day such as "09:00"`,
  ],
  [
    'a day and a zone that are none',
    progressive({}, { windows: [{ days: ['Monday'], from: '09:00', to: '10:00', timeZone: 'Berlin' }] }),
    `${base}.windows[0].days[0]: Unsupported value: "Monday": supported values: "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"`,
    `${base}.windows[0].timeZone: Invalid value: "Berlin": must be a time zone such as "Europe/Berlin"`,
  ],
  [
    'no days',
    progressive({}, { windows: [{ days: [], from: '09:00', to: '10:00' }] }),
    `${base}.windows[0].days: Required value: the window never opens: name days, or leave them out for all`,
  ],
  [
    'an answer to failures that there is not',
    progressive({}, { onFailure: 'Undo' }),
    `${base}.onFailure: Unsupported value: "Undo": supported values: "Stop", "Rollback"`,
  ],
  [
    'too many groups',
    progressive({}, { decisionGroups: Array.from({ length: 33 }, (_, i) => group(`g${i}`, { i: `${i}` })) }),
    `${base}.decisionGroups: Too many: 33: must have at most 32 items`,
  ],
]

t.test('faults name their field and remedy', t => {
  for (const [name, value, ...errors] of FAULTS)
    t.strictSame(readStrategy(value).problems?.map(formatFieldError), errors, name)
  t.end()
})

t.test('defaults', t => {
  for (const [value, type] of [
    [undefined, 'All'],
    [{}, 'All'],
    [{ type: 'Progressive' }, 'Progressive'],
  ] as const) {
    const { strategy } = readStrategy(value)
    t.match(strategy, { type, minSuccessMs: 0, maxFailures: { count: 0 }, onFailure: 'Stop' })
    t.equal(strategy?.maxConcurrency, undefined)
    t.equal(strategy?.progressDeadlineMs, undefined)
    t.equal(isStaged(value), type !== 'All')
  }
  t.end()
})

t.test('times and shares', t => {
  const { strategy } = readStrategy(
    progressive({ maxConcurrency: '25%', maxFailures: 2, minSuccessTime: '1h30m5s', progressDeadline: '360s' }),
  )
  t.match(strategy, {
    maxConcurrency: { percent: 25 },
    maxFailures: { count: 2 },
    minSuccessMs: 5_405_000,
    progressDeadlineMs: 360_000,
  })
  t.equal(
    readStrategy(progressive({ progressDeadline: 'None', minSuccessTime: '0' })).strategy?.progressDeadlineMs,
    undefined,
  )
  t.end()
})

t.test('a cluster is in all groups whose labels match', t => {
  const { strategy } = readStrategy(
    progressive({}, { decisionGroups: [group('eu', { region: 'eu' }), group('canary', { env: 'canary' })] }),
  )
  t.strictSame(groupsMatching(strategy!, { region: 'eu', env: 'canary' }), [0, 1])
  t.strictSame(groupsMatching(strategy!, { env: 'canary' }), [1])
  t.strictSame(groupsMatching(strategy!, {}), [])
  t.end()
})

t.test('a way back has no gates', t => {
  const windows = [{ from: '09:00', to: '10:00' }]
  const gated = progressive({}, { windows, decisionGroups: [{ ...group('x', { a: 'b' }), approval: true, windows }] })
  t.strictSame(withoutGates(gated), progressive({}, { decisionGroups: [group('x', { a: 'b' })] }))
  t.strictSame(withoutGates(progressive({})), progressive({}))
  t.end()
})

t.test('parts without effect are named', t => {
  t.strictSame(strategyWarnings(progressive({}, { progressivePerGroup: {} })), [
    `${base}.progressivePerGroup: it has no effect with type Progressive; remove it, or set type: ProgressivePerGroup`,
  ])
  t.strictSame(strategyWarnings({ onFailure: 'Stop' }), [
    `${base}.onFailure: it has no effect with type All; set type: Progressive or type: ProgressivePerGroup`,
  ])
  t.strictSame(strategyWarnings(progressive({})), [])
  t.end()
})
