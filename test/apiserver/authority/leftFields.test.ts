/** `spec.ignoreDifferences` of an EdgePlacement: what cannot be meant is refused, with field and remedy. */
import t from 'tap'
import { startTestServer } from '../../support/server.ts'

const { api } = await startTestServer(t)
const wds = api.in('root:wmw1')
const PLACEMENTS = '/apis/edge.kubestellar.io/v2alpha1/edgeplacements'
const placement = (...ignoreDifferences: object[]) => ({ metadata: { name: 'ep' }, spec: { ignoreDifferences } })
const invalid = (...fields: string[]) => ({
  code: 422,
  body: { reason: 'Invalid', details: { causes: fields.map(field => ({ field })) } },
})

t.test('pointers that lead nowhere are refused, each by name', async t => {
  const answer = await wds.post(
    PLACEMENTS,
    placement(
      { group: 'apps', kind: 'Deployment', jsonPointers: ['/spec/replicas', 'spec/replicas', '/metadata/name'] },
      { kind: 'Pod', jsonPointers: ['/spec/containers/0/image'] },
    ),
  )
  t.match(
    answer,
    invalid(
      'spec.ignoreDifferences[0].jsonPointers[1]',
      'spec.ignoreDifferences[0].jsonPointers[2]',
      'spec.ignoreDifferences[1].jsonPointers[0]',
    ),
  )
  t.match(answer.body, {
    message:
      /jsonPointers\[1\]: Invalid value: "spec\/replicas": must be a JSON pointer that begins with "\/", such as/,
  })
  t.match(await wds.post(PLACEMENTS, placement({ kind: '', jsonPointers: ['/spec'] })), {
    code: 422,
    body: {
      message: /spec\.ignoreDifferences\[0\]\.kind: Required value: the kind of the objects, such as Deployment/,
    },
  })
})

t.test('a list that is too long, or says nothing, is refused', async t => {
  const many = (count: number) => Array.from({ length: count }, (_, i) => `/spec/f${i}`)
  const rule = { kind: 'Pod', jsonPointers: many(60) }
  t.match(await wds.post(PLACEMENTS, placement(rule, rule, rule, rule)), {
    code: 422,
    body: { message: /has 240 jsonPointers, and may have 200; leave whole fields, or split the placement/ },
  })
  t.match(await wds.post(PLACEMENTS, placement({ kind: 'Pod', jsonPointers: [] })), { code: 422 })
  t.match(await wds.post(PLACEMENTS, placement({ kind: 'Pod', jsonPointers: many(65) })), { code: 422 })
  t.match(await wds.post(PLACEMENTS, placement({ jsonPointers: ['/spec'] })), { code: 422 })
})

t.test('what is right is taken, and an edit beside it is not judged again', async t => {
  const right = placement({
    group: 'apps',
    kind: 'Deployment',
    namespace: 'n',
    name: 'w',
    jsonPointers: ['/spec/replicas'],
  })
  t.match(await wds.post(PLACEMENTS, right), { code: 201, body: right })
  t.match(await wds.patch(`${PLACEMENTS}/ep`, 'merge', { spec: { paused: true } }), { code: 200 })
  t.match(
    await wds.patch(`${PLACEMENTS}/ep`, 'merge', {
      spec: { ignoreDifferences: [{ kind: 'Deployment', jsonPointers: ['/status'] }] },
    }),
    invalid('spec.ignoreDifferences[0].jsonPointers[0]'),
  )
})
