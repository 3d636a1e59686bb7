/**
 * History that is no longer kept: the answers to a list, a page and a watch of it. They come from Orrery and, where there is one, from a
 * real kube-apiserver whose etcd is compacted.
 */
import t from 'tap'
import type { Api } from '../support/api.ts'
import { startTestServer } from '../support/server.ts'
import { noPeer, startPeerWithStore } from './peer.ts'

const CM = '/api/v1/namespaces/default/configmaps'
const LIST_TOO_OLD = 'The resourceVersion for the provided list is too old.'
const PAGE_TOO_OLD =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the ' +
  'continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with ' +
  'the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the ' +
  'first chunk was returned and now may show up in the list.'
const expired = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Expired', code: 410 }
const EXPECTED = {
  exact: { ...expired, metadata: {}, message: LIST_TOO_OLD },
  page: { ...expired, metadata: { continue: 'token' }, message: PAGE_TOO_OLD },
  rest: { items: ['e3', 'e4', 'e5'], isNow: true },
  secondRest: { items: ['e3'], continues: true },
  watch: [{ type: 'ERROR', object: { ...expired, metadata: {}, message: 'too old resource version: 1 (N)' } }],
}

/** `forget` makes the server forget all versions before `revision`. */
async function answersOf(api: Api, forget: (revision: number) => Promise<void>): Promise<typeof EXPECTED> {
  const make = (name: string, data: object = {}): Promise<Api['access'] | unknown> =>
    api.ok(api.post(CM, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels: { e: '' } }, data }))
  for (const i of [1, 2, 3, 4]) await make(`e${i}`)
  const ours = `${CM}?labelSelector=e`
  const first = await api.ok(api.get(`${ours}&limit=2`))
  const { continue: token = '', resourceVersion: old = '' } = first.metadata as {
    continue?: string
    resourceVersion?: string
  }
  await make('e5')
  const { resourceVersion: now = '' } = (await api.ok(api.get(ours))).metadata
  await forget(Number(now))

  const exact = await api.get(`${ours}&resourceVersion=${old}&resourceVersionMatch=Exact`)
  const page = await api.get(`${ours}&limit=2&continue=${encodeURIComponent(token)}`)
  const other = (page.body.metadata as { continue?: string }).continue ?? ''
  const on = `continue=${encodeURIComponent(other)}`
  const rest = await api.ok(api.get(`${ours}&${on}`))
  const secondRest = await api.ok(api.get(`${ours}&limit=1&${on}`))
  const watch = await api.watch(`${await lateKind(api)}?watch=1&timeoutSeconds=20&resourceVersion=1`)
  const names = (list: typeof rest): string[] => list.items.map(item => item.metadata.name ?? '')
  return JSON.parse(
    JSON.stringify({
      exact: exact.body,
      page: { ...page.body, metadata: { ...page.body.metadata, ...(other && { continue: 'token' }) } },
      rest: { items: names(rest), isNow: Number(rest.metadata.resourceVersion) >= Number(now) },
      secondRest: {
        items: names(secondRest),
        continues: ((secondRest.metadata as { continue?: string }).continue ?? '') !== '',
      },
      watch: await watch.rest(),
    }).replace(/\(\d+\)/, '(N)'),
  ) as typeof EXPECTED
}

/** kube-apiserver remembers all since its start, of kinds that it had then: so here is a new one. The path of its objects. */
async function lateKind(api: Api): Promise<string> {
  const group = 'expired.example.com'
  const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  const made = await api.ok(
    api.post(crds, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `lates.${group}` },
      spec: {
        group,
        scope: 'Cluster',
        names: { plural: 'lates', kind: 'Late' },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    }),
  )
  const watch = await api.watch(`${crds}?watch=1&resourceVersion=${made.metadata.resourceVersion}`)
  await watch.until(event => JSON.stringify(event).includes('InitialNamesAccepted'))
  watch.close()
  return `/apis/${group}/v1/lates`
}

t.test('Orrery', async t => {
  const { api, server } = await startTestServer(t)
  t.strictSame(await answersOf(api, revision => server.store.compact(revision)), EXPECTED)
})

t.test('kube-apiserver', { skip: noPeer }, async t => {
  const { api, etcd } = await startPeerWithStore(t)
  const forget = async (revision: number): Promise<void> => {
    const answer = await fetch(`${etcd}/v3/kv/compaction`, {
      method: 'POST',
      body: JSON.stringify({ revision, physical: true }),
    })
    if (!answer.ok) throw new Error(`compaction: ${answer.status} ${await answer.text()}`)
  }
  t.strictSame(await answersOf(api, forget), EXPECTED)
})
