/** The command line of `kubectl kubestellar`. */
import type { KubeObject } from '../../apimachinery/object.ts'
import { MAILBOX_PARENT } from '../../placement/words/placement.ts'
import { formatIn } from '../shell/changes.ts'
import {
  CommandError,
  NO_MAILBOX,
  NOT_ENTERED,
  NOT_LABELED,
  NOT_LEFT,
  NOT_MADE,
  NOT_THE_CORE_SPACE,
} from '../shell/commandError.ts'
import { CONFIRM } from '../shell/confirm.ts'
import { type DocumentOptions, NAMES_OUTPUT } from '../shell/output.ts'
import { type Plugin, type PluginCommand, runPlugin } from '../shell/plugin.ts'
import { IGNORE_NOT_FOUND } from '../shell/session/deleteSpace.ts'
import { pathOf, type Session } from '../shell/session/session.ts'
import { flag } from '../shell/settings.ts'
import type { Terminal } from '../shell/terminal.ts'
import { ANSWER_COMMANDS } from './answerCommands.ts'
import { checkObjectName, parseLabels, parseLifetime } from './arguments.ts'
import { CLUSTER_COMMANDS } from './clusters/clusterCommands.ts'
import { ensureLocations } from './ensureLocations.ts'
import { grantCommand, grantsCommand, ungrantCommand } from './grantCommands.ts'
import { PLACES } from './grantSpec.ts'
import { ensureLocation, type InventoryEntry, type RemoveOptions, removeLocation } from './inventory.ts'
import { inventoryFile } from './inventoryFile.ts'
import { joinCommands } from './joinCommands.ts'
import { type PrepOptions, prepForSyncer } from './prepForSyncer.ts'
import { COMMON, type CommonOptions, INVENTORY, type InventoryOptions, inInventory, inSession } from './sessions.ts'
import {
  adoptCluster,
  listSyncers,
  type RotateOptions,
  removeSyncer,
  revokeSyncer,
  rotateSyncer,
  type SyncerOptions,
} from './syncers.ts'
import { ENSURE_TEAM, MEMBER_KUBECONFIG, REMOVE_TEAM } from './teamCommands.ts'
import { DEFAULT_INVENTORY, ensureWmw, removeWmw } from './workloadSpaces.ts'

const NOTES =
  "The current workspace of your kubeconfig stays as it is; 'ensure wmw' alone enters the one that it makes."

const CORE = [
  ...INVENTORY,
  flag('--espw <path>', 'core space, whose children the mailboxes are', { default: MAILBOX_PARENT }),
]
const MAILBOX = [...CORE, flag('--timeout <seconds>', 'how long to wait for the mailbox', { default: '30' })]
const SERVER = flag('--syncer-server <url>', 'scheme://host:port by which the syncer reaches the server')
const LIFETIME = flag(
  '--lifetime <duration>',
  'how long the credential may go unused, at most 2160h (90 days); a running syncer renews it',
  { default: '2160h' },
)
const SYNCER = [
  ...MAILBOX,
  flag('--syncer-image <image>', 'container image that has Orrery', { default: 'orrery:latest' }),
  flag(
    '-o, --output <file>',
    'where the manifest goes, "-" for stdout, json, yaml or name for that form there; default: <synctarget>-syncer.yaml',
  ),
  flag('--kubeconfig-output <file>', "write the syncer's kubeconfig alone, for a syncer outside of the cluster"),
  SERVER,
  flag('--syncer-proxy-url <url>', 'HTTP proxy by which the syncer reaches the server'),
  flag(
    '--bootstrap-kubeconfig <file>',
    'put this bootstrap credential into the manifest: the syncer joins by it, and keeps its own in a Secret of the cluster',
  ),
  flag('--credential-output <file>', 'write the Secret with the credential there, and not into the manifest'),
  LIFETIME,
  flag('--replicas <n>', 'replicas of the syncer: 0 or 1', { default: '1' }),
  flag('--qps <n>', 'requests per second to the cluster; 0: no limit', { default: '1000' }),
  flag('--burst <n>', 'requests that may come at once', { default: '1000' }),
  flag('--allow-namespaces <names>', 'namespaces that the syncer may carry, comma-separated; "*" is any text'),
  flag('--allow-kinds <kinds>', 'kinds with a namespace that it may carry: deployments.apps,*.apps,configmaps'),
  flag('--allow-cluster-scoped <kinds>', 'kinds without one; default: all, but none when another list is given'),
  flag('--impersonate', "let the cluster's RBAC decide: the syncer writes as user orrery:space:<id>"),
  flag('--adopt-existing', 'take over what is in the cluster already and has the name of something placed'),
  flag('-s, --silent', 'print nothing but errors and notes'),
]

