/** `prep-for-syncer`: waits for the mailbox of a SyncTarget and writes what its syncer needs. */

import { messageOf } from '../../../apimachinery/messageOf.ts'
import { loadKubeconfig } from '../../../client/kubeconfig.ts'
import { isBootstrapCredential } from '../../../placement/spaces/syncerBootstrap.ts'
import { MAILBOX_PARENT } from '../../../placement/words/placement.ts'
import { writePrivateFile } from '../../../program/replacedFiles.ts'
import { ClusterAllowance } from '../../../syncer/mailbox/clusterAllowance.ts'
import { formatIn, printObjects } from '../../shell/changes.ts'
import { CommandError } from '../../shell/commandError.ts'
import { pathOf, requireOrdinaryAddress, type Session } from '../../shell/session/session.ts'
import { serverOf } from '../../shell/session/spaces.ts'
import type { Terminal } from '../../shell/terminal.ts'
import { findSyncTarget, requestCredential, waitForMailbox } from './mailbox.ts'
import {
  credentialSecret,
  type ServerAccess,
  type SyncerAccess,
  syncerId,
  syncerKubeconfig,
  syncerManifest,
  toYaml,
} from './syncerManifest.ts'
import { limitArguments, type SyncerLimits, syncerRules } from './syncerRights.ts'

export interface PrepOptions {
  imw: string
  espw: string
  syncerImage: string
  /** File for the manifest; `-` is stdout, `json`, `yaml` and `name` are forms of it there. Default: `<SyncTarget>-syncer.yaml`. */
  output?: string
  /** File for the Secret that holds the credential, which is then not in the manifest. */
  credentialOutput?: string
  /** File with a bootstrap credential: the syncer joins by it. */
  bootstrapKubeconfig?: string
  /** File for the syncer's kubeconfig; the manifest is then only written when `output` says where. */
  kubeconfigOutput?: string
  /** `scheme://host:port` by which the syncer reaches the server; default: as in the user's kubeconfig. */
  syncerServer?: string
  /** URL of the HTTP proxy between them. */
  syncerProxyUrl?: string
  lifetime: number
  replicas: string
  qps: string
  burst: string
  /** Comma-separated lists; what the cluster's owner allows the syncer. */
  allowNamespaces?: string
  allowKinds?: string
  associatedKinds?: string
  allowClusterScoped?: string
  impersonate?: boolean
  adoptExisting?: boolean
  /** Seconds to wait for the mailbox. */
  timeout: number
  silent?: boolean
}

/** @throws CommandError exit code 2 when `espw` is no core space, 5 when the mailbox does not appear */
export async function prepForSyncer(
  session: Session,
  name: string,
  options: PrepOptions,
  terminal: Terminal,
): Promise<void> {
  const numbers = {
    replicas: wholeNumber(options.replicas, '--replicas'),
    qps: wholeNumber(options.qps, '--qps'),
    burst: wholeNumber(options.burst, '--burst'),
  }
  const limits = limitsIn(options)
  if (options.syncerProxyUrl !== undefined && !/^https?:$/.test(URL.parse(options.syncerProxyUrl)?.protocol ?? ''))
    throw new CommandError('--syncer-proxy-url is no http:// or https:// URL')
  const base = syncerBase(session, options.syncerServer)
  const { client } = session
  const mailboxAccess = async (): Promise<SyncerAccess> => {
    const mailboxId = await waitForMailbox({
      client,
      espw: await pathOf(session, options.espw || MAILBOX_PARENT),
      mailbox: syncTarget.mailbox,
      timeoutSeconds: options.timeout,
      terminal,
    })
    const token = await requestCredential(client.in(mailboxId), { lifetimeSeconds: options.lifetime, replaces: false })
    return syncerAccess(session, serverOf(base, mailboxId), token)
  }
  const syncTarget = await findSyncTarget(client, await pathOf(session, options.imw), name)
  const proxyUrl = options.syncerProxyUrl
  const joins = options.bootstrapKubeconfig !== undefined
  const access = {
    ...(joins ? await bootstrapAccess(options) : await mailboxAccess()),
    ...(proxyUrl !== undefined && { proxyUrl }),
  }
  const format = formatIn(options.output)
  const takesStdout = format !== undefined || options.output === '-'
  const note = (line: string) => {
    if (!options.silent) (takesStdout ? terminal.err : terminal.out)(line)
  }
  if (options.kubeconfigOutput !== undefined) {
    await writePrivateFile(options.kubeconfigOutput, toYaml(syncerKubeconfig(access)))
    note(`Wrote the syncer's kubeconfig to ${options.kubeconfigOutput}`)
    const flags = limitArguments(limits)
    if (options.output === undefined && flags.length > 0) note(`Start the syncer with ${flags.join(' ')}`)
    if (options.output === undefined) return
  }
  if (isLoopback(access.server)) {
    terminal.err(
      `Note: the syncer will dial ${new URL(access.server).origin}, which leads to this server on this machine only; see --syncer-server.`,
    )
  }
  const objects = syncerManifest({ syncTarget, access, image: options.syncerImage, limits, joins, ...numbers })
  const secret = credentialSecret(syncTarget, access.token)
  const holdsAll = joins || options.credentialOutput !== undefined
  // before the Deployment, whose Pod waits for it
  const all = holdsAll ? objects : [...objects.slice(0, -1), secret, ...objects.slice(-1)]
  if (options.credentialOutput !== undefined) {
    await writePrivateFile(options.credentialOutput, toYaml(secret))
    note(`Wrote the Secret with the syncer's credential to ${options.credentialOutput}; apply it after the manifest`)
  }
  if (format !== undefined) return await printObjects(all, format, terminal)
  const manifest = all.map(toYaml).join('---\n')
  const output = options.output ?? `${name}-syncer.yaml`
  if (output === '-') return terminal.out(manifest.trimEnd())
  await writePrivateFile(output, manifest)
  for (const line of advice(output, syncerId(syncTarget), lastWords(name, options))) note(line)
}

