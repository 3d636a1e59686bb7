/** One story that every client library tells of a space; what it sees has to be the same whoever asks. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { Api } from '../../support/api.ts'
import { run } from '../../support/orrery.ts'
import { createSpace, startTestServer, temporaryDir } from '../../support/server.ts'

/**
 * A ConfigMap is made, changed in every way and deleted, each step after the watch's event of the one before. A Deployment is applied.
 */
export const STORY = [
  'created one',
  'read 1',
  'ADDED 1',
  'MODIFIED 2 patched',
  'MODIFIED 3 replaced',
  'conflict 409 Conflict',
  'MODIFIED 4 applied',
  'deployment nginx:1 x2',
  'list one',
  'DELETED 4',
  'missing 404 NotFound',
]

export interface SpaceAccess {
  /** Kubeconfig of an administrator, in the space. */
  kubeconfig: string
  /** `https://host:port/clusters/<space>` */
  server: string
  api: Api
}

/** A server in this process with a space of its own. */
export async function startSpace(t: Test, name: string): Promise<SpaceAccess> {
  const { api, server, faults } = await startTestServer(t)
  await createSpace(api, name)
  const url = `${server.url}/clusters/root:${name}`
  const kubeconfig = join(temporaryDir(t), 'kubeconfig')
  const base64 = (pem: string | undefined): string => Buffer.from(pem ?? '').toString('base64')
  const { ca, cert, key } = api.access
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server: url, 'certificate-authority-data': base64(ca) } }],
    users: [{ name, user: { 'client-certificate-data': base64(cert), 'client-key-data': base64(key) } }],
    contexts: [{ name, context: { cluster: name, user: name, namespace: 'default' } }],
    'current-context': name,
  }
  writeFileSync(kubeconfig, JSON.stringify(config), { mode: 0o600 })
  t.after(() => {
    if (faults.length > 0) throw new Error(`the server blames itself: ${faults.join('; ')}`)
  })
  return { kubeconfig, server: url, api: api.in(`root:${name}`) }
}

/** The first of the interpreters that can run `probe`. */
export async function findInterpreter(names: readonly string[], probe: readonly string[]): Promise<string | undefined> {
  for (const name of names) if ((await run(name, probe)).code === 0) return name
  return undefined
}

/** Output of a script of this folder about its session, line by line. @throws Error with its complaints when it fails */
export async function tell(interpreter: string, script: string, kubeconfig: string): Promise<string[]> {
  const { code, out, err } = await run(interpreter, [join(import.meta.dirname, script), kubeconfig])
  if (code !== 0) throw new Error(`${script} failed with ${code}: ${err}${out}`)
  return out.trim().split('\n')
}
