/**
 * The administrator's kubeconfig. Contexts: `root` (current) for the root space, `base` for the bare server, and `system:admin` for work
 * across all spaces (its tool adds `/clusters/*`).
 * @see https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/
 */
import { writePrivateFile } from '../../program/replacedFiles.ts'

export interface AdminKubeconfig {
  /** `https://HOST:PORT`, without a path. */
  server: string
  /** Absent: the system's authorities are trusted. */
  caPem: string | undefined
  clientCertPem: string
  clientKeyPem: string
  /** A plain cluster without spaces: one context, `admin`. */
  plain?: boolean
}

const USER = 'orrery-admin'

/** YAML with all key material inside. */
export function adminKubeconfig(options: AdminKubeconfig): string {
  const base = options.server.replace(/\/+$/, '')
  const servers: Record<string, string> = options.plain
    ? { admin: base }
    : { root: `${base}/clusters/root`, base, 'system:admin': base }
  const lines = ['apiVersion: v1', 'kind: Config', 'preferences: {}', 'clusters:']
  for (const [name, server] of Object.entries(servers)) {
    lines.push('- cluster:')
    if (options.caPem !== undefined) lines.push(`    certificate-authority-data: ${base64(options.caPem)}`)
    lines.push(`    server: ${JSON.stringify(server)}`, `  name: ${JSON.stringify(name)}`)
  }
  lines.push('contexts:')
  for (const name of Object.keys(servers)) {
    lines.push(
      '- context:',
      `    cluster: ${JSON.stringify(name)}`,
      `    user: ${USER}`,
      `  name: ${JSON.stringify(name)}`,
    )
  }
  lines.push(`current-context: ${Object.keys(servers)[0]}`, 'users:', `- name: ${USER}`, '  user:')
  lines.push(`    client-certificate-data: ${base64(options.clientCertPem)}`)
  lines.push(`    client-key-data: ${base64(options.clientKeyPem)}`)
  return `${lines.join('\n')}\n`
}

/** Writes {@link adminKubeconfig} with mode 0600, in one step. */
export async function writeAdminKubeconfig(path: string, options: AdminKubeconfig): Promise<void> {
  await writePrivateFile(path, adminKubeconfig(options))
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
