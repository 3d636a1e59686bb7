/** One object of a mailbox as its space sees it, with the marks of now. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { associatedWith } from '../../../src/placement/associated/associated.ts'
import { reportedObject } from '../../../src/placement/content/reportedObject.ts'
import type { LiveField } from '../../../src/placement/outcome/fieldDifference.ts'

const EDGE = 'edge.kubestellar.io'
const TO = { space: 's1', location: 'imw.paris' }
const copy = (spec: object, annotations: Record<string, string> = {}): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    name: 'web',
    labels: { [`${EDGE}/projected`]: 'yes', app: 'web' },
    annotations: { [`${EDGE}/owner`]: 's1', ...annotations },
  },
  spec,
})
const shown = (spec: object, ...liveFields: LiveField[]) =>
  reportedObject(copy(spec), TO, { liveFields }, 'spec.replicas')?.spec

t.test('marks are annotations, and nobody else writes them', async t => {
  const differences = [{ path: 'spec.x', change: 'Dropped' as const, decisive: false }]
  const forged = copy({}, { [`${EDGE}/silent-since`]: 'x', [`${EDGE}/live-fields`]: '[]', own: '1' })
  const annotations = { own: '1', 'kcp.io/cluster': 's1', [`${EDGE}/location`]: 'imw.paris' }
  t.same(reportedObject(forged, TO)?.metadata.annotations, annotations)
  const marks = { silentSince: '2026-01-31T12:00:00Z', differences, liveFields: [{ path: 'spec.replicas', live: '5' }] }
  t.same(reportedObject(forged, TO, marks)?.metadata.annotations, {
    ...annotations,
    [`${EDGE}/silent-since`]: '2026-01-31T12:00:00Z',
    [`${EDGE}/differences`]: JSON.stringify(differences),
    [`${EDGE}/live-fields`]: '[{"path":"spec.replicas","live":"5"}]',
  })
  t.equal(reportedObject(forged, { ...TO, space: 's2' }, marks), undefined)
})

t.test('a space that sees an associated object of another one reads no name of its placement', async t => {
  const account = { root: 'apps|deployments|app|web', rootUid: '1', placement: 'secret', uid: '2', owners: [] }
  const annotations = {
    [`${EDGE}/upsynced`]: 'Pod/app/web-1',
    [`${EDGE}/upsynced-for`]: 's1,s2',
    [`${EDGE}/associated-with`]: JSON.stringify(account),
  }
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web-1', namespace: 'app', annotations } }
  const seen = reportedObject(pod, TO)
  t.notMatch(JSON.stringify(seen), /secret/)
  t.same(seen && associatedWith(seen), { ...account, placement: '' })
})

t.test('the label of the location is none that somebody else wrote, and a value that labels may have', async t => {
  const forged = copy({})
  forged.metadata.labels = { ...forged.metadata.labels, [`${EDGE}/location`]: 'imw.rome' }
  const labelAt = (location: string) =>
    reportedObject(forged, { ...TO, location })?.metadata.labels?.[`${EDGE}/location`]
  t.equal(labelAt('imw.paris'), 'imw.paris')
  t.equal(labelAt(`imw.${'x'.repeat(60)}`), undefined)
  t.equal(labelAt('imw.paris+target'), undefined)
})

t.test('live values of fields that are left stand in the object', async t => {
  const replicas = (live: string) => ({ path: 'spec.replicas', live })
  t.same(shown({ replicas: 3, paused: true }, replicas('5')), { replicas: 5, paused: true })
  t.same(shown({}, replicas('5')), { replicas: 5 }, 'also where the author sets none')
  const other = reportedObject(copy({}), TO, { liveFields: [replicas('5')] })
  t.same(other?.spec, {}, 'but not of a kind that cannot be scaled')
  const template = { metadata: { labels: { a: 'b' } } }
  t.same(shown({ template }, { path: 'spec.template.metadata.labels.a', live: '"c"' }), {
    template: { metadata: { labels: { a: 'c' } } },
  })
  t.same(template.metadata.labels, { a: 'b' }, 'the stored object stays as it is')
})

t.test('values that no object of the kind may have stay in the annotation', async t => {
  const spec = { replicas: 3, paused: true, template: { spec: { containers: [{ name: 'a', image: 'x' }] } } }
  const odd: LiveField[] = [
    { path: 'spec.replicas', live: '"5"' },
    { path: 'spec.replicas', live: '5.5' },
    { path: 'spec.replicas', live: '99999999999' },
    { path: 'spec.replicas', live: '{"a"' },
    { path: 'spec.replicas', live: 'null' },
    { path: 'spec.paused', live: '1' },
    { path: 'spec.template', live: '"x"' },
    { path: 'spec.unknown', live: '1' },
    { path: 'spec.none.deeper', live: '1' },
    { path: 'spec.template.spec.containers[name=a].image', live: '"y"' },
    { path: 'spec.__proto__.polluted', live: '1' },
    { path: 'metadata.name', live: '"other"' },
    { path: 'kind', live: '"Secret"' },
    { path: 'status.replicas', live: '7' },
  ]
  for (const one of odd) {
    const object = reportedObject(copy(spec), TO, { liveFields: [one] })
    t.same(object?.spec, spec, JSON.stringify(one))
    t.match(object, { kind: 'Deployment', status: undefined, metadata: { name: 'web' } })
  }
  t.equal(({} as { polluted?: number }).polluted, undefined)
})
