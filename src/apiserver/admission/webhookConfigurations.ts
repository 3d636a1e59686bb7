/** The webhooks of a space, compiled from its configurations when a request first asks for them. */
import { has, list, num, record, records, str, strings } from '../../apimachinery/fields.ts'
import { getOrInsert } from '../../apimachinery/getOrInsert.ts'
import { groupResourceName, isRecord, type KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { AdmissionCel, MatchCondition } from './admissionCel.ts'
import { REVIEW_VERSIONS, type ReviewVersion } from './admissionReview.ts'
import type { ConfigurationLog } from './configurationLog.ts'
import { compileMatch, type RequestMatcher } from './matchRules.ts'
import type { WebhookAddress } from './webhookClient.ts'

export const ADMISSION_GROUP = 'admissionregistration.k8s.io'

/** Place of a webhook in its configuration. */
interface Place {
  configuration: string
  index: number
  cel: Pick<AdmissionCel, 'later'>
}

export interface Webhook {
  readonly name: string
  /** Name of the object that has it. */
  readonly configuration: string
  /** Distinct among the webhooks of a space, and the same as long as its configuration is. */
  readonly id: string
  readonly match: RequestMatcher
  readonly conditions: readonly MatchCondition[]
  readonly client: WebhookAddress
  /** PEM. */
  readonly caPem: string | undefined
  readonly timeoutSeconds: number
  readonly failsOpen: boolean
  /** May be called again after later webhooks have changed the object. */
  readonly reinvocable: boolean
  /** May be called in a dry run. */
  readonly harmless: boolean
  readonly version: ReviewVersion | undefined
}

/** Webhooks in the order of their calls: by name of configuration, then as listed. */
export class WebhookConfigurations {
  readonly resource: { group: string; resource: string }
  readonly #log: Pick<ConfigurationLog, 'has' | 'list' | 'onChange'>
  readonly #cel: Pick<AdmissionCel, 'later'>
  readonly #inSpace = new Map<string, readonly Webhook[]>()
  /** By the objects, which are others after a change: of thousands of webhooks, those of one that changes are compiled anew. */
  readonly #compiled = new WeakMap<KubeObject, readonly Webhook[]>()

  constructor(
    log: Pick<ConfigurationLog, 'has' | 'list' | 'onChange'>,
    cel: Pick<AdmissionCel, 'later'>,
    resource: string,
  ) {
    this.resource = { group: ADMISSION_GROUP, resource }
    this.#log = log
    this.#cel = cel
    log.onChange([this.resource], space => this.#inSpace.delete(space))
  }

  in(space: string): readonly Webhook[] {
    if (!this.#log.has(space, this.resource)) return []
    return getOrInsert(this.#inSpace, space, () =>
      this.#log.list(space, this.resource).flatMap(object => this.#webhooks(object)),
    )
  }

  #webhooks(object: KubeObject): readonly Webhook[] {
    return getOrInsert(this.#compiled, object, () => {
      const { name = '' } = object.metadata
      const place = { configuration: name, cel: this.#cel }
      return records(object, 'webhooks').map((webhook, index) => new CompiledWebhook(webhook, { ...place, index }))
    })
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

/** A space may have tens of thousands, most of which are never called: each part is read on demand. */
class CompiledWebhook implements Webhook {
  readonly #webhook: Record<string, unknown>
  readonly #place: Place
  #match: RequestMatcher | undefined
  #conditions: readonly MatchCondition[] | undefined

  constructor(webhook: Record<string, unknown>, place: Place) {
    this.#webhook = webhook
    this.#place = place
  }

  get name(): string {
    return str(this.#webhook, 'name')
  }

  get configuration(): string {
    return this.#place.configuration
  }

  get id(): string {
    return `${this.configuration}/${this.name}/${this.#place.index}`
  }

  get match(): RequestMatcher {
    this.#match ??= compileMatch({ rules: list(this.#webhook, 'rules'), ...this.#webhook })
    return this.#match
  }

  get conditions(): readonly MatchCondition[] {
    this.#conditions ??= conditionsOf(this.#webhook, this.#place.cel)
    return this.#conditions
  }

  get client(): WebhookAddress {
    return clientOf(record(this.#webhook, 'clientConfig'))
  }

  get caPem(): string | undefined {
    return caOf(record(this.#webhook, 'clientConfig'))
  }

  get timeoutSeconds(): number {
    return Math.min(30, Math.max(1, num(this.#webhook, 'timeoutSeconds') || 10))
  }

  get failsOpen(): boolean {
    return this.#webhook.failurePolicy === 'Ignore'
  }

  get reinvocable(): boolean {
    return this.#webhook.reinvocationPolicy === 'IfNeeded'
  }

  get harmless(): boolean {
    return this.#webhook.sideEffects === 'None' || this.#webhook.sideEffects === 'NoneOnDryRun'
  }

  get version(): ReviewVersion | undefined {
    const wanted = firstKnown(strings(this.#webhook, 'admissionReviewVersions'))
    return REVIEW_VERSIONS.find(version => version === wanted)
  }
}

export function conditionsOf(holder: Record<string, unknown>, cel: Pick<AdmissionCel, 'later'>): MatchCondition[] {
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
