/** A conversion webhook on a free port, with a certificate of its own. */
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { issueCa, issueServing } from '../../src/apiserver/pki/issue.ts'

export interface Review {
  apiVersion: string
  kind: string
  request: { uid: string; desiredAPIVersion: string; objects: KubeObject[] }
}

export interface Converter {
  /** As a CRD wants it. */
  readonly clientConfig: { url: string; caBundle: string }
  /** Its requests, in order. */
  readonly reviews: Review[]
  /** May be exchanged; an error becomes a failed result. */
  convert: (object: KubeObject, apiVersion: string) => KubeObject
  /** Answers with this instead. */
  answer: ((review: Review) => unknown) | undefined
}

export async function startConverter(t: Test, convert: Converter['convert']): Promise<Converter> {
  const lifetime = { nowMs: Date.now(), days: 1 }
  const ca = await issueCa({ commonName: 'converter-ca', ...lifetime })
  const serving = await issueServing({ ca, dnsNames: ['localhost', 'converter.default.svc'], ips: [], ...lifetime })
  const server = createServer({ cert: serving.certPem, key: serving.keyPem }, (request, response) => {
    const parts: Buffer[] = []
    request.on('data', part => parts.push(part))
    request.on('end', () => {
      const review = JSON.parse(Buffer.concat(parts).toString()) as Review
      converter.reviews.push(review)
      const body = converter.answer?.(review) ?? answerTo(review, converter.convert)
      response.setHeader('Content-Type', 'application/json').end(JSON.stringify(body))
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const caBundle = Buffer.from(ca.certPem).toString('base64')
  const converter: Converter = {
    clientConfig: { url: `https://localhost:${port}/convert`, caBundle },
    reviews: [],
    convert,
    answer: undefined,
  }
  return converter
}

function answerTo(review: Review, convert: Converter['convert']): object {
  const { uid, objects, desiredAPIVersion } = review.request
  const { apiVersion, kind } = review
  try {
    const convertedObjects = objects.map(object => convert(structuredClone(object), desiredAPIVersion))
    return { apiVersion, kind, response: { uid, convertedObjects, result: { status: 'Success' } } }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { apiVersion, kind, response: { uid, convertedObjects: [], result: { status: 'Failed', message } } }
  }
}
