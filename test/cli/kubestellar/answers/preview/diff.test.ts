import t from 'tap'
import { diffAnswer, diffExit } from '../../../../../src/cli/kubestellar/answers/preview/diffCommand.ts'
import type { ObjectAnswer } from '../../../../../src/cli/kubestellar/answers/preview/preview.ts'
import type { WhyFacts } from '../../../../../src/cli/kubestellar/answers/why/whyAnswer.ts'

const ABOUT = { group: '', resource: 'configmaps', kind: 'ConfigMap' }
const workStatus = (where: string, state: string, more: object = {}) => ({
  apiVersion: 'e/v1',
  kind: 'WorkStatus',
  metadata: { name: `${where}:configmaps:a` },
  status: { state, ...more },
})
const facts = (...workStatuses: ReturnType<typeof workStatus>[]): WhyFacts => ({
  resource: { ...ABOUT, version: 'v1', namespaced: true, verbs: [], subresources: [] },
  object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'shop' } },
  placements: { items: [] },
  slices: { items: [] },
  granted: { items: [] },
  bindings: { items: [] },
  workStatuses: { items: workStatuses },
  namespaceLabels: {},
  defined: [],
  cluster: undefined,
})
const center = (action: string): ObjectAnswer => ({
  ...ABOUT,
  namespace: 'shop',
  name: 'a',
  operation: 'unchanged',
  placements: ['p'],
  groups: [
    { action, count: 1, locations: [{ location: 'imw1.x', inventory: 'root:imw1', name: 'x', syncTarget: 'x' }] },
  ],
})

t.test('all is as it should be only where the center is in step and every cluster says so', async t => {
  const well = facts(workStatus('imw1.x', 'Applied'))
  t.match(diffAnswer(well, center('Unchanged'), undefined), {
    differs: false,
    message: /as it should be in 1 cluster$/,
    center: [],
  })
  t.match(diffAnswer(well, center('Update'), undefined), { differs: true, center: [{ action: 'Update' }] })
  t.match(diffAnswer(well, center('Update'), 'y'), { differs: false }, 'another cluster is asked about')
  const drifted = facts(workStatus('imw1.x', 'Applied'), workStatus('imw1.y', 'Drifted'))
  t.match(diffAnswer(drifted, center('Unchanged'), undefined), {
    differs: true,
    message: /1 of 2 clusters differ/,
    clusters: [{ location: 'imw1.y', state: 'Drifted' }],
  })
  const differences = [{ path: 'spec.currency', change: 'Dropped', wanted: '"CHF"', decisive: false }]
  const cut = facts(workStatus('imw1.x', 'Applied', { reason: 'FieldsDropped', differences }))
  t.match(diffAnswer(cut, center('Unchanged'), undefined), {
    differs: true,
    clusters: [{ location: 'imw1.x', state: 'Applied', differences }],
  })
  t.match(diffAnswer(facts(), { ...center('x'), groups: [] }, undefined), {
    differs: false,
    message: /goes to no cluster/,
  })
  const held = facts(workStatus('imw1.x', 'Held'))
  t.match(
    diffAnswer(held, { ...center('x'), groups: [] }, undefined),
    { differs: true, message: /not everywhere as it should be: 1 of 1/, clusters: [{ state: 'Held' }] },
    'no placement selects it, and the brake holds its copy',
  )
  t.match(diffAnswer(well, 'you may not', undefined), { differs: false, unknown: ['you may not'] })
})

t.test('what a cluster has of its own is not among what was compared', async t => {
  const live = (...actions: [string, number][]) => ({
    ...center('Unchanged'),
    live: actions.map(([action, count]) => ({ action, count, locations: [] })),
  })
  const compared = (...actions: [string, number][]) => diffAnswer(facts(), live(...actions), undefined).compared
  t.match(compared(['Unchanged', 1]), /; of 1 cluster what is there now, in the fields that the center sets$/)
  const own = "where what is there is not the center's or is left alone"
  t.match(compared(['Conflict', 2]), new RegExp(`that syncers report; not of 2 clusters, ${own}$`))
  t.match(
    compared(['Update', 1], ['Conflict', 1], ['Unknown', 3]),
    new RegExp(`; of 1 cluster what .* center sets; not of 1 cluster, ${own}; 3 could not be read$`),
  )
  t.match(compared(['Unknown', 3]), /; the clusters themselves were not read$/)
  t.match(diffAnswer(facts(), center('Unchanged'), undefined).compared, /; the clusters themselves were not read$/)
})

t.test('a cluster that was not read is not said to be as it should be', async t => {
  const one = (action: string, count: number) => ({ action, count, locations: [] })
  const well = facts(...['x', 'y', 'z'].map(name => workStatus(`imw1.${name}`, 'Applied')))
  const answer = (...live: ReturnType<typeof one>[]) => diffAnswer(well, { ...center('Unchanged'), live }, undefined)
  const read = answer(one('Unchanged', 3))
  t.match(read, { differs: false, message: /as it should be in 3 clusters$/ })
  t.equal(diffExit(read), 0)
  const unread = answer(one('Unchanged', 1), one('Unknown', 2))
  t.match(unread, {
    differs: false,
    message: /as it should be in 3 clusters, as far as is known: 2 could not be read now$/,
  })
  t.equal(diffExit(unread), 1)
  const other = answer(one('Update', 1), one('Unknown', 1))
  t.match(other, { differs: true, message: /; 1 holds something else now; 1 could not be read now$/ })
  t.equal(diffExit(other), 1)
  const behind = diffAnswer(well, { ...center('Unchanged'), groups: [one('Unknown', 3)] }, undefined)
  t.match(behind, { differs: false, message: /as far as is known: what is on its way to 3 is not known$/ })
  t.equal(diffExit(behind), 1)
  const forbidden = diffAnswer(well, 'you may not', undefined)
  t.match(forbidden, { differs: false, message: /as it should be in 3 clusters, as far as is known$/ })
  t.equal(diffExit(forbidden), 1)
  const workStatuses = { items: [], unknown: 'you may not' }
  const blind = diffAnswer({ ...facts(), workStatuses }, 'you may not', undefined)
  t.match(blind, { differs: false, message: /^it is not known whether configmaps "shop\/a" is as it should be$/ })
})
