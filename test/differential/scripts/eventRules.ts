/** Rules of events.k8s.io for events, at creation and afterwards, and the freedom of the core group. */
import { merge, post, put, type Rest, type Script } from '../script.ts'
import { NS, of } from './bodies.ts'

const EVENTS = '/apis/events.k8s.io/v1/namespaces/{ns}/events'
const FULL = {
  eventTime: '2024-01-01T00:00:00.000000Z',
  reportingController: 'example.com/c',
  reportingInstance: 'i',
  action: 'Act',
  reason: 'Because',
  type: 'Normal',
  note: 'n',
  regarding: { kind: 'Pod', name: 'p', namespace: '{ns}' },
}
const event = (name: string, rest: object = {}): object => of('events.k8s.io/v1', 'Event', name, { ...FULL, ...rest })
const TIME = '2024-01-01T00:00:00Z'
const SERIES = { count: 2, lastObservedTime: '2024-01-01T00:00:01.000000Z' }
/** Orrery names the requested group. */
const GROUP: Rest = { unlike120: { 'body.message': 'no group', 'body.details.group': 'no group' } }
const FIXED: Rest = { since: 'it changes what nobody may' }

export const eventRules: Script = {
  name: 'event-rules',
  steps: [
    post(EVENTS, event('fine', { series: SERIES })),
    post(EVENTS, event('first', { deprecatedFirstTimestamp: TIME }), GROUP),
    post(EVENTS, event('last', { deprecatedLastTimestamp: TIME }), GROUP),
    post(EVENTS, event('count', { deprecatedCount: 1 }), GROUP),
    post(EVENTS, event('source', { deprecatedSource: { host: 'h' } }), GROUP),
    post(
      EVENTS,
      event('all', { deprecatedCount: 2, deprecatedSource: { component: 'c' }, eventTime: null, type: 'x' }),
      GROUP,
    ),
    post(EVENTS, event('series', { series: { count: 1 } }), GROUP),
    post(EVENTS, event('series2', { series: { count: 2 } }), GROUP),
    ...[
      { reason: 'Other' },
      { note: 'other' },
      { type: 'Warning' },
      { action: 'Other' },
      { reportingController: 'example.com/d' },
      { reportingInstance: 'j' },
      { deprecatedCount: 5 },
      { eventTime: '2024-01-02T00:00:00.000000Z' },
      { regarding: { name: 'q' } },
      { related: { name: 'q' } },
      { deprecatedSource: { host: 'h' } },
    ].map(change => merge(`${EVENTS}/fine`, change, FIXED)),
    merge(`${EVENTS}/fine`, { series: { count: 1 } }, FIXED),
    merge(`${EVENTS}/fine`, { series: { count: 3 } }),
    merge(`${EVENTS}/fine`, { metadata: { labels: { a: 'b' } } }),
    put(`${EVENTS}/fine`, event('fine', { reason: 'R', note: 'N', series: null }), FIXED),
    merge(`${NS}/events/fine`, { reason: 'Other', count: 7 }),
  ],
}
