/** Conversion webhooks of a tenant that make much of little, or never end. */
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { issueCa, issueServing } from '../../../src/apiserver/pki/issue.ts'
import { type Attack, attack } from '../attack.ts'
import { crowd, type Ground } from '../ground.ts'

const CRDS = 'apis/apiextensions.k8s.io/v1/customresourcedefinitions'

interface Review {
  apiVersion: string
  kind: string
  request: { uid: string; desiredAPIVersion: string; objects: object[] }
}

type Answer = (review: Review, response: ServerResponse) => void

interface Converted {
  /** Path of the things as v2. */
  readonly path: string
  /** Name of the first of them. */
  readonly name: string
  end(): Promise<void>
}

/** Things that are stored as v1 and that `answer` converts to v2; until `end`. */
async function converted({ alice, space }: Ground, count: number, answer: Answer): Promise<Converted> {
  const group = `g${Math.random().toString(36).slice(2)}.example.com`
  const things = (version: string): string => `${space.prefix}/apis/${group}/${version}/namespaces/default/things`
  const lifetime = { nowMs: Date.now(), days: 1 }
  const ca = await issueCa({ commonName: 'webhook-ca', ...lifetime })
  const { certPem: cert, keyPem: key } = await issueServing({ ca, dnsNames: ['localhost'], ips: [], ...lifetime })
  const server: Server = createServer({ cert, key }, (request, response) => {
    response.on('error', () => {})
    void request.toArray().then(
      parts => answer(JSON.parse(Buffer.concat(parts as Buffer[]).toString()) as Review, response),
      () => response.destroy(),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  const clientConfig = { url: `https://localhost:${port}/`, caBundle: Buffer.from(ca.certPem).toString('base64') }
  await alice.must({
    path: `${space.prefix}/${CRDS}`,
    body: {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `things.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural: 'things', kind: 'Thing' },
        versions: [
          { name: 'v1', served: true, storage: true, schema },
          { name: 'v2', served: true, storage: false, schema },
        ],
        conversion: { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } },
      },
    },
  })
  const apiVersion = `${group}/v1`
  await crowd(count, 32, i =>
    alice.must({ path: things('v1'), body: { apiVersion, kind: 'Thing', metadata: { name: `t-${i}` } } }),
  )
  return {
    path: things('v2'),
    name: 't-0',
    async end() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Each object gets so many characters more. */
const longer =
  (characters: number): Answer =>
  ({ apiVersion, kind, request: { uid, desiredAPIVersion, objects } }, response) => {
    const convertedObjects = objects.map(object => ({
      ...object,
      apiVersion: desiredAPIVersion,
      text: 'x'.repeat(characters),
    }))
    response.end(
      JSON.stringify({ apiVersion, kind, response: { uid, result: { status: 'Success' }, convertedObjects } }),
    )
  }

const hold: Answer = (_, response) => {
  response.writeHead(200, { 'Content-Type': 'application/json' })
  response.write(Buffer.alloc(15_000_000, ' '))
}

export const conversions: readonly Attack[] = [
  attack('conversion-amplifies', {
    does: '5,000 small objects that a conversion makes 10 KB each, and as many that it makes 75 KB, listed page by page',
    run: async ground => {
      const { alice, size } = ground
      for (const characters of [10_000, 75_000]) {
        const { path, end } = await converted(ground, size(5000, 300), longer(characters))
        try {
          await crowd(size(10, 1), size(4, 1), async () => {
            for (let more: string | undefined = ''; more !== undefined; ) {
              const page = await alice.send({ path: `${path}?limit=500&continue=${encodeURIComponent(more)}` })
              more = /"continue":"([^"]+)"/.exec(page.text)?.[1]
            }
          })
        } finally {
          await end()
        }
      }
    },
    hears: [500],
    keepsMb: 250,
  }),
  attack('conversion-holds', {
    does: '200 GETs at a time wait for a conversion that sends 15 MB and never ends',
    run: async ground => {
      const { alice, size } = ground
      const { path, name, end } = await converted(ground, 1, hold)
      try {
        const asked = crowd(size(200, 4), 200, () => alice.unread({ path: `${path}/${name}` }))
        await Promise.race([asked, pause(size(20_000, 500))])
        alice.leave()
        await asked
      } finally {
        await end()
      }
    },
  }),
]
