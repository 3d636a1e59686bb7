/** Options of the server from the flags of `accessFlags.ts`. Says which flag is wrong before anything is started. */
import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { LogFields } from '../../../apimachinery/logFields.ts'
import { messageOf } from '../../../apimachinery/messageOf.ts'
import { yaml } from '../../../apimachinery/yaml.ts'
import { AllowedHosts } from '../../../apiserver/admission/allowedHosts.ts'
import type { ApiServerOptions } from '../../../apiserver/apiServerOptions.ts'
import type { Auditor } from '../../../apiserver/audit/auditor.ts'
import { StaticTokenAuthenticator } from '../../../apiserver/auth/staticTokens.ts'
import { MAX_SECONDS } from '../../../apiserver/auth/tokenRequest.ts'
import { CERTIFICATE_NETWORKS_FLAG, CertificateNetworks } from '../../../apiserver/connections/certificateNetworks.ts'
import { durationMs } from '../../shell/durations.ts'
import { makeFolder } from '../process/privateFolder.ts'

export interface AccessOptions
  extends Pick<
    ApiServerOptions,
    'tokenFile' | 'oidc' | 'anonymousAuth' | 'audit' | 'webhookAllowedHosts' | 'clientCertificateNetworks' | 'strangers'
  > {
  maxTokenSeconds: number
  eventTtlMs: number
}

interface Log {
  error(fields: LogFields, text: string): void
}

/** @throws Error naming the flag */
export async function accessOptions(settings: Record<string, unknown>, log: Log): Promise<AccessOptions> {
  const eventTtlMs = durationMs(String(settings.eventTtl))
  if (eventTtlMs === undefined || eventTtlMs <= 0) {
    throw new Error(`--event-ttl: ${JSON.stringify(settings.eventTtl)} is no duration such as 1h or 90m`)
  }
  const maxTokenSeconds = longestToken(String(settings.serviceAccountMaxTokenExpiration))
  const webhookAllowedHosts = settings.webhookAllowedHosts as string[] | undefined
  named('--webhook-allowed-hosts', () => new AllowedHosts(webhookAllowedHosts))
  const clientCertificateNetworks = settings.clientCertificateNetworks as string[] | undefined
  named(CERTIFICATE_NETWORKS_FLAG, () => new CertificateNetworks(clientCertificateNetworks))
  const tokenFile = await staticTokens(settings.tokenAuthFile as string | undefined)
  const oidc = await oidcOptions(settings)
  const audit = await auditor(settings, log)
  return {
    maxTokenSeconds,
    eventTtlMs,
    anonymousAuth: settings.anonymousAuth === true,
    ...(tokenFile !== undefined && { tokenFile }),
    ...(oidc && { oidc }),
    ...(audit && { audit }),
    ...(webhookAllowedHosts && { webhookAllowedHosts }),
    ...(clientCertificateNetworks && { clientCertificateNetworks }),
    ...strangersOf(settings),
  }
}

function strangersOf(settings: Record<string, unknown>): Pick<ApiServerOptions, 'strangers'> {
  const total = settings.maxUnauthenticatedConnections as number | undefined
  const perAddress = settings.maxUnauthenticatedConnectionsPerAddress as number | undefined
  const strangers = { ...(total !== undefined && { total }), ...(perAddress !== undefined && { perAddress }) }
  return Object.keys(strangers).length === 0 ? {} : { strangers }
}

const SHORTEST_SECONDS = 3600

/** As kube-apiserver reads its flag of this name. */
function longestToken(text: string): number {
  const ms = durationMs(text)
  if (ms === 0) return MAX_SECONDS
  const seconds = Math.floor((ms ?? 0) / 1000)
  if (seconds >= SHORTEST_SECONDS && seconds <= MAX_SECONDS) return seconds
  throw new Error(
    `--service-account-max-token-expiration: ${JSON.stringify(text)} is no duration between 1h and 2^32 seconds, such as 8760h`,
  )
}

