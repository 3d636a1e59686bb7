/** The front proxy of a host cluster: its authority, its certificate, and the flags by which a kube-apiserver is one. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { issueCa, issueClient, type PemPair } from '../../src/apiserver/pki/issue.ts'

export const PROXY_NAME = 'front-proxy-client'

/** An authority, and a certificate of it for a name. */
export class Authority {
  readonly ca: PemPair

  private constructor(ca: PemPair) {
    this.ca = ca
  }

  static async make(commonName = 'front proxies'): Promise<Authority> {
    return new Authority(await issueCa({ commonName, nowMs: Date.now(), days: 10 }))
  }

  client(commonName = PROXY_NAME, days = 5): Promise<PemPair> {
    return issueClient({ ca: this.ca, commonName, organizations: [], nowMs: Date.now(), days })
  }
}

/** Writes a new authority and a new certificate of it into a folder; the flags that name these files stay the same. */
export async function frontProxyFlags(dir: string, commonName?: string): Promise<string[]> {
  const authority = await Authority.make(commonName)
  const { certPem, keyPem } = await authority.client()
  const file = (name: string, text: string): string => {
    writeFileSync(join(dir, name), text)
    return join(dir, name)
  }
  return [
    `--requestheader-client-ca-file=${file('front-ca.crt', authority.ca.certPem)}`,
    `--requestheader-allowed-names=${PROXY_NAME}`,
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    `--proxy-client-cert-file=${file('front.crt', certPem)}`,
    `--proxy-client-key-file=${file('front.key', keyPem)}`,
  ]
}
