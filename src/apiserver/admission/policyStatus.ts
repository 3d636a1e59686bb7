/**
 * The status of ValidatingAdmissionPolicies: which generation of a policy has been looked at, and what its expressions get
 * wrong about the kinds that it is for. Follows the settings that admission keeps anyway; sleeps where there is no policy.
 */
import { isStatusError } from '../../apimachinery/errors.ts'
import { num } from '../../apimachinery/fields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { isStorageError } from '../../storage/store.ts'
import { systemContext } from '../registry/context.ts'
import type { Registry } from '../registry/registry.ts'
import type { Logger } from '../request/logger.ts'
import type { TypeRegistry } from '../types/typeRegistry.ts'
import type { ConfigurationLog } from './configurationLog.ts'
import { ADMISSION_GROUP } from './webhookConfigurations.ts'

export interface PolicyStatusDeps {
  settings: ConfigurationLog
  types: TypeRegistry
  log: Logger
}

const POLICIES = { group: ADMISSION_GROUP, resource: 'validatingadmissionpolicies' }
const VERSION = 'v1'
const COMPONENT = 'validatingadmissionpolicy-status'

export class PolicyStatus {
  readonly #deps: PolicyStatusDeps
  /** Running work, by space. */
  readonly #work = new Map<string, Promise<void>>()
  /** Spaces with changes that came while their work ran. */
  readonly #again = new Set<string>()
  #registry: Pick<Registry, 'update'> | undefined
  #stopped = false

  constructor(deps: PolicyStatusDeps) {
    this.#deps = deps
    deps.settings.onChange([POLICIES], space => this.#wake(space))
  }

  /** Takes up what was left undone, then follows. */
  start(registry: Pick<Registry, 'update'>): void {
    this.#registry = registry
    for (const space of this.#deps.settings.spaces(POLICIES)) this.#wake(space)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all(this.#work.values())
  }

  #wake(space: string): void {
    if (this.#stopped || this.#registry === undefined || this.#pending(space).length === 0) return
    if (this.#work.has(space)) {
      this.#again.add(space)
      return
    }
    const work = this.#settle(space).finally(() => {
      this.#work.delete(space)
      if (this.#again.delete(space)) this.#wake(space)
    })
    this.#work.set(space, work)
  }

  /** Policies whose status speaks of an older generation, or of none. */
  #pending(space: string): KubeObject[] {
    const { settings } = this.#deps
    if (!settings.has(space, POLICIES)) return []
    return settings
      .list(space, POLICIES)
      .filter(policy => num(policy, 'status', 'observedGeneration') < (policy.metadata.generation ?? 0))
  }

  async #settle(space: string): Promise<void> {
    const { checkPolicyTypes } = await import('./policyTypes.ts')
    for (const policy of this.#pending(space)) {
      if (this.#stopped) return
      const { name = '', generation } = policy.metadata
      try {
        const expressionWarnings = await checkPolicyTypes(policy, this.#deps.types.in(space))
        const typeChecking = expressionWarnings.length > 0 ? { expressionWarnings } : {}
        await this.#write(space, name, { observedGeneration: generation, typeChecking })
      } catch (error) {
        if (isStatusError(error, 'NotFound')) continue
        if (isStorageError(error, 'Closed')) return
        this.#deps.log.error(
          { err: error, space, policy: name },
          'the status of an admission policy could not be written',
        )
      }
    }
  }

  async #write(
    space: string,
    name: string,
    status: { observedGeneration: unknown; typeChecking: object },
  ): Promise<void> {
    const type = this.#deps.types.in(space).find(POLICIES.group, VERSION, POLICIES.resource)
    if (type === undefined) throw new Error('the kind ValidatingAdmissionPolicy is missing from the catalog')
    const change = (current: KubeObject): KubeObject => {
      // a newer generation is looked at by itself
      if (current.metadata.generation !== status.observedGeneration) return current
      const before = typeof current.status === 'object' ? current.status : {}
      return { ...current, status: { ...before, ...status } }
    }
    await this.#registry!.update(systemContext(space, COMPONENT), type, '', name, change, { subresource: 'status' })
  }
}
