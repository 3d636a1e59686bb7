/** The command line of `kubectl kubestellar`. */
import { CommandError, NOT_ENTERED, NOT_LEFT } from '../shell/commandError.ts'
import { CONFIRM } from '../shell/confirm.ts'
import { type DocumentOptions, NAMES_OUTPUT } from '../shell/output.ts'
import { type Plugin, type PluginCommand, runPlugin } from '../shell/plugin.ts'
import { IGNORE_NOT_FOUND } from '../shell/session/deleteSpace.ts'
import { pathOf } from '../shell/session/session.ts'
import { flag, repeated } from '../shell/settings.ts'
import type { Terminal } from '../shell/terminal.ts'
import { ANSWER_COMMANDS } from './answers/answerCommands.ts'
import { checkObjectName, inventoryEntry, timeoutSeconds } from './arguments.ts'
import { CLUSTER_COMMANDS } from './clusters/clusterCommands.ts'
import { grantCommand, grantsCommand, ungrantCommand } from './grants/grantCommands.ts'
import { PLACES } from './grants/grantSpec.ts'
import { ensureLocations } from './inventory/ensureLocations.ts'
import { ensureLocation, type RemoveOptions, removeLocation } from './inventory/inventory.ts'
import { inventoryFile } from './inventory/inventoryFile.ts'
import { ROLLOUT } from './rollout/rolloutCommands.ts'
import {
  COMMON,
  type CommonOptions,
  INVENTORY,
  type InventoryOptions,
  inInventory,
  inSession,
  ofSpace,
} from './sessions.ts'
import { JOIN_COMMANDS } from './syncers/joinCommands.ts'
import { PREP_COMMANDS, SYNCERS, UNLABELED } from './syncers/syncerCommands.ts'
import { ENSURE_TEAM, MEMBER_KUBECONFIG, REMOVE_TEAM } from './teams/teamCommands.ts'
import { DEFAULT_INVENTORY, ensureWmw, removeWmw } from './workloadSpaces.ts'

const NOTES =
  "The current workspace of your kubeconfig stays as it is; 'ensure wmw' alone enters the one that it makes, as scripts for KubeStellar expect."

interface WmwFlags extends CommonOptions {
  withKube: string
  inventory?: string[]
  enter?: boolean
}

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
        { parse: repeated },
      ),
      flag('--enter', 'enter it, as without a flag'),
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
      flag('--timeout <duration>', 'how long to wait for the syncer', { parse: timeoutSeconds, default: '60s' }),
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
    flag(
      '--associated <kinds>',
      'kinds that clusters make of placed objects and may report, such as pods,events; "*" is all',
    ),
  ],
  change: ofSpace(grantCommand),
}

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
    ...PREP_COMMANDS,
    ...JOIN_COMMANDS,
    MEMBER_KUBECONFIG,
    { line: 'syncer', summary: 'credentials of the syncers of clusters', commands: SYNCERS },
    ...CLUSTER_COMMANDS,
    ...ANSWER_COMMANDS,
    ROLLOUT,
  ],
}

/** Resolves to the exit code. */
export async function kubectlKubestellar(args: readonly string[], terminal: Terminal): Promise<number> {
  return await runPlugin(KUBESTELLAR, args, terminal)
}
