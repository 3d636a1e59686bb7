/** A host cluster for the server under attack: it describes its front proxy, and allows each review. */
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { issueServing } from '../../src/apiserver/pki/issue.ts'
import { authenticationData } from '../apiserver/aggregated/support.ts'
import { Authority } from '../support/frontProxy.ts'

export class FakeHost {
  readonly kubeconfig: string
  /** Vouches for its front proxies. */
  readonly authority: Authority
  readonly #server: Server

  private constructor(kubeconfig: string, authority: Authority, server: Server) {
    this.kubeconfig = kubeconfig
    this.authority = authority
    this.#server = server
  }

  static async start(dir: string): Promise<FakeHost> {
    const authority = await Authority.make()
    const own = { ca: authority.ca, dnsNames: [], ips: ['127.0.0.1'], nowMs: Date.now(), days: 1 }
    const { certPem: cert, keyPem: key } = await issueServing(own)
    const metadata = { name: 'extension-apiserver-authentication', namespace: 'kube-system', resourceVersion: '1' }
    const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: authenticationData(authority.ca.certPem) }
    const list = { apiVersion: 'v1', kind: 'ConfigMapList', metadata: { resourceVersion: '1' }, items: [config] }
    const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', metadata: {} }
    const server = createServer({ cert, key }, (request, response) => {
      response.writeHead(request.method === 'POST' ? 201 : 200, { 'content-type': 'application/json' })
      request.resume()
      // a watch tells nothing
      if (request.url!.includes('watch=1')) response.flushHeaders()
      else response.end(JSON.stringify(request.method === 'POST' ? { ...review, status: { allowed: true } } : list))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
    const kubeconfig = join(dir, 'host.kubeconfig')
    const cluster = { server: url, 'insecure-skip-tls-verify': true }
    const access = {
      clusters: [{ name: 'h', cluster }],
      users: [{ name: 'h', user: {} }],
      contexts: [{ name: 'h', context: { cluster: 'h', user: 'h' } }],
      'current-context': 'h',
    }
    writeFileSync(kubeconfig, JSON.stringify(access))
    return new FakeHost(kubeconfig, authority, server)
  }

  stop(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }
}
