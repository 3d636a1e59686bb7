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
  /** Names of policies to look at, by space; none is empty. */
  readonly #waiting = new Map<string, Set<string>>()
  /** Running work, by space. */
  readonly #work = new Map<string, Promise<void>>()
  #registry: Pick<Registry, 'update'> | undefined
  #stopped = false

  constructor(deps: PolicyStatusDeps) {
    this.#deps = deps
    deps.settings.onChange([POLICIES], (space, changed) => this.#wake(space, changed))
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

  #wake(space: string, changed?: readonly string[]): void {
    if (this.#stopped || this.#registry === undefined) return
    const { settings } = this.#deps
    const names = changed ?? settings.list(space, POLICIES).map(({ metadata }) => metadata.name ?? '')
    for (const name of names) {
      if (this.#pending(space, name) === undefined) continue
      const waiting = this.#waiting.get(space) ?? new Set()
      this.#waiting.set(space, waiting.add(name))
    }
    if (!this.#waiting.has(space) || this.#work.has(space)) return
    const work = this.#settle(space).finally(() => {
      this.#work.delete(space)
      if (this.#waiting.has(space)) this.#wake(space, [])
    })
    this.#work.set(space, work)
  }

  /** The policy if its status speaks of an older generation, or of none. */
  #pending(space: string, name: string): KubeObject | undefined {
    const policy = this.#deps.settings.get(space, POLICIES, '', name)
    if (policy === undefined) return undefined
    return num(policy, 'status', 'observedGeneration') < (policy.metadata.generation ?? 0) ? policy : undefined
  }

  /** The next one that waits. */
  #next(space: string): string | undefined {
    const waiting = this.#waiting.get(space)
    const name = waiting?.values().next().value
    if (waiting === undefined || name === undefined) return undefined
    waiting.delete(name)
    if (waiting.size === 0) this.#waiting.delete(space)
    return name
  }

  async #settle(space: string): Promise<void> {
    const { checkPolicyTypes } = await import('./policyTypes.ts')
    for (let name = this.#next(space); name !== undefined; name = this.#next(space)) {
      if (this.#stopped) return
      const policy = this.#pending(space, name)
      if (policy === undefined) continue
      const { generation } = policy.metadata
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
