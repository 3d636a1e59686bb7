/** A webhook in the test's process: a real HTTPS server with an authority of its own, whose answers the test decides. */
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { issueCa, issueServing } from '../../../src/apiserver/pki/issue.ts'

export interface Review {
  kind: string
  apiVersion: string
  request: {
    uid: string
    operation: string
    object: KubeObject | null
    oldObject: KubeObject | null
    [field: string]: unknown
  }
}
export type Answer = { allowed: boolean; patch?: unknown; [field: string]: unknown }

export interface WebhookServer {
  readonly url: string
  readonly port: number
  /** Base64 of the PEM, as `caBundle` has it. */
  readonly caBundle: string
  /** Every review that came, oldest first; `path` is where it came to. */
  readonly seen: (Review & { path: string })[]
  /** Answers at a path. A function that returns a string sends it as it is. */
  on(path: string, answer: (review: Review) => Answer | string): void
  /** Writes another status code and headers. */
  raw(path: string, code: number, headers: Record<string, string>, body: string): void
  /** `clientConfig` for a path. */
  at(path: string): { url: string; caBundle: string }
  /** Breaks off running requests, and listens no more. */
  close(): void
}

/** PEM: the certificate of a server, and its alleged signer. */
export interface WebhookCredential {
  ca: string
  cert: string
  key: string
}

async function newCredential(): Promise<WebhookCredential> {
  const life = { nowMs: Date.now(), days: 1 }
  const ca = await issueCa({ ...life, commonName: 'webhooks' })
  const dnsNames = ['localhost', 'hooks.default.svc', 'hooks.other.svc']
  const { certPem, keyPem } = await issueServing({ ...life, ca, dnsNames, ips: ['127.0.0.1'] })
  return { ca: ca.certPem, cert: certPem, key: keyPem }
}

export async function startWebhookServer(t: Test, credential?: WebhookCredential): Promise<WebhookServer> {
  const { ca, cert, key } = credential ?? (await newCredential())
  const answers = new Map<string, (review: Review) => Answer | string>()
  const raws = new Map<string, { code: number; headers: Record<string, string>; body: string }>()
  const seen: WebhookServer['seen'] = []
  const server: Server = createServer({ cert, key }, (request, response) => {
    const parts: Buffer[] = []
    request.on('data', part => parts.push(part))
    request.on('end', () => {
      const path = new URL(request.url ?? '/', 'https://x').pathname
      const raw = raws.get(path)
      if (raw) return response.writeHead(raw.code, raw.headers).end(raw.body)
      if (request.method !== 'POST') return response.writeHead(405).end()
      const review = JSON.parse(Buffer.concat(parts).toString()) as Review
      seen.push({ ...review, path })
      const answer = answers.get(path)?.(review) ?? { allowed: true }
      // the test wants silence: the caller's deadline ends it
      if (answer === 'hang') return
      response.setHeader('Content-Type', 'application/json')
      response.end(typeof answer === 'string' ? answer : JSON.stringify(reviewOf(review, answer)))
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const close = (): void => {
    server.close()
    server.closeAllConnections()
  }
  t.teardown(close)
  const { port } = server.address() as AddressInfo
  const url = `https://127.0.0.1:${port}`
  const caBundle = Buffer.from(ca).toString('base64')
  return {
    url,
    port,
    caBundle,
    seen,
    on: (path, answer) => void answers.set(path, answer),
    raw: (path, code, headers, body) => void raws.set(path, { code, headers, body }),
    at: path => ({ url: url + path, caBundle }),
    close,
  }
}

function reviewOf({ apiVersion, kind, request }: Review, { patch, ...answer }: Answer): object {
  const encoded = patch === undefined ? {} : { patchType: 'JSONPatch', patch: encode(patch) }
  return { apiVersion, kind, response: { uid: request.uid, ...encoded, ...answer } }
}

function encode(patch: unknown): string {
  return Buffer.from(JSON.stringify(patch)).toString('base64')
}

/** A webhook over ConfigMaps by default. */
export function webhook(name: string, clientConfig: object, more: object = {}): object {
  return {
    name,
    clientConfig,
    sideEffects: 'None',
    admissionReviewVersions: ['v1', 'v1beta1'],
    rules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
    ...more,
  }
}

export function configuration(kind: 'Mutating' | 'Validating', name: string, webhooks: object[]): object {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: `${kind}WebhookConfiguration`,
    metadata: { name },
    webhooks,
  }
}
export const CONFIGURATIONS = {
  Mutating: '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations',
  Validating: '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
} as const