const NO_CORE = { [NOT_THE_CORE_SPACE]: 'what --espw names is not the core space' }
const NO_WAY = { ...NO_CORE, [NO_MAILBOX]: 'the mailbox is not there in time' }
const UNLABELED = { [NOT_MADE]: 'one of the two could not be made', [NOT_LABELED]: 'it could not be labeled' }

type Change<O> = (
  session: Session,
  name: string,
  options: O,
  terminal: Terminal,
) => Promise<KubeObject | readonly KubeObject[]>

interface WmwFlags extends CommonOptions {
  withKube: string
  inventory?: string[]
  enter?: boolean
}

/** Changes in whatever space the options name. */
const ofSpace =
  <O>(change: Change<O>) =>
  (options: O & CommonOptions, terminal: Terminal, name: string) =>
    inSession(options, terminal, s => change(s, name, options, terminal))

/** Changes what belongs to a SyncTarget. */
const ofSyncer =
  <O>(change: Change<O>) =>
  (options: O & InventoryOptions, terminal: Terminal, name: string) =>
    inInventory(options, terminal, (_, s) => change(s, name, options, terminal))

const ENSURE: readonly PluginCommand[] = [
  {
    line: 'location [name] [labels...]',
    summary: 'make a SyncTarget and a Location of one name, with labels key=value on both; key- takes one away',
    notes: `A file has a location a row. CSV has the columns name, labels (env=prod region=eu), label:KEY and annotation:KEY. YAML is a list of
{ name, labels: { env: prod }, annotations: { KEY: VALUE } }. The value null takes one away. Annotations are the Location's, as
parameters. All rows are checked before anything is made.`,
    exits: UNLABELED,
    flags: [
      ...INVENTORY,
      flag('-f, --filename <file>', 'make all that this CSV or YAML file lists; "-": standard input'),
    ],
    change: async (
      options: InventoryOptions & { filename?: string },
      terminal,
      name: string | undefined,
      ...labels
    ) => {
      const { filename } = options
      if (filename !== undefined) {
        if (name !== undefined) throw new CommandError('name locations in the file or on the command line, not in both')
        const rows = await inventoryFile(filename)
        return await inInventory(options, terminal, space => ensureLocations(space, rows, terminal))
      }
      if (name === undefined) throw new CommandError('name the location, or a file with -f')
      const entry = inventoryEntry(name, labels)
      return await inInventory(options, terminal, space => ensureLocation(space, entry, terminal))
    },
  },
  {
    line: 'wmw <name>',
    summary: 'make a workload description space under root, and enter it',
    exits: { [NOT_ENTERED]: 'the space could not be made or entered' },
    flags: [
      ...COMMON,
      flag('--with-kube <boolean>', 'whether the kinds of Kubernetes are wanted (they are always served)', {
        default: 'true',
      }),
      flag(
        '--inventory <path>',
        `inventory that the space uses, repeatable, "" for none; default: ${DEFAULT_INVENTORY}, if it uses none yet`,
        { parse: (path, before?: string[]) => [...(before ?? []), path] },
      ),
      flag('--no-enter', 'stay in the current workspace'),
    ],
    change: async (options: WmwFlags, terminal, name: string) => {
      const { withKube, inventory: inventories, enter = true } = options
      if (withKube !== 'true' && withKube !== 'false') throw new CommandError('with-kube should be true or false')
      const wanted = { withKube: withKube === 'true', inventories, enter }
      return await inSession(options, terminal, s => ensureWmw(s, name, wanted, terminal))
    },
  },
  ENSURE_TEAM,
]

