// Why an object has no status in its space, of kinds with the sub-resource and without.
import t from 'tap'
import type { KubeObject } from '../../../../../src/apimachinery/object.ts'
import { withheldStatus } from '../../../../../src/cli/kubestellar/answers/why/withheldStatus.ts'

const kind = (resource: string, subresources: string[]) => ({
  group: 'example.com',
  version: 'v1',
  resource,
  kind: 'Flow',
  namespaced: true,
  verbs: [],
  subresources,
})
const placement = (name: string, message: string): KubeObject => ({
  apiVersion: 'edge.kubestellar.io/v2alpha1',
  kind: 'EdgePlacement',
  metadata: { name },
  spec: { wantSingletonReportedState: true },
  status: { conditions: [{ type: 'StatusWithheld', status: 'True', reason: 'SetByAuthor', message }] },
})
const cluster = (location: string) => ({ location, placements: ['p'], state: 'Applied' })
const answers = (...names: string[]) => names.map(name => ({ name, selects: true }))

t.test('of a kind without it, what the center tells of that kind on a placement that selects the object', async t => {
  const placements = [
    placement('p', 'flows.example.com (such as "a/b")'),
    placement('q', 'jobs.example.com (such as "a/c")'),
  ]
  const asked = { answers: answers('p'), clusters: [cluster('florin')] }
  t.match(withheldStatus(kind('flows', []), placements, asked), { reason: 'StatusWithheld', message: /flows/ })
  t.equal(withheldStatus(kind('jobs', []), placements, asked), undefined, 'another placement')
  t.match(withheldStatus(kind('jobs', []), placements, { ...asked, answers: answers('p', 'q') }), { message: /jobs/ })
})

t.test('of a kind with it, where the object is in several clusters', async t => {
  const placements = [placement('p', '')]
  const one = { answers: answers('p'), clusters: [cluster('florin')] }
  t.equal(withheldStatus(kind('flows', ['status']), placements, one), undefined)
  const two = { answers: answers('p'), clusters: [cluster('florin'), cluster('guilder')] }
  t.match(withheldStatus(kind('flows', ['status']), placements, two), { message: /^it is in 2 clusters/ })
})
