/** Commands about syncers: their manifests, credentials and clusters. */

import { RENEWAL_MAX_SECONDS } from '../../../placement/spaces/syncerCredential.ts'
import { MAILBOX_PARENT } from '../../../placement/words/placement.ts'
import { formatIn } from '../../shell/changes.ts'
import { NO_MAILBOX, NOT_LABELED, NOT_MADE, NOT_THE_CORE_SPACE } from '../../shell/commandError.ts'
import { CONFIRM } from '../../shell/confirm.ts'
import { type DocumentOptions, NAMES_OUTPUT } from '../../shell/output.ts'
import type { PluginCommand } from '../../shell/plugin.ts'
import { flag } from '../../shell/settings.ts'
import type { Terminal } from '../../shell/terminal.ts'
import { inventoryEntry, lifetime, timeoutSeconds } from '../arguments.ts'
import { ensureLocation } from '../inventory/inventory.ts'
import { type Change, type CommonOptions, INVENTORY, type InventoryOptions, inInventory } from '../sessions.ts'
import { listSyncers } from './listSyncers.ts'
import { type PrepOptions, prepForSyncer } from './prepForSyncer.ts'
import {
  adoptCluster,
  type RotateOptions,
  removeSyncer,
  revokeSyncer,
  rotateSyncer,
  type SyncerOptions,
} from './syncers.ts'

export const CORE = [
  ...INVENTORY,
  flag('--espw <path>', 'core space, whose children the mailboxes are', { default: MAILBOX_PARENT }),
]
const MAILBOX = [
  ...CORE,
  flag('--timeout <duration>', 'how long to wait for the mailbox', { parse: timeoutSeconds, default: '30s' }),
]
export const SERVER = flag('--syncer-server <url>', 'scheme://host:port by which the syncer reaches the server')
const LIFETIME = flag(
  '--lifetime <duration>',
  'how long the credential may go unused, at most 2160h (90 days); a running syncer renews it',
  {
    parse: lifetime(
      RENEWAL_MAX_SECONDS,
      '; it is how long the credential may go unused: a syncer that runs renews it each day, without an end',
    ),
    default: '2160h',
  },
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
  flag(
    '--associated-kinds <kinds>',
    'further kinds that it may report of what the cluster makes for copies: pods,events',
  ),
  flag('--impersonate', "let the cluster's RBAC decide: the syncer writes as user orrery:space:<id>"),
  flag('--adopt-existing', 'take over what is in the cluster already and has the name of something placed'),
  flag('-s, --silent', 'print nothing but errors and notes'),
]

const NO_CORE = { [NOT_THE_CORE_SPACE]: 'what --espw names is not the core space' }
const NO_WAY = { ...NO_CORE, [NO_MAILBOX]: 'the mailbox is not there in time' }
export const UNLABELED = { [NOT_MADE]: 'one of the two could not be made', [NOT_LABELED]: 'it could not be labeled' }

/** Changes what belongs to a SyncTarget. */
export const ofSyncer =
  <O>(change: Change<O>) =>
  (options: O & InventoryOptions, terminal: Terminal, name: string) =>
    inInventory(options, terminal, (_, s) => change(s, name, options, terminal))

export const PREP_COMMANDS: readonly PluginCommand[] = [
  {
    line: 'prep-for-syncer <synctarget>',
    summary: 'write the manifest that runs the syncer of a SyncTarget in its cluster',
    exits: NO_WAY,
    flags: SYNCER,
    run: (options: CommonOptions & PrepOptions, terminal, name: string) =>
      inInventory(options, terminal, (_, s) => prepForSyncer(s, name, options, terminal)),
  },
  {
    line: 'prep-for-cluster <name> [labels...]',
    summary: "'ensure location' and 'prep-for-syncer' in one",
    exits: { ...NO_WAY, ...UNLABELED },
    flags: SYNCER,
    run: async (options: CommonOptions & PrepOptions, terminal, name: string, ...labels) => {
      const entry = inventoryEntry(name, labels)
      const progress = { ...terminal, out: quietOut(options, terminal) }
      await inInventory(options, terminal, async (space, s) => {
        await ensureLocation(space, entry, progress)
        await prepForSyncer(s, name, options, terminal)
      })
    },
  },
]

export const SYNCERS: readonly PluginCommand[] = [
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
    run: (options: CommonOptions & RotateOptions, terminal, name: string) =>
      inInventory(options, terminal, (_, s) => rotateSyncer(s, name, options, terminal)),
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

/** Where progress goes when stdout is silent or taken by the manifest. */
function quietOut(options: PrepOptions, terminal: Terminal): Terminal['out'] {
  if (options.silent) return () => {}
  return options.output === '-' || formatIn(options.output) !== undefined ? terminal.err : terminal.out
}