const REMOVE: readonly PluginCommand[] = [
  {
    line: 'location <location>',
    summary: 'delete the SyncTarget and the Location of a name, once the syncer has left the cluster',
    exits: { [NOT_LEFT]: 'the syncer has not left in time' },
    flags: [
      ...INVENTORY,
      CONFIRM,
      flag(
        '--workload <fate>',
        'what was placed there: "keep" or "delete"; default: as the SyncTarget says, else keep',
      ),
      flag('--force', 'do not wait for the syncer: the cluster keeps what it holds'),
      IGNORE_NOT_FOUND,
      flag('--timeout <seconds>', 'how long to wait for the syncer', { default: '60' }),
    ],
    change: async (options: InventoryOptions & RemoveOptions, terminal, name: string) => {
      checkObjectName(name)
      return await inInventory(options, terminal, (space, session) =>
        removeLocation(space, name, options, {
          terminal,
          show: async target => {
            const { showUsers } = await import('./clusters/usersCommand.ts')
            const { clusterOf } = await import('./clusters/namedClusters.ts')
            await showUsers(session, await pathOf(session, options.imw), await clusterOf(space, target), terminal)
          },
        }),
      )
    },
  },
  {
    line: 'wmw <name>',
    summary: 'delete a workload description space under root, with all that is in it',
    flags: [...COMMON, CONFIRM, IGNORE_NOT_FOUND],
    change: ofSpace(removeWmw),
  },
  REMOVE_TEAM,
]

const GRANT: PluginCommand = {
  line: 'grant <space>',
  summary:
    'let a space, and all below it, place on the clusters of an inventory; a grant that is there keeps what is not named',
  flags: [
    ...INVENTORY,
    CONFIRM,
    flag('--name <name>', "name of the PlacementGrant; default: the space's path"),
    flag('--id <id>', 'id of the space, where you may not see it; who administers it knows it'),
    ...PLACES,
    flag('--allow <kinds>', 'only these kinds, such as deployments.apps,configmaps,*.batch'),
    flag('--deny <kinds>', 'not these kinds'),
    flag('--cluster-scoped', 'cluster-scoped objects too'),
    flag('--no-cluster-scoped', 'no cluster-scoped objects any more'),
    flag(
      '--granting-kinds',
      'also kinds that grant rights or steer the cluster: RBAC, webhooks, policies, APIServices',
    ),
    flag('--no-granting-kinds', 'none of these kinds any more'),
    flag('--adopt-existing', 'what is placed takes over what is in the clusters already under its name'),
    flag('--no-adopt-existing', 'what is in the clusters already stays as it is'),
    flag('--replace', 'take away all limits and rights that this command does not name'),
    flag('--unserved', 'name kinds, too, that neither the inventory nor the space serves yet'),
    flag('--upsync <kinds>', 'kinds that may be carried up from the clusters; "*" is all but Secrets'),
    flag('--upsync-secrets <names>', 'Secrets that may be carried up, as NAMESPACE/NAME'),
  ],
  change: ofSpace(grantCommand),
}

