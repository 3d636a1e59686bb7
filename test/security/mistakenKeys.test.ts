/**
 * V8 takes a key with an escape for one with a backslash that it met before. A text of one tenant could change how the claims on everybody's
 * fields are read.
 */
import t from 'tap'
import { parseJsonSafely } from '../../src/apimachinery/jsonParse.ts'
import { ServerProcess } from '../e2e/support/serverProcess.ts'
import { crdsIn } from '../support/crds.ts'
import { startTestServer, temporaryDir } from '../support/server.ts'

parseJsonSafely()
const PORT = 'k:{"containerPort":80,"protocol":"TCP"}'
/** Start of that key's text, in as many characters as it has. */
const BEGINNING = JSON.stringify(PORT).slice(1, 1 + PORT.length)
/** Without a prototype, so that it does not lead this process itself astray. */
const MISTAKEN: Record<string, object> = Object.create(null)
MISTAKEN['.'] = {}
MISTAKEN[BEGINNING] = {}
const DEPLOYMENTS = '/clusters/root/apis/apps/v1/namespaces/default/deployments'
const ANYTHING = '/apis/free.test/v1/anythings'

const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'web', image: 'web', ports: [{ containerPort: 80, protocol: 'TCP' }] }] },
    },
  },
}

t.test('what a tenant sends does not change how the claims on others are read', async t => {
  const server = await ServerProcess.start(t, temporaryDir(t), 4)
  t.match(await server.ask('POST', DEPLOYMENTS, deployment), { code: 201 })
  for (let i = 0; i < 20; i++) {
    const { code, body } = await server.ask('POST', '/clusters/root/api/v1/namespaces/default/configmaps', {
      a: MISTAKEN,
    })
    t.equal(code, 400)
    t.match(body.message, /the key "k:.*containerPort.* has a backslash/)
  }
  const scaled = { ...deployment, metadata: { name: 'web', labels: { touched: 'yes' } } }
  t.match(await server.ask('PUT', `${DEPLOYMENTS}/web`, scaled), { code: 200 })
  const { body } = await server.ask('GET', `${DEPLOYMENTS}/web`)
  const claims = JSON.stringify((body.metadata as { managedFields: unknown }).managedFields)
  t.match(claims, JSON.stringify(PORT))
  t.notMatch(claims, JSON.stringify(BEGINNING))
})

t.test('no way of writing brings such a key in', async t => {
  const { api } = await startTestServer(t)
  const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  const names = { plural: 'anythings', singular: 'anything', kind: 'Anything' }
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }]
  const spec = { group: 'free.test', scope: 'Cluster', names, versions }
  await crdsIn(api).define({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'anythings.free.test' },
    spec,
  })
  const object = { apiVersion: 'free.test/v1', kind: 'Anything', metadata: { name: 'a' } }
  await api.ok(api.post(ANYTHING, { ...object, spec: { 'k:{"mountPath":"C:\\\\data"}': 1 } }))
  const yaml = 'apiVersion: free.test/v1\nkind: Anything\nmetadata: {name: b}\nspec:\n  C:\\x: 1\n'
  const tries = [
    await api.post(ANYTHING, { ...object, metadata: { name: 'b' }, spec: { 'C:\\x': 1 } }),
    await api.send('POST', ANYTHING, { body: yaml, type: 'application/yaml' }),
    await api.patch(`${ANYTHING}/a`, 'merge', { spec: { 'C:\\x': 1 } }),
    await api.patch(`${ANYTHING}/a`, 'json', [{ op: 'add', path: '/spec/C:\\x', value: 1 }]),
    await api.patch(`${ANYTHING}/a?fieldManager=m`, 'apply', { ...object, spec: { 'C:\\x': 1 } }),
  ]
  for (const { code, text } of tries) {
    t.equal(code, 400)
    t.match(text, /has a backslash; such keys are not accepted: use another character/)
  }
})
