/** The sub-commands of `orrery`. */
import { Argument, Command, Option } from 'commander'
import { messageOf } from '../apimachinery/messageOf.ts'
import { DEFAULT_ADDRESSES, DEFAULT_PORTS } from '../apiserver/serviceNetwork/serviceRanges.ts'
import { CONTROLLER_NAMES } from '../controllers/controllerNames.ts'
import { ACCESS_FLAGS } from './accessFlags.ts'
import { COMPLETE, SHELLS, type Shell } from './completion/shells.ts'
import { OUTPUT } from './printFound.ts'
import { PRIVATE_UMASK } from './privateFolder.ts'
import { addSettings, type Setting, settingsOf } from './settings.ts'
import { isLasting } from './tunedProcess.ts'
import { endWithReader, outliveReaders, processTerminal, type Terminal } from './ws/terminal.ts'

interface SubCommand {
  name: string
  summary: string
  /** More, for its own help. */
  notes?: string
  settings: readonly Setting[]
  /** What its config file may say, when that is the file of another command, which uses more of it. Default: `settings`. */
  inFile?: readonly Setting[]
  /** The exit code for a line that cannot be read, by the flags that can; default: 1. */
  mistaken?(flags: Readonly<Record<string, unknown>>): number
  /** Absent where only the sub-commands do something. */
  load?(): Promise<(settings: Record<string, unknown>) => Promise<number>>
  commands?: readonly SubCommand[]
}

const CONFIG: Setting = {
  flags: '--config <file>',
  description: 'YAML file with settings, named like the flags without dashes in front',
}

const LISTEN: readonly Setting[] = [
  { flags: '--bind-address <address>', description: 'address to listen on', default: '127.0.0.1' },
  {
    flags: '--secure-port <port>',
    description: 'port to listen on; 0 takes a free one',
    default: 6443,
    number: true,
    maximum: 65_535,
  },
  {
    flags: '--service-cluster-ip-range <cidr>',
    description: 'IPv4 range out of which Services are given their cluster IPs',
    default: DEFAULT_ADDRESSES,
  },
  {
    flags: '--service-node-port-range <low-high>',
    description: 'ports out of which Services are given their node ports',
    default: DEFAULT_PORTS,
  },
  {
    flags: '--advertise-address <address>',
    description: 'IP address that the Service kubernetes leads to; default: what can be known of it',
  },
]

/** Of what runs until it is told to stop. */
const LOG: readonly Setting[] = [
  {
    flags: '--log-level <level>',
    description: 'least level that is logged: trace, debug, info, warn, error, fatal or silent; default: info',
  },
  {
    flags: '--log-format <format>',
    description: 'form of the log: text for people, json; default: text on a terminal, else json',
  },
]

/** What a syncer stands between. */
const BETWEEN: readonly Setting[] = [
  { flags: '--from-kubeconfig <file>', description: 'kubeconfig of the mailbox space', required: true },
  { flags: '--from-context <name>', description: 'context in it; default: its current one' },
  { flags: '--to-kubeconfig <file>', description: 'kubeconfig of the cluster; default: the pod it runs in' },
  { flags: '--to-context <name>', description: 'context in it; default: its current one' },
]

const STOPPED_DATA_DIR: Setting = {
  flags: '--data-dir <dir>',
  description: 'data dir of a server that does not run',
  default: '.orrery',
}

/** One object of a store. */
const STORED_OBJECT: readonly Setting[] = [
  CONFIG,
  STOPPED_DATA_DIR,
  {
    flags: '--space <space>',
    description: "the object's space, by path from the root or id; may be left out when one holds such an object",
  },
  {
    flags: '--resource <resource>',
    description: 'plural name, with .group where that is not clear: configmaps, deployments.apps',
  },
  { flags: '--namespace <namespace>', description: 'may be left out where that is clear' },
  { flags: '--name <name>', description: "the object's name" },
  {
    flags: '--key <key>',
    description: 'all of it at once: <space>/<group>/<resource>/<namespace>/<name>, parts may be empty',
  },
  OUTPUT,
]