const SYNCERS: readonly PluginCommand[] = [
  {
    line: 'list',
    summary: 'show sessions and credentials of all syncers of an inventory',
    exits: NO_CORE,
    flags: [...CORE, NAMES_OUTPUT],
    run: (options: CommonOptions & Omit<SyncerOptions, 'timeout'> & DocumentOptions, terminal) =>
      inInventory(options, terminal, (_, s) => listSyncers(s, options, terminal)),
  },
  {
    line: 'revoke <synctarget>',
    summary: 'end every credential of a syncer, at once',
    exits: NO_WAY,
    flags: [...MAILBOX, CONFIRM],
    change: ofSyncer(revokeSyncer),
  },
  {
    line: 'rotate <synctarget>',
    summary: 'write a new credential; those before it end when it is used',
    exits: NO_WAY,
    flags: [
      ...MAILBOX,
      flag(
        '-o, --output <file>',
        'where its Secret goes, "-" for stdout, json, yaml or name for that form there; default: <synctarget>-syncer-credential.yaml',
      ),
      flag('--kubeconfig-output <file>', 'write a kubeconfig instead, for a syncer outside of the cluster'),
      SERVER,
      LIFETIME,
    ],
    run: async (options: CommonOptions & RotateOptions, terminal, name: string) => {
      parseLifetime(options.lifetime)
      await inInventory(options, terminal, (_, s) => rotateSyncer(s, name, options, terminal))
    },
  },
  {
    line: 'remove <synctarget>',
    summary: 'end every credential of a syncer, and say how to take it out of its cluster',
    exits: NO_WAY,
    flags: [...MAILBOX, CONFIRM],
    change: ofSyncer(removeSyncer),
  },
  {
    line: 'adopt <synctarget>',
    summary: "serve a cluster from this SyncTarget's mailbox from now on, whatever it was served from before",
    exits: NO_WAY,
    flags: [
      ...MAILBOX,
      flag('--to-kubeconfig <file>', 'kubeconfig of the cluster', { mandatory: true }),
      flag('--to-context <name>', 'context in it; default: its current one'),
    ],
    change: ofSyncer(adoptCluster),
  },
]

export const KUBESTELLAR: Plugin = {
  name: 'kubectl kubestellar',
  summary: 'Manages inventory, workload spaces and syncers, and answers what became of workload.',
  notes: NOTES,
  commands: [
    { line: 'ensure', summary: 'make what is missing', commands: ENSURE },
    { line: 'remove', summary: 'delete what is there', commands: REMOVE },
    GRANT,
    {
      line: 'ungrant <space>',
      summary: 'take back what a space was granted; what it has placed there goes',
      flags: [...INVENTORY, CONFIRM],
      change: ofSpace(ungrantCommand),
    },
    {
      line: 'grants',
      summary: 'print who may place what on the clusters of an inventory',
      flags: [...INVENTORY, NAMES_OUTPUT],
      run: (options: InventoryOptions & DocumentOptions, terminal) =>
        inSession(options, terminal, s => grantsCommand(s, options, terminal)),
    },
    {
      line: 'prep-for-syncer <synctarget>',
      summary: 'write the manifest that runs the syncer of a SyncTarget in its cluster',
      exits: NO_WAY,
      flags: SYNCER,
      run: async (options: CommonOptions & PrepOptions, terminal, name: string) => {
        parseLifetime(options.lifetime)
        await inInventory(options, terminal, (_, s) => prepForSyncer(s, name, options, terminal))
      },
    },
    {
      line: 'prep-for-cluster <name> [labels...]',
      summary: "'ensure location' and 'prep-for-syncer' in one",
      exits: { ...NO_WAY, ...UNLABELED },
      flags: SYNCER,
      run: async (options: CommonOptions & PrepOptions, terminal, name: string, ...labels) => {
        const entry = inventoryEntry(name, labels)
        parseLifetime(options.lifetime)
        const progress = { ...terminal, out: quietOut(options, terminal) }
        await inInventory(options, terminal, async (space, s) => {
          await ensureLocation(space, entry, progress)
          await prepForSyncer(s, name, options, terminal)
        })
      },
    },
    ...joinCommands({ core: CORE, server: SERVER }),
    MEMBER_KUBECONFIG,
    { line: 'syncer', summary: 'who may act as the syncer of a cluster', commands: SYNCERS },
    ...CLUSTER_COMMANDS,
    ...ANSWER_COMMANDS,
  ],
}

/** Resolves to the exit code. */
export async function kubectlKubestellar(args: readonly string[], terminal: Terminal): Promise<number> {
  return await runPlugin(KUBESTELLAR, args, terminal)
}

function inventoryEntry(name: string, labels: readonly string[]): InventoryEntry {
  checkObjectName(name)
  return { name, ...parseLabels(labels) }
}

/** Where progress goes when stdout is silent or taken by the manifest. */
function quietOut(options: PrepOptions, terminal: Terminal): Terminal['out'] {
  if (options.silent) return () => {}
  return options.output === '-' || formatIn(options.output) !== undefined ? terminal.err : terminal.out
}
