/**
 * A host that is newer than those that tests can start (Kubernetes 1.36). Its own requests are as its aggregation layer
 * writes them; the uid of users is sent since 1.33.
 */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import type { SpaceClient } from '../../../src/client/client.ts'
import { authenticationData, startBehind } from './support.ts'

const V2 = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
const V2BETA1 = 'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList'
const EDGE = '/apis/edge.kubestellar.io/v2alpha1'
const REVIEWS = '/apis/tenancy.kcp.io/v1alpha1/spaces/root/proxy/apis/authentication.k8s.io/v1/selfsubjectreviews'

interface Probe {
  what: string
  user: string
  groups: string[]
  path: string
  accept?: string
  /** Media type of the answer. */
  type: string
  finds: RegExp
}

const PROBES: readonly Probe[] = [
  {
    what: 'whether it is available',
    user: 'system:kube-aggregator',
    groups: ['system:masters'],
    path: EDGE,
    type: 'application/json',
    finds: /"kind":"APIResourceList".*"edgeplacements"/,
  },
  {
    what: 'discovery in one document',
    user: 'system:kube-aggregator',
    groups: ['system:masters'],
    path: '/apis',
    accept: `${V2},${V2BETA1}`,
    type: V2,
    finds: /"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io\/v2".*"edge.kubestellar.io"/,
  },
  {
    what: 'discovery in the form before that',
    user: 'system:kube-aggregator',
    groups: ['system:masters'],
    path: '/apis',
    accept: V2BETA1,
    type: V2BETA1,
    finds: /"apiVersion":"apidiscovery.k8s.io\/v2beta1"/,
  },
  {
    what: 'discovery of a group version, without groups of its own',
    user: 'system:kube-aggregator',
    groups: [],
    path: '/apis/tenancy.kcp.io/v1alpha1',
    type: 'application/json',
    finds: /"name":"spaces"/,
  },
  {
    what: 'OpenAPI 2',
    user: 'system:aggregator',
    groups: [],
    path: '/openapi/v2',
    accept: 'application/json',
    type: 'application/json',
    finds: /"swagger":"2.0".*EdgePlacement/,
  },
  {
    what: 'the index of OpenAPI 3',
    user: 'system:aggregator',
    groups: [],
    path: '/openapi/v3',
    accept: 'application/json',
    type: 'application/json',
    finds: /"apis\/tenancy.kcp.io\/v1alpha1"/,
  },
]

t.test('each probe is answered, and not again while nothing changes', async t => {
  const behind = await startBehind(t)
  for (const { what, user, groups, path, accept, type, finds } of PROBES) {
    const prober = await behind.as(user, groups)
    const asked = accept === undefined ? {} : { accept }
    const answer = await prober.get(path, asked)
    t.equal(answer.code, 200, what)
    t.equal(answer.headers['content-type'], type, what)
    t.match(answer.text, finds, what)
    const etag = answer.headers.etag
    t.type(etag, 'string', what)
    const again = await prober.get(path, { ...asked, 'if-none-match': String(etag) })
    t.match(again, { code: 304, text: '' }, what)
  }
})

t.test('the uid of a user goes with them, where the host describes the header of it', async t => {
  const uids: unknown[] = []
  const create = async (_resource: unknown, object: KubeObject) => {
    uids.push((object.spec as { uid?: unknown }).uid)
    return { ...object, status: { allowed: true } }
  }
  const behind = await startBehind(t, {}, {}, { create } as Partial<SpaceClient>)
  const uidSeen = async (): Promise<unknown> => {
    const ann = await behind.as('ann')
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
    const { body, text } = await ann.send('POST', REVIEWS, review, { 'x-remote-uid': 'u-7' })
    const { userInfo } = body.status as { userInfo?: { username: string; uid?: string } }
    t.equal(userInfo?.username, 'host:ann', text)
    return userInfo?.uid
  }
  t.equal(await uidSeen(), 'u-7')
  const { 'requestheader-uid-headers': _, ...without } = authenticationData(behind.authority.ca.certPem)
  const turned = behind.logged.next('the host describes another front proxy')
  await behind.describe(without)
  await turned
  t.equal(await uidSeen(), undefined, 'as of every host before')
  t.same(uids, ['u-7', undefined])
})
