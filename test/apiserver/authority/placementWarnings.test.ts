/** A write of an EdgePlacement with names that the space does not serve gives a warning and succeeds. */
import t from 'tap'
import { startTestServer } from '../../support/server.ts'

const { api } = await startTestServer(t)
const wds = api.in('root:wmw1')
const PLACEMENTS = '/apis/edge.kubestellar.io/v2alpha1/edgeplacements'

async function warnings(name: string, spec: object): Promise<string> {
  const { code, headers } = await wds.post(PLACEMENTS, { metadata: { name }, spec })
  t.equal(code, 201)
  // each is quoted once more in the header
  return String(headers.warning ?? '').replaceAll('\\"', '"')
}

t.test('resources and groups that nothing has', async t => {
  const test = (resource: string, apiGroup?: string) => ({
    downsync: [{ ...(apiGroup !== undefined && { apiGroup }), resources: [resource] }],
  })
  t.match(
    await warnings('singular', test('configmap', '')),
    'spec.downsync[0].resources: this space serves no "configmap" in group "", so nothing is selected by it; did you mean "configmaps"?',
  )
  t.match(await warnings('kind', test('Deployments')), 'did you mean "deployments"?')
  t.match(await warnings('short', test('deploy', 'apps')), 'did you mean "deployments"?')
  t.match(await warnings('elsewhere', test('deployments', '')), 'did you mean "deployments" in apiGroup "apps"?')
  t.match(
    await warnings('version', test('configmaps', 'v1')),
    'serves no kind of group "v1", so nothing is selected; the group of core kinds is ""',
  )
  t.match(await warnings('with-version', test('deployments', 'apps/v1')), 'did you mean "apps"?')
  t.match(await warnings('unborn', test('widgets', 'example.com')), 'serves no kind of group "example.com"')
  t.equal(await warnings('any', test('deployments', '*')), '')
  t.match(await warnings('staying', test('events')), 'spec.downsync[0].resources: "events" stay in their space')
  t.match(
    await warnings('staying-core', test('nodes', '')),
    '"nodes" stay in their space, so nothing is selected by it',
  )
  t.match(
    await warnings('staying-group', test('edgeplacements', 'edge.kubestellar.io')),
    'spec.downsync[0].apiGroup: what is of group "edge.kubestellar.io" stays in its space',
  )
  const upsync = [{ apiGroup: '*', resources: ['*'], namespaces: ['*'], names: ['*'] }]
  t.match(await warnings('upward', { upsync }), 'spec.upsync[0].apiGroup: "*" is the name of no group')
})

t.test('fields to leave that no such object has', async t => {
  const left = (rule: object) => ({ ignoreDifferences: [{ jsonPointers: ['/spec/replicas'], ...rule }] })
  t.match(
    await warnings('left-group', left({ kind: 'Deployment' })),
    'spec.ignoreDifferences[0]: this space serves no kind "Deployment" in group "", so nothing is left to clusters by it; did you mean kind "Deployment" in group "apps"?',
  )
  t.match(await warnings('left-kind', left({ group: 'apps', kind: 'deployment' })), 'did you mean kind "Deployment"')
  t.match(
    await warnings('left-field', left({ group: 'apps', kind: 'Deployment', jsonPointers: ['/spec/replicass'] })),
    '"/spec/replicass" leads to no field of Deployment: there is no "replicass"',
  )
  const inList = '/spec/template/spec/containers/[name=web]'
  t.match(
    await warnings('left-below', left({ group: 'apps', kind: 'Deployment', jsonPointers: [`${inList}/imag`] })),
    'there is no "imag"',
  )
  t.equal(
    await warnings('left-right', {
      ignoreDifferences: [
        {
          group: 'apps',
          kind: 'Deployment',
          jsonPointers: ['/spec/replicas', `${inList}/image`, '/metadata/labels/a'],
        },
        { kind: 'ConfigMap', jsonPointers: ['/data/anything'] },
        { group: '*', kind: '*', jsonPointers: ['/spec/whatever'] },
      ],
    }),
    '',
  )
})

t.test('what is right is taken without a word, and an edit beside it is not judged again', async t => {
  const right = { downsync: [{ apiGroup: 'apps', resources: ['deployments', 'statefulsets'] }, { resources: ['*'] }] }
  t.equal(await warnings('right', right), '')
  t.match(
    await warnings('many', { downsync: [{ resources: Array.from({ length: 40 }, (_, i) => `wrong${i}`) }] }),
    /wrong9/,
  )
  const edit = await wds.patch(`${PLACEMENTS}/many`, 'merge', { metadata: { labels: { a: 'b' } } })
  t.match([edit.code, edit.headers.warning], [200, undefined])
})

t.test('kinds of associated objects that no cluster can report', async t => {
  const of = (...kinds: string[]) => ({ associated: { kinds } })
  t.equal(await warnings('associated', of('pods', 'replicasets.apps', 'events', '*.example.com')), '')
  t.match(await warnings('associated-kind', of('pod')), '"pod", and clusters report a kind where its definition is')
  t.match(await warnings('associated-group', of('replicasets')), 'did you mean "replicasets.apps"?')
  t.match(await warnings('associated-secrets', of('secrets')), 'spec.associated.kinds: clusters never report "secrets"')
})
