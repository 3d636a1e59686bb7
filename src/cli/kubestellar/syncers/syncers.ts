/** `syncer revoke|rotate|remove|adopt`: the end of a syncer's credentials, and a new one. */
import type { KubeObject } from '../../../apimachinery/object.ts'
import { SECRETS, SERVICE_ACCOUNTS } from '../../../apimachinery/resources.ts'
import type { SpaceClient } from '../../../client/client.ts'
import { httpSpaceClient } from '../../../client/http/httpClient.ts'
import { loadKubeconfig } from '../../../client/kubeconfig.ts'
import { unlessGone } from '../../../client/unlessGone.ts'
import { CLUSTER_RECORD, MAILBOX_PARENT, SYNCER_NAME, SYNCER_NAMESPACE } from '../../../placement/words/placement.ts'
import { writePrivateFile } from '../../../program/replacedFiles.ts'
import { adopt, adoptionText, CONFIG_MAPS } from '../../../syncer/whose/clusterRecord.ts'
import { mailboxOf, requireOtherServer } from '../../../syncer/whose/places.ts'
import { formatIn, printObjects } from '../../shell/changes.ts'
import { CommandError } from '../../shell/commandError.ts'
import { type ConfirmOptions, confirm } from '../../shell/confirm.ts'
import { pathOf, type Session } from '../../shell/session/session.ts'
import { serverOf } from '../../shell/session/spaces.ts'
import type { Terminal } from '../../shell/terminal.ts'
import { waitFor } from '../../shell/waitFor.ts'
import { type FoundSyncTarget, findSyncTarget, requestCredential, secretsOf, waitForMailbox } from './mailbox.ts'
import { syncerAccess, syncerBase } from './prepForSyncer.ts'
import { credentialSecret, syncerId, syncerKubeconfig, toYaml } from './syncerManifest.ts'

export interface SyncerOptions {
  imw: string
  espw: string
  /** Seconds to wait for the mailbox. */
  timeout: number
}

const ACCOUNT = { namespace: SYNCER_NAMESPACE, name: SYNCER_NAME }
interface Opened {
  target: FoundSyncTarget
  /** Id of the mailbox space. */
  id: string
  mailbox: SpaceClient
}

/**
 * Ends every credential of a syncer, with the tokens and streams that it got by them.
 * @returns what was deleted for that: Secrets, without what they held, and the ServiceAccount
 */
export async function revokeSyncer(
  session: Session,
  name: string,
  options: SyncerOptions & ConfirmOptions,
  terminal: Terminal,
): Promise<KubeObject[]> {
  const { deleted } = await revoke(session, name, options, terminal)
  terminal.out(`every credential of the syncer of ${name} is revoked; what its cluster holds stays there`)
  terminal.out(`Give it a new one with: kubectl kubestellar syncer rotate ${name}`)
  return deleted
}

export interface RotateOptions extends SyncerOptions {
  /** Seconds. */
  lifetime: number
  output?: string
  kubeconfigOutput?: string
  syncerServer?: string
}

/** A new credential in place of all others, which end when it is used. */
export async function rotateSyncer(
  session: Session,
  name: string,
  options: RotateOptions,
  terminal: Terminal,
): Promise<void> {
  const format = formatIn(options.output)
  const notes = format === undefined ? terminal : { ...terminal, out: terminal.err }
  const base = syncerBase(session, options.syncerServer)
  const { target, id, mailbox } = await open(session, name, { ...options, terminal })
  const token = await requestCredential(mailbox, { lifetimeSeconds: options.lifetime, replaces: true })
  if (options.kubeconfigOutput !== undefined) {
    const access = syncerAccess(session, serverOf(base, id), token)
    await writePrivateFile(options.kubeconfigOutput, toYaml(syncerKubeconfig(access)))
    notes.out(`Wrote the syncer's kubeconfig with a new credential to ${options.kubeconfigOutput}`)
    if (format === undefined) return
  }
  const object = credentialSecret(target, token)
  if (format !== undefined) return await printObjects(object, format, terminal)
  const secret = toYaml(object)
  if (options.output === '-') return terminal.out(secret.trimEnd())
  const output = options.output ?? `${name}-syncer-credential.yaml`
  await writePrivateFile(output, secret)
  terminal.out(`Wrote a new credential of the syncer of ${name} to ${output}. Apply it with`)
  terminal.out('')
  terminal.out(`  KUBECONFIG=<workload-execution-cluster-config> kubectl apply -f "${output}"`)
  terminal.out('')
  terminal.out('The credentials before it end when the syncer uses it.')
}

