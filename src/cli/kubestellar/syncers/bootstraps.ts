/** `bootstrap create|list|revoke`: the credential of an inventory by which many clusters join. */
import { str } from '../../../apimachinery/fields.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import { SECRETS, SERVICE_ACCOUNTS } from '../../../apimachinery/resources.ts'
import type { SpaceClient } from '../../../client/client.ts'
import { listAll } from '../../../client/listWatch.ts'
import { unlessGone } from '../../../client/unlessGone.ts'
import {
  APPROVES_ANNOTATION,
  APPROVES_LISTED,
  BOOTSTRAP_ACCOUNT,
  BOOTSTRAP_ANNOTATION,
  BOOTSTRAP_AUDIENCE,
  BOOTSTRAP_TYPE,
  INVENTORY_ANNOTATION,
} from '../../../placement/spaces/syncerBootstrap.ts'
import { EXPIRES_ANNOTATION } from '../../../placement/spaces/syncerCredential.ts'
import { MAILBOX_PARENT, SYNC_TARGETS, SYNCER_NAMESPACE } from '../../../placement/words/placement.ts'
import { writePrivateFile } from '../../../program/replacedFiles.ts'
import { formatIn } from '../../shell/changes.ts'
import { CommandError } from '../../shell/commandError.ts'
import { type ConfirmOptions, confirm } from '../../shell/confirm.ts'
import { ANSWERS_VERSION, columns, type DocumentOptions, printAnswer, printDocument } from '../../shell/output.ts'
import { pathOf, pathOfId, type Session } from '../../shell/session/session.ts'
import { serverOf } from '../../shell/session/spaces.ts'
import type { Terminal } from '../../shell/terminal.ts'
import { coreSpace } from './mailbox.ts'
import { serverAccess, syncerBase } from './prepForSyncer.ts'
import { kubeconfigOf, toYaml } from './syncerManifest.ts'

export interface BootstrapOptions {
  imw: string
  espw: string
}

export interface BootstrapCreateOptions extends BootstrapOptions {
  /** Seconds. */
  lifetime: number
  approve: string
  /** File; `-` is stdout, `json`, `yaml` and `name` are forms of it there. Default: `<inventory>-bootstrap.kubeconfig`. */
  output?: string
  syncerServer?: string
}

const COLUMNS = ['NAME', 'INVENTORY', 'APPROVES', 'EXPIRES']

/** Writes a kubeconfig. @throws CommandError */
export async function createBootstrap(
  session: Session,
  options: BootstrapCreateOptions,
  terminal: Terminal,
): Promise<void> {
  const { approve } = options
  if (approve !== 'by-name' && approve !== APPROVES_LISTED)
    throw new CommandError(`--approve: ${JSON.stringify(approve)} is neither "by-name" nor "${APPROVES_LISTED}"`)
  const base = syncerBase(session, options.syncerServer)
  const inventory = await pathOf(session, options.imw)
  // refused where it is no inventory
  await session.client.in(inventory).list(SYNC_TARGETS, { limit: 1 })
  const espw = await pathOf(session, options.espw || MAILBOX_PARENT)
  const core = await coreSpace(session.client, espw)
  const request: KubeObject = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata: {
      ...BOOTSTRAP_ACCOUNT,
      annotations: {
        [INVENTORY_ANNOTATION]: inventory,
        ...(approve === APPROVES_LISTED && { [APPROVES_ANNOTATION]: approve }),
      },
    },
    spec: { audiences: [BOOTSTRAP_AUDIENCE], expirationSeconds: options.lifetime },
  }
  const answer = await core.create(SERVICE_ACCOUNTS, request, { subresource: 'token' })
  const token = str(answer, 'status', 'token')
  const access = serverAccess(session, serverOf(base, espw))
  const names = { cluster: 'orrery', context: 'bootstrap', user: 'bootstrap', namespace: 'default' }
  const kubeconfig = kubeconfigOf(access, { token }, names)
  const name = answer.metadata.annotations?.[BOOTSTRAP_ANNOTATION] ?? ''
  const format = formatIn(options.output)
  if (format === 'name') return terminal.out(name)
  if (format !== undefined) return await printDocument(kubeconfig, format, terminal)
  if (options.output === '-') return terminal.out(toYaml(kubeconfig).trimEnd())
  const file = options.output ?? `${inventory.replaceAll(':', '-')}-bootstrap.kubeconfig`
  await writePrivateFile(file, toYaml(kubeconfig))
  const until = str(answer, 'status', 'expirationTimestamp')
  terminal.out(`Wrote the bootstrap credential ${name} of ${inventory} to ${file}; it ends ${until}`)
  terminal.out('Start each syncer with it:')
  terminal.out(
    `  orrery syncer --from-kubeconfig ${file} --sync-target-name NAME --state-dir DIR --to-kubeconfig CLUSTER`,
  )
  terminal.out(
    approve === APPROVES_LISTED
      ? 'Each holder of the file can join any SyncTarget of the inventory that never had a syncer.'
      : `Then look at the claims, and approve those that are right: kubectl kubestellar approve --imw ${inventory}`,
  )
}

