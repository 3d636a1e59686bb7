/** Sub-commands of `orrery`: their settings, and the files that run them, loaded on use. */

import { flag, type Setting } from '../shell/settings.ts'
import type { Host } from './host.ts'
import { ADMINISTRATOR, CONFIG, LOG, MCP, OUTPUT, STOPPED_DATA_DIR } from './settings/common.ts'
import { AGGREGATION, AGGREGATION_PRINT, LISTEN, SERVER_PORT, START } from './settings/server.ts'
import { ARCHIVE, BACKUP, KEY_FILE, RESTORE, STORED_OBJECT } from './settings/stores.ts'
import { BETWEEN, HEALTH_ADDRESS, SYNC_TARGET_NAME, SYNCER } from './settings/syncer.ts'

export interface SubCommand {
  name: string
  summary: string
  /** More, for its own help. */
  notes?: string
  settings: readonly Setting[]
  /** One of these that may stand without its flag, too. */
  argument?: Setting
  /**
   * Allowed fields of its config file, when that is the file of another command, which uses more of it. Default: `settings`.
   */
  inFile?: readonly Setting[]
  /** The exit code for a line that cannot be read, by the flags that can; default: 1. */
  mistaken?(flags: Readonly<Record<string, unknown>>): number
  /** Absent where only the sub-commands do something. */
  load?(): Promise<(settings: Record<string, unknown>, host: Host) => Promise<number>>
  commands?: readonly SubCommand[]
}