/** Access by a bootstrap kubeconfig, unchanged. @throws CommandError for flags that do not go with it, and another kubeconfig */
async function bootstrapAccess(options: PrepOptions): Promise<SyncerAccess> {
  const { bootstrapKubeconfig = '', syncerServer, kubeconfigOutput, credentialOutput } = options
  const others = {
    '--syncer-server': syncerServer,
    '--kubeconfig-output': kubeconfigOutput,
    '--credential-output': credentialOutput,
  }
  for (const [flag, value] of Object.entries(others))
    if (value !== undefined)
      throw new CommandError(`${flag} does not go with --bootstrap-kubeconfig, whose file has it all`)
  const { options: found } = await loadKubeconfig(bootstrapKubeconfig)
  const token = typeof found.token === 'function' ? await found.token() : (found.token ?? '')
  if (token === undefined || !isBootstrapCredential(token))
    throw new CommandError(
      `${bootstrapKubeconfig} holds no bootstrap credential; "kubectl kubestellar bootstrap create" makes one`,
    )
  return { ...accessIn(found), token, ...(found.proxyUrl !== undefined && { proxyUrl: found.proxyUrl }) }
}

/** @throws CommandError when a pattern can match nothing, or no ClusterRole can say it */
function limitsIn(options: PrepOptions): SyncerLimits {
  const { allowNamespaces, allowKinds, allowClusterScoped, associatedKinds, impersonate, adoptExisting } = options
  const limits = {
    ...(allowNamespaces !== undefined && { namespaces: allowNamespaces.split(',') }),
    ...(allowKinds !== undefined && { kinds: allowKinds.split(',') }),
    ...(allowClusterScoped !== undefined && { clusterScoped: allowClusterScoped.split(',') }),
    ...(associatedKinds !== undefined && { associated: associatedKinds.split(',') }),
    ...(impersonate && { impersonate }),
    ...(adoptExisting && { adoptExisting }),
  }
  try {
    new ClusterAllowance(limits)
  } catch (error) {
    throw new CommandError(messageOf(error), undefined, { cause: error })
  }
  syncerRules(limits)
  return limits
}

function advice(file: string, id: string, last: readonly string[]): string[] {
  const kubectl = 'KUBECONFIG=<workload-execution-cluster-config> kubectl'
  return [
    `Wrote the manifest for the workload execution cluster to ${file}, namespace "${id}". Apply it with`,
    '',
    `  ${kubectl} apply -f "${file}"`,
    '',
    'and look at the syncer with',
    '',
    `  ${kubectl} get deployment -n ${id} ${id}`,
    '',
    ...last,
  ]
}

function lastWords(name: string, { bootstrapKubeconfig, credentialOutput, imw }: PrepOptions): string[] {
  if (bootstrapKubeconfig !== undefined)
    return [
      `Its syncer claims a credential, which waits for an administrator: kubectl kubestellar approve ${name} --imw ${imw}`,
      'The file holds the bootstrap credential: whoever has it can make such claims.',
    ]
  return credentialOutput === undefined ? ['The file holds a credential: whoever has it can act as this syncer.'] : []
}

/** How a syncer reaches its mailbox space: with its own credential, and with the caller's trust in the server. */
export function syncerAccess(session: Session, server: string, token: string): SyncerAccess {
  return { ...serverAccess(session, server), token }
}

/** A server as the caller's kubeconfig trusts it. */
export function serverAccess({ options }: Session, server: string): ServerAccess {
  return accessIn({ ...options, server })
}

function accessIn({ server, caPem, insecure, tlsServerName }: Session['options']): ServerAccess {
  return {
    server,
    ...(caPem !== undefined && { caPem }),
    ...(insecure && { insecure }),
    ...(tlsServerName !== undefined && { tlsServerName }),
  }
}

/** The address that a syncer is given. @throws CommandError */
export function syncerBase(session: Session, text: string | undefined): string {
  requireOrdinaryAddress(session)
  if (text === undefined) return session.base
  if (/^https?:\/\//.test(text) && URL.canParse(text)) return text.replace(/\/+$/, '')
  throw new CommandError(`--syncer-server: ${JSON.stringify(text)} is not a URL such as https://host:port`)
}

function isLoopback(url: string): boolean {
  const { hostname } = new URL(url)
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.')
}

function wholeNumber(text: string, flag: string): number {
  if (!/^\d+$/.test(text)) throw new CommandError(`${flag}: ${JSON.stringify(text)} is not a whole number`)
  return Number(text)
}
