/** Commands of the demo's user: kubectl where it is installed, else the same through Orrery's own client. */
import { readFile } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { isRecord, type KubeObject, parseApiVersion } from '../src/apimachinery/object.ts'
import type { DiscoveredResource, SpaceClient } from '../src/client/client.ts'
import { httpSpaceClient } from '../src/client/http/httpClient.ts'
import { loadKubeconfig, splitServer } from '../src/client/kubeconfig.ts'
import type { Paint } from './paint.ts'
import { BIN, hasKubectl, runCommand } from './processes.ts'

export class Shell {
  readonly #kubectl = hasKubectl()
  readonly #print: (text: string) => void
  readonly #paint: Paint

  constructor(print: (text: string) => void, paint: Paint) {
    this.#print = print
    this.#paint = paint
    if (!this.#kubectl) print('(kubectl is not installed: using the client that comes with Orrery)')
  }

  /** `kubectl <plugin> <args>`, where the plugin is one of Orrery's. @throws Error unless it ends with the exit code */
  async plugin(kubeconfig: string, args: readonly string[], expected = 0): Promise<string> {
    const [name, ...rest] = args
    await this.#type(kubeconfig, args)
    const env = { KUBECONFIG: kubeconfig }
    const ran = this.#kubectl
      ? await runCommand('kubectl', args, env)
      : await runCommand(join(BIN, `kubectl-${name}`), rest, env)
    return this.#ran(ran, args, expected)
  }

  /** `kubectl apply -f <file>`. */
  async apply(kubeconfig: string, file: string): Promise<string> {
    await this.#type(kubeconfig, ['apply', '-f', relative('.', file)])
    if (this.#kubectl) {
      const args = ['apply', '-f', file]
      return this.#ran(await runCommand('kubectl', args, { KUBECONFIG: kubeconfig }), args)
    }
    const api = await clientOf(kubeconfig)
    const lines: string[] = []
    for (const document of parseAllDocuments(await readFile(file, 'utf8'))) {
      const object = document.toJS() as KubeObject
      const resource = await resourceOf(api, object)
      const { namespace, name = '' } = object.metadata
      await api.patch(resource, { name, ...(namespace && { namespace }) }, 'apply', object, {
        fieldManager: 'demo',
        force: true,
      })
      lines.push(`${object.kind.toLowerCase()}/${name} applied`)
    }
    return this.#show(lines.join('\n'))
  }

  /** `kubectl <args>`, for looking at things: shown, never checked. Without kubectl it is left out. */
  async show(kubeconfig: string, ...args: string[]): Promise<void> {
    if (!this.#kubectl) return
    await this.#type(kubeconfig, args)
    this.#show((await runCommand('kubectl', args, { KUBECONFIG: kubeconfig })).output)
  }

  /** `kubectl delete <resource> <name> -n <namespace>`. */
  async delete(kubeconfig: string, resource: string, name: string, namespace: string): Promise<void> {
    const args = ['delete', resource, name, '-n', namespace]
    await this.#type(kubeconfig, args)
    if (this.#kubectl) {
      this.#ran(await runCommand('kubectl', args, { KUBECONFIG: kubeconfig }), args)
      return
    }
    const api = await clientOf(kubeconfig)
    const found = (await api.discover()).find(r => r.resource === resource)
    if (!found) throw new Error(`the server does not serve ${resource}`)
    await api.delete(found, { namespace, name })
    this.#show(`${resource}/${name} deleted`)
  }

  /** Shows a command behind the place that it speaks to: a space of the center, or a cluster. */
  async #type(kubeconfig: string, args: readonly string[]): Promise<void> {
    const context = args.indexOf('--context')
    const { options } = await loadKubeconfig(kubeconfig, context < 0 ? undefined : args[context + 1])
    const { space } = splitServer(options.server)
    const place = space ? this.#paint('center', `center ${space}`) : this.#paint('cluster', clusterOf(kubeconfig))
    this.#print(`${place} $ ${this.#paint('command', `kubectl ${args.map(quote).join(' ')}`)}`)
  }

  #ran({ code, output }: { code: number; output: string }, args: readonly string[], expected = 0): string {
    this.#show(output)
    if (code !== expected) throw new Error(`kubectl ${args.join(' ')} ended with code ${code}`)
    return output
  }

  #show(output: string): string {
    const text = output.trimEnd()
    if (text !== '') this.#print(text)
    return output
  }
}

async function clientOf(kubeconfig: string): Promise<SpaceClient> {
  return httpSpaceClient((await loadKubeconfig(kubeconfig)).options)
}

async function resourceOf(api: SpaceClient, object: KubeObject): Promise<DiscoveredResource> {
  const gv = parseApiVersion(object.apiVersion)
  const resource = (await api.discover()).find(r => r.group === gv?.group && r.kind === object.kind)
  if (!resource || !isRecord(object.metadata))
    throw new Error(`the server does not serve ${object.apiVersion} ${object.kind}`)
  return resource
}

/** Each cluster keeps its kubeconfig in a folder of its name. */
function clusterOf(kubeconfig: string): string {
  return `cluster ${basename(dirname(kubeconfig))}`
}

function quote(text: string): string {
  return /^[\w./:=,@%+-]+$/.test(text) ? text : `'${text}'`
}