export async function listBootstraps(
  session: Session,
  options: BootstrapOptions & DocumentOptions,
  terminal: Terminal,
): Promise<void> {
  const found = await bootstrapsOf(await coreOf(session, options))
  const ids = new Set(found.map(({ metadata }) => metadata.annotations?.[INVENTORY_ANNOTATION] ?? ''))
  const paths = new Map<string, string>()
  for (const id of ids) paths.set(id, await pathOfId(session.client, id))
  const items = found.map(({ metadata }) => {
    const { [INVENTORY_ANNOTATION]: id = '', [EXPIRES_ANNOTATION]: expires = '' } = metadata.annotations ?? {}
    return {
      name: metadata.name ?? '',
      inventory: paths.get(id) ?? id,
      approves: metadata.annotations?.[APPROVES_ANNOTATION] ?? 'by-name',
      expires,
    }
  })
  const document = { apiVersion: ANSWERS_VERSION, kind: 'BootstrapList', items }
  const text = () => columns([COLUMNS, ...items.map(each => Object.values(each).map(expired))])
  await printAnswer({ document, names: () => items.map(({ name }) => name), text }, options.output, terminal)
}

/** @returns the Secrets that were deleted; they held nothing */
export async function revokeBootstrap(
  session: Session,
  name: string,
  options: BootstrapOptions & ConfirmOptions,
  terminal: Terminal,
): Promise<KubeObject[]> {
  const core = await coreOf(session, options)
  const found = (await bootstrapsOf(core)).find(({ metadata }) => metadata.name === name)
  if (found === undefined)
    throw new CommandError(
      `there is no bootstrap credential ${JSON.stringify(name)}; see kubectl kubestellar bootstrap list`,
    )
  await confirm(`This ends the bootstrap credential ${name}; clusters that joined with it go on.`, options, terminal)
  await unlessGone(core.delete(SECRETS, { namespace: SYNCER_NAMESPACE, name }))
  terminal.out(`bootstrap credential ${name} is revoked; clusters that joined with it go on`)
  return [found]
}

async function coreOf(session: Session, { espw }: BootstrapOptions): Promise<SpaceClient> {
  return await coreSpace(session.client, await pathOf(session, espw || MAILBOX_PARENT))
}

async function bootstrapsOf(core: SpaceClient): Promise<KubeObject[]> {
  const { items } = await listAll(core, SECRETS, { namespace: SYNCER_NAMESPACE, limit: 500 })
  return items.filter(({ type }) => type === BOOTSTRAP_TYPE)
}

function expired(text: string): string {
  return Date.parse(text) <= Date.now() ? `${text} (expired)` : text
}