async function staticTokens(path: string | undefined): Promise<string | undefined> {
  const csv = await fileText('--token-auth-file', path)
  if (path !== undefined && csv !== undefined)
    named('--token-auth-file', () => new StaticTokenAuthenticator(csv, { path }))
  return csv
}

async function oidcOptions(settings: Record<string, unknown>): Promise<ApiServerOptions['oidc']> {
  const text = (name: string): string | undefined => settings[name] as string | undefined
  const issuerUrl = text('oidcIssuerUrl')
  const clientId = text('oidcClientId')
  if ((issuerUrl === undefined) !== (clientId === undefined)) {
    throw new Error('--oidc-issuer-url and --oidc-client-id must be specified together')
  }
  if (issuerUrl === undefined || clientId === undefined) {
    for (const [name, flag] of [
      ['oidcCaFile', '--oidc-ca-file'],
      ['oidcRequiredClaim', '--oidc-required-claim'],
    ] as const)
      if (settings[name] !== undefined) throw new Error(`${flag} goes with --oidc-issuer-url; give both, or neither`)
    return undefined
  }
  const required = ((settings.oidcRequiredClaim as string[] | undefined) ?? []).map(claim => {
    const equals = claim.indexOf('=')
    if (equals < 1) throw new Error(`--oidc-required-claim: ${JSON.stringify(claim)} is not claim=value`)
    return [claim.slice(0, equals), claim.slice(equals + 1)] as const
  })
  const optional = {
    usernameClaim: text('oidcUsernameClaim'),
    usernamePrefix: text('oidcUsernamePrefix'),
    groupsClaim: text('oidcGroupsClaim'),
    groupsPrefix: text('oidcGroupsPrefix'),
    signingAlgorithms: settings.oidcSigningAlgs as string[] | undefined,
    caPem: await fileText('--oidc-ca-file', text('oidcCaFile')),
  }
  const given = Object.entries(optional).filter(([, value]) => value !== undefined)
  return { issuerUrl, clientId, requiredClaims: Object.fromEntries(required), ...Object.fromEntries(given) }
}

async function auditor(settings: Record<string, unknown>, log: Log): Promise<Auditor | undefined> {
  const path = settings.auditLogPath as string | undefined
  const policyFile = settings.auditPolicyFile as string | undefined
  if (path === undefined && policyFile === undefined) return undefined
  if (path === undefined) throw new Error('--audit-policy-file needs --audit-log-path')
  if (policyFile === undefined) throw new Error('--audit-log-path needs --audit-policy-file')
  const text = (await fileText('--audit-policy-file', policyFile)) ?? ''
  const [{ Auditor }, { auditPolicy }, { RotatingLog, streamLog }] = await Promise.all([
    import('../../../apiserver/audit/auditor.ts'),
    import('../../../apiserver/audit/policy.ts'),
    import('../../../apiserver/audit/rotatingLog.ts'),
  ])
  const policy = named(`--audit-policy-file: ${policyFile}`, () => auditPolicy(yaml().parse(text)))
  const sizes = {
    maxSizeMb: settings.auditLogMaxsize as number,
    maxBackups: settings.auditLogMaxbackup as number,
    maxAgeDays: settings.auditLogMaxage as number,
  }
  const file = () => {
    makeFolder(dirname(path))
    return new RotatingLog({ clock: Date.now, path, ...sizes, log })
  }
  const sink = path === '-' ? streamLog(process.stdout) : named('--audit-log-path', file)
  return new Auditor({ clock: () => performance.timeOrigin + performance.now(), policy, sink })
}

async function fileText(flag: string, path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    throw new Error(`${flag}: ${messageOf(cause)}`, { cause })
  }
}

function named<T>(what: string, make: () => T): T {
  try {
    return make()
  } catch (cause) {
    throw new Error(`${what}: ${messageOf(cause)}`, { cause })
  }
}
