/**
 * The status of ValidatingAdmissionPolicies: the checked generation of a policy, and its expressions' faults about the kinds that it is
 * for. Follows the settings that admission keeps anyway; sleeps where there is no policy.
 */
import { isStatusError } from '../../apimachinery/errors.ts'
import { num } from '../../apimachinery/fields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import type { Random } from '../../client/backoff.ts'
import type { Clock } from '../../client/clock.ts'
import type { WorkTurns } from '../../program/workTurns.ts'
import { KeyWorker } from '../following/keyWorker.ts'
import { systemContext } from '../registry/context.ts'
import type { Registry } from '../registry/registry.ts'
import type { Logger } from '../request/logger.ts'
import type { TypeRegistry } from '../types/typeRegistry.ts'
import type { ConfigurationLog } from './configurationLog.ts'
import { ADMISSION_GROUP } from './webhookConfigurations.ts'

interface PolicyStatusDeps {
  turns: WorkTurns
  settings: ConfigurationLog
  types: TypeRegistry
  log: Logger
  clock: Clock
  random: Random
}

interface PolicyKey {
  readonly space: string
  readonly name: string
}

const POLICIES = { group: ADMISSION_GROUP, resource: 'validatingadmissionpolicies' }
const VERSION = 'v1'
const COMPONENT = 'validatingadmissionpolicy-status'
/** Policies looked at at a time, of whatever spaces: to look takes the processor, and to write what was found the disk. */
const CONCURRENCY = 2

export class PolicyStatus {
  readonly #deps: PolicyStatusDeps
  readonly #worker: KeyWorker<PolicyKey>
  #registry: Pick<Registry, 'update'> | undefined

  constructor(deps: PolicyStatusDeps) {
    this.#deps = deps
    const work = {
      id: ({ space, name }: PolicyKey) => `${space}/${name}`,
      party: ({ space }: PolicyKey) => space,
      concurrency: CONCURRENCY,
      reconcile: (key: PolicyKey) => this.#reconcile(key),
      isEnd: (error: unknown) => isStatusError(error, 'NotFound'),
      failed: ({ space, name }: PolicyKey, error: unknown) =>
        deps.log.error(
          { err: error, space, policy: name },
          'the status of an admission policy could not be written; it is tried again',
        ),
    }
    this.#worker = new KeyWorker(work, deps)
    deps.settings.onChange([POLICIES], (space, changed) => this.#look(space, changed))
  }

  /** Takes up what was left undone, then follows. */
  start(registry: Pick<Registry, 'update'>): void {
    this.#registry = registry
    this.#worker.start()
    for (const space of this.#deps.settings.spaces(POLICIES)) this.#look(space)
  }

  stop(): Promise<void> {
    return this.#worker.stop()
  }

  #look(space: string, changed?: readonly string[]): void {
    if (this.#registry === undefined) return
    const { settings } = this.#deps
    const names = changed ?? settings.list(space, POLICIES).map(({ metadata }) => metadata.name ?? '')
    for (const name of names) if (this.#pending({ space, name })) this.#worker.add({ space, name })
  }

  /** The policy if its status speaks of an older generation, or of none. */
  #pending({ space, name }: PolicyKey): KubeObject | undefined {
    const policy = this.#deps.settings.get(space, POLICIES, '', name)
    if (policy === undefined) return undefined
    return num(policy, 'status', 'observedGeneration') < (policy.metadata.generation ?? 0) ? policy : undefined
  }

  async #reconcile(key: PolicyKey): Promise<void> {
    const policy = this.#pending(key)
    if (policy === undefined) return
    const { space, name } = key
    const { checkPolicyTypes } = await import('./policyTypes.ts')
    const { generation } = policy.metadata
    const expressionWarnings = await checkPolicyTypes(policy, this.#deps.types.in(space))
    const typeChecking = expressionWarnings.length > 0 ? { expressionWarnings } : {}
    await this.#write(space, name, { observedGeneration: generation, typeChecking })
  }

  async #write(
    space: string,
    name: string,
    status: { observedGeneration: unknown; typeChecking: object },
  ): Promise<void> {
    const type = this.#deps.types.builtinIn(space, { ...POLICIES, version: VERSION })
    const change = (current: KubeObject): KubeObject => {
      // a newer generation is looked at by itself
      if (current.metadata.generation !== status.observedGeneration) return current
      const before = typeof current.status === 'object' ? current.status : {}
      return { ...current, status: { ...before, ...status } }
    }
    await this.#registry!.update(systemContext(space, COMPONENT), type, '', name, change, { subresource: 'status' })
  }
}
