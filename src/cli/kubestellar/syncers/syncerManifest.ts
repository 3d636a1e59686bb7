/** Manifest of a syncer in a workload execution cluster. Pure. */
import { createHash } from 'node:crypto'
import { stringify } from 'yaml'
import type { KubeObject } from '../../../apimachinery/object.ts'
import { TOKEN_SECRET_TYPE } from '../../../apimachinery/tokenSecret.ts'
import { isLimited, limitArguments, ownCredential, ownRecords, type SyncerLimits, syncerRules } from './syncerRights.ts'

export interface ServerAccess {
  /** URL of a space. */
  server: string
  caPem?: string
  insecure?: boolean
  tlsServerName?: string
  /** URL of the HTTP proxy on the way. */
  proxyUrl?: string
}

/** The server's URL is that of the mailbox space. */
export interface SyncerAccess extends ServerAccess {
  /** The renewal credential. */
  token: string
}

/** The syncer's kubeconfig, as an object: with its credential, or with the path of the file that holds it. */
export function syncerKubeconfig(access: SyncerAccess, tokenFile?: string): object {
  const names = { cluster: 'default-cluster', context: 'default-context', user: 'default-user', namespace: 'default' }
  return kubeconfigOf(access, tokenFile === undefined ? { token: access.token } : { tokenFile }, names)
}

interface KubeconfigNames {
  readonly cluster: string
  readonly context: string
  readonly user: string
  readonly namespace: string
}

/** A kubeconfig of one context, as an object; `credential` as its user has it. */
export function kubeconfigOf(access: ServerAccess, credential: object, names: KubeconfigNames): object {
  const { server, caPem, insecure, tlsServerName, proxyUrl } = access
  const { cluster, context, user, namespace } = names
  const reached = {
    server,
    ...(caPem !== undefined && { 'certificate-authority-data': Buffer.from(caPem).toString('base64') }),
    ...(insecure && { 'insecure-skip-tls-verify': true }),
    ...(tlsServerName !== undefined && { 'tls-server-name': tlsServerName }),
    ...(proxyUrl !== undefined && { 'proxy-url': proxyUrl }),
  }
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: cluster, cluster: reached }],
    contexts: [{ name: context, context: { cluster, namespace, user } }],
    'current-context': context,
    users: [{ name: user, user: credential }],
  }
}

export function toYaml(value: object): string {
  return stringify(value, { lineWidth: 0, indentSeq: false, aliasDuplicateObjects: false })
}

const ID_PREFIX = 'kubestellar-syncer'
const HASH_LENGTH = 8
const LABEL_LENGTH = 63
/** On the syncer's Pods: URL of the mailbox space. */
const MAILBOX_ANNOTATION = 'orrery/mailbox'

/**
 * Name of everything in the cluster that belongs to the syncer of a SyncTarget. It depends on the SyncTarget alone: a
 * manifest that is made again updates the running syncer instead of adding a second one.
 */
export function syncerId(syncTarget: { name: string; uid: string }): string {
  const digest = createHash('sha224').update(syncTarget.uid).digest('hex')
  const hash = BigInt(`0x${digest}`).toString(36).slice(0, HASH_LENGTH)
  const room = LABEL_LENGTH - ID_PREFIX.length - HASH_LENGTH - 2
  const name = syncTarget.name.replaceAll('.', '-').slice(0, room).replace(/-+$/, '')
  return `${ID_PREFIX}-${name}-${hash}`
}

/** Where a Pod of the syncer finds what it is given. */
const FOLDER = '/kubestellar'
/** In the Secret with the credential: the credential, and what a syncer that joined keeps beside it. */
export const CREDENTIAL_FIELD = 'credential'
export const MAILBOX_FIELD = 'mailbox.kubeconfig'
export const CLAIM_KEY_FIELD = 'claim-key'
const STATE_FOLDER = '/state'
/** In the Pod, for the kubelet's probes and for who collects metrics. */
const HEALTH_PORT = 8399
/** Nobody's of the image, so that any will do. */
const USER = 65_532

/** The Secret in the cluster that holds the syncer's credential, and nothing else: it is replaced without the rest. */
export function credentialSecret(syncTarget: { name: string; uid: string }, token: string): KubeObject {
  const id = syncerId(syncTarget)
  const metadata = { name: `${id}-credential`, namespace: id }
  return { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { [CREDENTIAL_FIELD]: token } }
}

