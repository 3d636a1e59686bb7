/** Ownership where it is not obvious: fields that a kind leaves open, and objects that are written in several versions. */
import { apply, get, merge, post, put, type Rest, type Script } from '../script.ts'
import { APPS, NS, of } from './bodies.ts'

const REVISIONS = `${APPS}/controllerrevisions`
const revision = (name: string, data: unknown): object =>
  of('apps/v1', 'ControllerRevision', name, { data, revision: 1 })

const EVENTS = `${NS}/events`
const NEW_EVENTS = '/apis/events.k8s.io/v1/namespaces/{ns}/events'
/** Through events.k8s.io. */
const FIXED: Rest = { since: 'it changes what nobody may' }
const REGARDING = { kind: 'Pod', namespace: '{ns}', name: 'p' }
const event = (name: string, rest: object = {}): object =>
  of('v1', 'Event', name, { involvedObject: REGARDING, reason: 'r', type: 'Normal', message: 'm', ...rest })
const newEvent = (name: string, rest: object = {}): object =>
  of('events.k8s.io/v1', 'Event', name, {
    regarding: REGARDING,
    reason: 'r',
    type: 'Normal',
    note: 'm',
    action: 'a',
    eventTime: '2020-01-01T00:00:00.000000Z',
    reportingController: 'example.com/c',
    reportingInstance: 'c-1',
    ...rest,
  })
const HPA = '/apis/autoscaling/v1/namespaces/{ns}/horizontalpodautoscalers'
const scaler = (name: string, spec: object, metadata: object = {}): object =>
  of('autoscaling/v1', 'HorizontalPodAutoscaler', name, { spec }, metadata)
const TARGET = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }
const RULES = { scaleTargetRef: TARGET, maxReplicas: 3, minReplicas: 1 }

export const claims: Script = {
  name: 'claims',
  managedFields: true,
  steps: [
    // what only its owner can read is one field
    post(REVISIONS, revision('r', { spec: { template: { a: 'b', list: [{ name: 'x' }] } }, n: 1 })),
    apply(`${REVISIONS}/s?fieldManager=one`, revision('s', { spec: { template: { a: 'b', list: [{ name: 'x' }] } } })),
    apply(
      `${REVISIONS}/s?fieldManager=two`,
      of('apps/v1', 'ControllerRevision', 's', { metadata: { name: 's', labels: { a: 'b' } } }),
    ),
    apply(`${REVISIONS}/s?fieldManager=two`, revision('s', { other: 'x' })),
    apply(`${REVISIONS}/s?fieldManager=two&force=true`, revision('s', { other: 'x' })),
    get(`${REVISIONS}/s`),
    // the two forms of events
    post(EVENTS, event('e', { count: 1, source: { component: 'c' } })),
    merge(`${NEW_EVENTS}/e?fieldManager=new`, {
      series: { count: 2, lastObservedTime: '2026-01-03T00:00:00.000000Z' },
    }),
    get(`${EVENTS}/e`),
    merge(`${EVENTS}/e?fieldManager=old`, { message: 'o', count: 3 }),
    get(`${NEW_EVENTS}/e`),
    post(`${NEW_EVENTS}?fieldManager=new`, newEvent('f')),
    merge(`${EVENTS}/f?fieldManager=old`, { message: 'o', metadata: { labels: { a: 'b' } } }),
    get(`${NEW_EVENTS}/f`),
    apply(`${EVENTS}/g?fieldManager=one`, event('g', { count: 1 })),
    apply(`${NEW_EVENTS}/g?fieldManager=two`, of('events.k8s.io/v1', 'Event', 'g', { note: 'other' }), FIXED),
    apply(`${NEW_EVENTS}/g?fieldManager=two`, of('events.k8s.io/v1', 'Event', 'g', { note: 'm' })),
    apply(
      `${EVENTS}/g?fieldManager=one`,
      of('v1', 'Event', 'g', { involvedObject: REGARDING, reason: 'r', type: 'Normal' }),
    ),
    apply(
      `${NEW_EVENTS}/g?fieldManager=two&force=true`,
      of('events.k8s.io/v1', 'Event', 'g', { note: 'x', reason: 's' }),
      FIXED,
    ),
    get(`${EVENTS}/g`),
    // claims have the version of the request, whatever the server stores
    post(HPA, scaler('h', { ...RULES, targetCPUUtilizationPercentage: 50 })),
    put(`${HPA}/h?fieldManager=two`, scaler('h', { ...RULES, targetCPUUtilizationPercentage: 60 })),
    merge(`${HPA}/h?fieldManager=three`, { spec: { maxReplicas: 4 } }),
    apply(`${HPA}/h?fieldManager=four`, scaler('h', { targetCPUUtilizationPercentage: 70 })),
    apply(`${HPA}/h?fieldManager=four&force=true`, scaler('h', { targetCPUUtilizationPercentage: 70 })),
    get(`${HPA}/h`),
  ],
}
