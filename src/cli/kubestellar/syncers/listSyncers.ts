/** `syncer list`: the syncers of clusters, their credentials, and until when. */
import { objects, str } from '../../../apimachinery/fields.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import { listAll } from '../../../client/listWatch.ts'
import {
  CREDENTIAL_ANNOTATION,
  EXPIRES_ANNOTATION,
  USED_ANNOTATION,
} from '../../../placement/spaces/syncerCredential.ts'
import { MAILBOX_PARENT, SYNC_TARGETS } from '../../../placement/words/placement.ts'
import { singular } from '../../shell/changes.ts'
import { ANSWERS_VERSION, columns, type DocumentOptions, printAnswer } from '../../shell/output.ts'
import { pathOf, type Session } from '../../shell/session/session.ts'
import type { Terminal } from '../../shell/terminal.ts'
import { coreSpace, foundIn, readyMailbox, secretsOf } from './mailbox.ts'
import type { SyncerOptions } from './syncers.ts'

const COLUMNS = ['SYNCTARGET', 'READY', 'HEARTBEAT', 'SESSION', 'CREDENTIAL', 'LAST USED', 'EXPIRES']

interface SyncerFacts {
  readonly syncTarget: string
  /** `True`, `False` or `Unknown`. */
  readonly ready: string
  readonly lastHeartbeat?: string
  /** Id of its mailbox space; absent: it has none, yet or any more. */
  readonly mailbox?: string
  /** When the session that is in force began. */
  readonly session?: string
  readonly credentials: readonly CredentialFacts[]
}

interface CredentialFacts {
  readonly name: string
  readonly inUse: boolean
  readonly lastUsed?: string
  readonly expires?: string
}

/**
 * A line for each credential of each SyncTarget; warnings go to standard error. One that has no mailbox, yet or any more, hides none of the
 * others.
 */
export async function listSyncers(
  session: Session,
  options: Omit<SyncerOptions, 'timeout'> & DocumentOptions,
  terminal: Terminal,
): Promise<void> {
  const { client } = session
  const inventory = client.in(await pathOf(session, options.imw))
  const core = await coreSpace(client, await pathOf(session, options.espw || MAILBOX_PARENT))
  const targets = await listAll(inventory, SYNC_TARGETS, { limit: 500 })
  const syncers: SyncerFacts[] = []
  for (const target of targets.items) {
    const { status } = target
    const { name, mailbox: workspace } = foundIn(target)
    const conditions = objects(status, 'conditions')
    const ready = str(
      conditions.find(({ type }) => type === 'Ready'),
      'status',
    )
    const lastHeartbeat = str(status, 'lastSyncerHeartbeatTime')
    const alive = { syncTarget: name, ready: ready || 'Unknown', ...(lastHeartbeat !== '' && { lastHeartbeat }) }
    const id = await readyMailbox(core, workspace)
    if (id === undefined) {
      syncers.push({ ...alive, credentials: [] })
      continue
    }
    const mailbox = client.in(id)
    const { credentials, live } = await secretsOf(mailbox)
    const began = live?.metadata.creationTimestamp
    syncers.push({
      ...alive,
      mailbox: id,
      ...(began !== undefined && { session: began }),
      credentials: credentials.map(each => credentialFacts(each, live)),
    })
  }
  const document = { apiVersion: ANSWERS_VERSION, kind: 'SyncerList', items: syncers }
  const names = () => syncers.map(({ syncTarget }) => `${singular(SYNC_TARGETS)}/${syncTarget}`)
  const text = () => columns([COLUMNS, ...syncers.flatMap(rowsOf)])
  await printAnswer({ document, names, text }, options.output, terminal)
}

function rowsOf({ syncTarget, ready, lastHeartbeat, mailbox, session, credentials }: SyncerFacts): string[][] {
  // the center writes no time while it is connected
  const head = [syncTarget, ready, ready === 'True' ? 'now' : (lastHeartbeat ?? '-'), session ?? '-']
  if (credentials.length === 0) return [[...head, mailbox === undefined ? 'no mailbox' : 'none', '-', '-']]
  return credentials.map(({ name, inUse, lastUsed, expires = '-' }) => [
    ...head,
    inUse ? `${name} (in use)` : name,
    lastUsed ?? 'never',
    Date.parse(expires) <= Date.now() ? `${expires} (expired)` : expires,
  ])
}

function credentialFacts(credential: KubeObject, live: KubeObject | undefined): CredentialFacts {
  const { name = '', annotations = {} } = credential.metadata
  const { [USED_ANNOTATION]: lastUsed, [EXPIRES_ANNOTATION]: expires } = annotations
  const inUse = live?.metadata.annotations?.[CREDENTIAL_ANNOTATION] === name
  return { name, inUse, ...(lastUsed !== undefined && { lastUsed }), ...(expires !== undefined && { expires }) }
}
