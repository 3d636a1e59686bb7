/** Webhooks as Pepr sets them up: their certificates have no subject and no issuer. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { crdsIn } from '../../support/crds.ts'
import { CONFIGMAPS, configMap, startTestServer, WEBHOOKS_HERE } from '../../support/server.ts'
import { namelessAuthority, newKeys, RSA, type Shape } from './namelessAuthority.ts'
import { CONFIGURATIONS, configuration, startWebhookServer, type WebhookServer, webhook } from './webhookServer.ts'

const { api, faults } = await startTestServer(t, WEBHOOKS_HERE)
const authority = await namelessAuthority({}, RSA)

const start = async (shape?: Shape): Promise<WebhookServer> =>
  startWebhookServer(t, { ca: authority.pem, ...(await authority.issue(shape)) })
/** Certificates name hosts, not addresses. */
const clientOf = (hooks: WebhookServer, path: string): object => ({
  url: `https://localhost:${hooks.port}${path}`,
  caBundle: hooks.caBundle,
})

t.test('they validate', async t => {
  const hooks = await start()
  hooks.on('/deny', () => ({ allowed: false, status: { message: 'not today' } }))
  const denying = webhook('deny.pepr.dev', clientOf(hooks, '/deny'))
  await api.ok(api.post(CONFIGURATIONS.Validating, configuration('Validating', 'pepr', [denying])))
  for (let n = 0; n < 2; n++) {
    const { body } = await api.post(CONFIGMAPS, configMap('denied'))
    t.equal(body.message, 'admission webhook "deny.pepr.dev" denied the request: not today')
  }
  await api.ok(api.delete(`${CONFIGURATIONS.Validating}/pepr`))
})

t.test('somebody else in their place hears nothing', async t => {
  const impostor = await start({ signer: await newKeys(RSA) })
  const asking = webhook('ask.pepr.dev', clientOf(impostor, '/ask'))
  await api.ok(api.post(CONFIGURATIONS.Validating, configuration('Validating', 'impostor', [asking])))
  const { code, body } = await api.post(CONFIGMAPS, configMap('secret'))
  t.equal(code, 500)
  t.match(body.message, 'tls: failed to verify certificate: x509: certificate signed by unknown authority')
  t.strictSame(impostor.seen, [])
  await api.ok(api.delete(`${CONFIGURATIONS.Validating}/impostor`))
})

t.test('they convert', async t => {
  const hooks = await start()
  hooks.on('/convert', review => {
    const { uid, objects, desiredAPIVersion } = review.request as unknown as {
      uid: string
      objects: KubeObject[]
      desiredAPIVersion: string
    }
    const convertedObjects = objects.map(object => ({ ...object, apiVersion: desiredAPIVersion, converted: true }))
    const { apiVersion, kind } = review
    return JSON.stringify({ apiVersion, kind, response: { uid, convertedObjects, result: { status: 'Success' } } })
  })
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  const group = 'pepr.example.com'
  await crdsIn(api).define({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `turns.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'turns', kind: 'Turn' },
      versions: ['v1', 'v2'].map(name => ({ name, served: true, storage: name === 'v1', schema })),
      conversion: {
        strategy: 'Webhook',
        webhook: { clientConfig: clientOf(hooks, '/convert'), conversionReviewVersions: ['v1'] },
      },
    },
  })
  const at = (version: string): string => `/apis/${group}/${version}/namespaces/default/turns`
  await api.ok(api.post(at('v1'), { apiVersion: `${group}/v1`, kind: 'Turn', metadata: { name: 'one' } }))
  t.match(await api.ok(api.get(`${at('v2')}/one`)), { apiVersion: `${group}/v2`, converted: true })
})

t.test('nothing of this is a fault of the server', async t => t.strictSame(faults, []))
