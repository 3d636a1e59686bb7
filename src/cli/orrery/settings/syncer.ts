/** Settings of a syncer. */
import type { Setting } from '../../shell/settings.ts'
import { CONFIG, LOG, OUTPUT } from './common.ts'

/** Settings of the syncer's two sides. */
export const BETWEEN: readonly Setting[] = [
  {
    flags: '--from-kubeconfig <file>',
    description: 'kubeconfig of the mailbox space, or a bootstrap one',
    required: true,
  },
  { flags: '--from-context <name>', description: 'context in it; default: its current one' },
  { flags: '--to-kubeconfig <file>', description: 'kubeconfig of the cluster; default: the pod it runs in' },
  { flags: '--to-context <name>', description: 'context in it; default: its current one' },
]

export const HEALTH_ADDRESS: Setting = {
  flags: '--health-address <host:port>',
  description:
    'address of the plain HTTP port of a syncer, open to everybody: /healthz, /readyz, /metrics, /status; none: no port. The default, 127.0.0.1:8399, moves to the next free port of 16',
}

export const SYNC_TARGET_NAME: Setting = {
  flags: '--sync-target-name <name>',
  description: 'name of the SyncTarget, for logs and syncer status',
}

export const SYNCER: readonly Setting[] = [
  CONFIG,
  ...BETWEEN,
  { ...SYNC_TARGET_NAME, description: `${SYNC_TARGET_NAME.description}; by a bootstrap kubeconfig the one to join` },
  { flags: '--sync-target-uid <uid>', description: 'uid of the SyncTarget that the mailbox must be for' },
  {
    flags: '--state-dir <dir>',
    description:
      'folder of the cursor, the mirror and the credential of a bootstrap kubeconfig, for one syncer at a time. Without it each start reads the whole mailbox, and needs the center. On a full disk it works on and retries every 30 s; damage is put aside as mailbox.damaged',
  },
  {
    flags: '--credential-secret <namespace/name>',
    description: 'Secret of the cluster that keeps that credential, for Pods whose state folder does not last',
  },
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
    flags: '--associated-kinds <kinds...>',
    description:
      'further kinds to report of what the cluster makes for copies, such as pods, events; default: none when another list is given',
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
      'print its actions in the cluster, and do none. Exit code 0: nothing, 1: something, 2: some of it is refused or fails, 3: unknown',
    default: false,
    boolean: true,
  },
  {
    flags: '--qps <n>',
    description:
      'requests per second to the cluster, at most 16 under way; 0: no limit. 429 halves the number for a time',
    default: 1000,
    number: true,
  },
  { flags: '--burst <n>', description: 'requests that may come at once', default: 1000, number: true },
  HEALTH_ADDRESS,
  ...LOG,
  { ...OUTPUT, description: 'with --dry-run: a document for programs' },
]
