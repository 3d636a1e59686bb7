/** The command line of `kubectl kubestellar`. */
import { type Command, Option } from 'commander'
import type { GroupResource, KubeObject } from '../../apimachinery/object.ts'
import type { SpaceClient } from '../../client/client.ts'
import { MAILBOX_PARENT, SYNC_TARGETS } from '../../placement/words/placement.ts'
import { type ChangesOptions, changesOption, formatIn, printingChanges } from '../shell/changes.ts'
import {
  CommandError,
  exitCodes,
  NO_MAILBOX,
  NOT_ENTERED,
  NOT_LABELED,
  NOT_LEFT,
  NOT_MADE,
  NOT_THE_CORE_SPACE,
} from '../shell/commandError.ts'
import { printCompletion } from '../shell/completion/printCompletion.ts'
import { COMPLETE } from '../shell/completion/scripts.ts'
import { type ConfirmOptions, confirmable } from '../shell/confirm.ts'
import { type DocumentOptions, documentOption } from '../shell/output.ts'
import { createProgram, runProgram } from '../shell/runProgram.ts'
import { pathOf, type Session, withSession } from '../shell/session/session.ts'
import type { Terminal } from '../shell/terminal.ts'
import { answerCommands } from './answerCommands.ts'
import { checkObjectName, parseLabels, parseLifetime } from './arguments.ts'
import {
  type GrantCommandOptions,
  grantCommand,
  grantsCommand,
  type InventoryOption,
  ungrantCommand,
} from './grantCommands.ts'
import { servesNone } from './grants.ts'
import { ensureLocation, type InventoryEntry, type RemoveOptions, removeLocation } from './inventory.ts'
import { type PrepOptions, prepForSyncer } from './prepForSyncer.ts'
import {
  type AdoptOptions,
  adoptCluster,
  listSyncers,
  type RotateOptions,
  removeSyncer,
  revokeSyncer,
  rotateSyncer,
  type SyncerOptions,
} from './syncers.ts'
import { DEFAULT_INVENTORY, ensureWmw, removeWmw } from './workloadSpaces.ts'

interface CommonOptions {
  kubeconfig?: string
  context?: string
}

/** Makes, changes or deletes; the objects are the answer. */
type Change = (session: Session, told: Terminal) => Promise<KubeObject | readonly KubeObject[]>

/** Runs what needs SyncTargets. */
type InInventory = (
  options: CommonOptions & { imw: string },
  use: (inventory: SpaceClient, session: Session) => Promise<void>,
) => Promise<void>

const LIFETIME = 'how long the credential may go unused, at most 2160h (90 days); a running syncer renews it'
const DEFAULT_LIFETIME = '2160h'

const NO_CORE = { [NOT_THE_CORE_SPACE]: 'what --espw names is not the core space' }
const NO_WAY = { ...NO_CORE, [NO_MAILBOX]: 'the mailbox is not there in time' }

const NOTES = `
The current workspace of your kubeconfig stays as it is, except that 'ensure wmw' ends inside the workload space.`

/** Resolves to the exit code. */
export async function kubectlKubestellar(args: readonly string[], terminal: Terminal): Promise<number> {
  const { program, answered } = kubestellarProgram(terminal)
  if (args[0] === COMPLETE) return await printCompletion(program, args.slice(1), terminal)
  return (await runProgram(program, args, terminal)) || answered.exitCode
}

