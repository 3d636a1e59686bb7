/** Webhooks of a tenant that never answer, or one byte at a time. */
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { issueCa, issueServing } from '../../../src/apiserver/pki/issue.ts'
import { type Attack, attack } from '../attack.ts'
import { Attacker, openAgent } from '../attacker.ts'
import { crowd, type Ground } from '../ground.ts'

const MAP = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'w-' } }

/** A webhook with the action `answer`, called for each ConfigMap of Alice's space, so many times; until `end`. */
async function hook(
  { alice, space, size }: Ground,
  answer: (response: ServerResponse) => void,
  times = 1,
): Promise<() => Promise<void>> {
  const lifetime = { nowMs: Date.now(), days: 1 }
  const ca = await issueCa({ commonName: 'webhook-ca', ...lifetime })
  const { certPem: cert, keyPem: key } = await issueServing({ ca, dnsNames: ['localhost'], ips: [], ...lifetime })
  const server: Server = createServer({ cert, key }, (request, response) => {
    request.resume()
    answer(response)
  })
  // also those whose handshake is not done, which the server knows nothing of
  const lines = new Set<Socket>()
  server.on('connection', (line: Socket) => {
    lines.add(line)
    line.once('close', () => lines.delete(line))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const path = `${space.prefix}/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations`
  await alice.must({
    path,
    body: {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'slow' },
      webhooks: Array.from({ length: times }, (_, i) => ({
        name: `slow${i}.example.com`,
        clientConfig: { url: `https://localhost:${port}/`, caBundle: Buffer.from(ca.certPem).toString('base64') },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] }],
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        timeoutSeconds: size(4, 1),
        failurePolicy: 'Fail',
      })),
    },
  })
  return async () => {
    await alice.send({ method: 'DELETE', path: `${path}/slow` })
    server.close()
    for (const line of lines) line.destroy()
    await once(server, 'close')
  }
}

interface Hanging {
  account?: boolean
  /** Webhooks for one object. */
  times?: number
}

function hanging(
  name: string,
  does: string,
  answer: (response: ServerResponse) => void,
  { account = false, times = 1 }: Hanging = {},
): Attack {
  return attack(name, {
    does,
    ...(account && {
      prepare: async (ground: Ground) => {
        const token = await ground.accountToken('greedy')
        ground.alice.close()
        ground.alice = new Attacker(ground.url, token, openAgent({ maxSockets: 400 }))
      },
    }),
    run: async ground => {
      const { alice, space, size } = ground
      const end = await hook(ground, answer, times)
      try {
        const count = size(400, 2)
        await crowd(count, count, () => alice.send({ path: space.maps, body: MAP }))
      } finally {
        await end()
      }
    },
    hears: [500, 504, 429],
  })
}

const drip = (response: ServerResponse): void => {
  response.writeHead(200, { 'Content-Type': 'application/json' })
  const timer = setInterval(() => response.write(' '), 50)
  response.on('close', () => clearInterval(timer))
}
const flood = (response: ServerResponse): void => {
  response.writeHead(200, { 'Content-Type': 'application/json' })
  const part = Buffer.alloc(64 * 1024, ' ')
  const more = (): void => {
    while (!response.destroyed && response.write(part));
  }
  response.on('drain', more)
  response.on('error', () => {})
  more()
}

const hold = (response: ServerResponse): void => {
  response.on('error', () => {})
  response.writeHead(200, { 'Content-Type': 'application/json' })
  response.write(Buffer.alloc(3_000_000, ' '))
}

export const webhooks: readonly Attack[] = [
  hanging('webhook-hangs', '400 POSTs at a time wait for a webhook that never answers', () => {}),
  hanging('webhook-hangs-account', 'the same, as a ServiceAccount', () => {}, { account: true }),
  hanging('webhook-drips', '400 POSTs at a time wait for a webhook that answers a byte at a time', drip),
  hanging('webhook-floods', '400 POSTs at a time ask a webhook whose answer does not end', flood),
  hanging('webhook-holds', '400 POSTs at a time wait for 16 webhooks each, that all but end answers of 3 MB', hold, {
    times: 16,
  }),
  attack('webhook-bundles', {
    does: '12 webhooks, each with thousands of authorities, or as many as count',
    run: async ({ alice, space, size }) => {
      const { certPem } = await issueCa({ commonName: 'webhook-ca', nowMs: Date.now(), days: 1 })
      const tag = Math.random().toString(36).slice(2)
      const bundle = (i: number): string => `# ${tag} ${i}\n${certPem.repeat(i % 4 === 0 ? 2500 : 300)}`
      const path = `${space.prefix}/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations`
      const names = Array.from({ length: size(12, 4) }, (_, i) => `${tag}-${i}`)
      for (const [i, name] of names.entries()) {
        const webhook = {
          name: 'bundle.example.com',
          clientConfig: { url: 'https://localhost:9/', caBundle: btoa(bundle(i)) },
          rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] }],
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          failurePolicy: 'Ignore',
        }
        await alice.must({ path, body: { metadata: { name }, webhooks: [webhook] } })
      }
      await crowd(size(8, 2), 4, () => alice.must({ path: space.maps, body: MAP }))
      for (const name of names) await alice.must({ method: 'DELETE', path: `${path}/${name}` })
    },
    keepsMb: 100,
  }),
]
