/** The way from a SyncTarget to its mailbox space and the syncer's credential for it. */
import { isStatusError } from '../../../apimachinery/errors.ts'
import { didYouMean } from '../../../apimachinery/nearest.ts'
import { isRecord, type KubeObject } from '../../../apimachinery/object.ts'
import { CLUSTER_ANNOTATION, SECRETS, SERVICE_ACCOUNTS, WORKSPACES } from '../../../apimachinery/resources.ts'
import type { Client, SpaceClient } from '../../../client/client.ts'
import { listAll } from '../../../client/listWatch.ts'
import { unlessGone } from '../../../client/unlessGone.ts'
import { CLAIM_TYPE, ISSUED_ANNOTATION } from '../../../placement/spaces/syncerBootstrap.ts'
import {
  CREDENTIAL_TYPE,
  isRenewalCredential,
  RENEWAL_AUDIENCE,
  REPLACES_ANNOTATION,
  SESSION_NAME,
  SESSION_TYPE,
} from '../../../placement/spaces/syncerCredential.ts'
import { mailboxName, SYNC_TARGETS, SYNCER_NAME, SYNCER_NAMESPACE } from '../../../placement/words/placement.ts'
import { CommandError, NO_MAILBOX, NOT_THE_CORE_SPACE } from '../../shell/commandError.ts'
import { phaseOf } from '../../shell/session/spaces.ts'
import type { Terminal } from '../../shell/terminal.ts'
import { waitFor } from '../../shell/waitFor.ts'

export interface FoundSyncTarget {
  readonly name: string
  readonly uid: string
  /** Name of its mailbox Workspace. */
  readonly mailbox: string
}

/** Names that are looked at for one that may have been meant. */
const ALIKE_PAGE = 2_000

/**
 * Mailboxes of the inventory space at a path.
 * @throws CommandError that names the space, and SyncTargets there with names like this one, when there is none
 */
export async function findSyncTarget(client: Client, path: string, name: string): Promise<FoundSyncTarget> {
  if (name === '') throw new CommandError('the name of the SyncTarget is empty')
  const inventory = client.in(path)
  try {
    return foundIn(await inventory.get(SYNC_TARGETS, { name }))
  } catch (error) {
    if (!isStatusError(error, 'NotFound') || error.details?.kind !== SYNC_TARGETS.resource) throw error
    const { items } = await inventory.list(SYNC_TARGETS, { limit: ALIKE_PAGE })
    const known = items.map(({ metadata }) => metadata.name ?? '')
    const hint = known.length === 0 ? '; there is none: "kubectl kubestellar ensure location" makes one' : ''
    const message = `${error.message} in ${path}${hint}${didYouMean(name, known)}`
    throw new CommandError(message, 1, { cause: error })
  }
}

/** Mailbox in a SyncTarget's annotations. */
export function foundIn({ metadata: { name = '', uid, annotations } }: KubeObject): FoundSyncTarget {
  const cluster = annotations?.[CLUSTER_ANNOTATION]
  if (!cluster || !uid)
    throw new CommandError(`SyncTarget "${name}" does not tell its space and uid; is this an Orrery server?`)
  return { name, uid, mailbox: mailboxName(cluster, uid) }
}

interface MailboxWait {
  client: Client
  /** Path of the core space, whose children the mailboxes are. */
  espw: string
  /** Name of the mailbox Workspace. */
  mailbox: string
  timeoutSeconds: number
  terminal: Pick<Terminal, 'err'>
}

/**
 * Waits until the mailbox can be used: it is ready and the syncer has an identity inside.
 * @returns the id of the mailbox space
 * @throws CommandError exit code 2 when `espw` is no core space, 5 when the time is over
 */
