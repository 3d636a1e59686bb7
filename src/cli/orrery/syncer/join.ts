/**
 * `--from-kubeconfig` with a bootstrap credential: the syncer claims its own, waits until it is approved, and keeps it.
 *
 * The key of the claim is made once and kept before the first request. A restart goes on with the same claim. Once
 * there is a kubeconfig of the mailbox the bootstrap credential is not looked at any more, whatever became of it.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { isStatusError } from '../../../apimachinery/errors.ts'
import { str } from '../../../apimachinery/fields.ts'
import { messageOf } from '../../../apimachinery/messageOf.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import { spacePath } from '../../../client/http/paths.ts'
import { type LoadedKubeconfig, loadKubeconfig } from '../../../client/kubeconfig.ts'
import type { Logger } from '../../../client/logger.ts'
import {
  BOOTSTRAP_ACCOUNT,
  CLAIM_KEY_ANNOTATION,
  claimHash,
  claimName,
  isBootstrapCredential,
  MAILBOX_SPACE_ANNOTATION,
  SYNC_TARGET_ANNOTATION,
} from '../../../placement/spaces/syncerBootstrap.ts'
import { RENEWAL_AUDIENCE, RENEWAL_MAX_SECONDS } from '../../../placement/spaces/syncerCredential.ts'
import { readIfExists } from '../../../program/replacedFiles.ts'
import { privateFolder } from '../process/privateFolder.ts'
import { systemdNotify } from '../process/systemdNotify.ts'
import { requestToken, tokenOf } from './connections.ts'
import { FolderCredential, type JoinedCredential } from './joinedCredential.ts'
import { SyncerHealth } from './syncerHealth.ts'

/** Between two looks whether the claim is approved: at first, and at most. */
const AGAIN_MS = 500
const MOST_MS = 10_000
const SLOWER = 1.5

interface JoinOptions {
  path: string
  context: string | undefined
  syncTargetName: string | undefined
  stateDir: string | undefined
  /** Where the syncer keeps what it gets. Default: the state folder. */
  credential?: JoinedCredential | undefined
  isDryRun: boolean
  healthAddress: string | undefined
  log: Logger
  /** Aborts when the syncer shall end. */
  signal: AbortSignal
  /** From 0 to 1. */
  random: () => number
}

/**
 * The kubeconfig to go by: the one that was given, unless it holds a bootstrap credential. `undefined`: the signal came first.
 * @throws Error when a flag that joining needs is missing, in words for whoever started it
 */
export async function joined(options: JoinOptions): Promise<{ path: string; context: string | undefined } | undefined> {
  const { path, context, syncTargetName, stateDir, isDryRun, log, signal } = options
  const first = await bootstrapIn(path, context)
  const credential = options.credential ?? (stateDir === undefined ? undefined : new FolderCredential(stateDir))
  const kept = credential && { path: credential.path, context: undefined }
  if (first === undefined) {
    const isGone = credential !== undefined && (await readIfExists(path)) === undefined
    if (!isGone || !(await credential.isThere())) return { path, context }
    log.warn({}, `${path} is not there: the syncer goes by ${credential.path}, which it got when it joined`)
    return kept
  }
  if (stateDir === undefined || credential === undefined)
    throw new Error(
      `${path} holds a bootstrap credential: --state-dir is needed, which keeps what the syncer gets by it`,
    )
  if (await credential.isThere()) return kept
  if (isDryRun)
    throw new Error(`${path} holds a bootstrap credential, and no cluster joins by a dry run; start it without`)
  if (syncTargetName === undefined)
    throw new Error(`${path} holds a bootstrap credential: --sync-target-name says which SyncTarget to join`)
  privateFolder({ path: stateDir, flag: '--state-dir', entries: /^mailbox/, log })
  const key = await credential.claimKey()
  const claim = claimName(claimHash(key))
  let logged: string | undefined
  const warnOnce = (text: string): void => {
    if (text !== logged) log.warn({ claim }, text)
    logged = text
  }
  const ask = async (): Promise<boolean> => {
    // another Pod may have joined by the same claim
    if (await credential.isThere()) return true
    // read anew: the file may hold another credential by now
    const now = (await bootstrapIn(path, context)) ?? first
    const answer = await requestToken(now, claimOf(syncTargetName, key), { signal })
    const token = str(answer, 'status', 'token')
    if (token === '') {
      const command = `kubectl kubestellar approve ${syncTargetName}`
      warnOnce(`claim ${claim} of SyncTarget ${syncTargetName} waits for an administrator: ${command}`)
      return false
    }
    const space = answer.metadata.annotations?.[MAILBOX_SPACE_ANNOTATION] ?? ''
    await credential.keep({ ...now.options, server: `${now.base}${spacePath(now.base, space)}`, token })
    log.info({ claim }, `joined as SyncTarget ${syncTargetName}; the credential is in ${credential.place}`)
    return true
  }
  // it runs, and waits: whoever looks after the process has nothing to mend
  const health = await SyncerHealth.listen(options.healthAddress, () => undefined, log)
  await systemdNotify('ready', `waits to join as ${syncTargetName}`, { log })
  try {
    for (let againMs = AGAIN_MS; !signal.aborted; againMs = Math.min(againMs * SLOWER, MOST_MS)) {
      try {
        if (await ask()) return kept
      } catch (error) {
        if (signal.aborted) break
        warnOnce(`claim ${claim} of SyncTarget ${syncTargetName} gets no credential yet: ${reasonOf(error)}`)
      }
      await delay(againMs * (1 + options.random()), undefined, { signal }).catch(() => undefined)
    }
    return undefined
  } finally {
    health?.close()
  }
}

/** `undefined`: it holds no bootstrap credential, or cannot be read, which others report better. */
async function bootstrapIn(path: string, context: string | undefined): Promise<LoadedKubeconfig | undefined> {
  try {
    const loaded = await loadKubeconfig(path, context)
    return isBootstrapCredential((await tokenOf(loaded)) ?? '') ? loaded : undefined
  } catch {
    return undefined
  }
}

function claimOf(syncTargetName: string, key: string): KubeObject {
  const annotations = { [SYNC_TARGET_ANNOTATION]: syncTargetName, [CLAIM_KEY_ANNOTATION]: key }
  return {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata: { ...BOOTSTRAP_ACCOUNT, annotations },
    spec: { audiences: [RENEWAL_AUDIENCE], expirationSeconds: RENEWAL_MAX_SECONDS },
  }
}

function reasonOf(error: unknown): string {
  if (isStatusError(error, 'Conflict', 'NotFound', 'Unauthorized', 'ServiceUnavailable')) return error.message
  return `${messageOf(error)}; it goes on trying`
}
