/** Settings of a server, of a stand-in cluster, and of a host that leads to a server. */
import { DEFAULT_ADDRESSES, DEFAULT_PORTS } from '../../../apiserver/serviceNetwork/serviceRanges.ts'
import { CONTROLLER_NAMES } from '../../../controllers/controllerNames.ts'
import type { Setting } from '../../shell/settings.ts'
import { ACCESS_FLAGS } from '../accessFlags.ts'
import { CONFIG, LOG } from './common.ts'

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
