/** Sub-resources, reviews, tokens, Pods, and spaces. */
import { asAlice, get, JSON_BODY, named, request, send, type Theme } from '../scene.ts'

const WIDGET = '/apis/golden.example.com/v1/namespaces/golden/widgets/w'
const PODS = '/api/v1/namespaces/golden/pods'
const MERGE = 'Content-Type: application/merge-patch+json'
const ACCOUNTS = '/api/v1/namespaces/golden/serviceaccounts'
const REVIEWS = '/apis/authorization.k8s.io/v1'
const SPACES = '/apis/tenancy.kcp.io/v1alpha1/workspaces'
const PROTOBUF = 'Accept: application/vnd.kubernetes.protobuf'
const widget = (more: object) => ({
  apiVersion: 'golden.example.com/v1',
  kind: 'Widget',
  metadata: { name: 'w' },
  ...more,
})
const scale = (replicas: unknown, more: object = {}) => ({
  apiVersion: 'autoscaling/v1',
  kind: 'Scale',
  metadata: { name: 'w', namespace: 'golden', ...more },
  spec: { replicas },
})
const may = (verb: string) => ({
  apiVersion: 'authorization.k8s.io/v1',
  kind: 'SelfSubjectAccessReview',
  spec: { resourceAttributes: { verb, resource: 'configmaps', namespace: 'golden' } },
})
const pod = (name: string, labels: object = {}) => ({
  metadata: { name, labels },
  spec: { containers: [{ name: 'c', image: 'i' }] },
})
const eviction = (name: string, more: object = {}) => ({
  apiVersion: 'policy/v1',
  kind: 'Eviction',
  metadata: { name },
  ...more,
})