export const SUB_COMMANDS: readonly SubCommand[] = [
  {
    name: 'start',
    summary: 'run the server: spaces, controllers and their API',
    notes: 'Exit codes: 0 an orderly end, 1 it cannot start, or not go on.',
    settings: START,
    load: async () => (await import('./server/start.ts')).start,
  },
  {
    name: 'syncer',
    summary: 'run beside a cluster: apply what its mailbox space holds, report status back',
    notes:
      'Exit codes: 0 an orderly end, 1 it cannot go on. With --dry-run: 0 nothing is to do, 1 something is, 2 some of it is\n' +
      'refused or fails, 3 it could not be found out.',
    settings: SYNCER,
    // beside it, 1 says that there is something to do
    mistaken: ({ dryRun }) => (dryRun === undefined || dryRun === false ? 1 : 3),
    load: async () => (await import('./syncer/syncer.ts')).runSyncerCommand,
    commands: [
      {
        name: 'status',
        summary: 'how the syncers on this machine are; the exit code says whether they are ready',
        notes:
          'A name chooses one of several syncers. Exit codes: 0 all that are shown are ready, 1 one is not, or nobody answers.',
        settings: [CONFIG, SYNC_TARGET_NAME, HEALTH_ADDRESS, OUTPUT],
        argument: SYNC_TARGET_NAME,
        inFile: SYNCER,
        load: async () => (await import('./syncer/syncerStatusCommand.ts')).syncerStatus,
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
        load: async () => (await import('./syncer/adoptCluster.ts')).adoptCluster,
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
      ...LISTEN.map(one => (one.default === SERVER_PORT ? { ...one, default: SERVER_PORT + 1 } : one)),
      ...LOG,
    ],
    load: async () => (await import('./server/simulateWec.ts')).simulateWec,
  },
  {
    name: 'mcp',
    summary: 'answer assistants (Model Context Protocol, on standard input and output); nothing is changed',
    notes:
      'Tools: status, why, preview, diff, get, with the rights of the kubeconfig. Values of Secrets are never shown.\n' +
      'An assistant starts it. Exit codes: 0 standard input has ended, 1 anything else.',
    settings: MCP,
    load: async () => (await import('./mcp/mcp.ts')).mcp,
  },
  {
    name: 'kubeconfig',
    summary: "print the administrator's kubeconfig of a server that has run on the data dir",
    settings: [CONFIG, { ...STOPPED_DATA_DIR, description: 'data dir of the server' }],
    inFile: START,
    load: async () => (await import('./printKubeconfig.ts')).printKubeconfig,
  },
  {
    name: 'aggregation',
    summary: 'make a host cluster lead to the server as its aggregated API server',
    settings: [],
    commands: [
      {
        name: 'print',
        summary: 'print the objects of the host, to be applied there; changes nothing',
        notes:
          'With --host-kubeconfig it looks first whether the host serves these groups otherwise. Take it away by\n' +
          '"orrery aggregation remove" before the server goes: a host whose APIService leads nowhere ends no namespace.',
        settings: AGGREGATION_PRINT,
        inFile: START,
        load: async () => (await import('./aggregation/aggregation.ts')).printAggregation,
      },
      {
        name: 'remove',
        summary: 'delete these objects from the host, the APIServices first',
        notes:
          'Objects stay that lead elsewhere or that somebody else made. Exit codes: 0 done, 1 an APIService stays.',
        settings: [...AGGREGATION, OUTPUT],
        inFile: START,
        load: async () => (await import('./aggregation/aggregation.ts')).removeAggregation,
      },
      {
        name: 'status',
        summary: 'whether the host leads here, and what it says of it',
        notes: 'Exit codes: 0 the host calls all of it available, 1 it does not.',
        settings: [...AGGREGATION, OUTPUT],
        inFile: START,
        load: async () => (await import('./aggregation/aggregation.ts')).aggregationStatus,
      },
    ],
  },
  {
    name: 'backup',
    summary: 'write an archive of a server while it serves: all spaces, as of one revision',
    notes:
      'Asks the server of the kubeconfig, as its administrator; with --data-dir it reads the folder of one that does not run.\n' +
      'The file appears when it is whole. It holds all Secrets as they are: keep it as you keep those. Exit codes: 0 it is\n' +
      'whole and on disk, 1 it is not there.',
    settings: BACKUP,
    argument: ARCHIVE,
    inFile: BACKUP,
    load: async () => (await import('./backup/backup.ts')).backup,
    commands: [
      {
        name: 'verify',
        summary: 'read an archive whole, check each row, counts and sums, and list its content',
        notes: 'Exit codes: 0 it is whole, 1 it is not, or cannot be read here.',
        settings: [CONFIG, ARCHIVE, KEY_FILE, OUTPUT],
        argument: ARCHIVE,
        inFile: BACKUP,
        load: async () => (await import('./backup/verify.ts')).verifyBackup,
      },
    ],
  },
  {
    name: 'restore',
    summary: 'make the data dir of a server of an archive',
    notes:
      'Revisions go on beyond all that were given out since, so that no client takes an old one for a new one. Clusters keep\n' +
      'what the archive does not know. Exit codes: 0 it is restored, 1 it is not, and nothing was overwritten.',
    settings: RESTORE,
    argument: ARCHIVE,
    inFile: RESTORE,
    load: async () => (await import('./backup/restore.ts')).restore,
    commands: [
      {
        name: 'status',
        summary:
          'list objects of clusters that a restored server does not know, with the commands that confirm their removal',
        notes: 'Exit codes: 0 nothing is held, 1 something is, or a syncer has not reported.',
        settings: [...ADMINISTRATOR, OUTPUT],
        load: async () => (await import('./backup/restoreStatus.ts')).restoreStatus,
      },
      {
        name: 'settle',
        summary: 'end the state after a restore: from then on syncers remove a few missing objects by themselves again',
        notes:
          'Objects that are held stay held until they are confirmed, as long as their syncer keeps its state. Exit codes: 0 it is\n' +
          'settled, 1 it is not: a cluster holds objects, or has not reported since the restore.',
        settings: [
          ...ADMINISTRATOR,
          flag('--anyway', 'also while clusters hold objects, or have not reported'),
          OUTPUT,
        ],
        load: async () => (await import('./backup/restoreStatus.ts')).settleRestore,
      },
    ],
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
        load: async () => (await import('./store/storedObject.ts')).getStored,
      },
      {
        name: 'delete',
        summary: 'delete one object, so that the server can start again',
        notes:
          'Watchers and syncers see the deletion once the server runs. Finalizers are not waited for, and what\n' +
          'the object holds (of a Namespace, a Workspace, a CustomResourceDefinition) stays. Keep what "store get" prints.',
        settings: STORED_OBJECT,
        inFile: START,
        load: async () => (await import('./store/storedObject.ts')).deleteStored,
      },
      {
        name: 'verify',
        summary: 'check every row of the store; changes nothing',
        notes: 'Exit codes: 0 all is intact, 1 something is damaged; standard output says what is lost.',
        settings: [CONFIG, STOPPED_DATA_DIR, OUTPUT],
        inFile: START,
        load: async () => (await import('./store/store.ts')).verifyStore,
      },
      {
        name: 'stats',
        summary: 'content of the store; changes nothing',
        settings: [CONFIG, STOPPED_DATA_DIR, OUTPUT],
        inFile: START,
        load: async () => (await import('./store/store.ts')).storeStats,
      },
    ],
  },
]
