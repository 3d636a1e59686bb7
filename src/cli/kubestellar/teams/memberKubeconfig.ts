/**
 * `kubeconfig`: the file by which a member reaches the space of a team. A client certificate is requested and approved with the caller's
 * rights. Users of OpenID Connect sign in by themselves, and a token is taken as it is.
 */
import { randomUUID } from 'node:crypto'
import { objects, str } from '../../../apimachinery/fields.ts'
import type { GroupVersionResource, KubeObject } from '../../../apimachinery/object.ts'
import { CLIENT_SIGNER } from '../../../apiserver/auth/certificateSigner.ts'
import type { SpaceClient } from '../../../client/client.ts'
import { unlessGone } from '../../../client/unlessGone.ts'
import { writePrivateFile } from '../../../program/replacedFiles.ts'
import { formatIn } from '../../shell/changes.ts'
import { CommandError } from '../../shell/commandError.ts'
import { printDocument } from '../../shell/output.ts'
import { currentPath, requireOrdinaryAddress, type Session } from '../../shell/session/session.ts'
import { splitPath } from '../../shell/session/spacePath.ts'
import { serverOf } from '../../shell/session/spaces.ts'
import type { Terminal } from '../../shell/terminal.ts'
import { waitFor } from '../../shell/waitFor.ts'
import { requireRights } from '../requireRights.ts'
import { type CommonOptions, inSession } from '../sessions.ts'
import { serverAccess } from '../syncers/prepForSyncer.ts'
import { kubeconfigOf, toYaml } from '../syncers/syncerManifest.ts'
import { type CredentialOrder, oidcCredential, tokenCredential } from './memberCredentials.ts'
import { teamIn } from './teamRights.ts'

interface MemberOptions extends CommonOptions {
  for: string
  /** Absent: the groups of the team's members. */
  group?: string[]
  /** Seconds; default: 30 days. */
  lifetime?: number
  /** Settings of OpenID Connect, as the server has them. */
  oidcIssuerUrl?: string
  oidcClientId?: string
  oidcExtraScope?: string[]
  /** File with a token; `-` is standard input. */
  tokenFile?: string
  /** File; `-` is stdout, `json`, `yaml` and `name` are forms of it there. Default: `<user>.kubeconfig`. */
  output?: string
  /** Seconds to wait for the certificate. */
  timeout?: number
}

const REQUESTS: GroupVersionResource = {
  group: 'certificates.k8s.io',
  version: 'v1',
  resource: 'certificatesigningrequests',
}
const SIGNERS: GroupVersionResource = { ...REQUESTS, resource: 'signers' }
const OPTIONS = { fieldManager: 'kubectl-kubestellar' }

interface Made {
  /** As the user of a kubeconfig has it. */
  readonly credential: object
  /** Facts about it, for people. */
  readonly facts: readonly string[]
  readonly note?: string | undefined
}

export async function memberKubeconfig(options: MemberOptions, terminal: Terminal): Promise<void> {
  const user = options.for.trim()
  if (user === '') throw new CommandError('--for is empty; name the user')
  const make = makerFor(options)
  await inSession(options, terminal, async session => {
    requireOrdinaryAddress(session)
    const path = await currentPath(session)
    const { credential, facts, note } = await make({ session, path, user, terminal })
    await written(options, { user, kubeconfig: kubeconfigIn(session, path, user, credential) }, terminal, facts)
    if (note !== undefined) terminal.err(`Note: ${note}`)
  })
}

/** Flags that go with a certificate alone. */
const OF_CERTIFICATES = ['group', 'lifetime', 'timeout'] as const

/** @throws CommandError for flags that do not go together */
function makerFor(options: MemberOptions): (order: CredentialOrder) => Promise<Made> {
  const { oidcIssuerUrl, oidcClientId, oidcExtraScope, tokenFile } = options
  const isOidc = [oidcIssuerUrl, oidcClientId, oidcExtraScope].some(value => value !== undefined)
  if (!isOidc && tokenFile === undefined) return certificateMaker(options)
  if (isOidc && tokenFile !== undefined)
    throw new CommandError('--token-file does not go with --oidc flags; choose one')
  const alone = OF_CERTIFICATES.find(name => options[name] !== undefined)
  if (alone !== undefined)
    throw new CommandError(`--${alone} is about a certificate, and does not go with --oidc flags or --token-file`)
  if (tokenFile !== undefined) return order => tokenCredential(order, tokenFile)
  if (oidcIssuerUrl === undefined || oidcClientId === undefined)
    throw new CommandError('--oidc-issuer-url and --oidc-client-id go together; name both, as the server has them')
  const credential = oidcCredential({ issuerUrl: oidcIssuerUrl, clientId: oidcClientId, scopes: oidcExtraScope ?? [] })
  return async () => ({
    credential,
    facts: [`its user signs in at ${oidcIssuerUrl}, by the plugin kubectl oidc-login`],
  })
}

