/** The webhooks of a space, compiled from its configurations when a request first asks for them. */

import { has, list, num, record, records, str, strings } from '../../apimachinery/fields.ts'
import { groupResourceName, isRecord, type KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { AdmissionCel, MatchCondition } from './admissionCel.ts'
import { REVIEW_VERSIONS, type ReviewVersion } from './admissionReview.ts'
import type { ConfigurationLog } from './configurationLog.ts'
import { compileMatch, type RequestMatcher } from './matchRules.ts'
import type { WebhookAddress } from './webhookClient.ts'

export const ADMISSION_GROUP = 'admissionregistration.k8s.io'

export interface Webhook {
  name: string
  /** Name of the object that has it. */
  configuration: string
  /** Distinct among the webhooks of a space, and the same as long as its configuration is. */
  id: string
  match: RequestMatcher
  conditions: readonly MatchCondition[]
  client: WebhookAddress
  /** PEM. Made when it is asked for: a bundle may be long, and a space may have many webhooks that are not called. */
  readonly caPem: string | undefined
  timeoutSeconds: number
  failsOpen: boolean
  /** May be asked again after later webhooks have changed the object. */
  reinvocable: boolean
  /** May be asked in a dry run. */
  harmless: boolean
  version: ReviewVersion | undefined
}

/** Webhooks in the order in which they are asked: by name of configuration, then as listed. */
export class WebhookConfigurations {
  readonly resource: { group: string; resource: string }
  readonly #log: ConfigurationLog
  readonly #cel: AdmissionCel
  readonly #compiled = new Map<string, readonly Webhook[]>()

  constructor(log: ConfigurationLog, cel: AdmissionCel, resource: string) {
    this.resource = { group: ADMISSION_GROUP, resource }
    this.#log = log
    this.#cel = cel
    log.onChange([this.resource], space => this.#compiled.delete(space))
  }

  in(space: string): readonly Webhook[] {
    if (!this.#log.has(space, this.resource)) return []
    let webhooks = this.#compiled.get(space)
    if (webhooks === undefined) {
      webhooks = this.#log.list(space, this.resource).flatMap(object => compileConfiguration(object, this.#cel))
      this.#compiled.set(space, webhooks)
    }
    return webhooks
  }
}

/** The objects that steer admission are not subject to it: else nobody could repair them. */
export function isExempt(type: ResourceType): boolean {
  return EXEMPT.has(groupResourceName(type))
}

const EXEMPT: ReadonlySet<string> = new Set(
  [
    'validatingwebhookconfigurations',
    'mutatingwebhookconfigurations',
    'validatingadmissionpolicies',
    'validatingadmissionpolicybindings',
    'mutatingadmissionpolicies',
    'mutatingadmissionpolicybindings',
  ].map(resource => `${resource}.${ADMISSION_GROUP}`),
)

function compileConfiguration(object: KubeObject, cel: AdmissionCel): Webhook[] {
  const { name = '' } = object.metadata
  return records(object, 'webhooks').map((webhook, i) => ({
    name: str(webhook, 'name'),
    configuration: name,
    id: `${name}/${str(webhook, 'name')}/${i}`,
    match: compileMatch({ rules: list(webhook, 'rules'), ...webhook }),
    conditions: conditionsOf(webhook, cel),
    client: clientOf(record(webhook, 'clientConfig')),
    get caPem() {
      return caOf(record(webhook, 'clientConfig'))
    },
    timeoutSeconds: Math.min(30, Math.max(1, num(webhook, 'timeoutSeconds') || 10)),
    failsOpen: webhook.failurePolicy === 'Ignore',
    reinvocable: webhook.reinvocationPolicy === 'IfNeeded',
    harmless: webhook.sideEffects === 'None' || webhook.sideEffects === 'NoneOnDryRun',
    version: REVIEW_VERSIONS.find(version => version === firstKnown(strings(webhook, 'admissionReviewVersions'))),
  }))
}

export function conditionsOf(holder: Record<string, unknown>, cel: AdmissionCel): MatchCondition[] {
  return records(holder, 'matchConditions').map(condition => ({
    name: str(condition, 'name'),
    expression: cel.later(str(condition, 'expression')),
  }))
}

function firstKnown(versions: readonly string[]): string | undefined {
  return versions.find(version => (REVIEW_VERSIONS as readonly string[]).includes(version))
}

function clientOf(config: Record<string, unknown>): Webhook['client'] {
  if (!isRecord(config.service)) return { url: str(config, 'url') }
  const { service } = config
  return {
    service: {
      namespace: str(service, 'namespace'),
      name: str(service, 'name'),
      path: str(service, 'path'),
      port: num(service, 'port') || 443,
    },
  }
}

function caOf(config: Record<string, unknown>): string | undefined {
  return has(config, 'caBundle') ? Buffer.from(str(config, 'caBundle'), 'base64').toString() : undefined
}
