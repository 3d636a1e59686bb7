/** The settings of `orrery`'s sub-commands: each is a flag, an environment variable and a key of the config file. */
import { DEFAULT_ADDRESSES, DEFAULT_PORTS } from '../../apiserver/serviceNetwork/serviceRanges.ts'
import { CONTROLLER_NAMES } from '../../controllers/controllerNames.ts'
import { flag, type Setting } from '../shell/settings.ts'
import { ACCESS_FLAGS } from './accessFlags.ts'

export const CONFIG: Setting = {
  flags: '--config <file>',
  description: 'YAML file with settings, named like the flags without dashes in front',
}

export const OUTPUT: Setting = {
  flags: '-o, --output <format>',
  description: 'a document for programs',
  choices: ['json', 'yaml'],
  flagOnly: true,
}

const HOST_KUBECONFIG: Setting = {
  flags: '--host-kubeconfig <file>',
  description: 'kubeconfig of that cluster; default: the pod it runs in',
}

const AGGREGATED_PORT: Setting = {
  flags: '--aggregated-port <port>',
  description: 'port of that Service',
  default: 7443,
  number: true,
  maximum: 65_535,
}

/** The Service by which a host reaches the server. */
const AGGREGATED_SERVICE: Setting = {
  flags: '--aggregated-service <namespace/name>',
  description: 'Service of the host that leads to the aggregated port; its name goes into the certificate',
  default: 'orrery/orrery',
}

/** A stand-in cluster takes the next one. */
export const SERVER_PORT = 6443

export const LISTEN: readonly Setting[] = [
  { flags: '--bind-address <address>', description: 'address to listen on', default: '127.0.0.1' },
  {
    flags: '--secure-port <port>',
    description: 'port to listen on; 0 takes a free one',
    default: SERVER_PORT,
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

/** Settings of programs that run until they are stopped. */
export const LOG: readonly Setting[] = [
  {
    flags: '--log-level <level>',
    description: 'least level that is logged: trace, debug, info, warn, error, fatal or silent; default: info',
  },
  {
    flags: '--log-format <format>',
    description: 'form of the log: text for people, json, or auto (text on a terminal, else json); default: auto',
  },
]

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

export const STOPPED_DATA_DIR: Setting = {
  flags: '--data-dir <dir>',
  description: 'data dir of a server that does not run',
  default: '.orrery',
}

/** An archive. */
export const ARCHIVE: Setting = flag('--file <file>', 'the archive')

export const KEY_FILE: Setting = {
  flags: '--key-file <file>',
  description: 'file with the passphrase, or random text, that seals the keys of the server in the archive',
}

const KUBECONFIG = flag('--kubeconfig <file>', 'kubeconfig to use; default: $KUBECONFIG, then ~/.kube/config')

/** How an administrator reaches a server. */
export const ADMINISTRATOR: readonly Setting[] = [
  KUBECONFIG,
  flag('--context <name>', 'context in it; default: its current one'),
]

export const BACKUP: readonly Setting[] = [
  CONFIG,
  { ...ARCHIVE, description: 'where the archive goes: a new file, or a folder' },
  KEY_FILE,
  ...ADMINISTRATOR,
  flag('--data-dir <dir>', 'take it from the data dir of a server that does not run'),
  { flags: '--every <duration>', description: 'take one now and then each time after so long (6h), into a folder' },
  {
    flags: '--keep <count>',
    description: 'of the archives in the folder keep so many, the newest',
    number: true,
    minimum: 1,
    maximum: 10_000,
  },
  OUTPUT,
]

export const RESTORE: readonly Setting[] = [
  CONFIG,
  ARCHIVE,
  flag('--data-dir <dir>', 'an empty folder, or one that is not there yet'),
  KEY_FILE,
  flag('--without-keys', 'leave the keys of the server out: it makes new ones, and all credentials end'),
  OUTPUT,
]

/** One object of a store. */
export const STORED_OBJECT: readonly Setting[] = [
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

/** Settings of a server. */
export const START: readonly Setting[] = [
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
    description:
      "files (PEM) of a certificate for the names in it, read anew within a minute. Other names have the one of the server's authority",
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
    description:
      'Secret (or namespace/name) of the cluster it runs in that gets external.kubeconfig, cluster.kubeconfig (by --internal-address) and admin.kubeconfig, at each start, renewal and hour',
  },
  HOST_KUBECONFIG,
  {
    flags: '--aggregated [bool]',
    description: 'answer the kube-apiserver of that cluster, too, as an aggregated API server, at a port of its own',
    default: false,
    boolean: true,
  },
  {
    ...AGGREGATED_PORT,
    description:
      'that port, at --bind-address, for the front proxy of the host and its tokens alone; 0 takes a free one',
  },
  AGGREGATED_SERVICE,
  {
    flags: '--aggregated-space <path>',
    description: 'space whose cluster-scoped kinds the host shows under /apis',
    default: 'root:wmw1',
  },
  {
    flags: '--aggregate-namespaced [bool]',
    description: 'the host shows namespaced kinds of that space, too; their namespaces are those of the space',
    default: false,
    boolean: true,
  },
  {
    flags: '--aggregated-user-prefix <text>',
    description: 'put before users and groups of the host: alice is host:alice here',
    default: 'host:',
  },
  {
    flags: '--ensure-imw <paths...>',
    description:
      'inventory spaces that each start makes where they are missing, with those above them; a failure is logged',
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
    description:
      'threads beside the main one that answer GETs, lists and watches. Default: none up to two cores, else one less than the cores, 4 at most',
    number: true,
    minimum: 0,
  },
  {
    flags: '--enable-priority-and-fairness [bool]',
    description: 'let requests wait in fair queues. false: refuse those beyond the two numbers above',
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
    description:
      'MiB kept free on the disk: growth is refused below; 0: none. Default: 5 % of it, from 96 to 256. As much as the disk has is refused',
    number: true,
  },
  {
    flags: '--max-objects <n>',
    description:
      'objects that the server holds; beyond them new ones are refused, and from 80 % on the log and a metric report it. 0: no limit. Default: one for each 2 KiB of the heap. Four copies in mailboxes count as one',
    number: true,
  },
  {
    flags: '--max-spaces <n>',
    description: 'the same of spaces, mailboxes too. Default: one for each 20 KiB of the heap',
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

/** Whom an assistant asks for, where a call names nothing else. */
export const MCP: readonly Setting[] = [
  KUBECONFIG,
  flag('--space <path>', "workspace that is read; default: the kubeconfig's"),
  flag('-n, --namespace <name>', "namespace; default: the kubeconfig's, else default"),
]

/** Between a host cluster and a server that it leads to. */
export const AGGREGATION: readonly Setting[] = [
  CONFIG,
  { flags: '--data-dir <dir>', description: "the server's, for its authority", default: '.orrery' },
  { ...HOST_KUBECONFIG, description: 'kubeconfig of the host; default: the pod it runs in' },
  AGGREGATED_SERVICE,
  AGGREGATED_PORT,
]

export const AGGREGATION_PRINT: readonly Setting[] = [
  ...AGGREGATION,
  {
    flags: '--external-name <hostname>',
    description: 'of a server outside of the host: makes the Service, which leads to this name',
  },
  {
    flags: '--host-user <name>',
    description: 'user that the server is in the host; default: the ServiceAccount with the name of the Service',
  },
]