function certificateMaker(options: MemberOptions): (order: CredentialOrder) => Promise<Made> {
  const { lifetime: expirationSeconds = 30 * 86_400, timeout: timeoutSeconds = 30 } = options
  return async ({ session, path, user }) => {
    const space = session.client.in(path)
    await requireRights(session.client, [
      { space: path, verb: 'create', resource: REQUESTS },
      { space: path, verb: 'delete', resource: REQUESTS },
      { space: path, verb: 'update', resource: REQUESTS, subresource: 'approval' },
      { space: path, verb: 'approve', resource: SIGNERS, name: CLIENT_SIGNER },
    ])
    const groups = options.group ?? (await memberGroups(space))
    // its libraries take longer to load than other commands run
    const { requestClient } = await import('../../../apiserver/pki/issue.ts')
    const { requestPem, keyPem } = await requestClient({ commonName: user, organizations: groups })
    const certificate = await signed(space, { requestPem, expirationSeconds, timeoutSeconds })
    const base64 = (text: string): string => Buffer.from(text).toString('base64')
    const until = new Date(Date.now() + expirationSeconds * 1000).toISOString().slice(0, 16)
    return {
      credential: { 'client-certificate-data': base64(certificate), 'client-key-data': base64(keyPem) },
      facts: [`groups ${groups.join(', ') || '<none>'}`, `counts in ${path} alone until ${until}Z`],
      note:
        groups.length > 0
          ? undefined
          : `no group is in it: ${user} may do in ${path} as much as bindings to that user allow.`,
    }
  }
}

/** Groups that are in the team; none where the space is no team's. */
async function memberGroups(space: SpaceClient): Promise<string[]> {
  const { members } = await teamIn(space)
  return members.filter(({ kind }) => kind === 'Group').map(member => str(member, 'name'))
}

/** Requests the certificate, approves the request and waits until it is signed; nothing of it stays in the space. */
async function signed(
  space: SpaceClient,
  order: { requestPem: string; expirationSeconds: number; timeoutSeconds: number },
): Promise<string> {
  const { requestPem, expirationSeconds, timeoutSeconds } = order
  const name = `member-${randomUUID()}`
  const request: KubeObject = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name },
    spec: {
      request: Buffer.from(requestPem).toString('base64'),
      signerName: CLIENT_SIGNER,
      usages: ['digital signature', 'client auth'],
      expirationSeconds,
    },
  }
  const made = await space.create(REQUESTS, request, OPTIONS)
  try {
    const conditions = [{ type: 'Approved', status: 'True', reason: 'KubectlKubestellar', message: 'for a kubeconfig' }]
    await space.update(REQUESTS, { ...made, status: { conditions } }, { ...OPTIONS, subresource: 'approval' })
    const { reached, object } = await waitFor({
      client: space,
      resource: REQUESTS,
      ref: { name },
      done: found => found === undefined || refusalIn(found) !== '' || str(found, 'status', 'certificate') !== '',
      signal: AbortSignal.timeout(timeoutSeconds * 1000),
    })
    const certificate = str(object, 'status', 'certificate')
    if (certificate !== '') return Buffer.from(certificate, 'base64').toString()
    const why = object === undefined ? '' : refusalIn(object)
    if (why !== '') throw new CommandError(`no certificate can be signed: ${why}`)
    const trouble = reached ? 'was deleted meanwhile' : `is not signed after ${timeoutSeconds} s; do controllers run?`
    throw new CommandError(`the CertificateSigningRequest "${name}" ${trouble}`)
  } finally {
    await unlessGone(space.delete(REQUESTS, { name }))
  }
}

function refusalIn(request: KubeObject): string {
  const failed = objects(request, 'status', 'conditions').find(({ type }) => type === 'Failed')
  return failed === undefined ? '' : str(failed, 'message') || 'the signer refuses it'
}

function kubeconfigIn(session: Session, path: string, user: string, credential: object): object {
  const { name } = splitPath(path)
  const access = serverAccess(session, serverOf(session.base, path))
  return kubeconfigOf(access, credential, { cluster: 'orrery', context: name, user, namespace: 'default' })
}

async function written(
  { output }: MemberOptions,
  { user, kubeconfig }: { user: string; kubeconfig: object },
  terminal: Terminal,
  facts: readonly string[],
): Promise<void> {
  const format = formatIn(output)
  if (format === 'name') return terminal.out(user)
  if (format !== undefined) return await printDocument(kubeconfig, format, terminal)
  if (output === '-') return terminal.out(toYaml(kubeconfig).trimEnd())
  const file = output ?? `${user.replaceAll(/[^\w@.-]/g, '-')}.kubeconfig`
  await writePrivateFile(file, toYaml(kubeconfig))
  terminal.out(`Wrote the kubeconfig of ${user} to ${file}: ${facts.join('; ')}`)
}