/** With the exit code of what answers. */
export function kubestellarProgram(terminal: Terminal): { program: Command; answered: { readonly exitCode: number } } {
  const run = (options: CommonOptions, use: (session: Session) => Promise<void>) => runIn(terminal, options, use)
  const inInventory: InInventory = (options, use) => runInInventory(terminal, options, use)
  const changing = (options: CommonOptions & ChangesOptions, change: Change) =>
    run(options, session => printingChanges(options, terminal, told => change(session, told)))
  const program = createProgram(
    'kubectl kubestellar',
    'Manages inventory, workload spaces and syncers, and answers what became of workload.',
  )
  program.addHelpText('after', NOTES)
  exitCodes(program)
  const ensure = program.command('ensure').description('make what is missing')
  const remove = program.command('remove').description('delete what is there')

  const unlabeled = { [NOT_MADE]: 'one of the two could not be made', [NOT_LABELED]: 'it could not be labeled' }
  exitCodes(inventory(ensure.command('location <name> [labels...]')), unlabeled)
    .description('make a SyncTarget and a Location of one name, with labels key=value on both; key- takes one away')
    .addOption(changesOption())
    .action((name: string, labels: string[], options: CommonOptions & ChangesOptions & { imw: string }) => {
      const entry = inventoryEntry(name, labels)
      return inInventory(options, space =>
        printingChanges(options, terminal, told => ensureLocation(space, entry, told)),
      )
    })
  const unleft = { [NOT_LEFT]: 'the syncer has not left in time' }
  exitCodes(confirmable(inventory(remove.command('location <location>'))), unleft)
    .description('delete the SyncTarget and the Location of a name, once the syncer has left the cluster')
    .option(
      '--workload <fate>',
      'what was placed there: "keep" or "delete"; default: as the SyncTarget says, else keep',
    )
    .option('--force', 'do not wait for the syncer: the cluster keeps what it holds')
    .option('--timeout <seconds>', 'how long to wait for the syncer', '60')
    .addOption(changesOption())
    .action((name: string, options: CommonOptions & ChangesOptions & { imw: string } & RemoveOptions) => {
      checkObjectName(name)
      return inInventory(options, space =>
        printingChanges(options, terminal, told => removeLocation(space, name, options, told)),
      )
    })
  exitCodes(common(ensure.command('wmw <name>')), { [NOT_ENTERED]: 'the space could not be made or entered' })
    .description('make a workload description space under root, and enter it')
    .addOption(
      new Option(
        '--with-kube <boolean>',
        'whether the kinds of Kubernetes are wanted (they are always served)',
      ).default('true'),
    )
    .option(
      '--inventory <path>',
      `inventory that the space uses, repeatable, "" for none; default: ${DEFAULT_INVENTORY}, if it uses none yet`,
      (path: string, before: string[] | undefined) => [...(before ?? []), path],
    )
    .addOption(changesOption())
    .action((name: string, options: CommonOptions & ChangesOptions & { withKube: string; inventory?: string[] }) => {
      const { withKube, inventory: inventories } = options
      if (withKube !== 'true' && withKube !== 'false') throw new CommandError('with-kube should be true or false')
      return changing(options, (s, told) => ensureWmw(s, name, { withKube: withKube === 'true', inventories }, told))
    })
  confirmable(common(remove.command('wmw <name>')))
    .description('delete a workload description space under root, with all that is in it')
    .addOption(changesOption())
    .action((name: string, options: CommonOptions & ChangesOptions & ConfirmOptions) =>
      changing(options, (s, told) => removeWmw(s, name, options, told)),
    )

  confirmable(inventory(program.command('grant <space>')))
    .description(
      'let a space, and all below it, place on the clusters of an inventory; a grant that is there keeps what is not named',
    )
    .option('--name <name>', "name of the PlacementGrant; default: the space's path")
    .option('--id <id>', 'id of the space, where you may not see it; who administers it knows it')
    .option('--locations <selector>', 'only where Location and SyncTarget have these labels, such as env=prod')
    .option('--namespaces <names>', 'only namespaces of these names; "*" stands for any text, such as team-a-*')
    .option('--allow <kinds>', 'only these kinds, such as deployments.apps,configmaps,*.batch')
    .option('--deny <kinds>', 'not these kinds')
    .option('--cluster-scoped', 'cluster-scoped objects too')
    .option('--no-cluster-scoped', 'no cluster-scoped objects any more')
    .option(
      '--granting-kinds',
      'also kinds that grant rights or steer the cluster: RBAC, webhooks, policies, APIServices',
    )
    .option('--no-granting-kinds', 'none of these kinds any more')
    .option('--adopt-existing', 'what is placed takes over what is in the clusters already under its name')
    .option('--no-adopt-existing', 'what is in the clusters already stays as it is')
    .option('--replace', 'take away all limits and rights that this command does not name')
    .option('--unserved', 'name kinds, too, that neither the inventory nor the space serves yet')
    .option('--upsync <kinds>', 'kinds that may be carried up from the clusters; "*" is all but Secrets')
    .option('--upsync-secrets <names>', 'Secrets that may be carried up, as NAMESPACE/NAME')
    .addOption(changesOption())
    .action((space: string, options: CommonOptions & ChangesOptions & GrantCommandOptions) =>
      changing(options, (s, told) => grantCommand(s, space, options, told)),
    )
  confirmable(inventory(program.command('ungrant <space>')))
    .description('take back what a space was granted; what it has placed there goes')
    .addOption(changesOption())
    .action((space: string, options: CommonOptions & ChangesOptions & InventoryOption & ConfirmOptions) =>
      changing(options, (s, told) => ungrantCommand(s, space, options, told)),
    )
  inventory(program.command('grants'))
    .description('print who may place what on the clusters of an inventory')
    .addOption(documentOption())
    .action((options: CommonOptions & InventoryOption & DocumentOptions) =>
      run(options, s => grantsCommand(s, options, terminal)),
    )

  exitCodes(syncer(mailbox(program.command('prep-for-syncer <synctarget>'))), NO_WAY)
    .description('write the manifest that runs the syncer of a SyncTarget in its cluster')
    .action((name: string, options: CommonOptions & PrepOptions) => {
      parseLifetime(options.lifetime)
      return inInventory(options, (_, s) => prepForSyncer(s, name, options, terminal))
    })
  exitCodes(syncer(mailbox(program.command('prep-for-cluster <name> [labels...]'))), { ...NO_WAY, ...unlabeled })
    .description("'ensure location' and 'prep-for-syncer' in one")
    .action((name: string, labels: string[], options: CommonOptions & PrepOptions) => {
      const entry = inventoryEntry(name, labels)
      parseLifetime(options.lifetime)
      const told = { ...terminal, out: quietOut(options, terminal) }
      return inInventory(options, async (space, s) => {
        await ensureLocation(space, entry, told)
        await prepForSyncer(s, name, options, terminal)
      })
    })
  syncerCommands(program, inInventory, terminal)
  const answered = answerCommands(program, common, terminal)
  return { program, answered }
}

