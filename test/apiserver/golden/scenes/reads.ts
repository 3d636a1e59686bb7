/** Objects that are read, in each form. */
import { asAlice, get, request, type Theme } from '../scene.ts'

const MAPS = '/api/v1/namespaces/golden/configmaps'
const WIDGETS = '/apis/golden.example.com/v1/namespaces/golden/widgets'
const BETA = '/apis/golden.example.com/v1beta1/namespaces/golden/widgets'
const TABLE = 'Accept: application/json;as=Table;v=v1;g=meta.k8s.io'
const PARTIAL = 'Accept: application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'
const PARTIAL_LIST = 'Accept: application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'
const PROTOBUF = 'Accept: application/vnd.kubernetes.protobuf'
const YAML = 'Accept: application/yaml'

const FORMS: readonly (readonly string[])[] = [
  [],
  ['Accept: application/json'],
  ['Accept: application/json, */*'],
  ['Accept: */*'],
  [YAML],
  [PROTOBUF],
  ['Accept: application/vnd.kubernetes.protobuf,application/json'],
  [TABLE],
  [`${TABLE}, application/json`],
  ['Accept: application/json;as=Table;v=v1beta1;g=meta.k8s.io'],
  ['Accept: application/yaml;as=Table;v=v1;g=meta.k8s.io'],
  [PARTIAL],
  ['Accept: application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'],
  [PARTIAL_LIST],
  ['Accept: text/html'],
  ['Accept: application/json;q=0.1, application/yaml'],
  ['Accept-Encoding: gzip'],
  ['User-Agent: curl/8'],
  ['User-Agent: kubectl/v1.36.0 (linux/amd64) kubernetes/abcdef'],
  ['Connection: keep-alive'],
  ['X-Forwarded-For: 10.0.0.9', 'X-Real-Ip: 10.0.0.8'],
  ['Audit-ID: named-by-its-client'],
]

export const reads: Theme = {
  name: 'reads',
  scenes: [
    ...FORMS.map(headers => get(`${MAPS}/plain`, headers)),
    ...[[], [YAML], [PROTOBUF], [TABLE], [PARTIAL]].map(headers => get(`${WIDGETS}/w`, headers)),
    get(`${MAPS}/plain`, ['Connection: close'], { isPlain: false }),
    get(`${MAPS}/text`),
    get(`${MAPS}/text`, [YAML]),
    get(`${MAPS}/plain?pretty`),
    get(`${MAPS}/plain?pretty=true`),
    get(`${MAPS}/plain?pretty=0`, ['User-Agent: curl/8']),
    get(`${MAPS}/plain?resourceVersion=0`),
    get(`${MAPS}/plain?resourceVersion=999999999`),
    get(`${MAPS}/plain?resourceVersion=x`),
    get(`${MAPS}/plain?includeObject=Object`, [TABLE]),
    get(`${MAPS}/plain?includeObject=Wrong`, [TABLE]),
    get(`${MAPS}/nope`),
    get(`${MAPS}/nope`, [YAML]),
    get(`${MAPS}/nope`, [PROTOBUF]),
    get(`${MAPS}/nope`, ['User-Agent: curl/8']),
    get(`${MAPS}/nope?pretty=1`),
    get(`${BETA}/w`),
    get(`${BETA}/nope`),
    get('/api/v1/namespaces/golden'),
    get('/api/v1/namespaces/golden/status'),
    get('/apis/golden.example.com/v1/namespaces/golden/widgets/w/status'),
    get('/apis/golden.example.com/v1/namespaces/golden/widgets/w/scale'),
    get('/apis/golden.example.com/v1/namespaces/golden/widgets/w/scale', [PROTOBUF]),
    get('/apis/golden.example.com/v1/namespaces/golden/widgets/w/other'),
    get('/apis/golden.example.com/v2/namespaces/golden/widgets/w'),
    get('/apis/golden.example.com/v1/namespaces/golden/gadgets/w'),
    get('/api/v1/namespaces/default/endpoints/kubernetes'),
    get('/api/v1/namespaces/golden/nodes/a'),
    get('/api/v1/configmaps/plain'),
    get(`/clusters/root${MAPS}/plain`),
    get(`/clusters/root:team/api/v1/namespaces/default`),
    get(`/clusters/root:nowhere${MAPS}/plain`),
    get(`/clusters/*${MAPS}/plain`),
    get(`/clusters/*${MAPS}`),
    get(`/clusters/-${MAPS}/plain`),
    get(`${MAPS}/plain`, [asAlice]),
    get(`${MAPS}/nope`, [asAlice]),
    get(`${MAPS}/plain`, [asAlice, YAML]),
    get(`/clusters/root:team${MAPS}/plain`, [asAlice]),
    get(WIDGETS, [asAlice]),
    request('HEAD', `${MAPS}/plain`),
    request('HEAD', MAPS),
    request('OPTIONS', `${MAPS}/plain`),
    request('OPTIONS', '/'),
  ],
}
