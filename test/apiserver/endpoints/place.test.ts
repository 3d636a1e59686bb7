/** Writes that say they are about another place, or another kind, than the URL names: the same words whatever the verb. */
import t from 'tap'
import type { Answer } from '../../support/api.ts'
import { crdsIn } from '../../support/crds.ts'
import { CONFIGMAPS, configMap, startTestServer } from '../../support/server.ts'

const { api, faults } = await startTestServer(t)
const GROUP = 'place.example.com'
const THINGS = `/apis/${GROUP}/v1/namespaces/default/things`
const thing = (metadata: object, rest: object = {}): object => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'Thing',
  metadata: { name: 'a', ...metadata },
  ...rest,
})
const elsewhere = { namespace: 'elsewhere' }

await crdsIn(api).define({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `things.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural: 'things', kind: 'Thing' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
        },
      },
    ],
  },
})
const { resourceVersion = '' } = (await api.ok(api.post(THINGS, thing({})))).metadata
await api.ok(api.post(CONFIGMAPS, configMap('a')))

const badRequest = (message: string) => ({ code: 400, body: { reason: 'BadRequest', message } })

t.test('another namespace', async t => {
  const scale = {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name: 'a', ...elsewhere },
    spec: { replicas: 3 },
  }
  const asked: Record<string, Promise<Answer>> = {
    POST: api.post(THINGS, thing({ name: 'new', ...elsewhere })),
    PUT: api.put(`${THINGS}/a`, thing({ resourceVersion, ...elsewhere })),
    'PUT of the status': api.put(`${THINGS}/a/status`, thing({ resourceVersion, ...elsewhere })),
    'PUT of the scale': api.put(`${THINGS}/a/scale`, scale),
    PATCH: api.patch(`${THINGS}/a`, 'merge', { metadata: elsewhere }),
    apply: api.patch(`${THINGS}/a?fieldManager=m`, 'apply', thing(elsewhere)),
    'PUT of a built-in kind': api.put(`${CONFIGMAPS}/a`, configMap('a', {}, elsewhere)),
    'apply of a built-in kind': api.patch(`${CONFIGMAPS}/a?fieldManager=m`, 'apply', configMap('a', {}, elsewhere)),
    'a wrong name as well': api.put(`${CONFIGMAPS}/a`, configMap('b', {}, elsewhere)),
  }
  const refusal = badRequest('the namespace of the provided object does not match the namespace sent on the request')
  for (const [name, answer] of Object.entries(asked)) t.match(await answer, refusal, name)
  t.equal((await api.ok(api.get(`${THINGS}/a`))).metadata.resourceVersion, resourceVersion, 'nothing was written')
  const ofNone = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default', ...elsewhere } }
  t.equal((await api.put('/api/v1/namespaces/default', ofNone)).code, 200, 'what has no namespace may name any')
})

t.test('apply of another kind', async t => {
  const wrong = async (body: unknown, said: string): Promise<void> => {
    const answer = await api.patch(`${THINGS}/a?fieldManager=m`, 'apply', body)
    t.match(answer, badRequest(`invalid object type: ${said}`), said)
  }
  await wrong(thing({}, { kind: 'Other' }), `${GROUP}/v1, Kind=Other`)
  await wrong(thing({}, { apiVersion: `${GROUP}/v2` }), `${GROUP}/v2, Kind=Thing`)
  await wrong(thing({}, { apiVersion: 'v1', kind: 'Secret' }), '/v1, Kind=Secret')
  await wrong(thing({}, { apiVersion: '', kind: 'Thing' }), '/, Kind=Thing')
  await wrong(thing({}, { apiVersion: 'a/b/c' }), '/, Kind=')
  await wrong(thing({}, { kind: 7 }), `${GROUP}/v1, Kind=`)
  await wrong('', '/, Kind=')
  const list = await api.patch(`${CONFIGMAPS}/a?fieldManager=m`, 'apply', [])
  t.match(
    list,
    badRequest(
      'error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type map[string]interface {}',
    ),
  )
  const secret = await api.patch(`${CONFIGMAPS}/a?fieldManager=m`, 'apply', { ...configMap('a'), kind: 'Secret' })
  t.match(secret, badRequest('invalid object type: /v1, Kind=Secret'))
})

t.test('a custom resource without a version', async t => {
  const refusal = badRequest(`the API version in the data () does not match the expected API version (${GROUP}/v1)`)
  const { apiVersion: _, ...versionless } = thing({ resourceVersion }) as { apiVersion: string }
  t.match(await api.put(`${THINGS}/a`, thing({ resourceVersion }, { apiVersion: '' })), refusal)
  t.match(await api.put(`${THINGS}/a`, versionless), refusal)
  t.match(await api.post(THINGS, thing({ name: 'new' }, { apiVersion: '' })), refusal)
})

t.test('nothing of it was a fault of the server', async t => t.strictSame(faults, []))
