/** Collections: selectors, pages, versions, watches. */
import { del, get, merge, PARTIAL_LIST, post, put, type Script, table, watch } from '../script.ts'
import { CM, configMap } from './bodies.ts'

const SOME = 'labelSelector=page'
const BOOKMARK = 'sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan'

export const lists: Script = {
  name: 'lists',
  steps: [
    get(CM, { only: ['metadata.resourceVersion', 'kind', 'apiVersion'], save: { start: 'metadata.resourceVersion' } }),
    post(CM, configMap('l1', { a: '1' }, { labels: { page: 'one', tier: 'x' } }), {
      save: { rv1: 'metadata.resourceVersion' },
    }),
    post(CM, configMap('l2', { a: '2' }, { labels: { page: 'two', tier: 'x' } }), {
      save: { rv2: 'metadata.resourceVersion' },
    }),
    post(CM, configMap('l3', { a: '3' }, { labels: { page: 'three' } }), { save: { rv3: 'metadata.resourceVersion' } }),
    get(`${CM}?${SOME}`),
    get(`${CM}?${SOME}&pretty=1`),
    get(`${CM}?${SOME}`, { headers: PARTIAL_LIST }),
    table(`${CM}?${SOME}`),
    table(`${CM}?labelSelector=none`),
    get(`${CM}?labelSelector=none`),
    get(`${CM}?${SOME}`, { headers: { Accept: 'application/yaml' } }),
    get(`${CM}?labelSelector=page%3Done`),
    get(`${CM}?labelSelector=page%3D%3Done`),
    get(`${CM}?labelSelector=page!%3Done,page`),
    get(`${CM}?labelSelector=page+in+(one,two)`),
    get(`${CM}?labelSelector=page+notin+(one,two),page`),
    get(`${CM}?labelSelector=!tier,page`),
    get(`${CM}?labelSelector=page%3Done,tier%3Dx`),
    get(`${CM}?labelSelector=page+gt+1`, { unlike120: { 'body.message': 'another wording' } }),
    get(`${CM}?labelSelector=a+b+c`, { unlike120: { 'body.message': 'another wording' } }),
    get(`${CM}?labelSelector=page%3D${'x'.repeat(64)}`, { unlike120: { 'body.message': 'another wording' } }),
    get(`${CM}?fieldSelector=metadata.name%3Dl1`),
    get(`${CM}?fieldSelector=metadata.name!%3Dl1&${SOME}`),
    get(`${CM}?fieldSelector=metadata.name%3Dl1,metadata.namespace%3D{ns}`),
    get(`${CM}?fieldSelector=metadata.name%3Dl1,metadata.name%3Dl2`),
    get(`${CM}?fieldSelector=data.a%3D1`),
    get('/api/v1/configmaps?fieldSelector=metadata.namespace%3D{ns},metadata.name%3Dl1'),
    get(`${CM}?limit=1&fieldSelector=metadata.name%3Dl1`),
    get(`${CM}?limit=2`, { save: { next: 'metadata.continue' }, only: ['metadata', 'items.*.metadata.name'] }),
    get(`${CM}?limit=2&continue={next}`, { only: ['metadata', 'items.*.metadata.name'] }),
    get(`${CM}?${SOME}&limit=2`, { save: { next2: 'metadata.continue' }, only: ['metadata', 'items.*.metadata.name'] }),
    get(`${CM}?${SOME}&limit=2&continue={next2}`, { only: ['metadata', 'items.*.metadata.name'] }),
    get(`${CM}?limit=2&continue={next}&resourceVersion={rv1}`),
    get(`${CM}?limit=-1&${SOME}`, { only: ['metadata', 'items.*.metadata.name'] }),
    get(`${CM}?limit=0&${SOME}`, { only: ['metadata', 'items.*.metadata.name'] }),
    get(`${CM}?limit=%2B7&${SOME}`, { only: ['items.*.metadata.name'] }),
    get(`${CM}?limit=9007199254740993&${SOME}`, { only: ['items.*.metadata.name'] }),
    get(`${CM}?limit=`),
    get(`${CM}?limit=99999999999999999999`),
    get(`${CM}?limit=%22%01`),
    get(`${CM}?resourceVersion=9007199254740993`, { only: ['code', 'reason'] }),
    get(`${CM}?labelSelector=page%3Dtwo&resourceVersion=0`, { only: ['items.*.metadata.name'] }),
    get(`${CM}?labelSelector=page%3Dtwo&resourceVersion={rv2}`, { only: ['items.*.metadata.name'] }),
    get(`${CM}?${SOME}&resourceVersion={rv2}&resourceVersionMatch=Exact`, { only: ['items.*.metadata.name'] }),
    get(`${CM}?labelSelector=page%3Dtwo&resourceVersion={rv2}&resourceVersionMatch=NotOlderThan`, {
      only: ['items.*.metadata.name'],
    }),
    get(`${CM}?${SOME}&resourceVersion=1&resourceVersionMatch=Exact`, {
      only: ['code', 'reason'],
    }),
    get(`${CM}?labelSelector=page%3Dtwo&resourceVersion=0&resourceVersionMatch=NotOlderThan`, {
      only: ['items.*.metadata.name'],
    }),
    get(`${CM}?${SOME}&resourceVersionMatch=Exact`),
    get(`${CM}?${SOME}&limit=1&resourceVersion={rv3}`, { only: ['items.*.metadata.name', 'metadata.continue'] }),
    // what happened, from several beginnings
    put(`${CM}/l1`, configMap('l1', { a: '11' }, { labels: { page: 'one' } }), {
      save: { rv4: 'metadata.resourceVersion' },
    }),
    merge(`${CM}/l2`, { metadata: { labels: { page: null } } }),
    del(`${CM}/l3`),
    watch(`${CM}?watch=1&resourceVersion={rv1}`, 5),
    watch(`${CM}?watch=true&resourceVersion={rv3}&${SOME}`, 3),
    watch(`${CM}?watch&resourceVersion={rv3}&labelSelector=tier%3Dx`, 2),
    watch(`${CM}?watch=1&resourceVersion={rv1}&fieldSelector=metadata.name%3Dl2`, 2),
    watch(`/api/v1/watch/namespaces/{ns}/configmaps/l1?resourceVersion={rv1}`, 1),
    watch(`/api/v1/watch/namespaces/{ns}/configmaps?resourceVersion={rv3}`, 3),
    watch(`${CM}?watch=1&resourceVersion={rv3}`, 3, {
      headers: { Accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' },
    }),
    watch(`${CM}?watch=1&resourceVersion={rv3}`, 3, {
      headers: { Accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
    }),
    watch(`${CM}?watch=1&resourceVersion=0&fieldSelector=metadata.name%3Dl1`, 1),
    watch(`${CM}?watch=1&fieldSelector=metadata.name%3Dl1`, 1),
    watch(`${CM}?watch=1&${BOOKMARK}&fieldSelector=metadata.name%3Dl1`, 2, {
      since: '1.27: initial events',
    }),
    get(`${CM}?watch=1&timeoutSeconds=1&resourceVersion={rv4}&fieldSelector=metadata.name%3Dnope`),
    get(`${CM}?watch=1&resourceVersion=x`, { unlike120: { '': 'it says 500' } }),
    get(`${CM}?watch=1`, { headers: { Accept: 'text/html' }, unlike120: { body: 'its router speaks before it' } }),
    get(`${CM}/l1?watch=1`),
    get('/api/v1/namespaces/{ns}/nonsense?watch=1'),
  ],
}