export async function waitForMailbox(wait: MailboxWait): Promise<string> {
  const { client, espw, mailbox, timeoutSeconds, terminal } = wait
  const signal = AbortSignal.timeout(timeoutSeconds * 1000)
  const parent = await coreSpace(client, espw)
  const progress = (_: unknown, seconds: number): void =>
    terminal.err(`The mailbox workspace ${mailbox} in ${espw} is not ready after ${seconds} s; waiting...`)
  const { reached, object } = await waitFor({
    progress,
    client: parent,
    resource: WORKSPACES,
    ref: { name: mailbox },
    done: workspace => phaseOf(workspace) === 'Ready',
    signal,
  })
  const place = `the mailbox workspace ${mailbox} in ${espw}`
  if (!object) {
    const hint = 'is the mailbox controller running?'
    throw new CommandError(`did not find ${place} within ${timeoutSeconds} s; ${hint}`, NO_MAILBOX)
  }
  if (!reached) {
    throw new CommandError(
      `${place} is not ready after ${timeoutSeconds} s: it is ${phaseOf(object) || 'still new'}`,
      NO_MAILBOX,
    )
  }
  const id = idOf(object)
  const ref = { namespace: SYNCER_NAMESPACE, name: SYNCER_NAME }
  const inside = { client: client.in(id), resource: SERVICE_ACCOUNTS, ref, signal, progress }
  const account = await waitFor({ ...inside, done: found => found !== undefined })
  if (account.reached) return id
  const missing = `the ServiceAccount "${SYNCER_NAME}" is missing in ${place} after ${timeoutSeconds} s`
  throw new CommandError(`${missing}; is the mailbox controller running?`, NO_MAILBOX)
}

/** @throws CommandError exit code 2 when there are no mailboxes */
export async function coreSpace(client: Client, espw: string): Promise<SpaceClient> {
  const parent = client.in(espw)
  try {
    await parent.list(WORKSPACES, { limit: 1 })
  } catch (error) {
    if (!isStatusError(error, 'NotFound', 'Forbidden')) throw error
    const why = isStatusError(error, 'Forbidden')
      ? 'credentials of syncers take the rights of an administrator of the server'
      : `it looks like "${espw}" is not the core space (ESPW)`
    const message = `${why}: ${error.message}`
    throw new CommandError(message, NOT_THE_CORE_SPACE, { cause: error })
  }
  return parent
}

/** Id of a mailbox's space, as it is now; `undefined` when it cannot be used. */
export async function readyMailbox(core: SpaceClient, mailbox: string): Promise<string | undefined> {
  const workspace = await unlessGone(core.get(WORKSPACES, { name: mailbox }))
  return workspace && phaseOf(workspace) === 'Ready' ? idOf(workspace) : undefined
}

function idOf({ spec }: KubeObject): string {
  return isRecord(spec) ? String(spec.cluster) : ''
}

/**
 * A renewal credential of the mailbox's syncer. Earlier ones stay valid, so a running syncer is not disturbed; if it `replaces`
 * them they end when it is used.
 */
export async function requestCredential(
  mailbox: SpaceClient,
  { lifetimeSeconds, replaces }: { lifetimeSeconds: number; replaces: boolean },
): Promise<string> {
  const answer = await mailbox.create(
    SERVICE_ACCOUNTS,
    {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      metadata: {
        namespace: SYNCER_NAMESPACE,
        name: SYNCER_NAME,
        ...(replaces && { annotations: { [REPLACES_ANNOTATION]: 'true' } }),
      },
      spec: { audiences: [RENEWAL_AUDIENCE], expirationSeconds: lifetimeSeconds },
    },
    { subresource: 'token' },
  )
  const token = isRecord(answer.status) ? answer.status.token : undefined
  if (typeof token !== 'string' || !isRenewalCredential(token))
    throw new CommandError('the server makes no renewal credentials')
  return token
}

/**
 * Secrets of a mailbox that are credentials of its syncer. `waiting`: claims that got nothing; what came while the mailbox had a syncer
 * comes anew, and is approved anew.
 */
export async function secretsOf(
  mailbox: SpaceClient,
): Promise<{ credentials: KubeObject[]; live: KubeObject | undefined; waiting: KubeObject[] }> {
  const { items } = await listAll(mailbox, SECRETS, { namespace: SYNCER_NAMESPACE, limit: 500 })
  return {
    credentials: items.filter(({ type }) => type === CREDENTIAL_TYPE),
    waiting: items.filter(
      ({ type, metadata }) => type === CLAIM_TYPE && metadata.annotations?.[ISSUED_ANNOTATION] === undefined,
    ),
    live: items.find(({ type, metadata }) => type === SESSION_TYPE && metadata.name === SESSION_NAME),
  }
}