/** Of a server. */
const START: readonly Setting[] = [
  CONFIG,
  { flags: '--data-dir <dir>', description: 'database, certificates and admin.kubeconfig', default: '.orrery' },
  ...LISTEN,
  {
    flags: '--external-hostname <host...>',
    description: 'further names that clients use; the first goes into URLs',
    list: true,
    alias: 'EXTERNAL_HOSTNAME',
  },
  {
    flags: '--external-port <port>',
    description: 'port in URLs, where clients come through a balancer; default: the one it listens on',
    number: true,
    minimum: 1,
    maximum: 65_535,
    alias: 'EXTERNAL_PORT',
  },
  {
    flags: '--tls-sni-cert-key <cert,key>',
    description: 'files (PEM) of a certificate for the names in it; all other names have the one of the own authority',
  },
  {
    flags: '--external-ca-file <file>',
    description: "PEM authorities that vouch for that certificate, for kubeconfigs; default: the system's",
  },
  {
    flags: '--internal-address <host:port>',
    description: 'where what runs beside the server reaches it, such as its Service; goes into certificate and Secret',
  },
  {
    flags: '--kubeconfig-secret <name>',
    description: 'Secret (or namespace/name) of the cluster it runs in that gets kubeconfigs for outside and inside',
  },
  {
    flags: '--host-kubeconfig <file>',
    description: 'kubeconfig of that cluster; default: the pod it runs in',
  },
  {
    flags: '--ensure-imw <paths...>',
    description: 'inventory spaces that are made at each start where they are missing',
    list: true,
    alias: 'ENSURE_IMW',
  },
  {
    flags: '--ensure-wmw <paths...>',
    description:
      'workload spaces, likewise; new ones may place anything in the inventories of --ensure-imw, or root:imw1',
    list: true,
    alias: 'ENSURE_WMW',
  },
  { flags: '--storage <engine>', description: 'storage engine', default: 'level', choices: ['level', 'etcd'] },
  { flags: '--etcd-servers <urls>', description: 'comma-separated etcd URLs, with --storage etcd' },
  {
    flags: '--history-minutes <n>',
    description: 'how long changes can be watched and listed back',
    default: 10,
    number: true,
    minimum: 1,
  },
  {
    flags: '--max-requests-inflight <n>',
    description: 'seats for requests, with those of --max-mutating-requests-inflight divided among the priority levels',
    default: 400,
    number: true,
    minimum: 1,
  },
  {
    flags: '--max-mutating-requests-inflight <n>',
    description: 'further seats for requests',
    default: 200,
    number: true,
    minimum: 1,
  },
  {
    flags: '--api-threads <n>',
    description: 'threads that answer GETs, lists and watches beside the main one; each holds all objects',
    default: 0,
    number: true,
    minimum: 0,
  },
  {
    flags: '--enable-priority-and-fairness [bool]',
    description: 'let requests wait in fair queues; false: refuse those beyond the two numbers above, as they come',
    default: true,
    boolean: true,
  },
  {
    flags: '--accept-loss [bool]',
    description: 'start a damaged store with what is intact of it; the log says what is lost',
    default: false,
    boolean: true,
  },
  {
    flags: '--disk-reserve-mib <n>',
    description: 'MiB kept free on the disk: growth is refused below; 0: none. Default: 5 % of it, from 96 to 256',
    number: true,
  },
  {
    flags: '--controllers <names...>',
    description: `controllers to run: "*" all, "foo" that one, "-foo" all but that one (give it as --controllers=*,-foo); default: *. All: ${CONTROLLER_NAMES.join(', ')}`,
    list: true,
  },
  ...ACCESS_FLAGS,
  ...LOG,
]

const HEALTH_ADDRESS: Setting = {
  flags: '--health-address <host:port>',
  description:
    'where a syncer tells how it is (/healthz, /readyz, /metrics), without asking who wants to know; none: nowhere',
}

const SYNCER: readonly Setting[] = [
  CONFIG,
  ...BETWEEN,
  { flags: '--sync-target-name <name>', description: 'name of the SyncTarget, for logs' },
  { flags: '--sync-target-uid <uid>', description: 'uid of the SyncTarget that the mailbox must be for' },
  { flags: '--state-dir <dir>', description: 'where the cursor is kept over restarts' },
  { flags: '--allow-namespaces <names...>', description: 'namespaces to carry; "*" in them is any text', list: true },
  {
    flags: '--allow-kinds <kinds...>',
    description:
      'kinds to carry that have a namespace, as resource.group, such as deployments.apps, *.apps, configmaps',
    list: true,
  },
  {
    flags: '--allow-cluster-scoped <kinds...>',
    description: 'kinds to carry that have none; default: all, but none when another list is given',
    list: true,
  },
  {
    flags: '--impersonate [bool]',
    description: 'write to the cluster as user orrery:space:<id> of the space that owns the object: its RBAC decides',
    default: false,
    boolean: true,
  },
  {
    flags: '--adopt-existing [bool]',
    description: 'take over what was in the cluster before; else only what its source says (edge.kubestellar.io/adopt)',
    default: false,
    boolean: true,
  },
  {
    flags: '--dry-run [bool]',
    description:
      'say what it would do in the cluster, write nothing there and report nothing; exit 0: nothing, 1: something, ' +
      '2: some of it is refused or fails, 3: it could not be found out',
    default: false,
    boolean: true,
  },
  { flags: '--qps <n>', description: 'requests per second to the cluster; 0: no limit', default: 1000, number: true },
  { flags: '--burst <n>', description: 'requests that may come at once', default: 1000, number: true },
  HEALTH_ADDRESS,
  ...LOG,
  { ...OUTPUT, description: 'with --dry-run: a document for programs' },
]

