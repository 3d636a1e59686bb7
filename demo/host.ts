/** A real kube-apiserver that leads to the server: its user works in a space, and what they apply reaches the clusters. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort, kubernetes, type RunningServer } from '../bench/servers.ts'
import { messageOf } from '../src/apimachinery/messageOf.ts'
import type { GroupVersionResource } from '../src/apimachinery/object.ts'
import { httpSpaceClient } from '../src/client/http/httpClient.ts'
import { loadKubeconfig } from '../src/client/kubeconfig.ts'
import { frontProxyFlags } from '../test/support/frontProxy.ts'
import { page } from './expectations.ts'
import { BIN, runCommand } from './processes.ts'
import type { Stage } from './stage.ts'

const SPACES: GroupVersionResource = { group: 'tenancy.kcp.io', version: 'v1alpha1', resource: 'spaces' }
const SPACE = 'root:wmw-c'
const LIMIT_MS = 60_000
const manifest = (name: string): string => join(import.meta.dirname, 'manifests', name)

export class HostCluster {
  readonly #dir: string
  readonly #server: RunningServer
  readonly #port: number

  private constructor(dir: string, server: RunningServer, port: number) {
    this.#dir = dir
    this.#server = server
    this.#port = port
  }

  static async start(assets: string, dir: string): Promise<HostCluster> {
    await mkdir(dir)
    const flags = await frontProxyFlags(dir)
    const server = await kubernetes(assets, undefined, { flags, users: ['alice'] }).start(join(dir, 'data'))
    const host = new HostCluster(dir, server, await freePort())
    await host.#kubeconfig('admin', 'bench-token')
    return host
  }

  /** The server starts with these. */
  get flags(): string[] {
    return ['--aggregated', '--host-kubeconfig', join(this.#dir, 'admin'), '--aggregated-port', `${this.#port}`]
  }

  stop(): Promise<void> {
    return this.#server.stop()
  }

  /** @param dataDir of the server */
  async play({ shell, kubeconfig, clusters, print, title }: Stage, dataDir: string): Promise<void> {
    title('Behind a kube-apiserver (a real one): its users reach their spaces by its address, with its credentials')
    const admin = join(this.#dir, 'admin')
    const place = ['--host-kubeconfig', admin, '--data-dir', dataDir, '--aggregated-port', `${this.#port}`]
    const ends = ['--external-name', 'localhost', '--host-user', 'admin']
    const printed = await orrery(print, 'print', ...place, ...ends)
    const file = join(this.#dir, 'host.yaml')
    await writeFile(file, `apiVersion: v1\nkind: Namespace\nmetadata: { name: orrery }\n${printed}`)
    await shell.apply(admin, file)
    await shell.apply(admin, manifest('host-user.yaml'))
    await shell.plugin(kubeconfig, ['ws', SPACE])
    await shell.apply(kubeconfig, manifest('space-user.yaml'))

    const alice = await this.#kubeconfig('alice', 'alice-token')
    await leadsTo(alice)
    await shell.show(alice, 'get', 'spaces')
    const path = `/apis/tenancy.kcp.io/v1alpha1/spaces/${SPACE}/proxy`
    const inSpace = await this.#kubeconfig('alice-in-her-space', 'alice-token', path)
    await shell.plugin(inSpace, ['ws', '.'])
    await shell.apply(inSpace, manifest('page-host.yaml'))
    for (const [name, cluster] of clusters)
      await page(cluster, name, 'commonstuff', `This web site is running in ${name}, by way of the host.`)
    print('florin and guilder have the page that alice of the host wrote')
    await orrery(print, 'remove', ...place)
  }

  /** The path of the file that it writes. */
  async #kubeconfig(name: string, token: string, path = ''): Promise<string> {
    const { host, port } = this.#server.endpoint
    const file = join(this.#dir, name)
    const cluster = { server: `https://${host}:${port}${path}`, 'insecure-skip-tls-verify': true }
    const access = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name, cluster }],
      users: [{ name, user: { token } }],
      contexts: [{ name, context: { cluster: name, user: name } }],
      'current-context': name,
    }
    await writeFile(file, JSON.stringify(access), { mode: 0o600 })
    return file
  }
}

/** `orrery aggregation <args>`. @throws Error when it fails */
async function orrery(print: (text: string) => void, ...args: string[]): Promise<string> {
  print(`$ orrery aggregation ${args.join(' ')}`)
  const { code, output } = await runCommand(join(BIN, 'orrery'), ['aggregation', ...args], {})
  if (code !== 0) throw new Error(`orrery aggregation ${args[0]} ended with code ${code}: ${output}`)
  if (args[0] !== 'print') print(output.trimEnd())
  return output
}

/** The host reports nothing when it leads on. */
async function leadsTo(kubeconfig: string): Promise<void> {
  const client = httpSpaceClient((await loadKubeconfig(kubeconfig)).options)
  try {
    for (const begun = performance.now(); ; ) {
      try {
        await client.list(SPACES)
        return
      } catch (error) {
        if (performance.now() - begun > LIMIT_MS)
          throw new Error(`the host does not lead to the server: ${messageOf(error)}`, { cause: error })
        await new Promise(resolve => setTimeout(resolve, 100))
      }
    }
  } finally {
    client.close()
  }
}
