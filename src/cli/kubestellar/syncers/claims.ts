/** `approve` and `deny`: which clusters that came with a bootstrap credential get the credential of a syncer. */
import type { KubeObject } from '../../../apimachinery/object.ts'
import { SECRETS } from '../../../apimachinery/resources.ts'
import { timestamp } from '../../../apimachinery/timestamp.ts'
import type { SpaceClient } from '../../../client/client.ts'
import { listAll } from '../../../client/listWatch.ts'
import { unlessGone } from '../../../client/unlessGone.ts'
import {
  APPROVED_ANNOTATION,
  BOOTSTRAP_ANNOTATION,
  CLAIM_PREFIX,
  CLAIM_TYPE,
  ISSUED_ANNOTATION,
} from '../../../placement/spaces/syncerBootstrap.ts'
import { CREDENTIAL_TYPE, EXPIRES_ANNOTATION } from '../../../placement/spaces/syncerCredential.ts'
import { MAILBOX_PARENT, SYNC_TARGETS, SYNCER_NAMESPACE } from '../../../placement/words/placement.ts'
import { CommandError } from '../../shell/commandError.ts'
import { type ConfirmOptions, confirm } from '../../shell/confirm.ts'
import { ANSWERS_VERSION, columns, type DocumentOptions, printAnswer } from '../../shell/output.ts'
import { pathOf, type Session } from '../../shell/session/session.ts'
import type { Terminal } from '../../shell/terminal.ts'
import { coreSpace, findSyncTarget, foundIn, readyMailbox } from './mailbox.ts'

export interface ClaimsOptions {
  imw: string
  espw: string
  /** Name of one of several claims of a SyncTarget, or its beginning. */
  claim?: string
}

/** Where a SyncTarget has a credential, a claim that came too late is `Refused`. */
type ClaimState = 'Pending' | 'Approved' | 'Joined' | 'Refused'

interface Claim {
  readonly syncTarget: string
  readonly state: ClaimState
  /** As the syncer's log says it. */
  readonly claim: string
  readonly since: string
  /** Name of the bootstrap credential. */
  readonly bootstrap: string
}

interface Found extends Claim {
  readonly mailbox: SpaceClient
}

const COLUMNS = ['SYNCTARGET', 'STATE', 'CLAIM', 'SINCE', 'BOOTSTRAP']
const OPTIONS = { fieldManager: 'kubectl-kubestellar' }
const AT_ONCE = 8

/**
 * Approves the pending claims of the SyncTargets that are named, or `all`; without any it lists the claims.
 * @throws CommandError where one that is named has no pending claim, or several; those that have one are approved all the same
 */
export async function approve(
  session: Session,
  names: readonly string[],
  options: ClaimsOptions & DocumentOptions & { all?: boolean },
  terminal: Terminal,
): Promise<void> {
  const { all = false, claim } = options
  if (all && names.length > 0) throw new CommandError('name SyncTargets or say --all, not both')
  if (options.output !== undefined && (all || names.length > 0))
    throw new CommandError('-o goes with the list of claims: leave it out, or the names')
  if (claim !== undefined && names.length !== 1) throw new CommandError('--claim goes with one SyncTarget')
  const found = await claimsOf(session, names, options)
  if (!all && names.length === 0) return await printClaims(found, options, terminal)
  const pending = found.filter(({ state }) => state === 'Pending')
  const wanted = all ? [...new Set(pending.map(({ syncTarget }) => syncTarget))] : names
  const troubles: string[] = []
  for (const name of wanted) {
    const theirs = pending.filter(one => one.syncTarget === name && one.claim.startsWith(claim ?? ''))
    const [only] = theirs
    if (only === undefined) troubles.push(noneOf(name, found, claim))
    else if (theirs.length > 1) troubles.push(severalOf(name, theirs))
    else {
      const annotations = { [APPROVED_ANNOTATION]: timestamp(new Date()) }
      const ref = { namespace: SYNCER_NAMESPACE, name: `${CLAIM_PREFIX}${only.claim}` }
      await only.mailbox.patch(SECRETS, ref, 'merge', { metadata: { annotations } }, OPTIONS)
      terminal.out(`claim ${only.claim} of ${name} is approved`)
    }
  }
  if (all && wanted.length === 0) terminal.out('no claim is pending')
  if (troubles.length > 0) throw new CommandError(troubles.join('\n'))
}