const COMMANDS: readonly SubCommand[] = [
  {
    name: 'start',
    summary: 'run the server: spaces, controllers and their API',
    notes: 'Exit codes: 0 it was asked to end, 1 it cannot start, or not go on.',
    settings: START,
    load: async () => (await import('./start.ts')).start,
  },
  {
    name: 'syncer',
    summary: 'run beside a cluster: apply what its mailbox space holds, report status back',
    notes:
      'Exit codes: 0 it was asked to end, 1 it cannot go on. With --dry-run: 0 nothing is to do, 1 something is, 2 some of it is\n' +
      'refused or fails, 3 it could not be found out.',
    settings: SYNCER,
    // beside it, 1 says that there is something to do
    mistaken: ({ dryRun }) => (dryRun === undefined || dryRun === false ? 1 : 3),
    load: async () => (await import('./syncer.ts')).runSyncerCommand,
    commands: [
      {
        name: 'status',
        summary: 'how the syncer on this machine is; the exit code says whether it is ready',
        notes: 'Exit codes: 0 it is ready, 1 it is not, or nobody answers.',
        settings: [CONFIG, HEALTH_ADDRESS, OUTPUT],
        inFile: SYNCER,
        load: async () => (await import('./syncerStatusCommand.ts')).syncerStatus,
      },
      {
        name: 'adopt',
        summary: 'hand a cluster over to a mailbox that it was not served from before',
        notes:
          'The cluster notes its mailbox in ConfigMap kube-system/orrery-syncer, and a syncer that comes from another\n' +
          'one stops. After adopt, the syncer of the new mailbox deletes what the former one placed and the new\n' +
          'mailbox does not hold. End the former syncer first.',
        settings: [CONFIG, ...BETWEEN, OUTPUT],
        inFile: SYNCER,
        load: async () => (await import('./syncer.ts')).adoptCluster,
      },
    ],
  },
  {
    name: 'simulate-wec',
    summary: 'run a stand-in cluster for demos and tests (a simulation: no containers run)',
    settings: [
      CONFIG,
      { flags: '--name <name>', description: 'name of the stand-in cluster', required: true },
      { flags: '--data-dir <dir>', description: 'its database, certificates and admin.kubeconfig', required: true },
      ...LISTEN,
      ...LOG,
    ],
    load: async () => (await import('./simulateWec.ts')).simulateWec,
  },
  {
    name: 'kubeconfig',
    summary: "print the administrator's kubeconfig of a server that has run on the data dir",
    settings: [CONFIG, { ...STOPPED_DATA_DIR, description: 'data dir of the server' }],
    inFile: START,
    load: async () => (await import('./printKubeconfig.ts')).printKubeconfig,
  },
  {
    name: 'store',
    summary: 'look at the store of a server that does not run, or take an object out of it',
    settings: [],
    commands: [
      {
        name: 'get',
        summary: 'print one object, as JSON; changes nothing',
        settings: STORED_OBJECT,
        inFile: START,
        load: async () => (await import('./storedObject.ts')).getStored,
      },
      {
        name: 'delete',
        summary: 'delete one object, so that the server can start again',
        notes:
          'Watchers and syncers are told of the deletion once the server runs. Finalizers are not waited for, and what\n' +
          'the object holds (of a Namespace, a Workspace, a CustomResourceDefinition) stays. Keep what "store get" prints.',
        settings: STORED_OBJECT,
        inFile: START,
        load: async () => (await import('./storedObject.ts')).deleteStored,
      },
      {
        name: 'verify',
        summary: 'check every row of the store; changes nothing',
        notes: 'Exit codes: 0 all is intact, 1 something is damaged; standard output says what is lost.',
        settings: [CONFIG, STOPPED_DATA_DIR, OUTPUT],
        inFile: START,
        load: async () => (await import('./store.ts')).verifyStore,
      },
      {
        name: 'stats',
        summary: 'what the store holds; changes nothing',
        settings: [CONFIG, STOPPED_DATA_DIR, OUTPUT],
        inFile: START,
        load: async () => (await import('./store.ts')).storeStats,
      },
    ],
  },
]

const VERSION_SUMMARY = 'print the version, its commit and date'

interface Plugin {
  name: string
  summary: string
  run(args: readonly string[]): Promise<number>
}

/** The kubectl plugins under the names that they have behind `kubectl`, with command lines of their own. */
const PLUGINS: readonly Plugin[] = [
  {
    name: 'ws',
    summary: 'move between spaces, as kubectl ws',
    run: async args => {
      const { kubectlWs } = await import('./ws/program.ts')
      return await asPlugin(kubectlWs, args)
    },
  },
  {
    name: 'kubestellar',
    summary: 'inventory, workload spaces and syncers, as kubectl kubestellar',
    run: async args => {
      const { kubectlKubestellar } = await import('./kubestellar/program.ts')
      return await asPlugin(kubectlKubestellar, args)
    },
  },
]