/** Ends every credential of a syncer as {@link revokeSyncer}, and says how to take the syncer itself out of its cluster. */
export async function removeSyncer(
  session: Session,
  name: string,
  options: SyncerOptions & ConfirmOptions,
  terminal: Terminal,
): Promise<KubeObject[]> {
  const { target, deleted } = await revoke(session, name, options, terminal)
  const id = syncerId(target)
  const kubectl = 'KUBECONFIG=<workload-execution-cluster-config> kubectl'
  for (const line of [
    `every credential of the syncer of ${name} is revoked; what its cluster holds stays there. Take the syncer out with`,
    '',
    `  ${kubectl} delete namespace,clusterrole,clusterrolebinding ${id}`,
    '',
    `The SyncTarget stays; delete it with: kubectl kubestellar remove location ${name}`,
  ])
    terminal.out(line)
  return deleted
}

interface AdoptOptions extends SyncerOptions {
  toKubeconfig: string
  toContext?: string
}

/**
 * From now on a cluster is served from the mailbox of this SyncTarget, whatever it was served from before.
 * @returns the cluster's note of it
 */
export async function adoptCluster(
  session: Session,
  name: string,
  options: AdoptOptions,
  terminal: Terminal,
): Promise<KubeObject> {
  const { mailbox } = await open(session, name, { ...options, terminal })
  const cluster = httpSpaceClient((await loadKubeconfig(options.toKubeconfig, options.toContext)).options)
  try {
    await requireOtherServer(mailbox, cluster)
    const given = await mailboxOf(mailbox)
    terminal.out(adoptionText(await adopt(cluster, given), given))
    return await cluster.get(CONFIG_MAPS, CLUSTER_RECORD)
  } finally {
    cluster.close()
  }
}

/** @param agree called when there is such a SyncTarget */
async function open(
  session: Session,
  name: string,
  options: SyncerOptions & { terminal: Terminal },
  agree: () => Promise<void> = async () => {},
): Promise<Opened> {
  const { client } = session
  const target = await findSyncTarget(client, await pathOf(session, options.imw), name)
  await agree()
  const id = await waitForMailbox({
    client,
    espw: await pathOf(session, options.espw || MAILBOX_PARENT),
    mailbox: target.mailbox,
    timeoutSeconds: options.timeout,
    terminal: options.terminal,
  })
  return { target, id, mailbox: client.in(id) }
}

/** The credentials come first: nobody begins a session behind us. The account goes too, for tokens that stand for none. */
async function revoke(
  session: Session,
  name: string,
  options: SyncerOptions & ConfirmOptions,
  terminal: Terminal,
): Promise<{ target: FoundSyncTarget; deleted: KubeObject[] }> {
  const end = `This ends every credential of the syncer of ${name} at once; its cluster gets nothing new until it has another one.`
  const agree = () => confirm(end, options, terminal)
  const { target, mailbox } = await open(session, name, { ...options, terminal }, agree)
  const { credentials, live, waiting } = await secretsOf(mailbox)
  const secrets = [...waiting, ...credentials, ...(live ? [live] : [])]
  for (const { metadata } of secrets)
    await unlessGone(mailbox.delete(SECRETS, { namespace: SYNCER_NAMESPACE, name: metadata.name ?? '' }))
  const account = await unlessGone(mailbox.get(SERVICE_ACCOUNTS, ACCOUNT))
  await unlessGone(mailbox.delete(SERVICE_ACCOUNTS, ACCOUNT))
  const { reached } = await waitFor({
    client: mailbox,
    resource: SERVICE_ACCOUNTS,
    ref: ACCOUNT,
    done: now => now !== undefined && now.metadata.uid !== account?.metadata.uid,
    signal: AbortSignal.timeout(options.timeout * 1000),
    progress: (_, seconds) =>
      terminal.err(`Revoked; the identity of the syncer is not made anew after ${seconds} s; waiting...`),
  })
  if (!reached)
    throw new CommandError('revoked; the identity of the syncer is not made anew: is the mailbox controller running?')
  const emptied = secrets.map(({ data: _, ...rest }) => rest as KubeObject)
  return { target, deleted: [...emptied, ...(account ? [account] : [])] }
}