function syncerCommands(program: Command, inInventory: InInventory, terminal: Terminal): void {
  const run = (options: CommonOptions & { imw: string }, use: (session: Session) => Promise<void>) =>
    inInventory(options, (_, session) => use(session))
  const changing = (options: CommonOptions & ChangesOptions & { imw: string }, change: Change) =>
    run(options, session => printingChanges(options, terminal, told => change(session, told)))
  const group = program.command('syncer').description('who may act as the syncer of a cluster')
  exitCodes(core(inventory(group.command('list'))), NO_CORE)
    .description('show sessions and credentials of all syncers of an inventory')
    .addOption(documentOption())
    .action((options: CommonOptions & Omit<SyncerOptions, 'timeout'> & DocumentOptions) =>
      run(options, s => listSyncers(s, options, terminal)),
    )
  exitCodes(confirmable(mailbox(group.command('revoke <synctarget>'))), NO_WAY)
    .description('end every credential of a syncer, at once')
    .addOption(changesOption())
    .action((name: string, options: CommonOptions & ChangesOptions & SyncerOptions & ConfirmOptions) =>
      changing(options, (s, told) => revokeSyncer(s, name, options, told)),
    )
  exitCodes(mailbox(group.command('rotate <synctarget>')), NO_WAY)
    .description('write a new credential; those before it end when it is used')
    .option(
      '-o, --output <file>',
      'where its Secret goes, "-" for stdout, json, yaml or name for that form there; default: <synctarget>-syncer-credential.yaml',
    )
    .option('--kubeconfig-output <file>', 'write a kubeconfig instead, for a syncer outside of the cluster')
    .option('--syncer-server <url>', 'scheme://host:port by which the syncer reaches the server')
    .option('--lifetime <duration>', LIFETIME, DEFAULT_LIFETIME)
    .action((name: string, options: CommonOptions & RotateOptions) => {
      parseLifetime(options.lifetime)
      return run(options, s => rotateSyncer(s, name, options, terminal))
    })
  exitCodes(confirmable(mailbox(group.command('remove <synctarget>'))), NO_WAY)
    .description('end every credential of a syncer, and say how to take it out of its cluster')
    .addOption(changesOption())
    .action((name: string, options: CommonOptions & ChangesOptions & SyncerOptions & ConfirmOptions) =>
      changing(options, (s, told) => removeSyncer(s, name, options, told)),
    )
  exitCodes(mailbox(group.command('adopt <synctarget>')), NO_WAY)
    .description("serve a cluster from this SyncTarget's mailbox from now on, whatever it was served from before")
    .requiredOption('--to-kubeconfig <file>', 'kubeconfig of the cluster')
    .option('--to-context <name>', 'context in it; default: its current one')
    .addOption(changesOption())
    .action((name: string, options: CommonOptions & ChangesOptions & AdoptOptions) =>
      changing(options, (s, told) => adoptCluster(s, name, options, told)),
    )
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

async function runIn(
  terminal: Terminal,
  options: CommonOptions,
  use: (session: Session) => Promise<void>,
): Promise<void> {
  const { kubeconfig, context } = options
  // the current workspace is what the commands go by, and it is not a matter of contexts
  if (context !== undefined) throw new CommandError('--context flag not supported')
  await withSession({ warn: terminal.err, ...(kubeconfig !== undefined && { kubeconfig }) }, use)
}

/** As `runIn`, for what needs SyncTargets: that a space serves none is said in one line. */
async function runInInventory(
  terminal: Terminal,
  options: CommonOptions & { imw: string },
  use: (inventory: SpaceClient, session: Session) => Promise<void>,
): Promise<void> {
  await runIn(terminal, options, async session => {
    const path = await pathOf(session, options.imw)
    const inventory = session.client.in(path)
    try {
      await use(inventory, session)
    } catch (error) {
      if (!servesNone(error) || (await serves(inventory, SYNC_TARGETS))) throw error
      const message = `${path} serves no SyncTargets: it is no inventory; name one with --imw, such as --imw root:imw1`
      throw new CommandError(message, 1, { cause: error })
    }
  })
}

async function serves(space: SpaceClient, { group, resource }: GroupResource): Promise<boolean> {
  return (await space.discover()).some(served => served.group === group && served.resource === resource)
}

function common(command: Command): Command {
  return command
    .option('--kubeconfig <file>', 'kubeconfig to use; default: $KUBECONFIG, then ~/.kube/config')
    .addOption(new Option('--context <name>').hideHelp())
}

function inventory(command: Command): Command {
  return common(command).option('--imw <path>', 'inventory space; "." is the current workspace', '.')
}

function core(command: Command): Command {
  return command.option('--espw <path>', 'core space, whose children the mailboxes are', MAILBOX_PARENT)
}

function mailbox(command: Command): Command {
  return core(inventory(command)).option('--timeout <seconds>', 'how long to wait for the mailbox', '30')
}

function syncer(command: Command): Command {
  return command
    .option('--syncer-image <image>', 'container image that has Orrery', 'orrery:latest')
    .option(
      '-o, --output <file>',
      'where the manifest goes, "-" for stdout, json, yaml or name for that form there; default: <synctarget>-syncer.yaml',
    )
    .option('--kubeconfig-output <file>', "write the syncer's kubeconfig alone, for a syncer outside of the cluster")
    .option('--syncer-server <url>', 'scheme://host:port by which the syncer reaches the server')
    .option('--syncer-proxy-url <url>', 'HTTP proxy by which the syncer reaches the server')
    .option('--credential-output <file>', 'write the Secret with the credential there, and not into the manifest')
    .option('--lifetime <duration>', LIFETIME, DEFAULT_LIFETIME)
    .option('--replicas <n>', 'replicas of the syncer: 0 or 1', '1')
    .option('--qps <n>', 'requests per second to the cluster; 0: no limit', '1000')
    .option('--burst <n>', 'requests that may come at once', '1000')
    .option('--allow-namespaces <names>', 'namespaces that the syncer may carry, comma-separated; "*" is any text')
    .option('--allow-kinds <kinds>', 'kinds with a namespace that it may carry: deployments.apps,*.apps,configmaps')
    .option('--allow-cluster-scoped <kinds>', 'kinds without one; default: all, but none when another list is given')
    .option('--impersonate', "let the cluster's RBAC decide: the syncer writes as user orrery:space:<id>")
    .option('--adopt-existing', 'take over what is in the cluster already and has the name of something placed')
    .option('-s, --silent', 'print nothing but errors and notes')
}
