/** Lists, and deletions of what they hold. */
import { asAlice, get, inTurn, request, send, type Theme } from '../scene.ts'

const MAPS = '/api/v1/namespaces/golden/configmaps'
const WIDGETS = '/apis/golden.example.com/v1/namespaces/golden/widgets'
const PODS = '/api/v1/namespaces/golden/pods'
const TABLE = 'Accept: application/json;as=Table;v=v1;g=meta.k8s.io,application/json'
const PARTIAL = 'Accept: application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'
const PROTOBUF = 'Accept: application/vnd.kubernetes.protobuf'
const YAML = 'Accept: application/yaml'
const GZIP = 'Accept-Encoding: gzip'
const SETS = '/apis/apps/v1/namespaces/golden/deployments'
const map = (name: string) => ({ metadata: { name, labels: { app: 'swept' } }, data: { a: 'b' } })

export const lists: Theme = {
  name: 'lists',
  isStateful: true,
  scenes: [
    ...[[], [YAML], [PROTOBUF], [TABLE], [PARTIAL], ['User-Agent: curl/8'], ['Accept: text/html']].map(headers =>
      get(MAPS, headers),
    ),
    ...[[], [TABLE], [YAML], [PROTOBUF]].map(headers => get(WIDGETS, headers)),
    get(PODS),
    get(PODS, [TABLE]),
    get(SETS, [PROTOBUF]),
    get('/api/v1/configmaps?fieldSelector=metadata.namespace=golden&limit=1'),
    ...[
      'limit=1',
      'limit=0',
      'limit=-1',
      'limit=x',
      'limit=1&continue=wrong',
      'limit=500',
      'resourceVersion=0',
      'resourceVersion=1',
      'resourceVersion=x',
      'resourceVersion=999999999',
      'resourceVersion=0&resourceVersionMatch=NotOlderThan',
      'resourceVersion=0&resourceVersionMatch=Exact',
      'resourceVersion=999999999&resourceVersionMatch=Exact',
      'resourceVersionMatch=Exact',
      'resourceVersion=0&resourceVersionMatch=Wrong',
      'labelSelector=size%3Dplain',
      'labelSelector=size=plain',
      'labelSelector=size%20in%20(plain,text)',
      'labelSelector=!size',
      'labelSelector=size%20notin%20(plain,text,large)',
      'labelSelector=%3D%3D',
      'labelSelector=a%20b',
      'fieldSelector=metadata.name%3Dtext',
      'fieldSelector=metadata.name!%3Dtext',
      'fieldSelector=spec.nothing%3Da',
      'fieldSelector=metadata.name',
      'timeoutSeconds=x',
      'watch=false',
      'pretty=1&limit=1',
      'sendInitialEvents=true',
      'includeObject=None',
    ].map(query => get(`${MAPS}?${query}`)),
    ...['includeObject=None', 'includeObject=Object&limit=1', 'includeObject=Wrong'].map(query =>
      get(`${MAPS}?${query}`, [TABLE]),
    ),
    get(`${MAPS}?limit=1`, [YAML]),
    get(MAPS, [asAlice]),
    get(PODS, [asAlice]),
    get(`${MAPS}?fieldSelector=metadata.name%3Dplain`, [asAlice]),
    get('/apis/apiextensions.k8s.io/v1/customresourcedefinitions?limit=1', [GZIP], { isDocument: true }),
    get('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', [], { isDocument: true }),
    get('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', [GZIP], { isDocument: true }),
    get('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', [GZIP, YAML], { isDocument: true }),
    get('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', [GZIP, PROTOBUF], { isDocument: true }),
    get('/apis/rbac.authorization.k8s.io/v1/clusterroles', [], { isDocument: true }),
    get('/apis/rbac.authorization.k8s.io/v1/clusterroles', [YAML], { isDocument: true }),
    get('/apis/rbac.authorization.k8s.io/v1/clusterroles', [TABLE], { isDocument: true }),
    get('/apis/rbac.authorization.k8s.io/v1/clusterroles', [`${GZIP}, deflate, br`], { isDocument: true }),
    get('/apis/rbac.authorization.k8s.io/v1/clusterroles', ['Accept-Encoding: gzip;q=0'], { isDocument: true }),
    get('/apis/rbac.authorization.k8s.io/v1/clusterroles', ['Accept-Encoding: *'], { isDocument: true }),
    get('/apis/rbac.authorization.k8s.io/v1/clusterroles', ['Connection: close'], { isDocument: true, isPlain: false }),
    inTurn('a list page by page', get(`${MAPS}?limit=2`), get(`${MAPS}?limit=2&continue=<continue>`)),
    inTurn('a page with a selector', get(`${MAPS}?limit=1`), get(`${MAPS}?labelSelector=a&continue=<continue>`)),
    inTurn('a page with a revision', get(`${MAPS}?limit=1`), get(`${MAPS}?resourceVersion=1&continue=<continue>`)),
    inTurn(
      'a list as of a revision',
      get(`${MAPS}?limit=1`),
      get(`${MAPS}?resourceVersion=<revision>&resourceVersionMatch=Exact`),
    ),
    send('POST', MAPS, map('swept-a')),
    send('POST', MAPS, map('swept-b')),
    request('DELETE', `${MAPS}?labelSelector=app%3Dswept&dryRun=All`),
    request('DELETE', `${MAPS}?labelSelector=app%3Dswept&limit=1`),
    request('DELETE', `${MAPS}?labelSelector=app%3Dswept`, [PROTOBUF]),
    request('DELETE', `${MAPS}?labelSelector=app%3Dswept`),
    request('DELETE', `${MAPS}?labelSelector=%3D`),
    send('DELETE', `${MAPS}?labelSelector=app%3Dswept`, { propagationPolicy: 'Wrong' }),
  ],
}