async function asPlugin(
  run: (args: readonly string[], terminal: Terminal) => Promise<number>,
  args: readonly string[],
): Promise<number> {
  return await run(args, processTerminal)
}

/** Runs one command line; resolves to the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const [first, ...rest] = args[0] === 'help' ? [...args.slice(1, 2), '--help'] : args
  if (isLasting(first)) outliveReaders()
  else endWithReader()
  const plugin = PLUGINS.find(({ name }) => name === first)
  if (plugin !== undefined) return await plugin.run(rest)
  if (first === COMPLETE) {
    const [word] = rest
    const completed = rest.length > 1 && PLUGINS.find(({ name }) => name === word)
    return completed ? await completed.run([COMPLETE, ...rest.slice(1)]) : await completeWords(rest)
  }
  const { program, result } = orreryProgram()
  await program.parseAsync(args[0] === '--version' ? ['version', ...args.slice(1)] : [...args], { from: 'user' })
  return result.code
}

/** Not loaded for what every process of `orrery` does. */
async function completeWords(words: readonly string[]): Promise<number> {
  const { printCompletion } = await import('./completion/printCompletion.ts')
  return await printCompletion(orreryProgram().program, words, processTerminal)
}

/** The command line, and where its exit code will stand. */
export function orreryProgram(): { program: Command; result: { readonly code: number } } {
  const result = { code: 0 }
  const program = new Command('orrery')
    .description('A multi-cluster configuration server: spaces, placement and syncing in one process')
    // A flag behind a sub-command's name is the sub-command's.
    .enablePositionalOptions()
  program.option('--version', VERSION_SUMMARY)
  const reporting = (name: string, run: () => Promise<number>) => async (): Promise<void> => {
    try {
      result.code = await run()
    } catch (error) {
      process.stderr.write(`orrery ${name}: ${messageOf(error)}\n`)
      result.code = 1
    }
  }
  const add = (to: Command, described: SubCommand): void => {
    const { name, summary, notes, settings, inFile, load, mistaken, commands = [] } = described
    const command = to.command(name).description(summary).enablePositionalOptions()
    if (mistaken) command.exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : mistaken(command.opts())))
    if (notes !== undefined) command.addHelpText('after', `\n${notes}`)
    addSettings(command, settings)
    const path = to === program ? name : `${to.name()} ${name}`
    // One that also runs by itself takes a misspelt sub-command for an argument too many, and would only count it.
    if (load && commands.length > 0) command.allowExcessArguments()
    const run = async (start: NonNullable<typeof load>): Promise<number> => {
      const [unknown] = command.args
      if (unknown !== undefined) {
        const known = commands.map(below => below.name).join(', ')
        throw new Error(`there is no sub-command ${JSON.stringify(unknown)}; there is: ${known}`)
      }
      process.umask(PRIVATE_UMASK)
      return (await start())(await settingsOf(command, settings, inFile))
    }
    if (load) command.action(reporting(path, () => run(load)))
    for (const below of commands) add(command, below)
  }
  for (const command of COMMANDS) add(program, command)
  // For the help: they have run already.
  for (const { name, summary } of PLUGINS) program.command(name).description(summary)
  const version = program.command('version').description(VERSION_SUMMARY)
  version.addOption(new Option('-o, --output <format>', 'json: all that is known, as JSON').choices(['json']))
  const printVersion = async (): Promise<number> => {
    const { factsLine, programFacts } = await import('./programFacts.ts')
    const facts = await programFacts()
    const { output } = version.opts<{ output?: 'json' }>()
    process.stdout.write(`${output === 'json' ? JSON.stringify(facts, undefined, 2) : factsLine(facts)}\n`)
    return 0
  }
  version.action(reporting('version', printVersion))
  const completion = program
    .command('completion')
    .description('print the script that completes command lines of orrery in a shell')
    .addArgument(new Argument('<shell>', 'whose script').choices(SHELLS))
    .addHelpText('after', COMPLETION_NOTES)
  completion.action((shell: Shell) =>
    reporting('completion', async () => {
      const { completionScript } = await import('./completion/scripts.ts')
      process.stdout.write(completionScript(shell))
      return 0
    })(),
  )
  return { program, result }
}

const COMPLETION_NOTES = `
bash:  source <(orrery completion bash)
zsh:   source <(orrery completion zsh)
fish:  orrery completion fish | source
kubectl completes "kubectl ws" and "kubectl kubestellar" itself, where kubectl_complete-ws and kubectl_complete-kubestellar are on
the PATH.`
