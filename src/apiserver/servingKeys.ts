/** Keys that a server shows, the authority that vouches for them, and the administrator's kubeconfig. All are renewed while it runs. */
import { join } from 'node:path'
import type { ApiServerOptions } from './apiServerOptions.ts'
import type { ShownKeys } from './connections/tls.ts'
import { type Pki, tlsOf } from './pki/ensurePki.ts'
import { type AdminKubeconfig, adminKubeconfig, writeAdminKubeconfig } from './pki/kubeconfig.ts'
import type { NamedCertificate } from './pki/namedCertificate.ts'

interface ServingKeysOptions extends Pick<ApiServerOptions, 'dataDir' | 'spaces' | 'externalCaPem'> {
  pki: Pki
  named: NamedCertificate | undefined
  /** URL of the server, known once it listens. */
  url: () => string
}

export class ServingKeys {
  readonly kubeconfigPath: string
  readonly #options: ServingKeysOptions
  #pki: Pki
  #named: NamedCertificate | undefined
  readonly #kubeconfigListeners: (() => void)[] = []
  readonly #authorityListeners: ((caPem: string) => void)[] = []

  constructor(options: ServingKeysOptions) {
    this.kubeconfigPath = join(options.dataDir, 'admin.kubeconfig')
    this.#options = options
    this.#pki = options.pki
    this.#named = options.named
  }

  get caPem(): string {
    return this.#pki.caPem
  }

  get shown(): ShownKeys {
    const named = this.#named
    return {
      ...tlsOf(this.#pki),
      ...(named && { named: { names: named.names, cert: named.certPem, key: named.keyPem } }),
    }
  }

  use(renewed: Pki): void {
    this.#pki = renewed
  }

  useNamed(certificate: NamedCertificate): void {
    this.#named = certificate
  }

  /** Tells of the authority and writes the kubeconfig. */
  async publish(): Promise<void> {
    for (const notify of this.#authorityListeners) notify(this.caPem)
    await writeAdminKubeconfig(this.kubeconfigPath, this.#kubeconfigAt(this.#options.url()))
    for (const notify of this.#kubeconfigListeners) notify()
  }

  /** As of now, for clients that reach the server by another URL. */
  kubeconfigFor(server: string): string {
    return adminKubeconfig(this.#kubeconfigAt(server))
  }

  onKubeconfig(listener: () => void): void {
    this.#kubeconfigListeners.push(listener)
  }

  onAuthority(listener: (caPem: string) => void): void {
    this.#authorityListeners.push(listener)
  }

  #kubeconfigAt(server: string): AdminKubeconfig {
    const { admin, caPem } = this.#pki
    const { externalCaPem, spaces } = this.#options
    // a client that comes by a name of that certificate has to trust its authority
    const isNamed = this.#options.named?.covers(new URL(server).hostname)
    return {
      server,
      caPem: isNamed ? externalCaPem : caPem,
      clientCertPem: admin.certPem,
      clientKeyPem: admin.keyPem,
      ...(!spaces && { plain: true }),
    }
  }
}