interface SyncerManifestOptions {
  syncTarget: { name: string; uid: string }
  access: SyncerAccess
  /** The token is a bootstrap credential, by which the syncer joins. The resulting credential stays in a Secret that it may change. */
  joins?: boolean
  image: string
  replicas: number
  /** Requests per second to the cluster, and how many may come at once. */
  qps: number
  burst: number
  /** Limits of the cluster's owner. Default: none. */
  limits?: SyncerLimits
}

/** In the order in which they are applied. Only {@link credentialSecret}, which comes beside it, is secret. */
export function syncerManifest(options: SyncerManifestOptions): KubeObject[] {
  const id = syncerId(options.syncTarget)
  const { limits = {}, joins = false } = options
  const rbac = 'rbac.authorization.k8s.io'
  const inside = { name: id, namespace: id }
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: id } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: inside },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { ...inside, name: `${id}-token`, annotations: { 'kubernetes.io/service-account.name': id } },
      type: TOKEN_SECRET_TYPE,
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRole',
      metadata: { name: id },
      rules: syncerRules(limits),
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: id },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: id },
      subjects: [{ kind: 'ServiceAccount', ...inside }],
    },
    ...(isLimited(limits) ? ownRecords(id) : []),
    ...(joins ? ownCredential(id, `${id}-credential`) : []),
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: inside,
      stringData: {
        kubeconfig: toYaml(syncerKubeconfig(options.access, joins ? undefined : `${FOLDER}/${CREDENTIAL_FIELD}`)),
      },
    },
    disruptionBudget(id),
    deployment(id, options),
  ]
}

/** A drain of its node may take it elsewhere, for the cluster bears that: but says so to nobody who counts Pods. */
function disruptionBudget(id: string): KubeObject {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: id, namespace: id },
    spec: { maxUnavailable: 1, selector: { matchLabels: { app: id } } },
  }
}

function deployment(id: string, options: SyncerManifestOptions): KubeObject {
  const { syncTarget, access, image, replicas, qps, burst, joins = false } = options
  const container = {
    name: 'kubestellar-syncer',
    image,
    imagePullPolicy: 'IfNotPresent',
    command: ['orrery'],
    args: [
      'syncer',
      `--from-kubeconfig=${FOLDER}/kubeconfig`,
      `--sync-target-name=${syncTarget.name}`,
      `--sync-target-uid=${syncTarget.uid}`,
      `--qps=${qps}`,
      `--burst=${burst}`,
      `--state-dir=${STATE_FOLDER}`,
      ...(joins ? [`--credential-secret=${id}/${id}-credential`] : []),
      `--health-address=:${HEALTH_PORT}`,
      ...limitArguments(options.limits ?? {}),
    ],
    env: [{ name: 'NAMESPACE', valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } }],
    terminationMessagePolicy: 'FallbackToLogsOnError',
    ports: [{ name: 'health', containerPort: HEALTH_PORT }],
    livenessProbe: { httpGet: { path: '/healthz', port: 'health' }, periodSeconds: 20, failureThreshold: 3 },
    readinessProbe: { httpGet: { path: '/readyz', port: 'health' }, periodSeconds: 10 },
    startupProbe: { httpGet: { path: '/healthz', port: 'health' }, periodSeconds: 2, failureThreshold: 60 },
    // Resources for a few thousand objects, and room for a first fill.
    resources: { requests: { cpu: '20m', memory: '96Mi' }, limits: { memory: '256Mi' } },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: [
      { name: 'kubestellar', mountPath: `${FOLDER}/`, readOnly: true },
      { name: 'state', mountPath: STATE_FOLDER },
    ],
  }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: id, namespace: id },
    spec: {
      replicas,
      strategy: { type: 'Recreate' },
      selector: { matchLabels: { app: id } },
      template: {
        // a Pod reads its kubeconfig once: another mailbox needs a new Pod, another token does not
        metadata: { labels: { app: id }, annotations: { [MAILBOX_ANNOTATION]: access.server } },
        spec: {
          serviceAccountName: id,
          securityContext: {
            runAsNonRoot: true,
            runAsUser: USER,
            runAsGroup: USER,
            fsGroup: USER,
            seccompProfile: { type: 'RuntimeDefault' },
          },
          containers: [container],
          volumes: [
            // one volume: the syncer sees that its kubeconfig changes when the credential does
            {
              name: 'kubestellar',
              projected: { sources: [id, ...(joins ? [] : [`${id}-credential`])].map(secretSource) },
            },
            // as long as the Pod stays on its node; a cluster with storage may put a claim here
            { name: 'state', emptyDir: { sizeLimit: '1Gi' } },
          ],
        },
      },
    },
  }
}

function secretSource(name: string): object {
  return { secret: { name, optional: false } }
}