/** Deletes claims that got no credential. @returns their Secrets */
export async function deny(
  session: Session,
  name: string,
  options: ClaimsOptions & ConfirmOptions,
  terminal: Terminal,
): Promise<KubeObject[]> {
  const found = await claimsOf(session, [name], options)
  const wrong = found.filter(({ state, claim }) => state !== 'Joined' && claim.startsWith(options.claim ?? ''))
  if (wrong.length === 0) throw new CommandError(noneOf(name, found, options.claim))
  const claims = wrong.map(({ claim }) => claim).join(', ')
  await confirm(`This deletes the claims ${claims} of ${name}.`, options, terminal)
  const deleted: KubeObject[] = []
  for (const { mailbox, claim, bootstrap } of wrong) {
    const ref = { namespace: SYNCER_NAMESPACE, name: `${CLAIM_PREFIX}${claim}` }
    const secret = await unlessGone(mailbox.get(SECRETS, ref))
    await unlessGone(mailbox.delete(SECRETS, ref))
    if (secret !== undefined) deleted.push(secret)
    terminal.out(`claim ${claim} of ${name} is denied; it came by the bootstrap credential ${bootstrap}`)
  }
  terminal.out(
    'A claimant that goes on claims anew. A credential that strangers hold ends with: kubectl kubestellar bootstrap revoke NAME',
  )
  return deleted
}

async function printClaims(found: readonly Found[], { output }: DocumentOptions, terminal: Terminal): Promise<void> {
  const items = found.map(({ mailbox: _, ...claim }): Claim => claim)
  const document = { apiVersion: ANSWERS_VERSION, kind: 'ClaimList', items }
  const names = () => new Set(items.map(each => each.syncTarget))
  await printAnswer({ document, names, text: () => columns([COLUMNS, ...items.map(rowOf)]) }, output, terminal)
}

function rowOf({ syncTarget, state, claim, since, bootstrap }: Claim): string[] {
  return [syncTarget, state, claim, since, bootstrap]
}

function noneOf(name: string, found: readonly Found[], claim: string | undefined): string {
  const theirs = found.filter(({ syncTarget }) => syncTarget === name)
  const refused = theirs.some(({ state }) => state === 'Refused')
  if (refused)
    return `${name} is joined: a claim that came later gets nothing. If its syncer is lost: kubectl kubestellar syncer revoke ${name}`
  if (theirs.some(({ state }) => state === 'Joined')) return `${name} is joined, and no claim of it is pending`
  if (theirs.some(({ state }) => state === 'Approved')) return `the claim of ${name} is approved already`
  if (theirs.length > 0) return `no claim ${claim} of ${name} is pending; ${theirs.map(one => one.claim).join(', ')} is`
  return `no claim of ${name} is pending; its syncer makes one with a bootstrap credential`
}

function severalOf(name: string, claims: readonly Found[]): string {
  const listed = claims.map(({ claim, since }) => `${claim} (${since})`).join(', ')
  return `${name} has several claims: ${listed}; choose with --claim the one that its syncer's log names, and look who made the others`
}

/** Claims of the SyncTargets that are named, or of all; what is pending first. */
async function claimsOf(session: Session, names: readonly string[], options: ClaimsOptions): Promise<Found[]> {
  const { client } = session
  const path = await pathOf(session, options.imw)
  const core = await coreSpace(client, await pathOf(session, options.espw || MAILBOX_PARENT))
  const targets =
    names.length > 0
      ? await Promise.all([...new Set(names)].map(name => findSyncTarget(client, path, name)))
      : (await listAll(client.in(path), SYNC_TARGETS, { limit: 500 })).items.map(foundIn)
  const found: Found[] = []
  const left = targets.values()
  const work = async (): Promise<void> => {
    for (const { name, mailbox: workspace } of left) {
      const id = await readyMailbox(core, workspace)
      if (id !== undefined) found.push(...(await claimsIn(client.in(id), name)))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  const rank: readonly ClaimState[] = ['Pending', 'Refused', 'Approved', 'Joined']
  return found.sort((a, b) => rank.indexOf(a.state) - rank.indexOf(b.state) || (a.syncTarget < b.syncTarget ? -1 : 1))
}

async function claimsIn(mailbox: SpaceClient, syncTarget: string): Promise<Found[]> {
  const [claims, credentials] = await Promise.all(
    // the server leaves out what else is there: Secrets of workload
    [CLAIM_TYPE, CREDENTIAL_TYPE].map(async type => {
      const options = { namespace: SYNCER_NAMESPACE, limit: 500, fieldSelector: `type=${type}` }
      return (await listAll(mailbox, SECRETS, options)).items
    }),
  )
  const isJoined = credentials!.some(
    ({ metadata }) => Date.parse(metadata.annotations?.[EXPIRES_ANNOTATION] ?? '') > Date.now(),
  )
  return claims!.map(({ metadata: { name = '', creationTimestamp = '', annotations = {} } }) => {
    const others = annotations[APPROVED_ANNOTATION] === undefined ? 'Pending' : 'Approved'
    const waits: ClaimState = isJoined ? 'Refused' : others
    return {
      syncTarget,
      state: annotations[ISSUED_ANNOTATION] === undefined ? waits : 'Joined',
      claim: name.slice(CLAIM_PREFIX.length),
      since: creationTimestamp,
      bootstrap: annotations[BOOTSTRAP_ANNOTATION] ?? '-',
      mailbox,
    }
  })
}