export const parts: Theme = {
  name: 'parts',
  isStateful: true,
  scenes: [
    send('PUT', `${WIDGET}/status`, widget({ status: { replicas: 1 } })),
    named('PUT of a status again', send('PUT', `${WIDGET}/status`, widget({ status: { replicas: 1 } }))),
    named('PUT of a status of a wrong type', send('PUT', `${WIDGET}/status`, widget({ status: { replicas: 'x' } }))),
    send('PUT', `${WIDGET}/status`, widget({ metadata: { name: 'w', resourceVersion: '1' } })),
    send('PATCH', `${WIDGET}/status`, { status: { note: 'a' } }, [MERGE]),
    send('PATCH', `${WIDGET}/status`, { spec: { size: 1 } }, [MERGE]),
    send('POST', `${WIDGET}/status`, widget({})),
    request('DELETE', `${WIDGET}/status`),
    send('PUT', `${WIDGET}/scale`, scale(3)),
    named('PUT of a scale below zero', send('PUT', `${WIDGET}/scale`, scale(-1))),
    named('PUT of an old scale', send('PUT', `${WIDGET}/scale`, scale(3, { resourceVersion: '1' }))),
    send('PATCH', `${WIDGET}/scale`, { spec: { replicas: 4 } }, [MERGE]),
    send('PATCH', `${WIDGET}/scale`, { spec: { replicas: 5 } }, [MERGE, PROTOBUF]),
    send('PUT', '/api/v1/namespaces/golden/status', { metadata: { name: 'golden' }, status: { phase: 'Active' } }),
    send('PUT', '/api/v1/namespaces/golden/finalize', {
      metadata: { name: 'golden' },
      spec: { finalizers: ['kubernetes'] },
    }),

    send('POST', `${REVIEWS}/selfsubjectaccessreviews`, may('get')),
    send('POST', `${REVIEWS}/selfsubjectaccessreviews`, may('get'), [JSON_BODY, asAlice]),
    named('alice may not', send('POST', `${REVIEWS}/selfsubjectaccessreviews`, may('delete'), [JSON_BODY, asAlice])),
    send('POST', `${REVIEWS}/selfsubjectaccessreviews`, may('get'), [JSON_BODY, PROTOBUF]),
    send('POST', `${REVIEWS}/selfsubjectaccessreviews`, {}),
    get(`${REVIEWS}/selfsubjectaccessreviews`),
    send('POST', `${REVIEWS}/selfsubjectrulesreviews`, { spec: { namespace: 'golden' } }, [JSON_BODY, asAlice]),
    send('POST', `${REVIEWS}/subjectaccessreviews`, {
      spec: { user: 'alice', resourceAttributes: { verb: 'get', resource: 'configmaps' } },
    }),
    send('POST', `${REVIEWS}/subjectaccessreviews`, { spec: { user: 'a' } }, [JSON_BODY, asAlice]),
    send('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', {}),
    send('POST', '/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: 'token-of-alice' } }),
    send('POST', '/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: 'wrong' } }),

    send('POST', ACCOUNTS, { metadata: { name: 'robot' } }),
    send('POST', `${ACCOUNTS}/robot/token`, { spec: { expirationSeconds: 3600 } }),
    send('POST', `${ACCOUNTS}/robot/token`, { spec: { expirationSeconds: 1 } }),
    send('POST', `${ACCOUNTS}/robot/token`, { spec: {} }, [JSON_BODY, asAlice]),
    send('POST', `${ACCOUNTS}/nope/token`, { spec: {} }),
    get(`${ACCOUNTS}/robot/token`),

    send('POST', PODS, pod('bound')),
    send('POST', PODS, pod('kept', { app: 'kept' })),
    send('POST', PODS, { metadata: { name: 'empty' } }),
    send('POST', '/apis/policy/v1/namespaces/golden/poddisruptionbudgets', {
      metadata: { name: 'kept' },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'kept' } } },
    }),
    send('PATCH', `${PODS}/kept/status`, { status: { phase: 'Running' } }, [MERGE]),
    send('POST', `${PODS}/bound/binding`, { metadata: { name: 'bound' }, target: { kind: 'Node', name: 'n' } }),
    named(
      'POST of a binding again',
      send('POST', `${PODS}/bound/binding`, { metadata: { name: 'bound' }, target: { kind: 'Node', name: 'n' } }),
    ),
    send('POST', '/api/v1/namespaces/golden/bindings', { metadata: { name: 'nope' }, target: { name: 'n' } }),
    send('POST', `${PODS}/kept/eviction`, eviction('kept')),
    send('POST', `${PODS}/kept/eviction`, eviction('kept'), [JSON_BODY, PROTOBUF]),
    send('POST', `${PODS}/bound/eviction`, eviction('other')),
    send('POST', `${PODS}/bound/eviction`, eviction('bound', { deleteOptions: { dryRun: ['All'] } })),
    send('POST', `${PODS}/nope/eviction`, eviction('nope')),
    ...[
      'log',
      'log?follow=1',
      'exec?command=a',
      'portforward',
      'attach',
      'proxy/',
      'ephemeralcontainers',
      'resize',
    ].map(part => get(`${PODS}/kept/${part}`)),
    get(`${PODS}/kept/log`, ['Accept: text/plain']),
    send('POST', `${PODS}/kept/exec?command=a`, ''),
    send('POST', `${PODS}/kept/exec?command=a`, '', ['Connection: Upgrade', 'Upgrade: SPDY/3.1'], { isPlain: false }),
    get('/api/v1/nodes/n/proxy/stats'),
    get('/api/v1/namespaces/golden/services/s/proxy/'),
    get('/api/v1/componentstatuses'),
    get(PODS, ['Accept: application/json;as=Table;v=v1;g=meta.k8s.io']),

    get(SPACES, ['Accept: application/json;as=Table;v=v1;g=meta.k8s.io']),
    get(`${SPACES}/team`),
    get(`${SPACES}/nope`),
    send('POST', SPACES, { metadata: { name: 'Wrong' } }),
    send('POST', SPACES, { metadata: { name: 'dry' } }, [JSON_BODY, asAlice]),
    send('POST', `${SPACES}?dryRun=All`, { metadata: { name: 'dry' } }),
    send('POST', `/clusters/root:team${SPACES}?dryRun=All`, { metadata: { name: 'below' } }),
    get('/clusters/root:team/api/v1/configmaps'),
    get('/clusters/*/api/v1/configmaps?limit=1'),
    get('/clusters/*/api/v1/configmaps?limit=1', [asAlice]),
    send('POST', '/clusters/*/api/v1/namespaces/golden/configmaps', { metadata: { name: 'all' } }),
    request('DELETE', '/clusters/*/api/v1/namespaces/golden/configmaps'),
    send('POST', '/clusters/root:team/api/v1/namespaces/default/configmaps', { metadata: { name: 'there' } }),
    send('PUT', '/clusters/root:team/api/v1/namespaces/default/configmaps/there', {
      metadata: { name: 'there' },
      data: { a: 'b' },
    }),
    send('PATCH', '/clusters/root:team/api/v1/namespaces/default/configmaps/there', { data: { a: 'c' } }, [MERGE]),
    get('/clusters/root:team/api/v1/namespaces/default/configmaps/there'),
    request('DELETE', '/clusters/root:team/api/v1/namespaces/default/configmaps/there'),
    send('POST', '/apis/edge.kubestellar.io/v2alpha1/syncerconfigs/a/outcome', {}),
    send('POST', '/clusters/root:team/apis/edge.kubestellar.io/v2alpha1/syncerconfigs/a/outcome', {}, [
      JSON_BODY,
      asAlice,
    ]),
    get('/apis/edge.kubestellar.io/v2alpha1/edgeplacements'),
    get('/budget', [], { isDocument: true }),
    get('/clusters/root:team/budget'),
    send('POST', '/budget', {}),
  ],
}
